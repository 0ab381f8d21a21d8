"""The result of one update of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ml_backend.review.notes import Note


@dataclass(frozen=True)
class UpdateResult:
    """The result of one update; `unchanged` counts predictions that were already correct, `notes` are for people."""

    project: int
    items: int
    created: int
    updated: int
    deleted: int
    unchanged: int
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``softirr-ls sync --json``."""
        return {**asdict(self), "notes": [asdict(note) for note in self.notes]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> UpdateResult:
        """Return the result that `to_dict` described."""
        return cls(**{**values, "notes": tuple(Note(**note) for note in values["notes"])})

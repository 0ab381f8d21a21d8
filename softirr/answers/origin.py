"""Where a table comes from: how its input was read, and how its texts were split."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Reading", "Split"]


@dataclass(frozen=True)
class Split:
    """How the texts of a table were split into several: see :func:`softirr.meaning.policy.splitting.split_table`.

    Attributes
    ----------
    mode : str
        As it was asked for.
    marks : tuple of str
        What texts were split at: ``lines``, ``bullets``, ``semicolons``, ``slashes``, ``commas``, ``sentences``; none
        where ``auto`` found no lists.
    joiner : str
        What is between the parts of a text in most answers, to join a suggestion with.
    answers : int
        How many answers have a text that was split.
    """

    mode: str
    marks: tuple[str, ...]
    joiner: str
    answers: int

    def join(self, parts: Iterable[str]) -> str:
        """The parts as one text, as raters of this table write it."""
        start = "- " if self.joiner == "\n- " else ""
        return start + self.joiner.join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The form in the provenance of a report."""
        return {"mode": self.mode, "marks": list(self.marks), "answers": self.answers}


@dataclass(frozen=True)
class Reading:
    """How a table was read.

    Attributes
    ----------
    format : str
        Such as ``csv`` or ``label-studio``.
    columns : tuple of (str, str)
        Role (item, rater, text, or a rater's or an item's name) and name of each column or field that was read.
    n_rows : int
        Rows, records or tasks.
    n_blank : int
        Empty cells, whatever they count as.
    n_repeated : int
        Rows beyond the first of one rater on one item.
    empty : {"missing", "none"}
        What an empty cell counts as.
    """

    format: str
    columns: tuple[tuple[str, str], ...] = ()
    n_rows: int = 0
    n_blank: int = 0
    n_repeated: int = 0
    empty: str = "none"

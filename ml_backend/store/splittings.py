"""How the answers to each field of a project are split, once that is decided."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Tables
from ml_backend.store.schema import projects
from softirr.meaning.policy.splitting import Splitting

__all__ = ["FEWEST_ANSWERS", "Decision", "SplittingStore"]

FEWEST_ANSWERS = 100
"""Number of answers to a field from which a decision stays; with fewer, it is made again when answers change."""


@dataclass(frozen=True)
class Decision:
    """How the answers of a field are split.

    Attributes
    ----------
    splitting : Splitting
    answers : int
        Number of answers when it was decided.
    at : float
        When.
    """

    splitting: Splitting
    answers: int
    at: float = 0.0

    @property
    def stays(self) -> bool:
        """Whether later answers no longer change it."""
        return self.answers >= FEWEST_ANSWERS

    def to_dict(self) -> dict[str, Any]:
        """Return the part of the decision that belongs to the hash of an answer."""
        return {"mode": self.splitting.mode, "marks": list(self.splitting.marks), "joiner": self.splitting.joiner}


class SplittingStore(Tables):
    """Reads and writes the decisions in the project's row."""

    def decisions(self, project: int) -> dict[str, Decision]:
        """Return how the answers to each field are split."""
        stored = self.scalar(sa.select(projects.c.splittings).where(projects.c.id == project)) or {}
        return {
            name: Decision(
                Splitting(entry["mode"], tuple(entry["marks"]), frozenset(entry["alone"]), entry["joiner"]),
                entry["answers"],
                entry["at"],
            )
            for name, entry in stored.items()
        }

    def put(self, project: int, decisions: Mapping[str, Decision]) -> None:
        """Replace all decisions of a project; without any, the next run decides."""
        values = {
            name: decision.to_dict()
            | {"alone": sorted(decision.splitting.alone), "answers": decision.answers, "at": decision.at or time.time()}
            for name, decision in decisions.items()
        }
        self.execute(sa.update(projects).where(projects.c.id == project).values(splittings=values))

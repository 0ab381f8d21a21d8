"""Storage of how the answers of each field of a project are split, once that was decided."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Tables
from ml_backend.store.schema import splittings, tasks
from softirr.meaning.policy.splitting import Splitting

__all__ = ["FEWEST_ANSWERS", "Decision", "SplittingStore"]

FEWEST_ANSWERS = 100
"""Answers to a field from which on a decision stays; with fewer it is made again when answers change."""


@dataclass(frozen=True)
class Decision:
    """How the answers of a field are split.

    Attributes
    ----------
    splitting : Splitting
    answers : int
        Answers that were there when it was decided.
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
        """What an answer keeps of it: with another decision it is another answer."""
        return {"mode": self.splitting.mode, "marks": list(self.splitting.marks), "joiner": self.splitting.joiner}


class SplittingStore(Tables):
    """Reads and writes the decisions in the store's database."""

    def decisions(self, project: int) -> dict[str, Decision]:
        """Field -> how its answers are split."""
        decisions = {}
        for row in self.rows(sa.select(splittings).where(splittings.c.project == project)):
            splitting = Splitting(row["mode"], tuple(row["marks"]), frozenset(row["alone"]), row["joiner"])
            decisions[row["control"]] = Decision(splitting, row["answers"], row["at"])
        return decisions

    def put(self, project: int, control: str, decision: Decision) -> None:
        """Store a decision."""
        splitting = decision.splitting
        values = {
            "mode": splitting.mode,
            "marks": list(splitting.marks),
            "joiner": splitting.joiner,
            "alone": sorted(splitting.alone),
            "answers": decision.answers,
            "at": decision.at or time.time(),
        }
        self.execute(self.upsert(splittings, ("project", "control"), project=project, control=control, **values))

    def forget(self, project: int) -> None:
        """Forget all decisions of a project, so that the next run decides."""
        self.execute(sa.delete(splittings).where(splittings.c.project == project))

    def put_answers(self, project: int, changed: Iterable[tuple[int, Mapping[str, Any], str]]) -> None:
        """Store the answers of tasks as they are split now: number, answers, hash."""
        update = (
            sa.update(tasks)
            .where(tasks.c.project == project, tasks.c.number == sa.bindparam("b_number"))
            .values(answers=sa.bindparam("b_answers", type_=sa.JSON), answers_hash=sa.bindparam("b_hash"))
        )
        rows = [{"b_number": n, "b_answers": dict(answers), "b_hash": hash} for n, answers, hash in changed]
        if rows:
            self.execute(update, rows)

"""Storage of reviewers' decisions: a log in which the newest row of a pair of texts counts."""

import hashlib
import json
import time
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Database, Row, in_parts
from ml_backend.store.schema import decisions
from softirr.errors import InputError
from softirr.text import normalize

__all__ = ["DecisionStore", "pair_hash"]


def pair_hash(text_a: str, text_b: str) -> str:
    """Hash of an unordered pair of normalized texts."""
    return hashlib.sha256(json.dumps(sorted((text_a, text_b))).encode()).hexdigest()


class DecisionStore(Database):
    """Reads and writes the decisions in the store's database."""

    def decide(
        self,
        project: int,
        text_a: str,
        text_b: str,
        *,
        same: bool,
        reviewer: str = "",
        reviewer_id: str = "",
        known_by: str = "",
        task: int | None = None,
    ) -> None:
        """Store a decision that two texts mean the same, or not; a later decision replaces an earlier one.

        Parameters
        ----------
        reviewer, reviewer_id, known_by : str
            The person's name, their user in Label Studio, and what showed that it was them.
        """
        first, second = sorted((normalize(text_a), normalize(text_b)))
        if not first or not second:
            raise InputError("A judgment needs two texts.")
        row = {"text_a": first, "text_b": second, "same": same, "task": task, "withdrawn": False}
        self._log(project, row, reviewer, reviewer_id, known_by)

    def undecide(
        self,
        project: int,
        text_a: str,
        text_b: str,
        *,
        reviewer: str = "",
        reviewer_id: str = "",
        known_by: str = "",
    ) -> bool:
        """Undo a decision, which adds a row to the log; False if there was none."""
        pair = pair_hash(normalize(text_a), normalize(text_b))
        decision = next((row for row in self.decisions(project) if row["pair"] == pair), None)
        if decision is None:
            return False
        kept = {name: decision[name] for name in ("text_a", "text_b", "same", "task")}
        self._log(project, {**kept, "withdrawn": True}, reviewer, reviewer_id, known_by)
        return True

    def _log(self, project: int, row: Mapping[str, Any], reviewer: str, reviewer_id: str, known_by: str) -> None:
        who = {"reviewer": reviewer[:256], "reviewer_id": reviewer_id[:64], "known_by": known_by}
        values = {"project": project, "pair": pair_hash(row["text_a"], row["text_b"]), "decided_at": time.time(), **row}
        self.insert(decisions, **values, **who)

    def decisions(self, project: int, *, texts: Collection[str] | None = None) -> list[Row]:
        """The current decisions of a project, oldest first.

        Parameters
        ----------
        texts : collection, optional
            Only those whose two texts are both among these.
        """
        newest = sa.select(sa.func.max(decisions.c.id)).where(decisions.c.project == project)
        query = sa.select(decisions).order_by(decisions.c.id).where(sa.not_(decisions.c.withdrawn))
        if texts is None:
            return self.rows(query.where(decisions.c.id.in_(newest.group_by(decisions.c.pair))))
        wanted = list(dict.fromkeys(map(normalize, texts)))
        listed: list[Row] = []
        for part in in_parts(wanted):
            held = newest.where(decisions.c.text_a.in_(part)).group_by(decisions.c.pair)
            listed += self.rows(query.where(decisions.c.id.in_(held)))
        known = set(wanted)
        return sorted((row for row in listed if row["text_b"] in known), key=lambda row: row["id"])

    def decision_log(self, project: int) -> list[Row]:
        """All decisions and withdrawals, oldest first."""
        return self.rows(sa.select(decisions).where(decisions.c.project == project).order_by(decisions.c.id))

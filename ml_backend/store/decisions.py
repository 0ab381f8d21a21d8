"""Reviewers' decisions about pairs of texts: the newest act about a pair counts."""

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from ml_backend.store.acts import ActStore
from ml_backend.store.database import Row
from ml_backend.store.schema import DECISION
from softirr.errors import InputError
from softirr.text import normalize


def pair_hash(text_a: str, text_b: str) -> str:
    """Hash of an unordered pair of normalized texts."""
    return hashlib.sha256(json.dumps(sorted((text_a, text_b))).encode()).hexdigest()


class DecisionStore(ActStore):
    """Reads and writes the decisions in the store's database."""

    def decide(
        self,
        project: int,
        text_a: str,
        text_b: str,
        *,
        same: bool,
        task: int | None = None,
        cause: str | None = None,
        **signature: str,
    ) -> None:
        """Store a decision that two texts mean the same, or not; a later decision replaces an earlier one.

        Parameters
        ----------
        cause : str, optional
            Why the annotators disagreed (`ml_backend.web.panel_state.CAUSES`).
        **signature
            The person's name, their user in Label Studio, and how they were identified
            (``reviewer``, ``reviewer_id``, ``known_by``).
        """
        first, second = sorted((normalize(text_a), normalize(text_b)))
        if not first or not second:
            raise InputError("A judgment needs two texts.")
        content = {"text_a": first, "text_b": second, "same": same, "cause": cause}
        self.add_act(project, DECISION, task=task, pair=pair_hash(first, second), content=content, **signature)

    def undecide(self, project: int, text_a: str, text_b: str, **signature: str) -> bool:
        """Undo a decision, which adds an act; False if there was none."""
        pair = pair_hash(normalize(text_a), normalize(text_b))
        decision = next((row for row in self.decisions(project) if row["pair"] == pair), None)
        if decision is None:
            return False
        content = {name: decision[name] for name in ("text_a", "text_b", "same")}
        values: dict[str, Any] = {"task": decision["task"], "pair": pair, "content": content, "withdrawn": True}
        self.add_act(project, DECISION, **values, **signature)
        return True

    def decisions(self, project: int, *, texts: Collection[str] | None = None) -> list[Row]:
        """Return the current decisions of a project, oldest first.

        Parameters
        ----------
        texts : collection, optional
            Only decisions with both texts among these.
        """
        newest = {row["pair"]: row for row in self.decision_log(project)}
        current = sorted((row for row in newest.values() if not row["withdrawn"]), key=lambda row: row["id"])
        if texts is None:
            return current
        normalized = set(map(normalize, texts))
        return [row for row in current if row["text_a"] in normalized and row["text_b"] in normalized]

    def decision_log(self, project: int) -> list[Row]:
        """Return all decisions and withdrawals, oldest first."""
        return [_decision(row) for row in self.acts(project, DECISION)]


def _decision(row: Row) -> dict[str, Any]:
    content: Mapping[str, Any] = row["content"]
    names = ("id", "project", "pair", "task", "reviewer", "reviewer_id", "known_by", "withdrawn")
    return {**{name: row[name] for name in names}, **content, "decided_at": row["at"]}

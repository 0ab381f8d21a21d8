"""The append-only log of reviewers' acts: decisions about pairs of texts, and agreed answers.

The newest act about a pair, or about a field of a task, counts.
"""

import hashlib
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row, Tables, in_parts
from ml_backend.store.schema import AGREED, DECISION, acts
from softirr.errors import InputError
from softirr.text import normalize

PANEL = "panel"
GROUND_TRUTH = "ground truth"
_CONTENT = ("texts", "source", "annotation", "edited", "given_hash")


class ActStore(Tables):
    """Reads and extends the log in the store's database."""

    def add_act(
        self,
        project: int,
        kind: str,
        *,
        reviewer: str = "",
        reviewer_id: str = "",
        **values: Any,
    ) -> int:
        """Add an act; returns its number."""
        signed = {"reviewer": reviewer[:256], "reviewer_id": reviewer_id[:64]}
        return self.insert(acts, project=project, kind=kind, **{"at": time.time(), **signed, **values})

    def acts(self, project: int, *kinds: str, tasks: Collection[int] | None = None) -> list[Row]:
        """Return the acts of these kinds, oldest first.

        Parameters
        ----------
        tasks : collection of int, optional
            Only acts about these tasks.
        """
        query = sa.select(acts).where(acts.c.project == project, acts.c.kind.in_(kinds)).order_by(acts.c.id)
        if tasks is None:
            return self.rows(query)
        chunks = in_parts(sorted(set(tasks)))
        listed = [row for chunk in chunks for row in self.rows(query.where(acts.c.task.in_(chunk)))]
        return sorted(listed, key=lambda row: row["id"])


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

    def decisions(self, project: int) -> list[Row]:
        """Return the current decisions of a project, oldest first."""
        newest = {row["pair"]: row for row in self.decision_log(project)}
        return sorted((row for row in newest.values() if not row["withdrawn"]), key=lambda row: row["id"])

    def decision_log(self, project: int) -> list[Row]:
        """Return all decisions and withdrawals, oldest first."""
        return [_decision(row) for row in self.acts(project, DECISION)]


def _decision(row: Row) -> dict[str, Any]:
    content: Mapping[str, Any] = row["content"]
    names = ("id", "project", "pair", "task", "reviewer", "reviewer_id", "known_by", "withdrawn")
    return {**{name: row[name] for name in names}, **content, "decided_at": row["at"]}


@dataclass(frozen=True)
class AcceptedAnswer:
    """The answer that a reviewer accepted.

    Attributes
    ----------
    edited : bool, optional
        Whether it differs from the suggestion.
    given_hash : str
        Hash of the annotators' answers at that time (`given_hash`).
    annotation : int, optional
        The annotation in Label Studio that contains the answer as ground truth.
    """

    texts: Sequence[str]
    edited: bool | None = None
    given_hash: str = ""
    annotation: int | None = None


class AgreedStore(ActStore):
    """Reads and writes the agreed answers in the store's database."""

    def agree(self, project: int, task: int, control: str, answer: AcceptedAnswer, **signature: str) -> int:
        """Store what a reviewer accepted as the answer of a task's field; returns its number.

        A later answer replaces an earlier one.
        """
        content = asdict(answer) | {"texts": list(answer.texts), "source": PANEL}
        return self.add_act(project, AGREED, task=task, control=control, content=content, **signature)

    def withdraw(self, project: int, number: int, **signature: str) -> bool:
        """Withdraw an agreed answer, which adds an act; False if it is not a current one."""
        current = next((row for row in self.current(project) if row["id"] == number), None)
        if current is None:
            return False
        self._withdraw(current, **signature)
        return True

    def current(self, project: int, *, tasks: Collection[int] | None = None, control: str | None = None) -> list[Row]:
        """Return the agreed answers of a project by task and field, of these tasks or of all."""
        newest = {(row["task"], row["control"]): row for row in self.log(project, tasks=tasks)}
        listed = [row for row in newest.values() if not row["withdrawn"] and control in (None, row["control"])]
        return sorted(listed, key=lambda row: (row["task"], row["control"]))

    def log(self, project: int, *, tasks: Collection[int] | None = None) -> list[Row]:
        """Return all agreed answers and withdrawals, oldest first."""
        return [_agreed(row) for row in self.acts(project, AGREED, tasks=tasks)]

    def state(self, project: int) -> tuple[int, int]:
        """Return the number of acts and the newest of them; changes whenever an agreed answer does."""
        query = sa.select(sa.func.count().label("n"), sa.func.max(acts.c.id).label("last"))
        (row,) = self.rows(query.where(acts.c.project == project, acts.c.kind == AGREED))
        return int(row["n"]), int(row["last"] or 0)

    def note_read(
        self,
        project: int,
        read: Mapping[int, Mapping[str, Mapping[str, Any]]],
        starred: Mapping[int, int | None],
        *,
        asked_at: float,
    ) -> int:
        """Record the ground truths of tasks that were read from Label Studio; returns the number of new acts.

        A known ground truth adds nothing. An annotation that is gone withdraws its answer, unless a reviewer accepted
        another one since.

        Parameters
        ----------
        read : mapping
            Task -> field -> texts, source, annotation, edited, given_hash, reviewer, reviewer_id and at
            (`ml_backend.labelstudio.agreed.agreed_in`).
        starred : mapping
            Task -> the annotation that is its ground truth.
        asked_at : float
            Time at which Label Studio was asked; a later act stays.
        """
        newest: dict[tuple[int, str], Row] = {}
        for row in self.log(project, tasks=list(read)):
            newest[row["task"], row["control"]] = row
        n = 0
        in_label_studio = [(task, control) for task, answers in read.items() for control in answers]
        for task, control in dict.fromkeys(in_label_studio + list(newest)):
            answer, last = read[task].get(control), newest.get((task, control))
            if answer is not None and not _is_known(answer, last):
                content = {name: answer.get(name) for name in _CONTENT}
                signature = {name: answer[name] for name in ("reviewer", "reviewer_id", "at")}
                values: dict[str, Any] = {"task": task, "control": control, "content": content}
                self.add_act(project, AGREED, known_by="label studio", **values, **signature)
            elif answer is None and last is not None and last["at"] < asked_at and _is_gone(last, starred[task]):
                self._withdraw(last, known_by="label studio")
            else:
                continue
            n += 1
        return n

    def _withdraw(self, row: Row, **signature: str) -> None:
        content = {name: row[name] for name in _CONTENT}
        values: dict[str, Any] = {"task": row["task"], "control": row["control"], "content": content, "withdrawn": True}
        self.add_act(row["project"], AGREED, **values, **signature)


def _is_known(answer: Mapping[str, Any], last: Row | None) -> bool:
    """Whether the newest act is about the same annotation with the same texts."""
    if last is None or last["withdrawn"]:
        return False
    return all(last[name] == answer[name] for name in ("annotation", "texts"))


def _is_gone(last: Row, starred: int | None) -> bool:
    """Whether the annotation of an agreed answer is no longer the task's ground truth."""
    return not last["withdrawn"] and last["annotation"] not in (None, starred)


def _agreed(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("content", "pair")} | {
        name: row["content"].get(name) for name in _CONTENT
    }


def given_hash(answers: Mapping[str, Any]) -> str:
    """Hash of the annotators' answers to one field; an agreed answer may be outdated when it changes."""
    texts = [answers.get("answers"), answers.get("groups")]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:32]

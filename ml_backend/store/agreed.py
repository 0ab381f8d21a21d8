"""Storage of the consensus: what a task's answer is by agreement, as it was edited and accepted."""

import hashlib
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.store.database import Row, Tables, in_parts
from ml_backend.store.schema import agreed_answers

__all__ = ["ANNOTATION", "GROUND_TRUTH", "PANEL", "AgreedStore", "given_hash"]

PANEL = "panel"
ANNOTATION = "annotation"
GROUND_TRUTH = "ground truth"
_IN_LABEL_STUDIO = (ANNOTATION, GROUND_TRUTH)


class AgreedStore(Tables):
    """Reads and writes the agreed answers in the store's database."""

    def agree(
        self,
        project: int,
        task: int,
        control: str,
        texts: Sequence[str],
        *,
        codes: Mapping[str, Any] | None = None,
        edited: bool | None = None,
        given_hash: str = "",
        annotation: int | None = None,
        reviewer: str = "",
        reviewer_id: str = "",
        known_by: str = "",
    ) -> int:
        """Store what a reviewer accepted as the answer of a task's field; returns its number.

        A later answer replaces an earlier one.
        """
        return self._add(
            project=project,
            task=task,
            control=control,
            texts=list(texts),
            codes=None if codes is None else dict(codes),
            source=PANEL,
            annotation=annotation,
            edited=edited,
            given_hash=given_hash,
            reviewer=reviewer[:256],
            reviewer_id=reviewer_id[:64],
            known_by=known_by,
        )

    def withdraw(
        self, project: int, number: int, *, reviewer: str = "", reviewer_id: str = "", known_by: str = ""
    ) -> bool:
        """Withdraw an agreed answer, which adds a row to the log; False if it is not a current one."""
        current = next((row for row in self.current(project) if row["id"] == number), None)
        if current is None:
            return False
        kept = {
            name: current[name] for name in ("project", "task", "control", "texts", "codes", "edited", "given_hash")
        }
        who = {"reviewer": reviewer[:256], "reviewer_id": reviewer_id[:64], "known_by": known_by}
        self._add(**kept, source=PANEL, withdrawn=True, **who)
        return True

    def current(self, project: int, *, tasks: Collection[int] | None = None, control: str | None = None) -> list[Row]:
        """The agreed answers of a project by task and field, of these tasks or of all."""
        table = agreed_answers
        here = [table.c.project == project] + ([] if control is None else [table.c.control == control])
        answers: list[Row] = []
        for among in _among(tasks):
            newest = sa.select(sa.func.max(table.c.id)).where(*here, among).group_by(table.c.task, table.c.control)
            query = sa.select(table).where(table.c.id.in_(newest), sa.not_(table.c.withdrawn))
            answers += self.rows(query.order_by(table.c.task, table.c.control))
        return answers

    def log(self, project: int, *, tasks: Collection[int] | None = None) -> list[Row]:
        """All agreed answers and withdrawals, oldest first."""
        query = sa.select(agreed_answers).where(agreed_answers.c.project == project)
        log = [row for among in _among(tasks) for row in self.rows(query.where(among))]
        return sorted(log, key=lambda row: row["id"])

    def state(self, project: int) -> tuple[int, int]:
        """Number of rows of the log and the newest of them; changes whenever the consensus does."""
        table = agreed_answers
        query = sa.select(sa.func.count(), sa.func.max(table.c.id)).where(table.c.project == project)
        ((n, last),) = (row.values() for row in self.rows(query))
        return int(n), int(last or 0)

    def note_read(
        self,
        project: int,
        read: Mapping[int, Mapping[str, Mapping[str, Any]]],
        *,
        codes: Callable[[Sequence[str]], dict[str, Any] | None] = lambda _: None,
    ) -> int:
        """Note what tasks that were just read from Label Studio hold as agreed answers; returns the number of new rows.

        What is known already adds nothing. An annotation that is gone withdraws its answer, unless a reviewer accepted
        another one since.

        Parameters
        ----------
        read : mapping
            Task -> field -> texts, source, annotation, edited, reviewer, reviewer_id, at and given_hash.
        codes : callable
            The concepts of texts, where the project has a terminology.
        """
        known: dict[tuple[int, str], list[Row]] = {}
        for row in self.log(project, tasks=list(read)):
            known.setdefault((row["task"], row["control"]), []).append(row)
        places = dict.fromkeys([(task, name) for task, answer in read.items() for name in answer] + list(known))
        n = 0
        for task, control in places:
            answer = read[task].get(control)
            before = known.get((task, control), [])
            last = next((row for row in reversed(before) if row["source"] in _IN_LABEL_STUDIO), None)
            if answer is not None:
                compared = ("source", "annotation", "texts")
                if last is None or last["withdrawn"] or any(last[name] != answer[name] for name in compared):
                    own = {"codes": codes(answer["texts"]), "known_by": "label studio"}
                    self._add(project=project, task=task, control=control, **own, **answer)
                    n += 1
            elif last is not None and not last["withdrawn"] and before[-1] is last:
                kept = {name: last[name] for name in last if name not in ("id", "at", "withdrawn")}
                self._add(**kept, withdrawn=True)
                n += 1
        return n

    def _add(self, **values: Any) -> int:
        return self.insert(agreed_answers, **{"at": time.time(), **values})


def given_hash(answers: Mapping[str, Any]) -> str:
    """Hash of the annotators' answers to one field: an agreed answer may be outdated once it is another one."""
    given = [answers.get("answers"), answers.get("groups")]
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:32]


def _among(tasks: Collection[int] | None) -> list[sa.ColumnElement[bool]]:
    """Conditions that name these tasks, as many as one query can name each; every task where they are None."""
    if tasks is None:
        return [sa.true()]
    return [agreed_answers.c.task.in_(part) for part in in_parts(sorted(set(tasks)))]

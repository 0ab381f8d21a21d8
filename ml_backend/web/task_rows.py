"""Rows of tasks for the report and the list of tasks: the sentence about a task, and its priority in the queue.

They are cached, so that only changed tasks are read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ml_backend.labelstudio.answers import texts_of
from ml_backend.review.release import n_given
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.task_score import counted_fields
from ml_backend.store.schema import tasks
from ml_backend.store.store import Store
from ml_backend.web.panel_cards import sentence_field
from softirr.answers.labelstudio_results import readable_name
from softirr.numbers import plural
from softirr.report.task_sentence import LONGEST_SENTENCE, isolated, listed, task_sentence
from softirr.report.view.rows import priority

BATCH = 500
_COLUMNS = (tasks.c.number, tasks.c.n_annotations, tasks.c.answers, tasks.c.answers_hash, tasks.c.details)
TaskRow = dict[str, Any]
"""number, answers_hash, n_given, agreement, n_raters, pairs, sentence, and priority (None without an agreement)."""


@dataclass(frozen=True)
class Context:
    """Names, decisions and preparation that the sentences about tasks depend on.

    Attributes
    ----------
    names : mapping
        Display names of the annotators.
    decisions : sequence of mapping
        Reviewers' decisions in the project.
    preparation : AnswerPreparation
        How the raw answers are prepared.
    """

    names: Mapping[str, str]
    decisions: Sequence[Mapping[str, Any]]
    preparation: AnswerPreparation

    @property
    def threshold(self) -> float:
        """Equivalence from which two texts match."""
        return self.preparation.settings.threshold

    @property
    def version(self) -> Hashable:
        """Changes whenever a sentence may change."""
        newest = self.decisions[-1]["id"] if self.decisions else 0
        return tuple(sorted(self.names.items())), len(self.decisions), newest, self.threshold


class TaskRows:
    """Reads the tasks of projects by field; thread-safe.

    Parameters
    ----------
    n_cached : int
        Maximum number of cached fields; the least recently used field is dropped.
    """

    def __init__(self, store: Store, *, n_cached: int = 6):
        self._store, self._n_cached = store, n_cached
        self._cache: OrderedDict[Hashable, dict[int, tuple[Any, TaskRow]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, project: int, control: str | None, context: Context) -> list[TaskRow]:
        """Return the tasks of a project by number, of one field or over all fields."""
        key = project, control, context.version
        with self._lock:
            cached = self._cache.get(key, {})
        stamps = self._stamps(project)
        changed = [number for number, stamp in stamps.items() if number not in cached or cached[number][0] != stamp]
        fresh = {number: cached[number] for number in stamps if number in cached}
        for start in range(0, len(changed), BATCH):
            for row in self._read(project, changed[start : start + BATCH]):
                fresh[row.number] = stamps[row.number], _task_row(row, control, context)
        with self._lock:
            self._cache[key] = fresh
            self._cache.move_to_end(key)
            while len(self._cache) > self._n_cached:
                self._cache.popitem(last=False)
        return [fresh[number][1] for number in stamps if number in fresh]

    def _stamps(self, project: int) -> dict[int, tuple[Any, ...]]:
        """Return a value by task number that changes when the task changes."""
        columns = tasks.c.number, tasks.c.answers_hash, tasks.c.scored_at, tasks.c.updated_at
        query = sa.select(*columns).where(tasks.c.project == project).order_by(tasks.c.number)
        with self._store.engine.connect() as connection:
            return {number: tuple(stamp) for number, *stamp in connection.execute(query)}

    def _read(self, project: int, numbers: Sequence[int]) -> Sequence[Any]:
        query = sa.select(*_COLUMNS).where(tasks.c.project == project, tasks.c.number.in_(numbers))
        with self._store.engine.connect() as connection:
            return connection.execute(query).all()


def _task_row(row: Any, control: str | None, context: Context) -> TaskRow:
    details = (row.details or {}).get("controls", {})
    fields_in_score: Mapping[str, Any] = counted_fields(row.details) if row.details else {}
    fields = fields_in_score if control is None else {name: field for name, field in details.items() if name == control}
    values = [field["agreement"] for field in fields.values() if field["agreement"] is not None]
    agreement = sum(values) / len(values) if values else None
    pairs = [pair for field in fields.values() for pair in field["pairs"]]
    sentence = ""
    if agreement is not None:
        answers = {name: entry for name, entry in row.answers.items() if name in fields} or row.answers
        prepared = context.preparation.task({"number": row.number, "answers": answers})
        task = {**prepared, "details": {"controls": fields}}
        sentence = sentence_of(task, context.names, context.decisions, threshold=context.threshold)
    task_row = {
        "number": row.number,
        "answers_hash": row.answers_hash,
        "n_given": n_given(row.n_annotations, row.answers),
        "agreement": agreement,
        "n_raters": len({rater for a, b, _ in pairs for rater in (a, b)}),
        "pairs": [{"raters": [a, b], "equivalence": value} for a, b, value in pairs],
        "sentence": sentence,
    }
    return task_row | {"priority": priority(task_row)}


def sentence_of(
    task: Mapping[str, Any], names: Mapping[str, str], decisions: Sequence[Mapping[str, Any]], *, threshold: float
) -> str:
    """Return one sentence of at most `LONGEST_SENTENCE` characters about the field with the lowest agreement.

    Parameters
    ----------
    task : mapping
        A scored row of the store, with ``answers`` and ``details``.
    names : mapping
        Display names of the annotators.
    decisions : sequence of mapping
        Reviewers' decisions on the task's texts.
    """
    controls = task["details"]["controls"]
    scored = {name: entry for name, entry in controls.items() if entry["agreement"] is not None}
    texts = {name: entry for name, entry in texts_of(task["answers"]).items() if name in scored}
    if not texts:
        return _values_sentence([name for name, entry in scored.items() if entry["agreement"] < 1])
    name = min(texts, key=lambda name: scored[name]["agreement"])
    field = sentence_field(texts[name], scored[name], decisions)
    sentence = task_sentence(field, names, threshold=threshold)
    prefix = f"{isolated(readable_name(name))}: " if len(texts) > 1 else ""
    return f"{prefix}{sentence}" if len(prefix) + len(sentence) <= LONGEST_SENTENCE else sentence


def _values_sentence(differing: Sequence[str]) -> str:
    """Return the sentence about a task without texts, from the names of the fields in which values differ."""
    if not differing:
        return "All annotators agree."
    sentence = f"The annotators differ in {listed([isolated(readable_name(name)) for name in differing])}."
    if len(sentence) <= LONGEST_SENTENCE:
        return sentence
    return f"The annotators differ in {plural(len(differing), 'field')}."

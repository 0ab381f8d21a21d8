"""A cache of each task's values in reports, so that only changed tasks of a large project are read again."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.review.release import n_given
from ml_backend.review.triage_queue import candidate
from ml_backend.scoring.task_score import counted_fields
from ml_backend.store.schema import tasks
from ml_backend.store.store import Store
from softirr.report.next_step import pairs_to_judge

AT_ONCE = 500  # tasks of one query

COLUMNS = (
    *(tasks.c.number, tasks.c.updated_at, tasks.c.n_annotations, tasks.c.answers, tasks.c.answers_hash),
    *(tasks.c.scored_hash, tasks.c.details, tasks.c.facts),
)
"""What :func:`task_row` needs of a task."""

TaskRow = dict[str, Any]
"""number, updated_at, answers_hash, n_given, agreement, raters, excluded (rater, reason), candidate (of the triage queue, or None), text (the first one), to_judge
(pairs of texts, see :func:`softirr.report.next_step.pairs_to_judge`), why (the most frequent reason in words), day (of
the last answer), and places (of regions)"""
LONGEST_TEXT = 80
LONGEST_REASON = 160


class TaskRows:
    """Reads the tasks of projects by field; thread-safe.

    Parameters
    ----------
    kept : int
        Number of fields whose tasks are cached, the most recently used ones.
    """

    def __init__(self, store: Store, *, kept: int = 6):
        self._store, self._kept = store, kept
        self._known: OrderedDict[tuple[int, str | None], dict[int, tuple[Any, TaskRow]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, project: int, control: str | None) -> list[TaskRow]:
        """Tasks of a project by number, of one field or of all fields."""
        with self._lock:
            known = self._known.get((project, control), {})
        stamps = self._stamps(project)
        changed = [number for number, stamp in stamps.items() if number not in known or known[number][0] != stamp]
        fresh = {number: known[number] for number in stamps if number in known}
        for start in range(0, len(changed), AT_ONCE):
            for row in self._read(project, changed[start : start + AT_ONCE]):
                fresh[row.number] = stamps[row.number], task_row(row, control)
        with self._lock:
            self._known[project, control] = fresh
            self._known.move_to_end((project, control))
            while len(self._known) > self._kept:
                self._known.popitem(last=False)
        return [fresh[number][1] for number in stamps if number in fresh]

    def _stamps(self, project: int) -> dict[int, tuple[Any, ...]]:
        """A value by task number that changes when the task changes."""
        columns = (
            *(tasks.c.number, tasks.c.answers_hash, tasks.c.scored_at, tasks.c.updated_at),
            tasks.c.facts.is_(None).label("without_facts"),
        )
        query = sa.select(*columns).where(tasks.c.project == project).order_by(tasks.c.number)
        with self._store.engine.connect() as connection:
            return {number: tuple(rest) for number, *rest in connection.execute(query)}

    def _read(self, project: int, numbers: Sequence[int]) -> Sequence[Any]:
        query = sa.select(*COLUMNS).where(tasks.c.project == project, tasks.c.number.in_(numbers))
        with self._store.engine.connect() as connection:
            return connection.execute(query).all()


def task_row(row: Any, control: str | None) -> TaskRow:
    """A stored task as the report sees it, of one control or over all; `row` has the columns that `TaskRows` reads."""
    details = (row.details or {}).get("controls", {})
    counted: Mapping[str, Any] = counted_fields(row.details) if row.details else {}
    fields = counted if control is None else {name: one for name, one in details.items() if name == control}
    values = [one["agreement"] for one in fields.values() if one["agreement"] is not None]
    answers = [row.answers[name] for name in (row.answers if control is None else [control]) if name in row.answers]
    agreement = sum(values) / len(values) if values else None
    pairs = [pair for one in fields.values() for pair in one["pairs"]]
    texts = {name: one for name, one in fields.items() if "kind" not in one}
    unmatched = {f"{name}:{rater}": own for name, one in texts.items() for rater, own in one["unmatched"].items()}
    reasons = [one for field in texts.values() for one in field.get("reasons", ())]
    priority = None if agreement is None else candidate(row.number, agreement, pairs, unmatched, reasons)
    kind = next(iter(priority.kinds), None) if priority is not None else None
    given = (text for entry in answers for own in entry["answers"].values() for text in own)
    return {
        "number": row.number,
        "updated_at": row.updated_at,
        "answers_hash": row.answers_hash,
        "n_given": n_given(row.n_annotations, row.answers),
        "agreement": agreement,
        "raters": list(dict.fromkeys(rater for entry in answers for rater in entry["answers"])),
        "excluded": [(str(rater), reason) for entry in answers for rater, reason in entry["excluded"]],
        "candidate": priority,
        "text": shortened(next(given, ""), LONGEST_TEXT),
        "to_judge": pairs_to_judge(list(entry["answers"].values()) for entry in answers),
        **_facts(row, texts, answers),
        "why": shortened(
            next((one["words"] for one in reasons if one["kind"] == kind), "") or _different(row, fields),
            LONGEST_REASON,
        ),
    }


def _different(row: Any, fields: Mapping[str, Mapping[str, Any]]) -> str:
    """The answers to the field that is no text and has the lowest agreement."""
    others = {name: one for name, one in fields.items() if "kind" in one}
    lowest = min(others, key=lambda name: others[name]["agreement"], default=None)
    entry = ((row.facts or {}).get("fields") or {}).get(lowest)
    if lowest is None or entry is None or others[lowest]["agreement"] >= 1:
        return ""
    values = dict.fromkeys("; ".join(given) or "nothing" for given in entry["answers"].values())
    return f"{lowest}: {' / '.join(values)}"


def _facts(row: Any, texts: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the task is dated by, and its regions."""
    facts = row.facts or {}
    days, changed = facts.get("days", {}), (row.updated_at or "")[:10]
    counted = [days[rater] for entry in answers for rater in entry["answers"] if rater in days]
    places = [
        place for name, one in texts.items() for place in _places(row, (facts.get("places") or {}).get(name), one)
    ]
    return {
        "day": sys.intern(max(counted, default=changed)),
        "places": places,
    }


def _places(row: Any, known: Any, details: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The places of a task's regions with their agreement, joined by the number of the place.

    There are none while the scores are of older answers, whose places had other numbers, nor for tasks that were read
    by a version that kept places as a list, in an order that was not always by their agreement.
    """
    if not isinstance(known, Mapping) or row.scored_hash != row.answers_hash:
        return []
    values = details.get("places") or {}
    if not isinstance(values, Mapping):  # as older versions stored them, in the order of the numbers
        values = {str(number): value for number, value in enumerate(values)}
    return [{**place, "agreement": values[number]} for number, place in known.items() if number in values]


def shortened(text: str, longest: int) -> str:
    """The text, or its start and an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"

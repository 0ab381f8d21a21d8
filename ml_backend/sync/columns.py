"""Columns of the triage tab, written into the tasks' data: Label Studio Community shows no other columns of ours.

A value is written for all tasks that have it at once (the Data Manager's action "Add Or Modify Data Field"), so that
the number of requests depends on the number of different values, and neither webhooks nor ``updated_at`` follow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.labelstudio import triage
from ml_backend.labelstudio.client import Client
from ml_backend.report.task_cache import COLUMNS, task_row
from ml_backend.review.triage_queue import Candidate, mark_state
from ml_backend.store.database import in_parts
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store
from ml_backend.sync.notes import Note
from softirr.meaning.policy.reasons import REASON_NAMES

__all__ = ["values_of", "write"]

WRITE_AT_ONCE = 2000
_CLASS = {"ready": 30.0, "waiting": 20.0, "sent back": 10.0, "done": 0.0}
"""Added to the priority, which is below 3, so that one column has the order of the queue."""


def write(
    store: Store,
    client: Client,
    project: Row,
    *,
    full: bool = False,
    report: Callable[[int, int], None] = lambda *_: None,
    check: Callable[[], None] = lambda: None,
) -> Note | None:
    """Write the columns of the tasks that changed since they were written.

    A note where the tasks have such fields of their own.

    Parameters
    ----------
    full : bool
        Let the tab show the columns although no task has changed: it is new where the project was connected again.
    """
    marks = ReviewStore(store).marks(project["id"])
    numbers, is_first = _changed(store, project["id"], marks)
    if not numbers:
        if full and not is_first:
            triage.show_columns(client, project["number"])
        return None
    if is_first and (own := triage.data_fields(client, project["number"]) & set(triage.COLUMNS)):
        return Note(
            f"The triage columns are not written: the tasks have a field {sorted(own)[0]!r} of their own.",
            f"Rename it, or run softirr-ls settings --project {project['number']} --no-triage-columns.",
        )
    for start in range(0, len(numbers), WRITE_AT_ONCE):
        part, now = numbers[start : start + WRITE_AT_ONCE], time.time()
        groups: dict[tuple[str, Any], list[int]] = {}
        for row in _read(store, project["id"], part):
            if row["candidate"] is not None:
                mark = marks.get(row["number"])
                ready = row["n_given"] >= project["required"]
                state = mark_state(mark, row["answers_hash"]) or ("ready" if ready else "waiting")
                for name, value in values_of(row["candidate"], state, mark).items():
                    groups.setdefault((name, value), []).append(row["number"])
        for done, ((name, value), group) in enumerate(groups.items()):
            check()
            report(done, len(groups))
            triage.set_field(client, project["number"], name, value, group)
        with store.writing() as connection:
            for written in in_parts(part):
                here = (tasks.c.project == project["id"]) & tasks.c.number.in_(written)
                connection.execute(sa.update(tasks).where(here).values(columns_at=now))
    triage.show_columns(client, project["number"])
    return None


def values_of(one: Candidate, state: str, mark: Row | None) -> dict[str, str | float]:
    """The columns of one task: `ml_backend.labelstudio.triage.COLUMNS` to their values.

    A task that waits for answers shows neither agreement nor reason: Label Studio shows these columns to annotators who
    have not answered yet.
    """
    if state == "waiting":
        return {"agreement": "", "reason": "", "done": "no, waits for answers", "triage": _CLASS[state]}
    who = (mark or {}).get("reviewer")
    words = f"{state} by {who}" if who and state in ("done", "sent back") else state
    return {
        "agreement": round(one.agreement, 2),
        "reason": REASON_NAMES[one.kinds[0]] if one.kinds else "",
        "done": "no" if state == "ready" else words,
        "triage": round(_CLASS[state] + one.priority, 2),
    }


def _changed(store: Store, project: int, marks: dict[int, Row]) -> tuple[list[int], bool]:
    """Tasks whose columns are missing or older than their score or their mark; whether none was written yet."""
    columns = (tasks.c.number, tasks.c.scored_at, tasks.c.columns_at)
    query = sa.select(*columns).where(tasks.c.project == project, tasks.c.agreement.is_not(None))
    changed = store.rows(query.order_by(tasks.c.number))
    numbers = []
    for row in changed:
        number, written = row["number"], row["columns_at"]
        newest = max(row["scored_at"] or 0.0, marks[number]["at"] if number in marks else 0.0)
        if written is None or written < newest:
            numbers.append(number)
    return numbers, all(row["columns_at"] is None for row in changed)


def _read(store: Store, project: int, numbers: Sequence[int]) -> list[dict[str, Any]]:
    query = sa.select(*COLUMNS).where(tasks.c.project == project)
    with store.engine.connect() as connection:
        parts = (connection.execute(query.where(tasks.c.number.in_(part))) for part in in_parts(numbers))
        return [task_row(row, None) for part in parts for row in part]

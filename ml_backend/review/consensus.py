"""The consensus of a project: which tasks have an agreed answer, which ones, and by whom."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend.review.moments import moment
from ml_backend.store.agreed import AgreedStore, given_hash
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store

__all__ = ["COLUMNS", "agreed_of_task", "answer_view", "csv_rows", "entries", "progress"]

COLUMNS = (
    *("task", "field", "text"),
    *("agreed_by", "agreed_at", "source", "edited", "answers_changed_since"),
)


def entries(store: Store, project: Row, control: str | None = None) -> list[dict[str, Any]]:
    """The agreed answers of the tasks that the project still has, by task, of one field or of all.

    `answers_changed`: annotators have changed their answers since it was agreed.
    """
    agreed = AgreedStore(store).current(project["id"], control=control)
    now: dict[tuple[int, str], str] = {}
    for number, answers in _answers(store, project["id"], {row["task"] for row in agreed}):
        now |= {(number, name): given_hash(entry) for name, entry in answers.items()}
    return [
        answer_view(row, project, now[row["task"], row["control"]])
        for row in agreed
        if (row["task"], row["control"]) in now
    ]


def answer_view(row: Row, project: Row, now: str) -> dict[str, Any]:
    """One agreed answer as pages and programs get it; `now` is the `given_hash` of the field as it is now."""
    who = project["raters"].get(row["reviewer_id"]) or row["reviewer"]
    return {
        "id": row["id"],
        "task": row["task"],
        "control": row["control"],
        "texts": list(row["texts"]),
        "source": row["source"],
        "annotation": row["annotation"],
        "edited": row["edited"],
        "who": who,
        "user": row["reviewer_id"] or None,
        "known_by": row["known_by"] or None,
        "when": moment(row["at"]),
        "answers_changed": bool(row["given_hash"]) and row["given_hash"] != now,
    }


def agreed_of_task(store: Store, project: Row, task: Row) -> dict[str, dict[str, Any]]:
    """Field -> agreed answer of one task."""
    rows = AgreedStore(store).current(project["id"], tasks=[task["number"]])
    return {
        row["control"]: answer_view(row, project, given_hash(task["answers"][row["control"]]))
        for row in rows
        if row["control"] in task["answers"]
    }


def progress(agreed: Sequence[Mapping[str, Any]], compared: Collection[int]) -> dict[str, int]:
    """How far the consensus of a field is.

    Parameters
    ----------
    agreed : sequence
        Its agreed answers (`entries`).
    compared : collection of int
        Tasks with two answers or more, which are to get one.
    """
    return {
        "agreed": len(agreed),
        "of": len({row["task"] for row in agreed} | set(compared)),
        "edited": sum(bool(row["edited"]) for row in agreed),
        "answers_changed": sum(row["answers_changed"] for row in agreed),
    }


def csv_rows(agreed: Sequence[Mapping[str, Any]]) -> Iterator[list[Any]]:
    """The agreed answers as a table, the header first: a row for each text; an empty answer has one."""
    yield list(COLUMNS)
    for row in agreed:
        signed = [row["who"], row["when"], row["source"], row["edited"], row["answers_changed"]]
        for text in row["texts"] or [""]:
            yield [row["task"], row["control"], text, *signed]


def _answers(store: Store, project: int, numbers: set[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    listed = sorted(numbers)
    for start in range(0, len(listed), 500):
        wanted = listed[start : start + 500]
        query = sa.select(tasks.c.number, tasks.c.answers).where(tasks.c.project == project, tasks.c.number.in_(wanted))
        with store.engine.connect() as connection:
            yield from [(row.number, row.answers) for row in connection.execute(query)]

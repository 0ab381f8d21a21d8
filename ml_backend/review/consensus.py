"""The consensus of a project: which tasks have an agreed answer, which ones, and by whom."""

from __future__ import annotations

from typing import Any

from ml_backend.review.moments import moment
from ml_backend.store.acts import AgreedStore, given_hash
from ml_backend.store.store import Row, Store


def entries(store: Store, project: Row, control: str | None = None) -> list[dict[str, Any]]:
    """The agreed answers of the tasks that the project still has, by task, of one field or of all.

    `answers_changed`: annotators have changed their answers since it was agreed.
    """
    agreed = AgreedStore(store).current(project["id"], control=control)
    now: dict[tuple[int, str], str] = {}
    numbers = sorted({row["task"] for row in agreed})
    for number, task in store.get_tasks(project["id"], numbers, columns=("answers",)).items():
        now |= {(number, name): given_hash(entry) for name, entry in task["answers"].items()}
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

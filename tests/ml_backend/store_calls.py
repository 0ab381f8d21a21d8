"""Rows of a store, and calls from several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa

from ml_backend.store.schema import tasks
from ml_backend.store.store import Store

HANDS = 8


def together(function: Any, n: int = HANDS) -> list[Any]:
    """Return the results of `n` threads that call a function at once."""
    with ThreadPoolExecutor(n) as pool:
        return [future.result() for future in [pool.submit(function, k) for k in range(n)]]


def read(
    number: int, words: str = "fever", *, prediction: tuple[int | None, str | None] = (None, "")
) -> dict[str, Any]:
    return {
        "number": number,
        "updated_at": "2026-11-20T12:00:00Z",
        "again_at": None,
        "n_listed": 2,
        "n_annotations": 2,
        "answers": {"findings": {"answers": {"1": [words], "2": [words]}, "excluded": []}},
        "answers_hash": f"hash of {words}",
        "facts": {},
        "prediction_id": prediction[0],
        "prediction_hash": prediction[1],
    }


def scored_at(store: Store, project: int) -> dict[int, float | None]:
    """Return when each task was scored last."""
    query = sa.select(tasks.c.number, tasks.c.scored_at).where(tasks.c.project == project)
    return {row["number"]: row["scored_at"] for row in store.rows(query)}


def n_scored(store: Store, project: int, times_before: dict[int, float | None]) -> int:
    """Return how many tasks were scored since `times_before` (`scored_at`)."""
    return sum(moment != times_before.get(number) for number, moment in scored_at(store, project).items())


def scored(number: int, words: str = "fever", desired: str | None = "wanted") -> dict[str, Any]:
    return {
        "number": number,
        "answers_hash": f"hash of {words}",
        "agreement": 0.5,
        "details": {"agreement": 0.5, "controls": {}},
        "desired": desired,
    }

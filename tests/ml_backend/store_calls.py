"""Rows of a store, and calls from several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

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


def scored(number: int, words: str = "fever", desired: str | None = "wanted") -> dict[str, Any]:
    return {
        "number": number,
        "answers_hash": f"hash of {words}",
        "agreement": 0.5,
        "details": {"agreement": 0.5, "controls": {}},
        "desired": desired,
    }

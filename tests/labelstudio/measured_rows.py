"""Rows of a table of measurements."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


class Table:
    """Rows as they come."""

    def __init__(self) -> None:
        print("| what | measured | aim |\n|---|---|---|", flush=True)

    def row(self, what: str, measured: str, aim: str = "") -> None:
        print(f"| {what} | {measured} | {aim} |", flush=True)

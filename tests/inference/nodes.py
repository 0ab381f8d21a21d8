"""Waiting for a Ray cluster."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "never came true within 120 s"
        time.sleep(0.05)

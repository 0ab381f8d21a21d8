"""Lines that a check prints, and waiting for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import requests

PATIENCE = 300.0
_began = time.monotonic()


def say(text: str) -> None:
    """One line with the time since the beginning."""
    print(f"{time.monotonic() - _began:6.0f} s  {text}", flush=True)


def seen(what: str, right: bool, value: Any = "") -> None:
    """Says what was seen; ends the check if it is not right."""
    say(f"{'ok    ' if right else 'WRONG '}{what}" + (f": {value}" if value != "" else ""))
    if not right:
        raise SystemExit(1)


def eventually(what: str, condition: Callable[[], Any]) -> Any:
    """Waits until `condition` gives something true, and gives that."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            result = condition()
        except requests.RequestException:
            result = None
        if result:
            seen(what, True)
            return result
        if time.monotonic() > end:
            seen(f"{what} (within {PATIENCE:.0f} s)", False)
        time.sleep(0.5)

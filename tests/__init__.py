"""Helpers and tests. A package, since installed packages bring folders called ``tests`` that would hide this one."""

from collections.abc import Callable
from typing import Any

Cli = Callable[..., Any]
"""Result of the fixture ``cli``."""

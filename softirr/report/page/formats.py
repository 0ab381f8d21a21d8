"""Formatting of numbers, counts, intervals and dates for screens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from softirr.coefficients.registry import coefficient_title
from softirr.plural import plural

__all__ = ["FORMATS", "MINUS", "count", "day", "interval", "number", "percent", "shade"]


MINUS = "−"
"""The minus sign of pages; terminals have a hyphen."""


def number(value: float | None, digits: int = 2) -> str:
    """0.42, with a real minus sign; a dash where there is none."""
    return "–" if value is None else f"{value:z.{digits}f}".replace("-", MINUS)


def count(value: int | None) -> str:
    """12,345."""
    return "–" if value is None else f"{value:,}"


def interval(ci95: Sequence[float] | None) -> str:
    """0.35 to 0.49."""
    return "–" if not ci95 else f"{number(ci95[0])} to {number(ci95[1])}"


def day(iso: str | None) -> str:
    """20 November 2026, 14:05 UTC."""
    if not iso:
        return "–"
    moment = datetime.fromisoformat(iso.replace("Z", "+00:00"))
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def shade(value: float | None) -> str:
    """Class of a cell's shade, 0 to 10."""
    return "" if value is None else f"shade-{min(10, max(0, round(value * 10)))}"


def percent(part: float, whole: float) -> str:
    """12%."""
    return "–" if not whole else f"{100 * part / whole:.0f}%"


FORMATS = {
    "number": number,
    "count": count,
    "interval": interval,
    "plural": plural,
    "day": day,
    "shade": shade,
    "percent": percent,
    "coefficient_title": coefficient_title,
}

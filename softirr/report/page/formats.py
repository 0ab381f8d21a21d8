"""Formatting of counts, shares and dates for screens, and what templates call of it."""

from __future__ import annotations

from datetime import datetime

from softirr.numbers import interval, number
from softirr.plural import plural
from softirr.statistics.coefficients.registry import coefficient_title

__all__ = ["FORMATS", "count", "day", "percent", "shade"]


def count(value: int | None) -> str:
    """12,345."""
    return "–" if value is None else f"{value:,}"


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

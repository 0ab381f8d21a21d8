"""What to do next about a coefficient, in one sentence: judge pairs, annotate items, or nothing. Every surface gives this advice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["HALF_WIDTH", "WIDTHS", "judgments_for", "next_step"]

HALF_WIDTH = 0.05
"""The interval that the advice aims at: the value ± this."""
WIDTHS = (0.05, 0.1, 0.2)
"""Widths of the interval for which the report gives the number of judgments needed."""
FIRST_JUDGMENTS = 30
"""Judgments that are proposed where there are none."""
_Z = 1.959964
_LEAST_ITEMS = 10
_MOST = 100_000
_OF_ONE = 0.16
"""Variance of one judgment around the calibrated measure, over benchmark populations."""


def _variances(coefficient: Mapping[str, Any]) -> tuple[float, float] | None:
    """Variance due to the items and due to the measure and the judgments; None where the interval or one of them is not known."""
    interval, items = (
        coefficient.get("ci95"),
        coefficient.get("details", {}).get("items_only", {}).get("standard_error"),
    )
    if not interval or items is None:
        return None
    whole = ((interval[1] - interval[0]) / (2 * _Z)) ** 2
    own = min(items**2, whole)
    return own, whole - own


def judgments_for(width: float, coefficient: Mapping[str, Any]) -> int | None:
    """Number of judgments with which the interval of a coefficient has about a width, those that there are included.

    Parameters
    ----------
    width : float
    coefficient : mapping
        As in the JSON.

    Returns
    -------
    int or None
        None where no number would: the items are a sample themselves.

    Examples
    --------
    >>> items = {"items_only": {"standard_error": 0.02}}
    >>> judgments_for(0.2, {"ci95": [0.3, 0.8], "judgments": 0, "details": items})
    63
    """
    parts = _variances(coefficient)
    if parts is None:
        return None
    items, judged = parts
    left = (width / (2 * _Z)) ** 2 - items
    if left <= 0:
        return None
    n = int(coefficient.get("judgments") or 0)
    return n if judged <= left else n + math.ceil(_OF_ONE * (1 / left - 1 / judged))


def next_step(coefficient: Mapping[str, Any], n_items: int, *, items: str = "items") -> str | None:
    """What would bring the interval of a coefficient to ±0.05.

    Parameters
    ----------
    coefficient : mapping
        As in the JSON: ``ci95``, ``judgments`` and ``details``.
    n_items : int
        Items with two answers or more.
    items : str
        What items are called: tasks on the screens of Label Studio.

    Returns
    -------
    str or None
        None where there is no interval.

    Examples
    --------
    >>> items = {"items_only": {"standard_error": 0.02}}
    >>> next_step({"ci95": [0.3, 0.8], "judgments": 0, "details": items}, 300)
    'Next: judge 30 pairs of texts. The interval narrows from ±0.25 to about ±0.13.'
    >>> next_step({"ci95": [0.5, 0.62], "judgments": 60, "details": items}, 300)
    'Next: to reach ±0.05, annotate about 132 more items and judge about 27 more pairs.'
    """
    parts = _variances(coefficient)
    if parts is None:
        return None
    if n_items < _LEAST_ITEMS:
        return f"Next: annotate more {items}. With {n_items} {items} the interval is rough, whatever the judgments."
    from_items, from_measure = parts
    n, half = int(coefficient.get("judgments") or 0), (coefficient["ci95"][1] - coefficient["ci95"][0]) / 2
    if half <= HALF_WIDTH:
        return f"Next: nothing. The interval is within ±{HALF_WIDTH:g}."
    if n == 0 and from_measure > 0:
        after = _Z * math.sqrt(from_items + 1 / (1 / from_measure + FIRST_JUDGMENTS / _OF_ONE))
        if half - after >= 0.01:
            return f"Next: judge {FIRST_JUDGMENTS} pairs of texts. The interval narrows from ±{half:.2f} to about ±{after:.2f}."
    needed = judgments_for(2 * HALF_WIDTH, coefficient)
    if needed is not None and needed <= max(4 * n, 300):
        return f"Next: to reach ±{HALF_WIDTH:g}, judge about {needed - n:,} more pairs of texts."
    times = (half / HALF_WIDTH) ** 2 - 1
    more_items, more_pairs = math.ceil(n_items * times), math.ceil(max(n, FIRST_JUDGMENTS) * (times + 1)) - n
    if more_items > _MOST:
        return f"Next: annotate more {items}. ±{HALF_WIDTH:g} is out of reach with {n_items:,} {items}."
    alone = "" if needed is not None else " More judgments alone are not enough."
    return (
        f"Next: to reach ±{HALF_WIDTH:g}, annotate about {more_items:,} more {items} and judge about {more_pairs:,} more "
        f"pairs.{alone}"
    )

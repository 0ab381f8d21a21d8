"""What would bring the interval of a headline to ±0.05, in one sentence; :mod:`softirr.planning.plan` says it with costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["outlook"]

WIDTH = 0.1
_Z = 1.959964
_LEAST_ITEMS = 10
_MOST = 100_000


def outlook(
    coefficient: Mapping[str, Any], n_items: int, audit: Mapping[str, Any] | None = None, *, items: str = "items"
) -> str | None:
    """How many more items or judgements an interval of ±0.05 takes.

    Parameters
    ----------
    coefficient : mapping
        With ``value``, ``standard_error`` and ``ci95``.
    n_items : int
        Items with two answers or more.
    audit : mapping, optional
        The object ``audit`` of the report, where the coefficient is audited.
    items : str
        What items are called: tasks on the screens of Label Studio.

    Returns
    -------
    str or None
        None with fewer than ten items, or where the interval is narrow already.

    Examples
    --------
    >>> outlook({"value": 0.5, "standard_error": 0.05, "ci95": [0.4, 0.6]}, 40)
    'These 40 items suggest: about 114 more items bring ±0.05 if the measure makes no errors; an audit measures its errors.'
    >>> outlook({"value": 0.5, "standard_error": 0.05, "ci95": [0.4, 0.6]}, 40, {"units": 30, "needed_for_width": {"0.1": 95}})
    'These 40 items suggest: about 65 more judgements bring ±0.05, or about 120 more items with 90 more judgements.'
    """
    error, interval = coefficient.get("standard_error"), coefficient.get("ci95")
    if error is None or not interval or n_items < _LEAST_ITEMS:
        return None
    half = WIDTH / 2
    if audit is not None:
        if interval[1] - interval[0] <= WIDTH:
            return None
        # with items and judgements in today's proportion the variance falls as both grow
        times = ((interval[1] - interval[0]) / WIDTH) ** 2 - 1
        both = f"about {math.ceil(n_items * times):,} more {items} with {math.ceil(audit['units'] * times):,} more judgements"
        needed = (audit.get("needed_for_width") or {}).get(f"{WIDTH:g}")
        if needed is None:
            return f"These {n_items:,} {items} suggest: {both} bring ±{half:g}; judgements alone do not."
        more = max(needed - audit["units"], 1)
        return f"These {n_items:,} {items} suggest: about {more:,} more judgements bring ±{half:g}, or {both}."
    more = math.ceil(n_items * ((2 * _Z * error / WIDTH) ** 2 - 1))
    if more <= 0:
        if interval[1] - interval[0] > WIDTH:  # full agreement on few items has no standard error
            return None
        return f"These {n_items:,} {items} are enough for ±{half:g} if the measure makes no errors; an audit measures its errors."
    if more > _MOST:
        return None
    return (
        f"These {n_items:,} {items} suggest: about {more:,} more {items} bring ±{half:g} if the measure makes no errors; "
        "an audit measures its errors."
    )

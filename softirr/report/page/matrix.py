"""The table of agreement rater by rater, with the pairs that stand out marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["matrix"]

LEAST_SPAN = 0.2
"""Least difference of values that the scale of shades spreads over, so that chance differences do not look large."""


def matrix(report: Mapping[str, Any]) -> list[list[dict[str, Any] | None]]:
    """Cells of the table, in the order of those of ``report["raters"]`` who have answers that count.

    Parameters
    ----------
    report : mapping
        With ``raters`` and ``rater_pairs``.

    Returns
    -------
    list of list of dict or None
        The pair with ``level``, 0 (the lowest value of the table) to 10, and ``mark``: ``low`` where the whole interval is below the mean of all
        pairs, ``lowest`` for the lowest of them. None where two raters share no item.
    """
    pairs = [pair for pair in report["rater_pairs"] if pair["observed_agreement"] is not None]
    total = sum(pair["n_items"] for pair in pairs)
    mean = sum(pair["observed_agreement"] * pair["n_items"] for pair in pairs) / total if total else 0.0
    values = [pair["observed_agreement"] for pair in pairs]
    low = min(values, default=0.0)
    span = max(max(values, default=0.0) - low, LEAST_SPAN)
    found = {}
    for pair in pairs:
        value, ci95 = pair["observed_agreement"], pair["ci95"]
        mark = None
        if len(set(values)) > 1 and (value == low or (ci95 and ci95[1] < mean)):
            mark = "lowest" if value == low else "low"
        a, b = pair["raters"]
        found[a, b] = found[b, a] = {**pair, "level": round(10 * (value - low) / span), "mark": mark}
    ids = [rater["id"] for rater in report["raters"] if rater["n_items"]]
    return [[found.get((a, b)) for b in ids] for a in ids]

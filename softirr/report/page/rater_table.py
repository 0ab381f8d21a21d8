"""The table of agreement rater by rater, with the pairs that stand out marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["matrix", "pair_list"]

LEAST_SPAN = 0.2
"""Least difference of values that the scale of shades spreads over, so that chance differences do not look large."""


def matrix(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the table, in the order of the raters of ``report["raters"]`` who share an item with another one.

    Parameters
    ----------
    report : mapping
        With ``raters`` and ``rater_pairs``.

    Returns
    -------
    list of dict
        ``rater``, and ``cells`` in the order of the rows: the pair with ``level``, 0 (the lowest value of the table) to
        10, and ``mark``: ``low`` where the whole interval is below the mean of all pairs, ``lowest`` for the lowest of
        them. None where two raters share no item.
    """
    marked = {(a, b): cell for cell in _cells(report) for a, b in (cell["raters"], cell["raters"][::-1])}
    compared = {rater for pair in marked for rater in pair}
    raters = [rater for rater in report["raters"] if rater["id"] in compared]
    return [{"rater": a, "cells": [marked.get((a["id"], b["id"])) for b in raters]} for a in raters]


def pair_list(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same pairs as a list for narrow windows, the lowest first.

    Parameters
    ----------
    report : mapping
        With ``raters`` and ``rater_pairs``.

    Returns
    -------
    list of dict
        As the cells of :func:`matrix`, with ``first`` and ``second``, the names of the raters.
    """
    names = {rater["id"]: rater["name"] for rater in report["raters"]}
    cells = sorted(_cells(report), key=lambda cell: cell["observed_agreement"])
    return [{**cell, **dict(zip(("first", "second"), map(names.get, cell["raters"]), strict=True))} for cell in cells]


def _cells(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pairs of raters that share items, with their level and mark."""
    pairs = [pair for pair in report["rater_pairs"] if pair["observed_agreement"] is not None]
    total = sum(pair["n_items"] for pair in pairs)
    mean = sum(pair["observed_agreement"] * pair["n_items"] for pair in pairs) / total if total else 0.0
    values = [pair["observed_agreement"] for pair in pairs]
    low = min(values, default=0.0)
    span = max(max(values, default=0.0) - low, LEAST_SPAN)
    cells = []
    for pair in pairs:
        value, ci95, mark = pair["observed_agreement"], pair["ci95"], None
        if len(set(values)) > 1 and (value == low or (ci95 and ci95[1] < mean)):
            mark = "lowest" if value == low else "low"
        cells.append({**pair, "raters": tuple(pair["raters"]), "level": round(10 * (value - low) / span), "mark": mark})
    return cells

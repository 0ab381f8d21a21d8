"""What to do next about a coefficient, in one sentence: judge pairs, annotate items, or nothing. Every surface gives this advice."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from softirr.defaults import ANSWER_COST, JUDGMENT_COST, WIDTH
from softirr.report.headline import expected_agreement, headline, is_exact

__all__ = ["WIDTHS", "Variance", "advice", "judgments_for", "next_step", "per_judgment", "variance_of"]

WIDTHS = (0.05, 0.1, 0.2)
"""Widths of the interval for which the report gives the number of judgments needed."""
FIRST_JUDGMENTS = 30
"""Judgments that are proposed where there are none."""
_Z = 1.959964
_LEAST_ITEMS = 10
_MOST = 100_000
_OF_ONE = 0.16
"""Variance of one judgment around the calibrated measure, over benchmark populations."""


@dataclass(frozen=True)
class Variance:
    """Variance of a coefficient by source.

    Attributes
    ----------
    per_item : float
        V: V / N is the variance from the choice of N items.
    of_measure : float
        Of the measure and the judgments that there are; infinite where nothing is known about the measure.
    per_judgment : float
        W: with M further judgments the variance of the measure is 1 / (1 / of_measure + M / W).
    """

    per_item: float
    of_measure: float
    per_judgment: float

    def total(self, items: int, judgments: int) -> float:
        """Variance with a number of items and of further judgments.

        Examples
        --------
        >>> Variance(0.1, 0.01, 0.2).total(100, 20)
        0.006
        """
        known = 0.0 if self.of_measure <= 0 else 1 / (1 / self.of_measure + judgments / self.per_judgment)
        return self.per_item / items + known

    def judgments_for(self, left: float) -> int:
        """Further judgments that reduce the variance of the measure to what is left for it."""
        return 0 if self.of_measure <= left else math.ceil(self.per_judgment * (1 / left - 1 / self.of_measure) - 1e-9)

    def cheapest(self, width: float, least: int, item_cost: float, judgment_cost: float) -> tuple[int, int]:
        """Items and further judgments of the cheapest interval of a width (Cochran 1977, section 5.5).

        Parameters
        ----------
        width : float
        least : int
            Fewest items.
        item_cost, judgment_cost : float

        Returns
        -------
        (int, int)
        """
        target = (width / (2 * _Z)) ** 2
        both = math.sqrt(self.per_item * self.per_judgment * judgment_cost / item_cost) if self.of_measure > 0 else 0.0
        items = max(math.ceil((self.per_item + both) / target - 1e-9), least)
        left = target - self.per_item / items
        return items, self.judgments_for(left) if left > 0 else 0


def per_judgment(expected: float | None) -> float:
    """W where nothing else is known: variance that one judgment alone leaves in a coefficient with an agreement by chance.

    Parameters
    ----------
    expected : float or None

    Returns
    -------
    float
    """
    return _OF_ONE / max(1 - (expected or 0.0), 0.05) ** 2


def variance_of(coefficient: Mapping[str, Any], n_items: int, expected: float | None = None) -> Variance | None:
    """Variance of a coefficient by source.

    Parameters
    ----------
    coefficient : mapping
        As in the JSON: ``ci95``, ``judgments`` and ``details``.
    n_items : int
        Items with two answers or more.
    expected : float, optional
        The agreement by chance that the coefficient is corrected by.

    Returns
    -------
    Variance or None
        None where there is no interval of the coefficient or of the items.
    """
    interval = coefficient.get("ci95")
    items = coefficient.get("details", {}).get("items_only", {}).get("standard_error")
    if not interval or items is None:
        return None
    whole = ((interval[1] - interval[0]) / (2 * _Z)) ** 2
    of_items = min(items**2, whole)
    of_measure, n = whole - of_items, int(coefficient.get("judgments") or 0)
    measured, assumed = of_measure * n, per_judgment(expected)
    return Variance(
        of_items * n_items, of_measure, measured if n >= FIRST_JUDGMENTS and measured > 0 else max(assumed, measured)
    )


def judgments_for(width: float, coefficient: Mapping[str, Any], expected: float | None = None) -> int | None:
    """Number of judgments with which the interval of a coefficient has about a width, those that there are included.

    Parameters
    ----------
    width : float
    coefficient : mapping
        As in the JSON.
    expected : float, optional
        The agreement by chance that the coefficient is corrected by.

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
    variance = variance_of(coefficient, 1, expected)
    if variance is None:
        return None
    left = (width / (2 * _Z)) ** 2 - variance.per_item
    return None if left <= 0 else int(coefficient.get("judgments") or 0) + variance.judgments_for(left)


def next_step(
    coefficient: Mapping[str, Any],
    n_items: int,
    *,
    items: str = "items",
    width: float = WIDTH,
    expected: float | None = None,
    raters: float = 2,
    answer_cost: float = ANSWER_COST,
    judgment_cost: float = JUDGMENT_COST,
    exact: bool = False,
) -> str | None:
    """What would bring the interval of a coefficient to a width.

    Parameters
    ----------
    coefficient : mapping
        As in the JSON: ``ci95``, ``judgments`` and ``details``.
    n_items : int
        Items with two answers or more.
    items : str
        What items are called: tasks on the screens of Label Studio.
    width : float
        Of the wanted interval, from end to end.
    expected : float, optional
        The agreement by chance that the coefficient is corrected by.
    raters : float
        Answers of an item.
    answer_cost, judgment_cost : float
        They decide how many items and how many judgments are proposed where both are needed.
    exact : bool
        Whether answers are compared exactly, so that there is nothing to judge.

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
    'Next: to reach ±0.05, judge about 69 more pairs of texts.'
    """
    variance = variance_of(coefficient, n_items, expected)
    if variance is None:
        return None
    if n_items < _LEAST_ITEMS:
        rough = f"Next: annotate more {items}. With {n_items} {items} the interval is rough"
        return f"{rough}." if exact else f"{rough}, whatever the judgments."
    n, half = int(coefficient.get("judgments") or 0), (coefficient["ci95"][1] - coefficient["ci95"][0]) / 2
    if half <= width / 2:
        return f"Next: nothing. The interval is within ±{width / 2:g}."
    if n == 0 and variance.of_measure > 0:
        after = _Z * math.sqrt(variance.total(n_items, FIRST_JUDGMENTS))
        if half - after >= 0.01:
            return f"Next: judge {FIRST_JUDGMENTS} pairs of texts. The interval narrows from ±{half:.2f} to about ±{after:.2f}."
    needed = judgments_for(width, coefficient, expected)
    if needed is not None and needed <= max(4 * n, 300):
        return f"Next: to reach ±{width / 2:g}, judge about {needed - n:,} more pairs of texts."
    all_items, more = variance.cheapest(width, n_items, raters * answer_cost, judgment_cost)
    if all_items - n_items > _MOST:
        return f"Next: annotate more {items}. ±{width / 2:g} is out of reach with {n_items:,} {items}."
    alone = "" if exact or needed is not None else " More judgments alone are not enough."
    judge = f" and judge about {more:,} more pairs" if more else ""
    return f"Next: to reach ±{width / 2:g}, annotate about {all_items - n_items:,} more {items}{judge}.{alone}"


def advice(report: Mapping[str, Any], items: str = "items") -> str | None:
    """What to do next about the headline of a report.

    Parameters
    ----------
    report : mapping
        What ``to_dict()`` of a report gives.
    items : str
        What items are called.

    Returns
    -------
    str or None
        None where there is no coefficient with an interval.
    """
    best = headline(report)
    if best is None:
        return None
    raters = [item["n_raters"] for item in report["items"] if item["agreement"] is not None]
    return next_step(
        best[1],
        len(raters),
        items=items,
        expected=expected_agreement(report, best[0]),
        raters=statistics.median(raters) if raters else 2,
        exact=is_exact(report),
    )

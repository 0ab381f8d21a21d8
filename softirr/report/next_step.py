"""What to do next about a coefficient, in one sentence: judge pairs, annotate items, or nothing.

Every surface gives this advice.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from softirr.defaults import ANSWER_COST, JUDGMENT_COST, WIDTH
from softirr.plural import plural
from softirr.report.headline import expected_agreement, headline, is_exact

__all__ = [
    "WIDTHS",
    "Variance",
    "advice",
    "judgments_for",
    "next_step",
    "pairs_to_judge",
    "per_judgment",
    "variance_of",
]

WIDTHS = (0.05, 0.1, 0.2)
"""Widths of the interval for which the report gives the number of judgments needed."""
FIRST_JUDGMENTS = 30
"""Judgments that are proposed where there are none."""
_Z = 1.959964
_LEAST_ITEMS = 10
_MOST = 100_000
_CLOSE = 1e-6
"""Half width by which an interval may miss the wanted one."""
_MANY_PAIRS = 5_000
"""Pairs of texts from which on there are always enough to judge."""
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

    def with_pairs(self, width: float, items: int, more: int, per_item: float, judged: int) -> tuple[int, int]:
        """As many items as it takes for the judgments to have enough pairs of texts.

        Parameters
        ----------
        width : float
        items, more : int
            Items and further judgments, as :meth:`cheapest` gives them.
        per_item : float
            Pairs of texts of an item that can be judged.
        judged : int
            Pairs that are judged already.

        Returns
        -------
        (int, int)
            The fewest items with enough pairs, and the further judgments; more items than anybody annotates where no
            number is enough.
        """
        target = (width / (2 * _Z)) ** 2

        def enough(n: int) -> bool:
            return judged + self.judgments_for(target - self.per_item / n) <= per_item * n

        if judged + more <= per_item * items:
            return items, more
        all_items = items + 1 + bisect_left(range(items + 1, items + 2 * _MOST), True, key=enough)
        return all_items, self.judgments_for(target - self.per_item / all_items)


def per_judgment(expected: float | None) -> float:
    """W where nothing else is known: variance that one judgment alone leaves in a coefficient.

    Parameters
    ----------
    expected : float or None
        Its agreement by chance.

    Returns
    -------
    float
    """
    return _OF_ONE / max(1 - (expected or 0.0), 0.05) ** 2


def pairs_to_judge(items: Iterable[Collection[Collection[str]]]) -> int | None:
    """Number of different pairs of texts of two answers to one item, without texts that occur in both answers.

    Parameters
    ----------
    items : iterable
        The answers to each item, each with its texts.

    Returns
    -------
    int or None
        None where there are so many that the number does not matter.

    Examples
    --------
    >>> pairs_to_judge([[["fever"], ["heat"], ["fever"]], [["rash"], ["rash"]], [["heat"], ["fever", "rash"]]])
    2
    """
    different: set[tuple[str, str]] = set()
    for answers in items:
        for one, other in combinations({frozenset(texts) for texts in answers}, 2):
            different.update((min(pair), max(pair)) for pair in product(one - other, other - one))
            if len(different) >= _MANY_PAIRS:
                return None
    return len(different)


def variance_of(
    coefficient: Mapping[str, Any], n_items: int, expected: float | None = None, *, settled: bool = False
) -> Variance | None:
    """Variance of a coefficient by source.

    Parameters
    ----------
    coefficient : mapping
        As in the JSON: ``ci95``, ``judgments`` and ``details``.
    n_items : int
        Items with two answers or more.
    expected : float, optional
        The agreement by chance that the coefficient is corrected by.
    settled : bool
        Whether nothing is left to judge: then all variance comes from the items.

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
    of_items = whole if settled else min(items**2, whole)
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
    pairs: int | None = None,
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
    pairs : int, optional
        Pairs of texts of these items, judged or not (:func:`pairs_to_judge`); None: as many as needed.
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
    n = int(coefficient.get("judgments") or 0)
    settled = exact or (pairs is not None and n >= pairs)
    variance = variance_of(coefficient, n_items, expected, settled=settled)
    if variance is None:
        return None
    if n_items < _LEAST_ITEMS:
        rough = f"Next: annotate more {items}. With {n_items} {items} the interval is rough"
        return f"{rough}." if exact else f"{rough}, whatever the judgments."
    half = (coefficient["ci95"][1] - coefficient["ci95"][0]) / 2
    if half <= width / 2 + _CLOSE:
        return f"Next: nothing. The interval is within ±{width / 2:g}."
    first = FIRST_JUDGMENTS if pairs is None else min(pairs, FIRST_JUDGMENTS)
    if n == 0 and variance.of_measure > 0:
        after = _Z * math.sqrt(variance.total(n_items, first))
        if half - after >= 0.01:
            judge = f"Next: judge {_pairs(first)} of texts."
            return f"{judge} The interval narrows from ±{half:.2f} to about ±{after:.2f}."
    needed = judgments_for(width, coefficient, expected)
    alone = needed is not None and (pairs is None or needed <= pairs) and not settled
    if alone and needed is not None and needed <= max(4 * n, 300):
        return f"Next: to reach ±{width / 2:g}, judge about {_pairs(needed - n, 'more ')} of texts."
    if not alone and pairs is not None and 0 < pairs - n <= FIRST_JUDGMENTS and variance.of_measure > 0:
        return f"Next: judge the {'other ' if n else ''}{_pairs(pairs - n)} of texts."
    all_items, more = variance.cheapest(width, n_items, raters * answer_cost, judgment_cost)
    if more and pairs is not None:
        all_items, more = variance.with_pairs(width, all_items, more, pairs / n_items, n)
    if all_items - n_items > _MOST:
        return f"Next: annotate more {items}. ±{width / 2:g} is out of reach with {plural(n_items, items[:-1])}."
    if all_items == n_items:
        return f"Next: to reach ±{width / 2:g}, judge about {_pairs(more, 'more ')} of texts."
    annotate = f"annotate about {plural(all_items - n_items, f'more {items[:-1]}')}"
    judge = f" and judge about {_pairs(more, 'more ')}" if more else ""
    only = "" if exact or alone else " More judgments alone are not enough."
    return f"Next: to reach ±{width / 2:g}, {annotate}{judge}.{only}"


def _pairs(number: int, more: str = "") -> str:
    return plural(number, f"{more}pair")


def advice(report: Mapping[str, Any]) -> str | None:
    """What to do next about the headline of a report.

    Parameters
    ----------
    report : mapping
        What ``to_dict()`` of a report gives.

    Returns
    -------
    str or None
        None where there is no coefficient with an interval.
    """
    best = headline(report)
    if best is None:
        return None
    compared = [item for item in report["items"] if item["agreement"] is not None]
    raters = [item["n_raters"] for item in compared]
    return next_step(
        best[1],
        len(raters),
        expected=expected_agreement(report, best[0]),
        raters=statistics.median(raters) if raters else 2,
        pairs=pairs_to_judge(_answers(item) for item in compared),
        exact=is_exact(report),
    )


def _answers(item: Mapping[str, Any]) -> list[list[str]]:
    """The texts of each answer to an item of a report."""
    answers: dict[str, list[str]] = {rater: list(texts) for rater, texts in item["unmatched"].items()}
    for match in item["matches"]:
        for rater, text in match["texts"].items():
            answers.setdefault(rater, []).append(text)
    return list(answers.values())

"""Key figures of a report: its headline, the sources of a coefficient's variance, and the raters below the others.

The headline is the coefficient that represents the whole table. It is Krippendorff's alpha, the only coefficient for
any number of raters and for items that not everybody answered; if it is undefined, the next coefficient of `HEADLINE`
that is defined. Everything here works on the dictionaries of :meth:`softirr.report.results.AgreementReport.to_dict`,
which are stored and sent around.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from softirr.answers.kinds import TEXT
from softirr.statistics.coefficients.intervals import NORMAL
from softirr.statistics.coefficients.registry import coefficient_keys, definition

HEADLINE = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "observed_agreement")
"""Coefficients in the order in which they are taken for the headline."""
LEAST_DIFFERENCE = 0.05
"""Minimum difference of agreement between a rater and the others that is worth a sentence."""
WIDTHS = (0.05, 0.1, 0.2)
"""Widths of the interval for which the report estimates the number of judgments."""
FIRST_JUDGMENTS = 30
"""Number of judgments that is proposed if there are none."""
_PER_JUDGMENT = 0.16
"""Variance of one judgment around the calibrated measure, over benchmark populations."""


def headline(report: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]] | None:
    """The headline of a report: the first of `HEADLINE` that is defined.

    Parameters
    ----------
    report : mapping or None
        The result of ``AgreementReport.to_dict()``.

    Returns
    -------
    tuple of (str, dict) or None
        Key and JSON object of the coefficient; None if none is defined.

    Examples
    --------
    >>> headline({"coefficients": {"krippendorff_alpha": {"value": None}, "cohen_kappa": {"value": 0.4}}})
    ('cohen_kappa', {'value': 0.4})
    """
    coefficients = (report or {}).get("coefficients") or {}
    key = headline_key({name: (coefficient or {}).get("value") for name, coefficient in coefficients.items()})
    return None if key is None else (key, coefficients[key])


def headline_key(values: Mapping[str, float | None]) -> str | None:
    """The first of `HEADLINE` that has a value."""
    return next((key for key in HEADLINE if values.get(key) is not None), None)


def is_exact(report: Mapping[str, Any]) -> bool:
    """Whether a report is about a field other than text: its values are compared exactly."""
    return ((report.get("provenance") or {}).get("kind") or TEXT) != TEXT


def expected_agreement(report: Mapping[str, Any], key: str) -> float | None:
    """The agreement by chance that a coefficient of a report is corrected for; None if it has none."""
    chance = definition(key).chance if key in coefficient_keys() else None
    value: float | None = None if chance is None else (report.get("expected_agreement") or {}).get(chance)
    return value


def by_measure(coefficient: Mapping[str, Any]) -> float | None:
    """The value of a coefficient, an object of the JSON, by the measure alone."""
    value: float | None = (coefficient.get("details") or {}).get("by_measure", coefficient.get("value"))
    return value


def raters_below_the_others(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The raters who agree less with the others than the others do with each other, if the interval supports it.

    Parameters
    ----------
    report : mapping
        With ``raters[].difference``; its interval is adjusted for the number of raters.

    Returns
    -------
    list of mapping
        Entries of ``raters``, the largest difference first.
    """
    below = []
    for rater in report["raters"]:
        difference = rater.get("difference") or {}
        value, ci95 = difference.get("value"), difference.get("ci95")
        if value is not None and ci95 and value <= -LEAST_DIFFERENCE and ci95[1] < 0:
            below.append(rater)
    return sorted(below, key=lambda rater: rater["difference"]["value"])


@dataclass(frozen=True)
class Variance:
    """Variance of a coefficient by source.

    Attributes
    ----------
    per_item : float
        V: V / N is the variance from the choice of N items.
    of_measure : float
        Variance from the measure and the present judgments; infinite if nothing is known about the measure.
    per_judgment : float
        W: with M further judgments the variance of the measure is 1 / (1 / of_measure + M / W).
    """

    per_item: float
    of_measure: float
    per_judgment: float

    def total(self, n_items: int, n_judgments: int) -> float:
        """Variance with a number of items and of further judgments.

        Examples
        --------
        >>> Variance(0.1, 0.01, 0.2).total(100, 20)
        0.006
        """
        measured = 0.0 if self.of_measure <= 0 else 1 / (1 / self.of_measure + n_judgments / self.per_judgment)
        return self.per_item / n_items + measured

    def judgments_for(self, target_variance: float) -> int:
        """Number of further judgments that reduce the variance of the measure to the wanted one."""
        if self.of_measure <= target_variance:
            return 0
        return math.ceil(self.per_judgment * (1 / target_variance - 1 / self.of_measure) - 1e-9)


def variance_of(
    coefficient: Mapping[str, Any], n_items: int, expected: float | None = None, *, is_settled: bool = False
) -> Variance | None:
    """Variance of a coefficient by source.

    Parameters
    ----------
    coefficient : mapping
        An object of the JSON: ``ci95``, ``judgments`` and ``details``.
    n_items : int
        Items with two answers or more.
    expected : float, optional
        The agreement by chance that the coefficient is corrected for.
    is_settled : bool
        Whether nothing is left to judge: then all variance comes from the items.

    Returns
    -------
    Variance or None
        None if the coefficient has no interval.
    """
    interval = coefficient.get("ci95")
    items = coefficient.get("details", {}).get("items_only", {}).get("standard_error")
    if not interval or items is None:
        return None
    total_variance = ((interval[1] - interval[0]) / (2 * NORMAL)) ** 2
    of_items = total_variance if is_settled else min(items**2, total_variance)
    of_measure, n_judgments = total_variance - of_items, int(coefficient.get("judgments") or 0)
    observed, assumed = of_measure * n_judgments, _PER_JUDGMENT / max(1 - (expected or 0.0), 0.05) ** 2
    is_known = n_judgments >= FIRST_JUDGMENTS and observed > 0
    return Variance(of_items * n_items, of_measure, observed if is_known else max(assumed, observed))


def judgments_for(width: float, coefficient: Mapping[str, Any], expected: float | None = None) -> int | None:
    """Total number of judgments with which the interval of a coefficient has about a width.

    Parameters
    ----------
    width : float
        From end to end.
    coefficient : mapping
        An object of the JSON.
    expected : float, optional
        The agreement by chance that the coefficient is corrected for.

    Returns
    -------
    int or None
        None if no number is enough, because the items are a sample themselves.

    Examples
    --------
    >>> items = {"items_only": {"standard_error": 0.02}}
    >>> judgments_for(0.2, {"ci95": [0.3, 0.8], "judgments": 0, "details": items})
    63
    """
    variance = variance_of(coefficient, 1, expected)
    if variance is None:
        return None
    target_variance = (width / (2 * NORMAL)) ** 2 - variance.per_item
    if target_variance <= 0:
        return None
    return int(coefficient.get("judgments") or 0) + variance.judgments_for(target_variance)

"""The headline of a report: the coefficient that represents the whole table.

It is Krippendorff's alpha, the only coefficient for any number of raters and for items that not everybody answered; if
it is undefined, the next coefficient of `HEADLINE` that is defined. Everything here works on the dictionaries of
:meth:`softirr.report.results.AgreementReport.to_dict`, which are stored and sent around.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.answers.kinds import TEXT
from softirr.statistics.coefficients.registry import coefficient_keys, definition

HEADLINE = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "observed_agreement")
"""Coefficients in the order in which they are taken for the headline."""
LEAST_DIFFERENCE = 0.05
"""Minimum difference of agreement between a rater and the others that is worth a sentence."""


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
    for key in HEADLINE:
        coefficient = coefficients.get(key)
        if coefficient and coefficient.get("value") is not None:
            return key, coefficient
    return None


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

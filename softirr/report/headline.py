"""The headline of a project, how it compares with a target, and who pulls it down.

The headline is Krippendorff's alpha: of the coefficients it is the one for any number of raters and for items that not
everybody answered. Where it is not defined, the next of `HEADLINE` that is. Everything here works on the dictionaries
of :meth:`softirr.report.results.AgreementReport.to_dict`, which are stored and sent around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from softirr.answers.kinds import TEXT
from softirr.numbers import interval, number
from softirr.plural import plural
from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_name, definition

__all__ = [
    "HEADLINE",
    "LEAST_GAIN",
    "by_measure",
    "expected_agreement",
    "headline",
    "headline_facts",
    "is_exact",
    "standing",
    "who_pulls_down",
]

HEADLINE = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "observed_agreement")
"""Coefficients in the order in which they are taken for the headline."""

LEAST_GAIN = 0.05
"""A rater pulls the headline down if it would rise by this much without them."""


def headline(report: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]] | None:
    """The headline of a report: the first of `HEADLINE` that is defined.

    Parameters
    ----------
    report : mapping or None
        What ``to_dict()`` of a report gives.

    Returns
    -------
    tuple of (str, dict) or None
        Name and JSON object of the coefficient; None where none is defined.

    Examples
    --------
    >>> headline({"coefficients": {"krippendorff_alpha": {"value": None}, "cohen_kappa": {"value": 0.4}}})
    ('cohen_kappa', {'value': 0.4})
    """
    coefficients = (report or {}).get("coefficients") or {}
    for name in HEADLINE:
        coefficient = coefficients.get(name)
        if coefficient and coefficient.get("value") is not None:
            return name, coefficient
    return None


def is_exact(report: Mapping[str, Any]) -> bool:
    """Whether a report is of a field other than text, whose values are compared exactly.

    Parameters
    ----------
    report : mapping
        What ``to_dict()`` of a report gives; reports of earlier versions are of texts.

    Returns
    -------
    bool
    """
    return ((report.get("provenance") or {}).get("kind") or TEXT) != TEXT


def expected_agreement(report: Mapping[str, Any], key: str) -> float | None:
    """The agreement by chance that a coefficient of a report is corrected by.

    Parameters
    ----------
    report : mapping
        With ``expected_agreement``.
    key : str
        Of the coefficient.

    Returns
    -------
    float or None
        None where the coefficient has none in reports.
    """
    chance = definition(key).chance if key in coefficient_keys() else None
    value: float | None = None if chance is None else (report.get("expected_agreement") or {}).get(chance)
    return value


def standing(value: float, ci95: Sequence[float] | None, target: float) -> str:
    """How a coefficient compares with the target of its project, in one sentence.

    Parameters
    ----------
    value : float
    ci95 : sequence of two floats, or None
        The interval of the value.
    target : float

    Returns
    -------
    str

    Examples
    --------
    >>> standing(0.72, (0.61, 0.83), 0.7)
    'The target of 0.70 is met, but not with certainty: the interval begins at 0.61.'
    """
    low, high = ci95 or (value, value)
    if value >= target:
        if low >= target:
            return f"The target of {number(target)} is met."
        return f"The target of {number(target)} is met, but not with certainty: the interval begins at {number(low)}."
    if high < target:
        return f"The target of {number(target)} is not met."
    return f"The target of {number(target)} is not met, though the interval reaches to {number(high)}."


def headline_facts(
    report: Mapping[str, Any] | None,
    *,
    target: float | None = None,
    name_of: Callable[[str], str] = str,
    fits: bool = True,
    about_people: bool = True,
) -> dict[str, Any] | None:
    """The headline of a report and what every surface says of it: the target and who pulls it down.

    Parameters
    ----------
    report : mapping or None
        What ``to_dict()`` of a report gives.
    target : float, optional
        What the project wants to reach.
    name_of : callable
        Gives the name by which people know a rater.
    fits : bool
        Whether the measure fits the texts.
    about_people : bool
        Whether it says who pulls the coefficient down.

    Returns
    -------
    dict or None
        ``name`` (key of the coefficient), ``value``, ``ci95``, ``exact`` (:func:`is_exact`), ``judgments``,
        ``by_measure``, ``target``, ``standing``, ``without`` ({"rater", "name", "value"} of who pulls it down most, or
        None), and the same as ``sentences``. None where no coefficient is defined.
    """
    shown = headline(report)
    if report is None or shown is None:
        return None
    name, coefficient = shown
    value, ci95, plain = coefficient["value"], coefficient.get("ci95"), by_measure(coefficient)
    without = (report.get("headline") or {}).get("without", ()) if about_people else ()
    pull = None if plain is None else who_pulls_down(without, plain)
    facts = {
        "name": name,
        "value": value,
        "ci95": ci95,
        "exact": is_exact(report),
        "judgments": coefficient.get("judgments") or 0,
        "by_measure": plain,
        "target": target,
        "standing": None if target is None else standing(value, ci95, target),
        "without": None if pull is None else {**pull, "name": name_of(pull["rater"])},
    }
    return facts | {"sentences": _sentences(facts)}


def _sentences(facts: Mapping[str, Any]) -> list[str]:
    judgments, pull = facts["judgments"], facts["without"]
    first = f"{coefficient_name(facts['name'])} {number(facts['value'])}"
    if facts["ci95"]:
        first += f", 95% interval {interval(facts['ci95'])}"
    if not facts["exact"]:
        first += f", {plural(judgments, 'judgment')}" if judgments else ", no judgments"
    alone = " (by the measure alone)" if judgments else ""
    without = pull and f"Without {pull['name']} it would be {number(pull['value'])}{alone}."
    return [one for one in (f"{first}.", facts["standing"], without) if one]


def by_measure(coefficient: Mapping[str, Any]) -> float | None:
    """The value of a coefficient by the measure alone.

    Parameters
    ----------
    coefficient : mapping
        As in the JSON.

    Returns
    -------
    float or None
    """
    value: float | None = (coefficient.get("details") or {}).get("by_measure", coefficient.get("value"))
    return value


def who_pulls_down(without: Sequence[Mapping[str, Any]], value: float) -> Mapping[str, Any] | None:
    """The rater without whom the headline would rise most, if by `LEAST_GAIN` or more.

    Parameters
    ----------
    without : sequence of mapping
        The rater and the value of the coefficient without them, ``{"rater", "value"}`` each.
    value : float
        The value with all raters.

    Returns
    -------
    mapping or None
        One of `without`.
    """
    best = max(without, key=lambda one: one["value"], default=None)
    return best if best is not None and best["value"] - value >= LEAST_GAIN else None

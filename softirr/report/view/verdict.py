"""The verdict on a report: whether the agreement reaches the target."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from softirr.json_object import JsonObject
from softirr.meaning.policy.rules import Policy
from softirr.numbers import interval, number, plural, short_number
from softirr.report.key_figures import headline, is_exact
from softirr.report.view.names import Names
from softirr.statistics.coefficients.registry import coefficient_title
from softirr.text import printable

DEFAULT_TARGET = 0.667
DEFAULT_SOURCE = "the limit of Krippendorff (2004) for tentative conclusions"

Interval = Sequence[float]
"""The two ends of an interval."""


@dataclass(frozen=True)
class Verdict(JsonObject):
    """Whether the agreement reaches the target.

    Attributes
    ----------
    state : {"met", "missed", "undecided", "misfit", "undefined"}
        ``misfit`` if the measure does not fit the texts, ``undefined`` if no coefficient is defined.
    basis : str
        Coefficient, judgments, policy, and numbers of items and raters.
    """

    state: str
    sentence: str
    basis: str
    coefficient: str | None
    title: str | None
    value: float | None
    ci95: Interval | None
    target: float
    target_source: str
    judgments: int


def verdict_of(report: Mapping[str, Any], names: Names) -> Verdict:
    """Whether the agreement of a report reaches its target.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``; may have ``target`` with ``value`` and ``source``. Without
        ``items``, all items count as compared.
    """
    goal = report.get("target") or {}
    target = goal.get("value") or DEFAULT_TARGET
    source = goal.get("source") or ("set for this project" if goal.get("value") else DEFAULT_SOURCE)
    best = headline(report)
    if best is None:
        alpha = report["coefficients"].get("krippendorff_alpha") or {}
        reason = (alpha.get("undefined") if report["n_raters"] else None) or "there are no answers to compare"
        sentence = f"There is no agreement to report yet: {reason}."
        return Verdict("undefined", sentence, "", None, None, None, None, target, source, 0)
    name, coefficient = best
    value, ci95 = coefficient["value"], coefficient.get("ci95")
    judgments = coefficient.get("judgments") or 0
    low, high = ci95 or (-math.inf, math.inf)  # a single item decides nothing
    by_target = "met" if low >= target else "missed" if high < target else "undecided"
    state = "misfit" if report.get("misfits") else by_target
    words = {
        "met": "Good enough",
        "missed": "Not good enough yet",
        "undecided": "Not certain yet",
        "misfit": "No verdict, because the measure does not fit these texts",
    }[state]
    value_text = number(value) + (f" ({interval(ci95)})" if ci95 else "")
    sentence = f"{words}: agreement {value_text}, target {short_number(target)}."
    title = coefficient_title(name)
    basis = _basis(report, title, judgments, names)
    return Verdict(state, sentence, basis, name, title, value, ci95, target, source, judgments)


def _basis(report: Mapping[str, Any], title: str, judgments: int, names: Names) -> str:
    items = report.get("items")
    compared = report["n_items"] if items is None else sum(item["agreement"] is not None for item in items)
    phrases = [title]
    if not is_exact(report):
        policy = Policy.from_dict((report["provenance"].get("policy")) or {})
        phrases.append(plural(judgments, "judgment") if judgments else "no judgments")
        phrases.append("texts as written" if policy.is_default else printable(policy.describe()))
    counts = [plural(report["n_compared"], names.part_word)] if names.part_word else []
    if not names.part_word or items is not None:
        counts.append(plural(compared, names.item))
    phrases.append(f"{' of '.join(counts)}, {plural(report['n_raters'], names.rater)}")
    return " · ".join(phrases)

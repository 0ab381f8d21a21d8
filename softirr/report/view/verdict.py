"""The verdict of a report, the largest cause of disagreement, and the next step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from softirr.meaning.policy.attributes import KINDS
from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.meaning.policy.rules import Policy
from softirr.numbers import interval, number
from softirr.plural import plural
from softirr.report.headline import expected_agreement, headline, is_exact
from softirr.report.next_step import FIRST_JUDGMENTS, Variance, variance_of
from softirr.report.view.parts import Cause, Links, Names, Scale, Step, Verdict
from softirr.statistics.coefficients.registry import coefficient_title
from softirr.text import printable

__all__ = ["DEFAULT_TARGET", "cause_of", "next_step_of", "raters_below_the_others", "verdict_of"]

DEFAULT_TARGET = 0.667
DEFAULT_SOURCE = "Krippendorff (2004), for tentative conclusions"
LEAST_DIFFERENCE = 0.05
"""Minimum difference of agreement between a person and the others that is worth a sentence."""
LEAST_SHARE = 0.2
"""Minimum share of the items with differences that a reason needs to be a cause."""
WORST_ITEMS = 10
FEWEST_ITEMS = 10
"""With fewer items, more of them come first."""
MOST_JUDGMENTS = 300
MOST_GROWTH = 10
"""More items than this many times the present number are never advised."""
_Z = 1.959964
_RULES = (*KINDS, "more general", "list", "spelling")
"""Reasons that a guideline can settle."""


def verdict_of(report: Mapping[str, Any], names: Names) -> Verdict:
    """Whether the agreement of a report reaches its target.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``; may have ``target`` with ``value`` and ``source``.
    names : Names

    Returns
    -------
    Verdict
    """
    goal = report.get("target") or {}
    target = goal.get("value") or DEFAULT_TARGET
    source = goal.get("source") or ("set for this project" if goal.get("value") else DEFAULT_SOURCE)
    best = headline(report)
    if best is None:
        reason = (report["coefficients"].get("krippendorff_alpha") or {}).get("undefined") or "nothing can be compared"
        sentence = f"There is no agreement to report yet: {reason}."
        return Verdict("undefined", sentence, "", None, None, None, None, target, source, 0)
    name, coefficient = best
    value, ci95 = coefficient["value"], _ends(coefficient.get("ci95"))
    judgments = coefficient.get("judgments") or 0
    state = _state(value, ci95, target, fits=not report.get("misfits"))
    words = {
        "met": "Good enough",
        "missed": "Not good enough yet",
        "undecided": "Not certain yet",
        "misfit": "No verdict, because the measure does not fit these texts",
    }[state]
    shown = number(value) + (f" ({interval(ci95)})" if ci95 else "")
    goal_shown = f"{number(target, 3)}" if goal.get("value") is None else number(target)
    sentence = f"{words}: agreement {shown}, target {goal_shown}."
    title = coefficient_title(name)
    basis = _basis(report, title, judgments, names)
    return Verdict(state, sentence, basis, name, title, value, ci95, target, source, judgments)


def _state(value: float, ci95: tuple[float, float] | None, target: float, *, fits: bool) -> str:
    if not fits:
        return "misfit"
    low, high = ci95 or (value, value)
    return "met" if low >= target else "missed" if high < target else "undecided"


def _basis(report: Mapping[str, Any], title: str, judgments: int, names: Names) -> str:
    compared = sum(item["agreement"] is not None for item in report["items"])
    parts = [title]
    if not is_exact(report):
        policy = Policy.from_dict((report["provenance"].get("policy")) or {})
        parts.append(plural(judgments, "judgment") if judgments else "no judgments")
        parts.append("texts as written" if policy.is_default else printable(policy.describe()))
    parts.append(f"{plural(compared, names.item)}, {plural(report['n_raters'], names.rater)}")
    return " · ".join(parts)


def raters_below_the_others(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The raters whose agreement with the others is lower than that of the others, which the interval supports.

    Parameters
    ----------
    report : mapping
        With ``raters[].difference``, whose interval is adjusted for the number of raters.

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


def cause_of(report: Mapping[str, Any], names: Names, links: Links) -> Cause | None:
    """The largest cause of disagreement: a person, only if the interval supports it, or a reason.

    Parameters
    ----------
    report : mapping
    names : Names
    links : Links

    Returns
    -------
    Cause or None
        None if nothing can be compared or everybody agrees.
    """
    agreements = [item["agreement"] for item in report["items"] if item["agreement"] is not None]
    if headline(report) is None or min(agreements, default=1.0) == 1.0:
        return None
    people = [rater for rater in raters_below_the_others(report) if not rater["id"].startswith("model:")]
    if people:
        return _person_cause(people[0], names, links)
    alone = f"No {names.rater} stands out" if len(report["raters"]) > 2 else ""
    reason = _largest_reason(report)
    if reason is None:
        return Cause("none", f"{alone}." if alone else "No single reason stands out.")
    kind, share, items = reason
    part = _share_in_words(share)
    sentence = f"{part} of the {names.item}s with differences differ in {REASON_NAMES[kind]}."
    if alone:
        sentence = f"{alone}. {sentence}"
    link = links.items(items, REASON_NAMES[kind])
    return Cause("reason", sentence, reason=kind, link=link, link_text=f"See these {names.item}s" if link else None)


def _person_cause(rater: Mapping[str, Any], names: Names, links: Links) -> Cause:
    name, others = names.of_rater(rater["id"]), rater["others"]
    sentence = (
        f"Mostly {name}: {number(rater['agreement'])} with the others, who have {number(others['value'])} among "
        "themselves."
    )
    scale = (
        Scale(f"{name} with the others", rater["agreement"], _ends(rater["agreement_ci95"])),
        Scale("The others with each other", others["value"], _ends(others["ci95"])),
    )
    link = links.rater(rater["id"])
    text = f"See the {plural(WORST_ITEMS, f'worst {names.item}')}" if link else None
    return Cause("person", sentence, rater=rater["id"], scale=scale, link=link, link_text=text)


def _largest_reason(report: Mapping[str, Any]) -> tuple[str, float, list[str]] | None:
    """The reason of most items that a guideline can settle, its share of the items with differences, and its items."""
    reasons = report.get("reasons") or {}
    rules = [kind for kind in reasons.get("kinds") or () if kind["kind"] in _RULES]
    if not rules or not reasons.get("items"):
        return None
    best = max(rules, key=lambda kind: kind["items"])
    share = best["items"] / reasons["items"]
    items = list(dict.fromkeys(item for example in best["examples"] for item in example["items"]))
    return (best["kind"], share, items) if share >= LEAST_SHARE else None


def _share_in_words(share: float) -> str:
    named = (
        (1 / 4, "A quarter"),
        (1 / 3, "A third"),
        (1 / 2, "Half"),
        (2 / 3, "Two thirds"),
        (3 / 4, "Three quarters"),
    )
    nearest, words = min(named, key=lambda entry: abs(entry[0] - share))
    return words if abs(nearest - share) < 0.02 else f"{share:.0%}"


def next_step_of(
    report: Mapping[str, Any], verdict: Verdict, cause: Cause | None, names: Names, links: Links
) -> Step | None:
    """The next step: talk to a person, settle a rule, or judge pairs.

    More judgments or items are advised only if they could change the verdict.

    Parameters
    ----------
    report : mapping
    verdict : Verdict
    cause : Cause or None
    names : Names
    links : Links

    Returns
    -------
    Step or None
        None if there is no coefficient.
    """
    if verdict.state == "undefined":
        return None
    if verdict.state == "met":
        return Step("done", "The target is reached. Nothing needs to be done.")
    if verdict.state == "misfit":
        return Step("read", "Choose a measure that fits these texts, or judge pairs of texts.", link=links.judge)
    if verdict.state == "undecided" and (step := _decide(report, verdict, names, links)) is not None:
        return step
    if cause is not None and cause.kind == "person" and cause.rater is not None:
        sentence = f"Talk to {names.of_rater(cause.rater)} about these {names.item}s."
        return Step("talk", sentence, link=cause.link, link_text=cause.link_text)
    if cause is not None and cause.kind == "reason" and cause.reason is not None:
        return _rule(report, cause.reason, links)
    worst = f"the {names.item}s with the lowest agreement"
    return Step("read", f"Read {worst} with the {names.rater}s, and add a rule to the guideline.")


def _rule(report: Mapping[str, Any], reason: str, links: Links) -> Step:
    kind = next(kind for kind in report["reasons"]["kinds"] if kind["kind"] == reason)
    examples = [example for example in kind["examples"] if None not in example["texts"]][:3]
    pairs = tuple(" / ".join(f"“{printable(text)}”" for text in example["texts"]) for example in examples)
    question = (
        "whether a more general text counts" if reason == "more general" else f"whether {REASON_NAMES[reason]} counts"
    )
    link = links.policy
    return Step("rule", f"Settle {question}.", pairs, link, "Change the policy" if link else None)


def _decide(report: Mapping[str, Any], verdict: Verdict, names: Names, links: Links) -> Step | None:
    """More judgments or items that could decide an open verdict; None if neither could."""
    assert verdict.coefficient is not None and verdict.value is not None
    coefficient = report["coefficients"][verdict.coefficient]
    items = [item for item in report["items"] if item["agreement"] is not None]
    expected, exact = expected_agreement(report, verdict.coefficient), is_exact(report)
    variance = variance_of(coefficient, len(items), expected, settled=exact)
    gap = abs(verdict.value - verdict.target)
    if 0 < len(items) < FEWEST_ITEMS:
        rough = f"With {plural(len(items), names.item)} the interval is rough."
        return Step("annotate", f"Annotate more {names.item}s. {rough}")
    if variance is None or not items or gap < 0.01:
        return None
    wanted = (gap / _Z) ** 2
    if not exact and variance.of_measure > 0 and (step := _judge(variance, verdict, wanted, len(items), links)):
        return step
    n_items = math.ceil(variance.per_item / wanted) if wanted > variance.of_measure or exact else None
    if n_items is not None and len(items) < n_items <= MOST_GROWTH * len(items):
        more = plural(n_items - len(items), f"more {names.item}")
        return Step("annotate", f"Annotate about {more}: the choice of {names.item}s leaves the verdict open.")
    return None


def _judge(variance: Variance, verdict: Verdict, wanted: float, n_items: int, links: Links) -> Step | None:
    link_text = "Judge pairs" if links.judge else None
    before = _Z * math.sqrt(variance.total(n_items, 0))
    if verdict.judgments == 0:
        after = _Z * math.sqrt(variance.total(n_items, FIRST_JUDGMENTS))
        if before - after >= 0.01:
            sentence = (
                f"Judge {FIRST_JUDGMENTS} pairs of texts. The interval narrows from ±{number(before)} to about "
                f"±{number(after)}."
            )
            return Step("judge", sentence, link=links.judge, link_text=link_text)
    left = wanted - variance.per_item / n_items
    if left > 0 and 0 < (more := variance.judgments_for(left)) <= MOST_JUDGMENTS:
        sentence = f"Judge about {plural(more, 'more pair')} of texts. Then the verdict is clear if the value stays."
        return Step("judge", sentence, link=links.judge, link_text=link_text)
    return None


def _ends(ci95: Sequence[float] | None) -> tuple[float, float] | None:
    return (float(ci95[0]), float(ci95[1])) if ci95 else None

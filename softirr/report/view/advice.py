"""The largest cause of disagreement, and the next step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from softirr.answers.answer import MODEL
from softirr.json_object import JsonObject, data_file
from softirr.meaning.policy.attributes import KINDS
from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.numbers import number, plural
from softirr.report.key_figures import (
    FIRST_JUDGMENTS,
    Variance,
    expected_agreement,
    headline,
    is_exact,
    raters_below_the_others,
    variance_of,
)
from softirr.report.task_sentence import quoted
from softirr.report.view.names import Links, Names
from softirr.report.view.verdict import Interval, Verdict
from softirr.statistics.coefficients.intervals import NORMAL
from softirr.text import printable

LEAST_SHARE = 0.2
"""Minimum share of the items with differences that a reason needs to be a cause."""
WORST_ITEMS = 10
FEWEST_ITEMS = 10
"""With fewer items, more of them come first."""
MOST_JUDGMENTS = 300
MOST_GROWTH = 10
"""More items than this many times the present number are never advised."""
CLAUSES: dict[str, list[str]] = data_file("softirr.report.view", "clauses")
"""For each reason a clause about two texts, and the question that a rule settles."""
_RULES = (*KINDS, "more general", "list", "spelling")
"""Reasons that a guideline can settle."""
_FRACTIONS = {1 / 4: "a quarter", 1 / 3: "a third", 1 / 2: "half", 2 / 3: "two thirds", 3 / 4: "three quarters"}


@dataclass(frozen=True)
class Scale(JsonObject):
    """A value with its interval on the scale of the cause."""

    label: str
    value: float
    ci95: Interval | None


@dataclass(frozen=True)
class Cause(JsonObject):
    """The largest cause of disagreement.

    Attributes
    ----------
    kind : {"person", "reason", "none"}
    scale : tuple of Scale
        Agreement of the person with the others, and of the others with each other.
    """

    kind: str
    sentence: str
    rater: str | None = None
    reason: str | None = None
    scale: tuple[Scale, ...] = ()
    link: str | None = None
    link_text: str | None = None


@dataclass(frozen=True)
class Step(JsonObject):
    """The next step.

    Attributes
    ----------
    kind : {"talk", "rule", "judge", "annotate", "read", "done"}
    examples : tuple of str
        Pairs of texts that a rule would settle.
    """

    kind: str
    sentence: str
    examples: tuple[str, ...] = ()
    link: str | None = None
    link_text: str | None = None


def cause_of(report: Mapping[str, Any], names: Names, links: Links) -> Cause | None:
    """The largest cause of disagreement: a person, only if the interval supports it, or a reason.

    None if nothing can be compared or everybody agrees.
    """
    agreements = [item["agreement"] for item in report["items"] if item["agreement"] is not None]
    if headline(report) is None or min(agreements, default=1.0) == 1.0:
        return None
    people = [rater for rater in raters_below_the_others(report) if not rater["id"].startswith(MODEL)]
    if people:
        return _person_cause(people[0], len(agreements), names, links)
    prefix = f"No {names.rater} is clearly below the others. " if len(report["raters"]) > 2 else ""
    reason = _largest_reason(report)
    if reason is None:
        return Cause("none", prefix.strip() or "No single reason is frequent.")
    kind, share, items = reason
    clause = CLAUSES[kind][0].format(rater=names.rater)
    share_words = "all" if share > 0.995 else f"{_share_in_words(share)} of the"
    sentence = f"{prefix}In {share_words} {names.item}s with differences, {clause}."
    link = links.items(items, REASON_NAMES[kind])
    return Cause("reason", sentence, reason=kind, link=link, link_text=f"See these {names.item}s" if link else None)


def _person_cause(rater: Mapping[str, Any], n_items: int, names: Names, links: Links) -> Cause:
    name, agreement_of_others = names.of_rater(rater["id"]), rater["others"]
    sentence = (
        f"Mostly {name}: {number(rater['agreement'])} with the others, who have "
        f"{number(agreement_of_others['value'])} with each other."
    )
    scale = (
        Scale(f"{name} with the others", rater["agreement"], rater["agreement_ci95"]),
        Scale("The others with each other", agreement_of_others["value"], agreement_of_others["ci95"]),
    )
    link = links.rater(rater["id"])
    text = f"See the {plural(min(WORST_ITEMS, n_items), f'worst {names.item}')}" if link else None
    return Cause("person", sentence, rater=rater["id"], scale=scale, link=link, link_text=text)


def _largest_reason(report: Mapping[str, Any]) -> tuple[str, float, list[str]] | None:
    """A reason, its share of the items with differences, and its items.

    It is the most frequent reason that a guideline can settle, or the most frequent of all if that is rare.
    """
    reasons = report.get("reasons") or {}
    n_items, kinds = reasons.get("items"), reasons.get("kinds") or ()
    if not n_items or not kinds:
        return None
    rules = [kind for kind in kinds if kind["kind"] in _RULES and kind["items"] / n_items >= LEAST_SHARE]
    best = max(rules or kinds, key=lambda kind: kind["items"])
    share = best["items"] / n_items
    items = list(dict.fromkeys(item for example in best["examples"] for item in example["items"]))
    return (best["kind"], share, items) if share >= LEAST_SHARE else None


def _share_in_words(share: float) -> str:
    nearest = min(_FRACTIONS, key=lambda fraction: abs(fraction - share))
    return _FRACTIONS[nearest] if abs(nearest - share) < 0.02 else f"{share:.0%}"


def next_step_of(
    report: Mapping[str, Any], verdict: Verdict, cause: Cause | None, names: Names, links: Links
) -> Step | None:
    """The next step: talk to a person, settle a rule, or judge pairs; None without a coefficient.

    More judgments or items are advised only if they could change the verdict.
    """
    if verdict.state == "undefined":
        return None
    if verdict.state == "met":
        return Step("done", "The target is reached. Nothing needs to be done.")
    if verdict.state == "misfit":
        sentence = "Choose a measure that fits these texts, or judge pairs of texts."
        return _judging(sentence, links, "read")
    if verdict.state == "undecided" and (step := _decide(report, verdict, names, links)) is not None:
        return step
    if cause is not None and cause.kind == "person" and cause.rater is not None:
        sentence = f"Talk to {names.of_rater(cause.rater)} about these {names.item}s."
        return Step("talk", sentence, link=cause.link, link_text=cause.link_text)
    if cause is not None and cause.reason in _RULES:
        return _rule(report, cause.reason, links)
    worst = f"the {names.item}s with the lowest agreement"
    return Step("read", f"Read {worst} together with the {names.rater}s, and add a rule to the guideline.")


def _rule(report: Mapping[str, Any], reason: str, links: Links) -> Step:
    kind = next(kind for kind in report["reasons"]["kinds"] if kind["kind"] == reason)
    examples = [example for example in kind["examples"] if None not in example["texts"]][:3]
    pairs = tuple(" / ".join(quoted(printable(text)) for text in example["texts"]) for example in examples)
    link = links.policy
    return Step("rule", f"Settle {CLAUSES[reason][1]}.", pairs, link, "Change the policy" if link else None)


def _decide(report: Mapping[str, Any], verdict: Verdict, names: Names, links: Links) -> Step | None:
    """More judgments or items that could decide an open verdict; None if neither could."""
    assert verdict.coefficient is not None and verdict.value is not None
    coefficient = report["coefficients"][verdict.coefficient]
    items = [item for item in report["items"] if item["agreement"] is not None]
    expected, exact = expected_agreement(report, verdict.coefficient), is_exact(report)
    variance = variance_of(coefficient, len(items), expected, is_settled=exact)
    gap = abs(verdict.value - verdict.target)
    if 0 < len(items) < FEWEST_ITEMS:
        rough = "the interval is rough" if verdict.ci95 else "there is no interval"
        return Step("annotate", f"Annotate more {names.item}s. With {plural(len(items), names.item)} {rough}.")
    if variance is None or not items or gap < 0.01:
        return None
    target_variance = (gap / NORMAL) ** 2
    if not exact and variance.of_measure > 0:
        step = _judge(variance, verdict, target_variance, len(items), links)
        if step is not None:
            return step
    n_items = math.ceil(variance.per_item / target_variance) if target_variance > variance.of_measure or exact else None
    if n_items is not None and len(items) < n_items <= MOST_GROWTH * len(items):
        more = plural(n_items - len(items), f"more {names.item}")
        return Step("annotate", f"Annotate about {more}: the choice of {names.item}s leaves the verdict open.")
    return None


def _judge(variance: Variance, verdict: Verdict, target_variance: float, n_items: int, links: Links) -> Step | None:
    wide, narrow = (NORMAL * math.sqrt(variance.total(n_items, n)) for n in (0, FIRST_JUDGMENTS))
    if verdict.judgments == 0 and wide - narrow >= 0.01:
        narrows = f"The interval narrows from ±{number(wide)} to about ±{number(narrow)}."
        return _judging(f"Judge {FIRST_JUDGMENTS} pairs of texts. {narrows}", links)
    measure_variance = target_variance - variance.per_item / n_items
    if measure_variance > 0 and 0 < (more := variance.judgments_for(measure_variance)) <= MOST_JUDGMENTS:
        sentence = f"Judge about {plural(more, 'more pair')} of texts. Then the verdict is clear if the value stays."
        return _judging(sentence, links)
    return None


def _judging(sentence: str, links: Links, kind: str = "judge") -> Step:
    return Step(kind, sentence, link=links.judge, link_text="Judge pairs" if links.judge else None)

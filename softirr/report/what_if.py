"""The headline coefficient without an attribute: the sentence that improves a guideline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from softirr.answers.ratings import Floats, Pooling, Ratings
from softirr.answers.table import AnnotationTable
from softirr.defaults import TARGET_SE
from softirr.errors import InputError
from softirr.meaning.policy.attributes import KINDS, without
from softirr.meaning.policy.measure import PolicyStage, policy_of, under_policy
from softirr.report.inputs import AgreementOptions
from softirr.report.key_figures import headline_key
from softirr.report.reason_counts import WhatIf
from softirr.report.results import AgreementReport
from softirr.report.scoring import Scoring, coefficient_estimate
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import coefficient_of_draws
from softirr.statistics.coefficients.registry import definition
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.text import normalize

MOST_ITEMS, COSTLY_MOST_ITEMS = 2_000, 300
"""Items up to which the difference is measured on all of them: cheap measures, and others."""

_EXACT_WHAT_IF = 1_000
"""Distinct answers up to which what-if takes all pairs of them for chance if the measure is cheap."""
_WHAT_IF_PERMUTATIONS = 10
"""Number of permutations with more answers: enough to keep the error of a difference below the digits shown."""
_DRAWS = 4_000
"""Pairs of answers drawn at random, among which those with an attribute are counted."""
_FEWEST = 20
"""Pairs with the attribute that are scored first."""


def with_what_if(report: AgreementReport, table: AnnotationTable, scoring: Scoring) -> AgreementReport:
    """The report with its headline coefficient under policies that ignore one attribute more.

    The difference is measured on the same items with and without the attribute, and added to the coefficient of the
    whole table. Its interval comes from the same draws of the items with and without the attribute. An attribute is
    left out if the measure cannot be put under another policy.

    Parameters
    ----------
    report : AgreementReport
        With the reasons of all items.
    """
    key = headline_key({name: coefficient.value for name, coefficient in report.coefficients.items()})
    if key is None or report.reasons is None:
        return report
    measure, policy = scoring.measure, policy_of(scoring.measure)
    kinds = [count.kind for count in report.reasons.kinds]
    attributes = [kind for kind in kinds if kind in KINDS and kind not in policy.ignore]
    sample = _sample(table, MOST_ITEMS if measure.has_blocks else COSTLY_MOST_ITEMS, scoring.options.seed)
    n, value = len(Ratings.of(sample).comparable_items), float(report.coefficients[key])
    answers, estimate = scoring.answers(sample), partial(_headline_estimate, report, key, scoring.options)
    present = estimate(answers) if attributes and n > 1 else None
    if present is None or present.value is None:
        return report
    what_if = []
    for kind in attributes:
        try:
            other_measure = under_policy(measure.without(PolicyStage), policy.changed(ignore=policy.ignore | {kind}))
        except InputError:
            continue
        changed = estimate(answers, scoring.answers(sample, other_measure), kind)
        if changed.value is not None:
            difference = coefficient_of_draws(
                changed.value - present.value, changed.draws - present.draws, -1.0, n_items=len(present.items)
            )
            new_value = min(1.0, value + changed.value - present.value)
            what_if.append(WhatIf(kind, key, new_value, value, n, up_to_one(difference.ci95, value)))
    what_if.sort(key=lambda entry: (-entry.value, entry.attribute))
    return replace(report, reasons=replace(report.reasons, what_if=tuple(what_if)))


def _headline_estimate(
    report: AgreementReport,
    key: str,
    options: AgreementOptions,
    present: AnswerScorer,
    without_kind: AnswerScorer | None = None,
    kind: str = "",
) -> Estimate:
    """The headline of a sample of the items under the report's measure, or under one that ignores a kind more."""
    by_chance, answers = None, without_kind or present
    if not present.scorer.cheap:
        expected, shift = report.expected_agreement.fleiss or 0.0, 0.0
        if without_kind is not None and definition(key).chance is not None:
            slope = (1 - float(report.coefficients[key])) / max(1 - expected, 0.01)
            shift = chance_shift(present, without_kind, kind, slope=slope, seed=options.seed)
        by_chance = min(max(expected + shift, 0.0), 1.0)
    elif options.chance == "auto" and len(answers.table.answers) > _EXACT_WHAT_IF:
        # the same permutations with and without an attribute, so that their common error cancels in the difference
        options = replace(options, chance="permutation", permutations=_WHAT_IF_PERMUTATIONS)
    return coefficient_estimate(answers, key, options, by_chance)


def up_to_one(difference_ci95: Sequence[float] | None, value: float) -> tuple[float, float] | None:
    """The interval of a difference from a coefficient, cut so that their sum does not exceed 1."""
    return None if difference_ci95 is None else (min(difference_ci95[0], 1 - value), min(difference_ci95[1], 1 - value))


def chance_shift(present: AnswerScorer, without_kind: AnswerScorer, kind: str, *, slope: float, seed: int) -> float:
    """How much higher agreement by chance is without an attribute, from pairs of answers drawn at random.

    Only pairs with the attribute can change, and which have it is known without a score. They are scored with and
    without it, more and more of them, until the standard error of the coefficient is at most `TARGET_SE`.

    Parameters
    ----------
    present, without_kind : AnswerScorer
        Score the table's answers under the measure with the attribute, and under the one without it.
    slope : float
        By how much the coefficient falls where agreement by chance rises.
    """
    table, ratings = present.table, Ratings.of(present.table)
    pooling, rng = Pooling.of(ratings), np.random.default_rng(seed)
    first, second = (ratings.answer[rng.choice(pooling.rows, _DRAWS, p=pooling.weights)] for _ in range(2))
    has = np.array([without(text, (kind,)) != normalize(text) for text in table.texts], dtype=bool)
    changed = np.array([any(has[text] for text in answer) for answer in table.answers], dtype=bool)
    changed_pairs = np.flatnonzero(changed[first] | changed[second])
    share = len(changed_pairs) / _DRAWS
    changed_pairs = changed_pairs[: max(_FEWEST, int(share * len(pooling.rows)))]
    changes: Floats = np.zeros(0)
    while len(changes) < len(changed_pairs):
        new = changed_pairs[len(changes) : max(2 * len(changes), _FEWEST)]
        changes = np.concatenate(
            [changes, without_kind.score(first[new], second[new]) - present.score(first[new], second[new])]
        )
        # as if one more pair had changed by a half: among few pairs, those that come to match are rare
        error = share * float(np.sqrt(np.sum(changes**2) + 0.25)) / len(changes)
        if error * slope <= TARGET_SE:
            break
    return share * float(changes.mean()) if len(changes) else 0.0


def _sample(table: AnnotationTable, max_items: int, seed: int) -> AnnotationTable:
    """The table, or a random sample of its items that two raters answered."""
    items = Ratings.of(table).comparable_items
    if len(items) <= max_items:
        return table
    sampled_items = np.sort(np.random.default_rng(seed).choice(items, max_items, replace=False))
    return table.part(items=[table.items[number] for number in sampled_items.tolist()])

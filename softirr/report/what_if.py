"""The headline coefficient without an attribute: the sentence that improves a guideline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from softirr.answers.ratings import Floats, Pooling, Ratings
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.policy.attributes import KINDS, without
from softirr.meaning.policy.measure import PolicyStage, policy_of, under_policy
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
_ERROR = 0.0025
"""Standard error of the coefficient: half of it is not seen in two digits."""


@dataclass(frozen=True, eq=False)
class _HeadlineEstimates:
    """Estimates the headline coefficient of a report for a sample of its items and for other measures.

    Attributes
    ----------
    table : AnnotationTable
        The sampled items.
    scoring : Scoring
        The report's measure and options.
    key : str
        Key of the coefficient.
    value : float
        The coefficient of the whole table.
    expected : float
        Expected agreement of the pooled answers of the whole table.
    """

    table: AnnotationTable
    scoring: Scoring
    key: str
    value: float
    expected: float

    def of(self, measure: Measure, without_kind: str | None = None) -> Estimate:
        """The coefficient under a measure, without one attribute more than the report's if one is named."""
        options, by_chance = self.scoring.options, None
        if not self.scoring.measure.has_blocks:
            shift = 0.0 if without_kind is None else self._shift(without_kind, measure)
            by_chance = min(max(self.expected + shift, 0.0), 1.0)
        elif options.chance == "auto" and len(self.table.answers) > _EXACT_WHAT_IF:
            # the same permutations with and without an attribute, so that their common error cancels in the difference
            options = replace(options, chance="permutation", permutations=_WHAT_IF_PERMUTATIONS)
        return coefficient_estimate(self.scoring.answers(self.table, measure), self.key, options, by_chance)

    @cached_property
    def _shift(self) -> Callable[[str, Measure], float]:
        """How much higher agreement by chance is without an attribute under a measure; 0 if there is none."""
        if definition(self.key).chance is None:
            return lambda *_: 0.0
        slope = (1 - self.value) / max(1 - self.expected, 0.01)
        answers_under = partial(self.scoring.answers, self.table)
        return ChanceShift(answers_under(), answers_under, slope=slope, seed=self.scoring.options.seed).of


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
    estimates = _HeadlineEstimates(sample, scoring, key, value, report.expected_agreement.fleiss or 0.0)
    present = estimates.of(measure) if attributes and n > 1 else None
    if present is None or present.value is None:
        return report
    what_if = []
    for kind in attributes:
        try:
            other_measure = under_policy(measure.without(PolicyStage), policy.changed(ignore=policy.ignore | {kind}))
        except InputError:
            continue
        changed = estimates.of(other_measure, kind)
        if changed.value is not None:
            difference = coefficient_of_draws(
                changed.value - present.value, changed.draws - present.draws, -1.0, n_items=len(present.items)
            )
            new_value = min(1.0, value + changed.value - present.value)
            what_if.append(WhatIf(kind, key, new_value, value, n, up_to_one(difference.ci95, value)))
    what_if.sort(key=lambda entry: (-entry.value, entry.attribute))
    return replace(report, reasons=replace(report.reasons, what_if=tuple(what_if)))


def up_to_one(difference_ci95: Sequence[float] | None, value: float) -> tuple[float, float] | None:
    """The interval of a difference from a coefficient, cut so that their sum does not exceed 1."""
    return None if difference_ci95 is None else (min(difference_ci95[0], 1 - value), min(difference_ci95[1], 1 - value))


class ChanceShift:
    """How much higher agreement by chance is without an attribute, from pairs of answers drawn at random.

    Only pairs with the attribute can change, and which have it is known without a score. They are scored with and
    without it, more and more of them, until the standard error of the coefficient is below the digits shown.

    Parameters
    ----------
    present : AnswerScorer
        Scores the table's answers under the measure with the attributes.
    answers_under : callable
        What scores them under another measure.
    slope : float
        By how much the coefficient falls where agreement by chance rises.
    """

    def __init__(
        self, present: AnswerScorer, answers_under: Callable[[Measure], AnswerScorer], *, slope: float, seed: int
    ) -> None:
        ratings = Ratings.of(present.table)
        pooling, rng = Pooling.of(ratings), np.random.default_rng(seed)
        draws = (rng.choice(pooling.rows, _DRAWS, p=pooling.weights) for _ in range(2))
        self._left, self._right = (ratings.answer[rows] for rows in draws)
        self._table, self._answers_under, self._now = present.table, answers_under, present
        self._slope, self._most = slope, len(pooling.rows)

    def of(self, kind: str, other_measure: Measure) -> float:
        """The mean equivalence of two answers under the measure without the attribute, minus that with it."""
        has = np.array([without(text, (kind,)) != normalize(text) for text in self._table.texts], dtype=bool)
        changed = np.array([any(has[text] for text in answer) for answer in self._table.answers], dtype=bool)
        changed_pairs = np.flatnonzero(changed[self._left] | changed[self._right])
        share = len(changed_pairs) / _DRAWS
        changed_pairs = changed_pairs[: max(_FEWEST, int(share * self._most))]
        then = self._answers_under(other_measure)
        changes: Floats = np.zeros(0)
        while len(changes) < len(changed_pairs):
            new = changed_pairs[len(changes) : max(2 * len(changes), _FEWEST)]
            pair = self._left[new], self._right[new]
            changes = np.concatenate([changes, then.score(*pair) - self._now.score(*pair)])
            # as if one more pair had changed by a half: among few pairs, those that come to match are rare
            error = share * float(np.sqrt(np.sum(changes**2) + 0.25)) / len(changes)
            if error * self._slope <= _ERROR:
                break
        return share * float(changes.mean()) if len(changes) else 0.0


def _sample(table: AnnotationTable, max_items: int, seed: int) -> AnnotationTable:
    """The table, or a random sample of its items that two raters answered."""
    items = Ratings.of(table).comparable_items
    if len(items) <= max_items:
        return table
    sampled_items = np.sort(np.random.default_rng(seed).choice(items, max_items, replace=False))
    return table.part(items=[table.items[number] for number in sampled_items.tolist()])

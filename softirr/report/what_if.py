"""The headline coefficient without an attribute: the sentence that improves a guideline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from softirr.answers.ratings import Floats, Pooling, Ratings
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.pairs import CacheOption, PairScorer, ProgressOption, cache_and_progress
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.policy.attributes import KINDS, without
from softirr.meaning.policy.measure import policy_of, under_policy, without_policy
from softirr.provenance import Progress
from softirr.report.inputs import AgreementOptions
from softirr.report.key_figures import headline_key
from softirr.report.reason_counts import WhatIf
from softirr.report.results import AgreementReport
from softirr.report.scoring import coefficient_estimate
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


@dataclass(frozen=True, eq=False)
class _HeadlineEstimates:
    """Estimates the headline coefficient of a report for samples of its table and for other measures.

    Attributes
    ----------
    measure : Measure
        The report's measure.
    key : str
        Key of the coefficient.
    value : float
        The coefficient of the whole table.
    expected : float
        Expected agreement of the pooled answers of the whole table.
    options : AgreementOptions
        Options of the report.
    cache, progress
        As for :func:`with_what_if`.
    """

    measure: Measure
    key: str
    value: float
    expected: float
    options: AgreementOptions
    cache: PairCache | None
    progress: Progress | None

    def of(self, table: AnnotationTable, measure: Measure, shift: float) -> Estimate | None:
        """The coefficient, with its agreement by chance increased by a shift; None if no answers can be compared."""
        scorer = self._scorer(table, measure)
        if not self.measure.has_blocks:
            level = min(max(self.expected + shift, 0.0), 1.0)
            return coefficient_estimate(table, scorer, self.key, self.options, level)
        options = self.options
        if options.chance == "auto" and len(table.answers) > _EXACT_WHAT_IF:
            # the same permutations with and without an attribute, so that their common error cancels in the difference
            options = replace(options, chance="permutation", permutations=_WHAT_IF_PERMUTATIONS)
        return coefficient_estimate(table, scorer, self.key, options)

    def shift_of(self, table: AnnotationTable) -> ChanceShift | None:
        """Finds the shift of an attribute and the measure without it; None if `of` computes agreement by chance."""
        if self.measure.has_blocks or definition(self.key).chance is None:
            return None
        return ChanceShift(
            table,
            lambda measure: AnswerScorer(table, self._scorer(table, measure), method=self.options.assignment),
            self.measure,
            slope=(1 - self.value) / max(1 - self.expected, 0.01),
            seed=self.options.seed,
        )

    def _scorer(self, table: AnnotationTable, measure: Measure) -> PairScorer:
        return PairScorer(measure, table.texts, cache=self.cache, progress=self.progress)


def with_what_if(
    report: AgreementReport,
    table: AnnotationTable,
    measure: Measure,
    options: AgreementOptions,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AgreementReport:
    """The report with its headline coefficient under policies that ignore one attribute more.

    Parameters
    ----------
    report : AgreementReport
        With the reasons of all items.
    table, measure, options, cache, progress
        As for :func:`softirr.agreement`.
    """
    key = headline_key({name: coefficient.value for name, coefficient in report.coefficients.items()})
    if key is None or report.reasons is None:
        return report
    expected = report.expected_agreement.fleiss or 0.0
    attributes = [count.kind for count in report.reasons.kinds if count.kind in KINDS]
    with cache_and_progress(measure, cache, progress) as (store, shown_progress):
        estimates = _HeadlineEstimates(
            measure, key, float(report.coefficients[key]), expected, options, store, shown_progress
        )
        differences = _without_attributes(estimates, table, attributes)
    return replace(report, reasons=replace(report.reasons, what_if=differences))


def _without_attributes(
    estimates: _HeadlineEstimates, table: AnnotationTable, attributes: Sequence[str]
) -> tuple[WhatIf, ...]:
    """The coefficient without each of some attributes.

    The difference is measured on the same items with and without the attribute, and added to the coefficient of the
    whole table. Its interval comes from the same draws of the items with and without the attribute.

    Parameters
    ----------
    estimates : _HeadlineEstimates
        Its measure may be under a policy, which then ignores one attribute more.
    attributes : sequence of str
        Attributes of :data:`softirr.meaning.policy.attributes.KINDS`.

    Returns
    -------
    tuple of WhatIf
        The largest difference first; nothing if the measure cannot be put under another policy.
    """
    measure, value, policy = estimates.measure, estimates.value, policy_of(estimates.measure)
    new = [kind for kind in attributes if kind not in policy.ignore]
    max_items = MOST_ITEMS if measure.has_blocks else COSTLY_MOST_ITEMS
    sampled_table, n = _sample(table, max_items, estimates.options.seed)
    if not new or n < 2:
        return ()
    present = estimates.of(sampled_table, measure, 0.0)
    if present is None or present.value is None:
        return ()
    shift = estimates.shift_of(sampled_table)
    answers = []
    for kind in new:
        try:
            other_measure = under_policy(without_policy(measure), policy.changed(ignore=policy.ignore | {kind}))
        except InputError:
            continue
        changed = estimates.of(sampled_table, other_measure, 0.0 if shift is None else shift.of(kind, other_measure))
        if changed is not None and changed.value is not None:
            difference = coefficient_of_draws(
                changed.value - present.value, changed.draws - present.draws, -1.0, n_items=len(present.items)
            )
            new_value = min(1.0, value + changed.value - present.value)
            answers.append(WhatIf(kind, estimates.key, new_value, value, n, up_to_one(difference.ci95, value)))
    return tuple(sorted(answers, key=lambda answer: (-answer.value, answer.attribute)))


def up_to_one(difference_ci95: Sequence[float] | None, value: float) -> tuple[float, float] | None:
    """The interval of a difference from a coefficient, cut so that their sum does not exceed 1."""
    return None if difference_ci95 is None else (min(difference_ci95[0], 1 - value), min(difference_ci95[1], 1 - value))


class ChanceShift:
    """How much higher agreement by chance is without an attribute, from pairs of answers drawn at random.

    Only pairs with the attribute can change, and which have it is known without a score. They are scored with and
    without it, more and more of them, until the standard error of the coefficient is below the digits shown.

    Parameters
    ----------
    scorer_of : callable
        What scores the table's answers under a measure.
    measure : Measure
        With the attributes.
    slope : float
        By how much the coefficient falls where agreement by chance rises.
    """

    def __init__(
        self,
        table: AnnotationTable,
        scorer_of: Callable[[Measure], AnswerScorer],
        measure: Measure,
        *,
        slope: float,
        seed: int,
    ) -> None:
        ratings = Ratings.of(table)
        pooling, rng = Pooling.of(ratings), np.random.default_rng(seed)
        draws = (rng.choice(pooling.rows, _DRAWS, p=pooling.weights) for _ in range(2))
        self._left, self._right = (ratings.answer[rows] for rows in draws)
        self._table, self._scorer_of, self._now = table, scorer_of, scorer_of(measure)
        self._slope, self._most = slope, len(pooling.rows)

    def of(self, kind: str, other_measure: Measure) -> float:
        """The mean equivalence of two answers under the measure without the attribute, minus that with it."""
        has = np.array([without(text, (kind,)) != normalize(text) for text in self._table.texts], dtype=bool)
        changed = np.array([any(has[text] for text in answer) for answer in self._table.answers], dtype=bool)
        changed_pairs = np.flatnonzero(changed[self._left] | changed[self._right])
        share = len(changed_pairs) / _DRAWS
        changed_pairs = changed_pairs[: max(_FEWEST, int(share * self._most))]
        then = self._scorer_of(other_measure)
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


_DRAWS = 4_000
"""Pairs of answers drawn at random, among which those with an attribute are counted."""
_FEWEST = 20
"""Pairs with the attribute that are scored first."""
_ERROR = 0.0025
"""Standard error of the coefficient: half of it is not seen in two digits."""


def _sample(table: AnnotationTable, max_items: int, seed: int) -> tuple[AnnotationTable, int]:
    """The table, or a random sample of its items that two raters answered; and how many of these it has."""
    items = Ratings.of(table).comparable_items
    if len(items) <= max_items:
        return table, len(items)
    sampled_items = np.sort(np.random.default_rng(seed).choice(items, max_items, replace=False))
    return table.part(items=[table.items[number] for number in sampled_items.tolist()]), max_items

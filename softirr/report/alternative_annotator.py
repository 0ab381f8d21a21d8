"""The alternative annotator test, which asks whether a model may replace a randomly chosen annotator.

Each annotator is left out in turn. On every item, the model and this annotator are scored by their mean equivalence
with the remaining annotators. The model wins against an annotator if its share of items with at least the annotator's
score is higher than the annotator's share minus epsilon, the advantage in cost that a model has. The model passes if it
wins against at least half of the annotators.

References
----------
Calderon, N., Reichart, R. and Dror, R. (2025). The alternative annotator test for LLM-as-a-judge: how to statistically
justify replacing human annotators with LLMs. Proceedings of ACL 2025, 16051-16081. Benjamini, Y. and Yekutieli, D.
(2001). The control of the false discovery rate in multiple testing under dependency.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.meaning.measures.arrays import Bools
from softirr.numbers import interval, number, plural
from softirr.report.scoring import Scored
from softirr.statistics.coefficients.intervals import Coefficient, student_quantile
from softirr.text import printable

EPSILON = 0.15
"""For skilled annotators; the authors advise 0.2 for experts and 0.1 for crowd workers."""
LEAST_ANNOTATORS = 3
LEAST_ITEMS = 30
PASSING_RATE = 0.5
_FALSE_DISCOVERIES = 0.05
_SAME_SCORE = 1e-9


@dataclass(frozen=True)
class Contest(JsonObject):
    """The model against one annotator.

    Attributes
    ----------
    n_items : int
        Items that the model, the annotator and at least one other annotator answered.
    model_share, annotator_share : float
        Share of items on which the model scores at least as high as the annotator, and the reverse.
    p : float
        One-sided p of the null hypothesis that the model's share is at most the annotator's share minus epsilon.
    won : bool
        Whether the model wins, with the false discovery rate controlled over all annotators.
    """

    annotator: str
    n_items: int
    model_share: float
    annotator_share: float
    p: float
    won: bool


@dataclass(frozen=True)
class AlternativeAnnotator(JsonObject):
    """Result of the alternative annotator test of one model.

    Attributes
    ----------
    winning_rate : float or None
        Share of annotators that the model wins against.
    advantage : Coefficient
        Average advantage probability: the mean over annotators of ``model_share``, with its interval over items.
    skipped : tuple of str
        Annotators with fewer than ``LEAST_ITEMS`` items.
    undefined : str or None
        Reason for a missing result.
    """

    model: str
    epsilon: float
    winning_rate: float | None
    advantage: Coefficient
    contests: tuple[Contest, ...] = ()
    skipped: tuple[str, ...] = ()
    undefined: str | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the model wins against at least half of the annotators; None if the test is not defined."""
        return None if self.winning_rate is None else self.winning_rate >= PASSING_RATE

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        model = printable(self.model)
        if self.winning_rate is None:
            return f"{model}: the alternative annotator test needs more data: {self.undefined}."
        won = sum(contest.won for contest in self.contests)
        ci95 = f", 95% interval {interval(self.advantage.ci95)}" if self.advantage.ci95 else ""
        return (
            f"{model}: {'passes' if self.passed else 'does not pass'} the alternative annotator test (it wins "
            f"against {won} of {len(self.contests)} annotators with epsilon {self.epsilon:g}; average advantage "
            f"probability {number(self.advantage.value)}{ci95})."
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        values = super().to_dict()
        advantage = values.pop("advantage")
        return {
            "annotators": values.pop("contests"),
            **values,
            "passed": self.passed,
            "advantage_probability": advantage["value"],
            "advantage_ci95": advantage["ci95"],
        }


def alternative_annotator(
    scored: Scored, model: str, annotators: Collection[str], epsilon: float = EPSILON
) -> AlternativeAnnotator:
    """Test whether a model may replace a randomly chosen annotator.

    Parameters
    ----------
    scored : Scored
        Scores of a table with the model and the annotators.
    annotators : collection of str
        The people that the model is compared with.
    epsilon : float
        The advantage in cost of a model: 0.2 where annotators are experts, 0.15 for skilled annotators, 0.1 for crowd
        workers.

    Raises
    ------
    InputError
        If epsilon is not from 0 to 1.
    """
    if not 0 <= epsilon < 1:
        raise InputError(f"epsilon is {epsilon:g}, but must be at least 0 and below 1.")
    raters = scored.table.raters
    people = [number for number, rater in enumerate(raters) if rater in set(annotators)]
    needed = f"but at least {LEAST_ANNOTATORS} are needed"
    if len(people) < LEAST_ANNOTATORS:
        return _not_defined(model, epsilon, f"{plural(len(people), 'annotator')}, {needed}")
    of_model = raters.index(model)
    answered, totals, with_model = _totals(scored, of_model, people)
    n_people = answered[people].sum(axis=0)
    wins: dict[str, Floats] = {}
    skipped = []
    for person in people:
        is_contested = answered[of_model] & answered[person] & (n_people >= 2)
        if is_contested.sum() < LEAST_ITEMS:
            skipped.append(raters[person])
            continue
        n_others = n_people[is_contested] - 1
        scores = np.stack([totals[of_model] - with_model[person], totals[person]])[:, is_contested] / n_others
        wins[raters[person]] = np.full((2, len(n_people)), np.nan)
        wins[raters[person]][:, is_contested] = scores >= scores[::-1] - _SAME_SCORE
    if len(wins) < LEAST_ANNOTATORS:
        reason = (
            f"{len(wins)} of {len(people)} annotators {'has' if len(wins) == 1 else 'have'} {LEAST_ITEMS} items with "
            f"the model and another annotator, {needed}"
        )
        return _not_defined(model, epsilon, reason, tuple(skipped))
    return _concluded(model, epsilon, wins, tuple(skipped))


def _totals(scored: Scored, model: int, people: Sequence[int]) -> tuple[Bools, Floats, Floats]:
    """For each rater and item: whether there is an answer, the sum of its equivalences with people, and with the model.

    Each has the shape (n_raters, n_items).
    """
    table, ratings, item = scored.table, scored.ratings, scored.ratings.comparisons.item
    shape = len(table.raters), len(table.items)
    answered, totals, with_model = np.zeros(shape, dtype=bool), np.zeros(shape), np.zeros(shape)
    answered[table.rater, table.item] = True
    left_rows, right_rows = ratings.comparisons.left_rows, ratings.comparisons.right_rows
    for rows, other_rows in ((left_rows, right_rows), (right_rows, left_rows)):
        rater, other_rater = ratings.rater[rows], ratings.rater[other_rows]
        np.add.at(totals, (rater, item), np.where(np.isin(other_rater, people), scored.by_measure.scores, 0.0))
        np.add.at(with_model, (rater, item), np.where(other_rater == model, scored.by_measure.scores, 0.0))
    return answered, totals, with_model


def _concluded(
    model: str, epsilon: float, wins: Mapping[str, Floats], skipped: tuple[str, ...]
) -> AlternativeAnnotator:
    from scipy.stats import false_discovery_control

    of_both = np.array(list(wins.values()))
    p = np.array([_p_below(of_person - of_model, epsilon) for of_model, of_person in of_both])
    won = false_discovery_control(p, method="by") <= _FALSE_DISCOVERIES
    n_items, shares = np.isfinite(of_both[:, 0]).sum(axis=1), np.nanmean(of_both, axis=2)
    rows = zip(wins, n_items.tolist(), shares.tolist(), p.tolist(), won.tolist(), strict=True)
    contests = tuple(Contest(name, n, of_model, of_person, *test) for name, n, (of_model, of_person), *test in rows)
    advantage = _advantage(of_both[:, 0])
    return AlternativeAnnotator(model, epsilon, float(won.mean()), advantage, contests, skipped)


def _not_defined(model: str, epsilon: float, reason: str, skipped: tuple[str, ...] = ()) -> AlternativeAnnotator:
    advantage = Coefficient(None, undefined=reason)
    return AlternativeAnnotator(model, epsilon, None, advantage, skipped=skipped, undefined=reason)


def _p_below(values: Floats, epsilon: float) -> float:
    """One-sided p of a t test that the mean is below epsilon."""
    from scipy.stats import ttest_1samp

    finite_values = values[np.isfinite(values)]
    if np.ptp(finite_values) == 0:  # a t test has no spread to go by
        return 0.0 if finite_values[0] < epsilon else 1.0
    return float(ttest_1samp(finite_values, epsilon, alternative="less").pvalue)


def _advantage(wins: Floats) -> Coefficient:
    """Mean over annotators of the model's share of items, with its interval over items (linearized)."""
    shares, is_contested = np.nanmean(wins, axis=1, keepdims=True), np.isfinite(wins)
    value = float(np.mean(shares))
    influence = np.where(is_contested, wins - shares, 0.0) / is_contested.sum(axis=1, keepdims=True) / len(wins)
    n = int(is_contested.any(axis=0).sum())
    error = float(np.sqrt(np.sum(influence.sum(axis=0) ** 2) * n / (n - 1)))
    reach = student_quantile(n - 1) * error
    return Coefficient(value, error, (max(value - reach, 0.0), min(value + reach, 1.0)))

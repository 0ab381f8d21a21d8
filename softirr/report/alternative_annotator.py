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

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats
from softirr.errors import InputError
from softirr.json_object import JsonObject
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
class AlternativeAnnotator:
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
        return {
            "model": self.model,
            "epsilon": self.epsilon,
            "winning_rate": self.winning_rate,
            "passed": self.passed,
            "advantage_probability": self.advantage.value,
            "advantage_ci95": None if self.advantage.ci95 is None else list(self.advantage.ci95),
            "annotators": [contest.to_dict() for contest in self.contests],
            "skipped": list(self.skipped),
            "undefined": self.undefined,
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
    table, people = scored.table, [rater for rater in scored.table.raters if rater in set(annotators)]
    needed = f"but at least {LEAST_ANNOTATORS} are needed"
    if len(people) < LEAST_ANNOTATORS:
        return _not_defined(model, epsilon, f"{plural(len(people), 'annotator')}, {needed}")
    equivalence = _by_rater_pair(scored)
    n_items = len(table.items)
    answered, totals = {}, {}
    for rater in (model, *people):
        is_of_rater = table.rater == table.raters.index(rater)
        answered[rater] = np.bincount(table.item[is_of_rater], minlength=n_items) > 0
        shared = [equivalence[rater, person] for person in people if (rater, person) in equivalence]
        totals[rater] = np.nansum([np.zeros(n_items), *shared], axis=0)
    n_people = np.sum([answered[rater] for rater in people], axis=0)
    differences: dict[str, tuple[Floats, Floats]] = {}
    skipped = []
    for annotator in people:
        is_contested = answered[model] & answered[annotator] & (n_people >= 2)
        if is_contested.sum() < LEAST_ITEMS:
            skipped.append(annotator)
            continue
        n_others = n_people[is_contested] - 1
        of_model = (totals[model][is_contested] - equivalence[model, annotator][is_contested]) / n_others
        of_annotator = totals[annotator][is_contested] / n_others
        wins = np.full((2, n_items), np.nan)
        wins[0, is_contested] = of_model >= of_annotator - _SAME_SCORE
        wins[1, is_contested] = of_annotator >= of_model - _SAME_SCORE
        differences[annotator] = wins[0], wins[1]
    if len(differences) < LEAST_ANNOTATORS:
        reason = (
            f"{len(differences)} of {len(people)} annotators {'has' if len(differences) == 1 else 'have'} "
            f"{LEAST_ITEMS} items with the model and another annotator, {needed}"
        )
        return _not_defined(model, epsilon, reason, tuple(skipped))
    return _concluded(model, epsilon, differences, tuple(skipped))


def _concluded(
    model: str, epsilon: float, wins: dict[str, tuple[Floats, Floats]], skipped: tuple[str, ...]
) -> AlternativeAnnotator:
    from scipy.stats import false_discovery_control

    p = np.array([_p_below(annotators - models, epsilon) for models, annotators in wins.values()])
    won = false_discovery_control(p, method="by") <= _FALSE_DISCOVERIES
    contests = tuple(
        Contest(
            annotator,
            int(np.isfinite(models).sum()),
            float(np.nanmean(models)),
            float(np.nanmean(annotators)),
            float(value),
            bool(is_won),
        )
        for (annotator, (models, annotators)), value, is_won in zip(wins.items(), p, won, strict=True)
    )
    return AlternativeAnnotator(
        model, epsilon, float(won.mean()), _advantage([models for models, _ in wins.values()]), contests, skipped
    )


def _not_defined(model: str, epsilon: float, reason: str, skipped: tuple[str, ...] = ()) -> AlternativeAnnotator:
    return AlternativeAnnotator(
        model, epsilon, None, Coefficient(None, undefined=reason), skipped=skipped, undefined=reason
    )


def _by_rater_pair(scored: Scored) -> dict[tuple[str, str], Floats]:
    """Equivalence of the answers of two raters on each item, shape (n_items,), NaN if one is missing."""
    comparisons, raters, n_items = scored.ratings.comparisons, scored.table.raters, len(scored.table.items)
    by_pair: dict[tuple[str, str], Floats] = {}
    for pair, (a, b) in enumerate(comparisons.rater_pairs.tolist()):
        of_pair = comparisons.rater_pair == pair
        values = np.full(n_items, np.nan)
        values[comparisons.item[of_pair]] = scored.scores[of_pair]
        by_pair[raters[a], raters[b]] = by_pair[raters[b], raters[a]] = values
    return by_pair


def _p_below(values: Floats, epsilon: float) -> float:
    """One-sided p of a t test that the mean is below epsilon."""
    from scipy.stats import ttest_1samp

    finite_values = values[np.isfinite(values)]
    if np.ptp(finite_values) == 0:  # a t test has no spread to go by
        return 0.0 if finite_values[0] < epsilon else 1.0
    return float(ttest_1samp(finite_values, epsilon, alternative="less").pvalue)


def _advantage(wins: list[Floats]) -> Coefficient:
    """Mean over annotators of the model's share of items, with its interval over items (linearized)."""
    shares = [float(np.nanmean(contest_wins)) for contest_wins in wins]
    value = float(np.mean(shares))
    influence = np.sum(
        [
            np.where(np.isfinite(contest_wins), contest_wins - share, 0.0) / np.isfinite(contest_wins).sum() / len(wins)
            for contest_wins, share in zip(wins, shares, strict=True)
        ],
        axis=0,
    )
    n = int(np.any(np.isfinite(wins), axis=0).sum())
    error = float(np.sqrt(np.sum(influence**2) * n / (n - 1)))
    reach = student_quantile(n - 1) * error
    return Coefficient(value, error, (max(value - reach, 0.0), min(value + reach, 1.0)))

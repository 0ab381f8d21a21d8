"""Each coefficient as ``1 - D / B``: weights of pairs of answers in D and B, for a table, a rater and two raters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.cohen import mean_cohen
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.coefficients.fleiss import fleiss
from softirr.statistics.coefficients.krippendorff import krippendorff
from softirr.statistics.coefficients.observed import chosen_agreement, observed_agreement
from softirr.statistics.coefficients.scott import scott
from softirr.statistics.evidence.fit import Fit

__all__ = ["CERTAIN", "Apart", "MeasureChance", "Target", "Targets"]

CERTAIN = 1e-9


@dataclass(frozen=True, eq=False)
class MeasureChance:
    """The ratings and the agreement by chance of the measure, which the influence of each item is computed with.

    Attributes
    ----------
    ratings : Ratings
    scores : shape (P,)
        The measure's equivalence of each comparison of ``ratings``.
    chance : Chance
    place : shape (P,)
        For each comparison of ``ratings``: its place in the design.
    """

    ratings: Ratings
    scores: Floats
    chance: Chance
    place: Ints


@dataclass(frozen=True)
class Apart:
    """Pairs of answers to different items in a disagreement by chance.

    Attributes
    ----------
    weight : float
        Of all of these pairs.
    agreement, variance : float
        Their weighted equivalence and its variance.
    by_p : float
        Their weighted equivalence by the measure's P.
    """

    weight: float
    agreement: float
    variance: float
    by_p: float

    def scaled(self, weight: float, agreement: float) -> Apart:
        """Other pairs: with so many times the weight, and so many times the agreement."""
        return Apart(
            self.weight * weight, self.agreement * agreement, self.variance * agreement**2, self.by_p * agreement
        )


_WITHOUT_CHANCE = Apart(1.0, 0.0, 0.0, 0.0)
"""B is 1."""


@dataclass(frozen=True, eq=False)
class Target:
    """A coefficient ``1 - D / B``.

    Attributes
    ----------
    rows : shape (n,)
        Pairs of answers to the same item, of the design.
    disagreement : shape (n,)
        Their weights in D.
    chance : shape (n,) or None
        Their weights in B; None where they have none.
    apart : Apart
        What pairs of different items add to B.
    influence : Estimate
        By the corrected scores, with the influence of each item.
    """

    rows: Ints
    disagreement: Floats
    chance: Floats | None
    apart: Apart
    influence: Estimate


class Targets:
    """Makes the targets of a table.

    Parameters
    ----------
    fit : Fit
    measure : MeasureChance
    """

    def __init__(self, fit: Fit, measure: MeasureChance) -> None:
        self.fit, self.measure, self.ratings = fit, measure, measure.ratings
        self.by_fit = fit.equivalence[0][measure.place]
        comparisons = self.ratings.comparisons
        self._weight = self.ratings.weight[comparisons.item]
        m = len(comparisons.shared)
        self._pair_mass = sums(comparisons.rater_pair, self._weight, m)
        self._usable = comparisons.shared >= 2
        self._squares = (self._weight / self._pair_mass[comparisons.rater_pair]) ** 2

    def project(self) -> dict[str, Target]:
        """The coefficients of the whole table, by name."""
        design, ratings = self.fit.design, self.fit.design.ratings
        comparisons, weight = ratings.comparisons, ratings.weight[ratings.comparisons.item]
        every: Ints = np.arange(len(comparisons.item))
        pairs = np.bincount(comparisons.item, minlength=ratings.n_items)[comparisons.item]
        by_answers = ratings.per_item[comparisons.item] * weight / pairs / self._mass
        scale = self._mass / max(self._mass - 1, CERTAIN)
        same, apart = 2 * weight**2 / self._mass**2, self._apart(design.pooled_weight)
        own, scores, chance = ratings.pair_weights, self.by_fit, self._calibrated
        return {
            "observed_agreement": Target(every, own, None, _WITHOUT_CHANCE, observed_agreement(self.ratings, scores)),
            "cohen_kappa": self._cohen(np.arange(len(self._usable)), mean_cohen(self.ratings, scores, chance)),
            "scott_pi": Target(every, own, same, apart, scott(self.ratings, scores, chance)),
            "fleiss_kappa": Target(every, own, same, apart, fleiss(self.ratings, scores, chance)),
            "krippendorff_alpha": Target(
                every, by_answers, scale * same, apart.scaled(scale, scale), krippendorff(self.ratings, scores, chance)
            ),
        }

    def of_pairs(self, pairs: Ints) -> tuple[Target, Target]:
        """Observed agreement and Cohen's kappa of some rater pairs, such as all pairs of a rater."""
        comparisons = self.ratings.comparisons
        mine = comparisons.of_pairs(pairs)
        items, place = np.unique(comparisons.item[mine], return_inverse=True)
        own = self.ratings.weight[items]
        weights = (own / own.sum() / np.bincount(place))[place]
        influence = chosen_agreement(self.ratings, self.by_fit, mine)
        observed = Target(self.measure.place[mine], weights, None, _WITHOUT_CHANCE, influence)
        return observed, self._cohen(pairs, mean_cohen(self.ratings, self.by_fit, self._calibrated, pairs))

    def expected_of_pair(self, pair: int) -> float:
        """Agreement by chance of a pair of raters."""
        return float(np.clip(1 - self._by_chance[pair], 0, 1))

    @property
    def _mass(self) -> float:
        ratings = self.fit.design.ratings
        items = ratings.comparable_items
        return float(np.sum(ratings.weight[items] * ratings.per_item[items]))

    def _apart(self, weights: Floats) -> Apart:
        texts = self.fit.design.different.texts
        return Apart(
            float(weights.sum()),
            float(weights @ self.fit.equivalence[1]),
            self.fit.chance_variance(weights),
            float(weights @ texts.equivalence(texts.p)),
        )

    @cached_property
    def _apart_cohen(self) -> Apart:
        """Pairs of different items in the mean over rater pairs."""
        return self._apart(self.fit.design.cohen_weight)

    @cached_property
    def _scales(self) -> tuple[Floats, Floats]:
        """By the measure: weight and agreement of different items for each rater pair, relative to their means."""
        pair, m = self.ratings.comparisons.rater_pair, len(self._usable)
        weight = np.maximum(1 - sums(pair, self._squares, m), 0.0)
        agreement = np.maximum(self.measure.chance.cohen - sums(pair, self._squares * self.measure.scores, m), 0.0)

        def relative(values: Floats) -> Floats:
            mean = self._usable_mean(values)
            return values / mean if mean > 0 else np.ones(m)

        return relative(weight), relative(agreement)

    def _usable_mean(self, values: Floats) -> float:
        """Mean over the rater pairs that can have a kappa; 0 without any."""
        return float(values[self._usable].sum() / max(np.count_nonzero(self._usable), 1))

    @cached_property
    def _by_chance(self) -> Floats:
        """B of each rater pair."""
        pair, m = self.ratings.comparisons.rater_pair, len(self._usable)
        weight, agreement = self._scales
        apart = self._apart_cohen
        same = sums(pair, self._squares * (1 - self.by_fit), m)
        return np.asarray(same + apart.weight * weight - apart.agreement * agreement)

    def _cohen(self, pairs: Ints, influence: Estimate) -> Target:
        """The mean kappa of some rater pairs: each one's disagreement is divided by its own disagreement by chance."""
        comparisons = self.ratings.comparisons
        used = pairs[self._usable[pairs]]
        if not len(used):
            nothing = np.zeros(0)
            return Target(np.zeros(0, dtype=np.int64), nothing, nothing, Apart(0.0, 0.0, 0.0, 0.0), influence)
        own = self._by_chance[used]
        expected = float(own.mean())
        share = np.zeros(len(self._usable))
        share[used] = np.divide(expected, own, out=np.zeros(len(used)), where=own > CERTAIN) / len(used)
        mine = np.concatenate([comparisons.of_pair(one) for one in used.tolist()])
        pair = comparisons.rater_pair[mine]
        weight, agreement = (float(one[used].mean()) for one in self._scales)
        return Target(
            self.measure.place[mine],
            share[pair] * self._weight[mine] / self._pair_mass[pair],
            self._squares[mine] / len(used),
            self._apart_cohen.scaled(weight, agreement),
            influence,
        )

    @cached_property
    def _calibrated(self) -> Chance:
        """The measure's agreement by chance, scaled to the corrected one."""
        chance = self.measure.chance
        mean = self._usable_mean(chance.cohen)
        met = np.clip(1 - self._by_chance, 0, 1)
        cohen = np.clip(self._usable_mean(met) / max(mean, 1e-300), 0, 1e6)
        ratings = self.fit.design.ratings
        weight = ratings.weight[ratings.comparisons.item]
        same = float((2 * weight**2 / self._mass**2) @ (1 - self.fit.equivalence[0]))
        apart = self._apart(self.fit.design.pooled_weight)
        by_chance = 1 - same - apart.weight + apart.agreement
        pooled = np.clip(by_chance / max(chance.pooled, 1e-300), 0, 1e6)
        return replace(
            chance,
            cohen=np.where(self._usable, met, chance.cohen),
            cohen_error=np.zeros_like(chance.cohen_error),
            cohen_left=chance.cohen_left * cohen,
            cohen_right=chance.cohen_right * cohen,
            cohen_noise=chance.cohen_noise * cohen**2,
            pooled=float(np.clip(chance.pooled * pooled, 0, 1)),
            pooled_error=0.0,
            pooled_at=chance.pooled_at * pooled,
            pooled_noise=chance.pooled_noise * pooled**2,
            cohen_loadings=None,
        )

"""Draws of the uncertain quantities of a table, and every coefficient as a function of them.

A draw consists of the equivalence of each pair of answers to an item, the change of agreement by chance against the
measure's, and the weight of each item (Bayesian bootstrap). Each coefficient applies its function to the
same draws, so intervals of the table, its raters and its rater pairs, and of differences between them, are consistent.

Agreement by chance depends on the item weights to first order: an item adds the mean equivalence of its answers with
all others, which the pass over chance pairs provides. The value of a coefficient is its function of a single draw with
equal weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, sums, sums_by_code
from softirr.statistics.chance.expected import Chance, shrinkage
from softirr.statistics.weights_and_scores import ItemWeights, ScoreDraws

CERTAIN = 1e-9
"""Distance from 0 or 1 within which a number counts as it."""
_AT_ONCE = 4_000_000
"""Maximum number of equivalences in a part of the draws."""
_AT_ONCE_OF_MANY = 1_000_000
"""The same for a table of 50,000 comparisons or more, which takes much memory already."""
_MANY = 50_000


@dataclass(frozen=True, eq=False)
class Draws:
    """K draws of a table.

    Attributes
    ----------
    by_measure : shape (P,)
        Equivalence of each of ``ratings.comparisons`` by the measure, which ``chance`` contains.
    chance : Chance
        Agreement by chance, computed with the measure.
    score_draws : ScoreDraws
        Equivalence of each of ``ratings.comparisons`` in each draw.
    weights : shape (n_items, K)
        Relative weight of each item.
    cohen_ratio, pooled_ratio : shape (K,)
        Agreement by chance on different items, relative to the measure's.
    sampling : shape (K,)
        Standard normal numbers: the sampling error of the distribution by chance in each draw.
    floor : float
        Lowest value of a coefficient that is corrected for chance; a value itself has none.
    is_varied : bool or shape (m,)
        Whether the answers of each rater pair vary after all evidence; by the measure alone, its chance shows it.
    """

    ratings: Ratings
    by_measure: Floats
    chance: Chance
    score_draws: ScoreDraws
    weights: Floats
    cohen_ratio: Floats
    pooled_ratio: Floats
    sampling: Floats
    floor: float = -1.0
    is_varied: Any = True

    @classmethod
    def of_items(cls, ratings: Ratings, scores: Floats, chance: Chance, items: ItemWeights) -> Draws:
        """Draws of the item weights and the sampling error of chance, as if the measure made no errors."""
        *noise, sampling = np.random.default_rng(0).standard_normal((3, items.n_draws))
        shares = np.full(len(chance.cohen), 1 / len(chance.cohen))
        errors = np.array([chance.cohen_sum_error(shares), chance.pooled_error])
        means = np.maximum([float(chance.cohen.mean()), chance.pooled], CERTAIN)
        cohen, pooled = np.maximum(1 + (errors / means)[:, None] * np.array(noise), 0.0)
        fixed = cls.of_weights(ratings, scores, chance, items.weights)
        return replace(fixed, cohen_ratio=cohen, pooled_ratio=pooled, sampling=sampling, floor=-1.0)

    @classmethod
    def of_weights(cls, ratings: Ratings, scores: Floats, chance: Chance, weights: Floats) -> Draws:
        """Draws with these item weights, shape (n_items, K); nothing else varies, so results are exact functions."""
        fixed, ones = ScoreDraws.fixed(scores, weights.shape[1]), np.ones(weights.shape[1])
        return cls(ratings, scores, chance, fixed, weights, ones, ones, np.zeros(len(ones)), floor=-np.inf)

    @property
    def n_draws(self) -> int:
        """Number of draws K."""
        return len(self.sampling)

    @cached_property
    def scores(self) -> Floats:
        """Equivalence of each comparison in each draw, shape (P, K)."""
        return self.score_draws.of(slice(None))

    def value(self, function: Callable[[Draws], Floats]) -> float:
        """A coefficient in a single draw, without the rounding error that lifts it above 1."""
        return min(float(function(self)[0]), 1.0)

    def over(self, function: Callable[[Draws], Floats], n: int | None = None) -> Floats:
        """A function of all draws, shape (..., K), computed in parts that fit into memory.

        Parameters
        ----------
        n : int, optional
            Number of comparisons that the function takes; by default all.
        """
        return np.concatenate([function(chunk) for chunk in self.parts(n)], axis=-1)

    def parts(self, n: int | None = None) -> Iterator[Draws]:
        """The draws in parts that fit into memory, for a function of `n` comparisons."""
        n = len(self.by_measure) if n is None else n
        size = max(1, (_AT_ONCE if n < _MANY else _AT_ONCE_OF_MANY) // max(n, 1))
        if size >= self.n_draws:
            yield self
            return
        for start in range(0, self.n_draws, size):
            columns = slice(start, start + size)
            yield replace(
                self,
                score_draws=self.score_draws.columns(columns),
                weights=self.weights[:, columns],
                cohen_ratio=self.cohen_ratio[columns],
                pooled_ratio=self.pooled_ratio[columns],
                sampling=self.sampling[columns],
            )

    def corrected(self, observed: Floats, expected: Floats) -> Floats:
        """(Po - Pe) / (1 - Pe), not below the floor."""
        return np.asarray(np.maximum((observed - expected) / np.maximum(1 - expected, CERTAIN), self.floor))

    # --- observed agreement -------------------------------------------------------------------------------------------

    def observed(self, *, by_answers: bool = False) -> Floats:
        """Mean over items of the mean over their pairs, shape (K,); by answers, items count by their number."""
        item_weight = self.ratings.weight * (self.ratings.per_item if by_answers else 1)
        return self._mean_over_items(np.arange(len(self.by_measure)), item_weight)

    def observed_of(self, comparisons: Ints, values: Floats | None = None) -> Floats:
        """Mean over items of the mean over some of their pairs, shape (K,).

        It averages the equivalences, or other values of all comparisons, shape (P,).
        """
        score_draws = self.score_draws if values is None else ScoreDraws.fixed(values, self.n_draws)
        return replace(self, score_draws=score_draws)._mean_over_items(comparisons, self.ratings.weight)

    def _mean_over_items(self, comparisons: Ints, item_weight: Floats) -> Floats:
        item = self.ratings.comparisons.item[comparisons]
        n_pairs = np.bincount(item, minlength=len(item_weight))[item]
        share = item_weight[item] / n_pairs
        weights = share[:, None] * self.weights[item]
        is_all = len(comparisons) == len(self.by_measure)
        scores = self.scores[comparisons] if is_all else self.score_draws.of(comparisons)
        mean = np.einsum("pk,pk->k", weights, scores) / weights.sum(axis=0)
        noise = self.score_draws.noise[comparisons]
        return np.asarray(mean + (self.score_draws.noise_unit / share.sum() * share) @ noise)

    def mean_over_pairs(self, values: Floats) -> Floats:
        """Mean of a value of each comparison, which weighs as its item does, shape (K,)."""
        item = self.ratings.comparisons.item
        return self._mean(values, self.ratings.weight[item], item)

    def mean_over_rows(self, values: Floats) -> Floats:
        """Mean of a value of each pooled row, which weighs as it does in π, shape (K,)."""
        pooling = self.chance.pooling
        return self._mean(values, pooling.weights, self.ratings.item[pooling.rows])

    def _mean(self, values: Floats, shares: Floats, item: Ints) -> Floats:
        weights = shares[:, None] * self.weights[item]
        return np.asarray(values @ weights / weights.sum(axis=0))

    # --- pooled agreement by chance -----------------------------------------------------------------------------------

    @cached_property
    def pooled(self) -> Floats:
        """π' S π, shape (K,)."""
        pooling, comparisons, n = self.chance.pooling, self.ratings.comparisons, self.ratings.n_items
        item, pi = comparisons.item, np.zeros(len(self.ratings.item))
        pi[pooling.rows] = pooling.weights
        mean_equivalence = self.chance.pooled_at
        center = float(pooling.weights @ mean_equivalence)
        variance = np.array([pooling.weights @ (mean_equivalence - center) ** 2])
        shrunk = shrinkage(variance, np.array([self.chance.pooled_noise]))
        mean_equivalence = center + shrunk * (mean_equivalence - center)
        item_chance, mass, squares = (
            sums(self.ratings.item[pooling.rows], values, n)
            for values in (pooling.weights * mean_equivalence, pooling.weights, pooling.weights**2)
        )
        by_pair = 2 * pi[comparisons.left_rows] * pi[comparisons.right_rows]
        same = squares[:, None] + sums_by_code(item, n) @ (by_pair[:, None] * self.scores)
        by_item = same + self.pooled_ratio * (item_chance - squares - sums(item, by_pair * self.by_measure, n))[:, None]
        total = by_item.sum(axis=0)
        relative = self.weights / (mass @ self.weights)
        return np.asarray(np.clip(total + 2 * (np.einsum("nk,nk->k", relative, by_item) - total), 0, 1))

    @property
    def without_replacement(self) -> Floats:
        """π' S π of two different answers, shape (K,)."""
        comparable = self.ratings.comparable_items
        n = float((self.ratings.per_item[comparable] * self.ratings.weight[comparable]).sum())
        return (n * self.pooled - 1) / max(n - 1, CERTAIN)

    @property
    def similarity(self) -> Floats:
        """Mean equivalence of all pairs of distinct answers, shape (K,)."""
        alike = 1 / self.chance.distinct
        return np.clip(alike + self.pooled_ratio * (self.chance.similarity - alike), 0, 1)

    # --- rater pairs --------------------------------------------------------------------------------------------------

    @cached_property
    def usable(self) -> Any:
        """Whether each rater pair can have a kappa."""
        return (self.ratings.comparisons.shared >= 2) & (1 - self.chance.cohen > 1e-12) & self.is_varied

    @cached_property
    def pair_weights(self) -> tuple[Floats, Any, Floats]:
        """Weight of each comparison in its rater pair; the sums over rater pairs; and the weights in each draw."""
        comparisons = self.ratings.comparisons
        m = len(comparisons.rater_pairs)
        share = self.ratings.rater_pair_shares
        group = sums_by_code(comparisons.rater_pair, m)
        weights = share[:, None] * self.weights[comparisons.item]
        total = np.maximum(group @ weights, 1e-300)
        return share, group, np.asarray(weights / total[comparisons.rater_pair])

    @cached_property
    def pair_observed(self) -> Floats:
        """Observed agreement of each rater pair, shape (m, K)."""
        share, group, weights = self.pair_weights
        noise = (self.score_draws.noise_unit * share)[:, None] * self.score_draws.noise
        return np.asarray(group @ (weights * self.scores + noise))

    @cached_property
    def pair_expected(self) -> Floats:
        """Agreement by chance of each rater pair, shape (m, K)."""
        share, group, weights = self.pair_weights
        met = self._met - 2 * share * self.by_measure
        mean_equivalence = 2 * share[:, None] * self.scores + self.cohen_ratio * met[:, None]
        center = group @ (share[:, None] * mean_equivalence) / 2
        return np.asarray(np.clip(center + group @ (weights * mean_equivalence) - 2 * center, 0, 1))

    @cached_property
    def _met(self) -> Floats:
        """Mean equivalence of the two answers of each comparison with the other rater's, without sampling noise."""
        chance, pair = self.chance, self.ratings.comparisons.rater_pair
        share, group, _ = self.pair_weights
        # left and right differ if a greedy matching depends on the order of two answers
        center = 2 * chance.cohen[pair]
        met = chance.cohen_met + center - (group @ (share * chance.cohen_met))[pair]
        if chance.cohen_noise is None or not chance.cohen_noise.any():
            return met
        variance = (group @ (share * (met - center) ** 2))[pair]
        return np.asarray(center + shrinkage(variance, chance.cohen_noise[pair]) * (met - center))

    @cached_property
    def pair_kappa(self) -> Floats:
        """Cohen's kappa of each rater pair, shape (m, K); meaningless if it is not usable."""
        return self.corrected(self.pair_observed, self.pair_expected)

    def kappa_of(self, pairs: Ints) -> Floats:
        """Mean kappa of some rater pairs, shape (K,)."""
        return np.asarray(self.every_kappa[pairs[self.usable[pairs]]].mean(axis=0))

    @cached_property
    def every_kappa(self) -> Floats:
        """``pair_kappa`` in all draws, computed in parts."""
        return self.over(lambda chunk: chunk.pair_kappa)

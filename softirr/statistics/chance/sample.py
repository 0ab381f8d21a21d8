"""Agreement expected by chance from a simple random sample of pairs of answers to different items.

Random pairs are nearly all different in meaning, so some hundreds give each expected agreement with a small error.
Pairs of an answer with itself, and with the other answers to its item, are computed exactly. The sample grows until
the standard errors are below the target, or until it would contain all pairs. It begins with the pairs from which
judged ones are drawn (:class:`softirr.statistics.evidence.design.Design`): they are scored anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softirr.answers.ratings import Floats, Ints, Marginals, OrderedRatings, Pooling, Ratings, sums
from softirr.defaults import TARGET_SE
from softirr.statistics.chance.different_pairs import DifferentPairs, LeftOut
from softirr.statistics.chance.expected import GRID, Chance, ChanceDistribution, different_pairs, on_grid

Score = Callable[[Ints, Ints], Floats]
"""Equivalence of answer k[i] with answer l[i]."""

FIRST = 400
"""Pairs of single texts of the first round for a measure with a model."""
_MOST_FIRST = 20_000
"""The same for a cheap measure; half of it if answers are sets."""
_TEXT_PAIRS = 400_000
"""Most pairs of texts of a first round for a cheap measure."""
_LEAST_FIRST = 250
_GROWTH = 1.25, 4.0
"""Least and largest growth of the sample in a round."""
_LEAST = 30
"""Minimum number of sampled pairs for which a rater pair's mean is used instead of the mean of all rater pairs."""


def first_sample(answers: Sequence[Sequence[int]], *, is_cheap: bool) -> int:
    """Number of pairs of answers to different items that a random sample begins with.

    Parameters
    ----------
    answers
        The texts of each distinct answer.
    is_cheap : bool
        Whether the measure computes without a model.
    """
    sizes = [len(answer) for answer in answers]
    pairs_of_texts = max(sum(sizes) / len(sizes), 1.0) ** 2
    largest = _MOST_FIRST if set(sizes) == {1} else _MOST_FIRST // 2
    return max(_LEAST_FIRST, min(largest, int((_TEXT_PAIRS if is_cheap else FIRST) / pairs_of_texts)))


@dataclass(frozen=True, eq=False)
class Drawing:
    """How random pairs are drawn.

    Attributes
    ----------
    seed : int
        The same seed draws the same pairs.
    first : int
        Number of pairs of the first round, see :func:`first_sample`.
    ordered : OrderedRatings, optional
        The ratings in an order that does not depend on their file; without, pairs are drawn in the order of the rows.
    target_se : float
        Standard error to reach, of Cohen's expected agreement (the mean over rater pairs) and of the pooled one.
    """

    seed: int = 0
    first: int = FIRST
    ordered: OrderedRatings | None = None
    target_se: float = TARGET_SE


def sample(
    ratings: Ratings, score: Score, scores: Floats, drawing: Drawing, *, marginals: Marginals = "answers"
) -> Chance:
    """Expected agreement from a simple random sample of pairs.

    Parameters
    ----------
    ratings : Ratings
        Needs at least one item with two answers.
    score : callable
        The equivalence of answers k[i] and l[i].
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    drawing : Drawing
        How the pairs are drawn, and how many.
    marginals : {"answers", "gwet2014"}
        Which answers π consists of, see :class:`softirr.answers.ratings.Pooling`.

    Returns
    -------
    Chance
        With the standard errors of the sample and the number of pairs that were scored.
    """
    pooling = Pooling.of(ratings, marginals)
    ordered = drawing.ordered or OrderedRatings(ratings, np.arange(len(ratings.item)))
    of_ordered, rng = Pooling.of(ordered.ratings, marginals), np.random.default_rng(drawing.seed).spawn(3)[0]
    n_pairs = DifferentPairs.count_ordered(ratings, pooling) / 2
    size, values, no_rows = drawing.first, np.asarray(np.zeros(0)), np.zeros(0, dtype=np.int64)
    pairs = DifferentPairs(ratings, no_rows, no_rows, values)
    while size < n_pairs:
        n_scored = len(values)
        new = DifferentPairs.sample(ordered.ratings, of_ordered, size - n_scored, rng)
        first = np.append(pairs.first, ordered.rows[new.first])
        second = np.append(pairs.second, ordered.rows[new.second])
        pairs = DifferentPairs(ratings, first, second, np.append(pairs.density, new.density))
        values = np.append(values, score(ratings.answer[first[n_scored:]], ratings.answer[second[n_scored:]]))
        chance = _Sampled(ratings, pooling, scores, pairs, values).chance
        if chance.standard_error <= drawing.target_se:
            return chance
        needed = 1.1 * (chance.standard_error / drawing.target_se) ** 2
        size = int(np.ceil(size * np.clip(needed, *_GROWTH)))
    pairs = DifferentPairs.all(ratings, pooling)
    values = score(ratings.answer[pairs.first], ratings.answer[pairs.second])
    return _Sampled(ratings, pooling, scores, pairs, values).chance


@dataclass(frozen=True, eq=False)
class _Sampled:
    """Scored pairs of answers to different items, and what follows from them.

    Attributes
    ----------
    pooling : Pooling
        Rows of π and their weights.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    pairs : DifferentPairs
        A sample of the pairs of answers to different items, or all of them.
    values : shape (M,)
        Equivalence of each of ``pairs``.
    """

    ratings: Ratings
    pooling: Pooling
    scores: Floats
    pairs: DifferentPairs
    values: Floats

    @cached_property
    def chance(self) -> Chance:
        """The expected agreements and their standard errors."""
        ratings, pairs = self.ratings, self.pairs
        comparisons = ratings.comparisons
        pooled_mean, pooled_error = self._mean(pairs.pooled_weights(self.pooling))
        mean, error, common = self._rater_pairs()
        m, pair = len(comparisons.shared), comparisons.rater_pair
        share = ratings.rater_pair_shares
        met = share * self.scores + (1 - share) * mean[pair]
        apart = 1 - sums(pair, share**2, m)
        mass = np.zeros(len(ratings.item))
        mass[self.pooling.rows] = self.pooling.weights
        near = mass.copy()  # weighted equivalence of each row with itself and the other rows of its item
        for a, b in ((comparisons.left_rows, comparisons.right_rows), (comparisons.right_rows, comparisons.left_rows)):
            near += sums(a, self.scores * mass[b], len(mass))
        distinct, similarity = self._between_distinct()
        item_mass = sums(ratings.item, mass, ratings.n_items)
        pooled_at = (near + (1 - item_mass[ratings.item]) * pooled_mean)[self.pooling.rows]
        apart_pooled = 1 - float(np.sum(item_mass**2))
        answers = ratings.answer[pairs.first], ratings.answer[pairs.second]
        return Chance(
            method="sample",
            cohen=sums(pair, share * met, m),
            cohen_error=apart * error,
            cohen_met=2 * met,
            pooling=self.pooling,
            pooled=float(self.pooling.weights @ pooled_at),
            pooled_error=apart_pooled * pooled_error,
            pooled_at=pooled_at,
            distinct=distinct,
            similarity=similarity,
            distribution=self._distribution(),
            pairs_scored=different_pairs(*answers, ratings.n_answers),
            cohen_common=apart * common,
            pooled_without=self._pooled_without(),
        )

    def _mean(self, weights: Floats) -> tuple[float, float]:
        """Weighted mean of the sampled equivalences, and its standard error: 0 if all pairs are here."""
        total = float(weights.sum())
        if total <= 0:
            return 0.0, 0.0
        mean = float(weights @ self.values) / total
        if self.pairs.complete:
            return mean, 0.0
        # as if one more pair were equivalent: a sample without equivalent pairs does not prove that none exist
        squares = float(np.sum((weights * (self.values - mean)) ** 2)) + (total / len(weights)) ** 2
        return mean, float(np.sqrt(squares)) / total

    def _rater_pairs(self) -> tuple[Floats, Floats, Floats]:
        """Mean and standard error of each rater pair, and the part of the error that they share; each of shape (m,)."""
        pairs, m = self.pairs, len(self.ratings.comparisons.shared)
        weights, pair = pairs.cohen_weights, pairs.rater_pair
        overall, shared_error = self._mean(weights)
        total = sums(pair, weights, m + 1)[:m]
        well_sampled = (total > 0) & ((np.bincount(pair, minlength=m + 1)[:m] >= _LEAST) | pairs.complete)
        total = np.where(well_sampled, total, 1.0)
        mean = np.where(well_sampled, sums(pair, weights * self.values, m + 1)[:m] / total, overall)
        squares = sums(pair, (weights * (self.values - np.append(mean, 0.0)[pair])) ** 2, m + 1)[:m]
        error = np.sqrt(squares) / total * (not pairs.complete)
        return mean, np.where(well_sampled, error, shared_error), np.where(well_sampled, 0.0, shared_error)

    def _between_distinct(self) -> tuple[int, float]:
        """Number of distinct answers q, mean equivalence over their q × q pairs, and its standard error."""
        ratings, comparisons, pairs = self.ratings, self.ratings.comparisons, self.pairs
        count = np.bincount(ratings.answer[self.pooling.rows], minlength=ratings.n_answers)
        q = int(np.count_nonzero(count))
        a, b = ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows]
        differing = np.flatnonzero(a != b)
        of_item = 2 / (count[a[differing]] * count[b[differing]] * float(q**2))
        k, l = ratings.answer[pairs.first], ratings.answer[pairs.second]  # noqa: E741
        weights = np.where(k != l, 1 / (count[k] * count[l] * pairs.density), 0.0)
        mean, _ = self._mean(weights)
        other_share = max(1 - 1 / q - float(of_item.sum()), 0.0)
        return q, 1 / q + float(of_item @ self.scores[differing]) + other_share * mean

    def _distribution(self) -> ChanceDistribution | None:
        """The distribution of the equivalence of answers to different items."""
        weights = self.pairs.pooled_weights(self.pooling)
        if not weights.sum() > 0:
            return None
        counts = sums(on_grid(self.values), weights, GRID + 1)
        effective = np.inf if self.pairs.complete else float(weights.sum() ** 2 / np.sum(weights**2))
        return ChanceDistribution.of(counts, sample=effective)

    def _pooled_without(self) -> Floats | None:
        """π' S π without each rater, nan if no item keeps two answers."""
        comparisons, pairs, left_out = self.ratings.comparisons, self.pairs, LeftOut.of(self.ratings, self.pooling)
        if left_out is None:
            return None
        summed = np.stack([self.values / pairs.density, 1 / pairs.density, np.ones(len(self.values))], axis=1)
        total, weight, count = left_out.sums_of_kept(pairs.first, pairs.second, summed).T
        mean = np.where(count > 0, total / np.maximum(weight, 1e-300), 0.0)
        of_item = np.stack([self.scores, np.ones(len(self.scores))], axis=1)
        of_kept = left_out.sums_of_kept(comparisons.left_rows, comparisons.right_rows, of_item)
        near, n_near = left_out.n_remaining + 2 * of_kept.T
        n_all = left_out.n_remaining**2
        return np.where(n_all > 0, (near + (n_all - n_near) * mean) / np.maximum(n_all, 1), np.nan)

"""Pairs of answers that are compared: of different items, of some pairs of raters, and without each rater in turn.

Of different items these are all pairs or a simple random sample, with their weights by chance.

Half of a sample is drawn for Cohen's agreement by chance (two raters' answers to the items they share), half for the
pooled one. Each pair counts by the inverse of its probability of being drawn, and the weights of a sample are scaled to
the sum of the weights of all pairs (Hájek 1971).

References
----------
Hájek, J. (1971). Comment on a paper by D. Basu. In: Foundations of statistical inference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Comparisons, Floats, Ints, Pooling, Ratings, sums
from softirr.meaning.measures.arrays import find_keys, pair_keys
from softirr.statistics.chance.expected import Chance


@dataclass(frozen=True, eq=False)
class DifferentPairs:
    """Unordered pairs of rows of different items.

    Attributes
    ----------
    ratings : Ratings
        Needs at least one item with two answers.
    first, second : shape (M,)
        Rows of the ratings.
    density : shape (M,)
        Probability of each pair in a single draw; 1 if all pairs are here.
    """

    ratings: Ratings
    first: Ints
    second: Ints
    density: Floats

    @classmethod
    def all(cls, ratings: Ratings, pooling: Pooling) -> DifferentPairs:
        """Every pair of pooled rows, once."""
        first, second = (pooling.rows[indices] for indices in np.triu_indices(len(pooling.rows), 1))
        differs = ratings.item[first] != ratings.item[second]
        return cls(ratings, first[differs], second[differs], np.ones(np.count_nonzero(differs)))

    @classmethod
    def sample(cls, ratings: Ratings, pooling: Pooling, size: int, rng: np.random.Generator) -> DifferentPairs:
        """Random pairs of pooled rows, drawn with replacement, half of them within rater pairs; needs two items."""
        comparisons, rows = ratings.comparisons, pooling.rows
        usable = np.flatnonzero(comparisons.shared >= 2)
        m = len(usable)
        half = size // 2 if m else 0
        order = np.argsort(comparisons.rater_pair, kind="stable")
        start = np.cumsum(comparisons.shared) - comparisons.shared
        q = usable[rng.integers(0, max(m, 1), half)]
        i = rng.integers(0, comparisons.shared[q])
        j = (i + rng.integers(1, comparisons.shared[q])) % comparisons.shared[q]
        first, second = comparisons.left_rows[order[start[q] + i]], comparisons.right_rows[order[start[q] + j]]
        while (missing := size - len(first)) > 0:
            a, b = rows[rng.integers(0, len(rows), 2 * missing)], rows[rng.integers(0, len(rows), 2 * missing)]
            fits = np.flatnonzero(ratings.item[a] != ratings.item[b])[:missing]
            first, second = np.append(first, a[fits]), np.append(second, b[fits])
        pairs = cls(ratings, first, second, np.ones(size))
        # infinite for pairs of rows that do not belong to a rater pair with two items
        shared = comparisons.shared.astype(np.float64)
        n_ordered = np.append(np.where(comparisons.shared >= 2, m * shared * (shared - 1), np.inf), np.inf)
        of_pooled = (1 - half / size) * 2 / cls.count_ordered(ratings, pooling)
        return replace(pairs, density=half / size / n_ordered[pairs.rater_pair] + of_pooled)

    @staticmethod
    def count_ordered(ratings: Ratings, pooling: Pooling) -> float:
        """Number of ordered pairs of pooled rows of different items."""
        n, per_item = len(pooling.rows), np.bincount(ratings.item[pooling.rows])
        return float(n * (n - 1) - np.sum(per_item * (per_item - 1)))

    @property
    def complete(self) -> bool:
        """Whether these are all pairs, each once."""
        return bool(len(self.density)) and bool((self.density == 1).all())

    @cached_property
    def rater_pair(self) -> Ints:
        """The rater pair that answered the items of both rows; if there is none, the number of rater pairs; (M,)."""
        ratings, n = self.ratings, self.ratings.n_raters
        rater_pairs = ratings.comparisons.rater_pairs
        r, s = ratings.rater[self.first], ratings.rater[self.second]
        number, is_pair = find_keys(pair_keys(rater_pairs[:, 0], rater_pairs[:, 1], n), pair_keys(r, s, n))
        answered = np.sort(ratings.item * n + ratings.rater)

        def has(rows: Ints, rater: Ints) -> NDArray[np.bool_]:
            return find_keys(answered, ratings.item[rows] * n + rater)[1]

        return np.where(is_pair & has(self.first, s) & has(self.second, r), number, len(rater_pairs))

    def pooled_weights(self, pooling: Pooling) -> Floats:
        """Weight of each pair's equivalence in π' S π, shape (M,)."""
        of_row = np.zeros(len(self.ratings.item))
        of_row[pooling.rows] = pooling.weights
        of_item = sums(self.ratings.item, of_row, self.ratings.n_items)
        return self._scaled(of_row[self.first] * of_row[self.second], 1 - float(np.sum(of_item**2)))

    @cached_property
    def cohen_weights(self) -> Floats:
        """Weight of each pair's equivalence in the mean over rater pairs of ``p_r' S p_s``, shape (M,).

        0 for pairs that belong to no rater pair with two items.
        """
        ratings, comparisons = self.ratings, self.ratings.comparisons
        usable = comparisons.shared >= 2
        item_weight, m = ratings.weight[comparisons.item], len(usable)
        mass, squares = (np.bincount(comparisons.rater_pair, weights=item_weight**k, minlength=m) for k in (1, 2))
        weight = np.append(np.where(usable, 1 / np.maximum(mass, 1e-300) ** 2, 0.0), 0.0)[self.rater_pair]
        count = ratings.weight[ratings.item[self.first]] * ratings.weight[ratings.item[self.second]]
        different = 1 - squares[usable] / np.maximum(mass[usable], 1e-300) ** 2
        return self._scaled(weight * count, float(different.sum()) / max(len(different), 1))

    def _scaled(self, weights: Floats, total: float) -> Floats:
        """Weights by the inverse of the density, scaled to a sum; unchanged if all are 0."""
        weights = weights / self.density
        return weights * (total / float(weights.sum())) if weights.any() else weights


@dataclass(frozen=True, eq=False)
class RatingsOfPairs(Ratings):
    """Ratings in which only some pairs of raters are compared.

    Attributes
    ----------
    of_rater : int
        Index of the rater that selects the pairs.
    with_rater : bool
        Whether the pairs with this rater are compared, or those without.
    """

    of_rater: int
    with_rater: bool

    @cached_property
    def comparisons(self) -> Comparisons:
        """The pairs of answers to one item by these pairs of raters."""
        all_comparisons = super().comparisons
        is_compared = (all_comparisons.rater_pairs == self.of_rater).any(axis=1) == self.with_rater
        compared = np.flatnonzero(is_compared[all_comparisons.rater_pair])
        return Comparisons(
            all_comparisons.left_rows[compared],
            all_comparisons.right_rows[compared],
            all_comparisons.item[compared],
            (np.cumsum(is_compared) - 1)[all_comparisons.rater_pair[compared]],
            all_comparisons.rater_pairs[is_compared],
            all_comparisons.shared[is_compared],
        )


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The rows of a pooling that do not count without each rater in turn.

    Attributes
    ----------
    lost : sparse matrix, shape (n, n_raters)
        1 where a row does not count without a rater: the rater's rows, and the rows of an item's only other rater.
    n_remaining : shape (n_raters,)
        How many rows count without each rater.
    """

    lost: Any
    n_remaining: Ints

    @classmethod
    def of(cls, ratings: Ratings, pooling: Pooling) -> LeftOut | None:
        """Find the rows; None for marginals other than ``answers``, and with weights."""
        if pooling.marginals != "answers" or ratings.weights is not None:
            return None
        from scipy.sparse import csr_matrix

        comparisons = ratings.comparisons
        of_two = ratings.per_item[comparisons.item] == 2
        sides = comparisons.left_rows[of_two], comparisons.right_rows[of_two]
        rows = np.concatenate([pooling.rows, *sides])
        raters = ratings.rater[np.concatenate([pooling.rows, *sides[::-1]])]
        lost = csr_matrix((np.ones(len(rows)), (rows, raters)), shape=(len(ratings.item), ratings.n_raters))
        return cls(lost, len(pooling.rows) - np.bincount(raters, minlength=ratings.n_raters))

    def sums_of_kept(self, first: Ints, second: Ints, values: Floats) -> Floats:
        """Sums of values over the pairs of rows that both count without each rater.

        Parameters
        ----------
        first, second : shape (M,)
            Rows.
        values : shape (M, k)
            Values of each pair.

        Returns
        -------
        shape (n_raters, k)
        """
        return np.asarray(values.sum(axis=0) - self.lost[first].maximum(self.lost[second]).T @ values)


def raised(chance: Chance, ratings: Ratings, amount: float) -> Chance:
    """Agreement by chance if any two answers to different items were more equivalent by an amount."""
    share, pooling = ratings.rater_pair_shares, chance.pooling
    comparisons, item = ratings.comparisons, ratings.item[pooling.rows]
    of_others = amount * (1 - sums(item, pooling.weights, ratings.n_items)[item])
    pooled_without, left_out = chance.pooled_without, LeftOut.of(ratings, pooling)
    if pooled_without is not None and left_out is not None:
        ones = np.ones((len(share), 1))
        n, n_of_item = left_out.n_remaining, left_out.sums_of_kept(comparisons.left_rows, comparisons.right_rows, ones)
        pooled_without = pooled_without + amount * (1 - (n + 2 * n_of_item[:, 0]) / np.maximum(n, 1) ** 2)
    return replace(
        chance,
        cohen=chance.cohen + amount * (1 - sums(comparisons.rater_pair, share**2, len(chance.cohen))),
        cohen_met=chance.cohen_met + 2 * amount * (1 - share),
        pooled=chance.pooled + float(pooling.weights @ of_others),
        pooled_at=chance.pooled_at + of_others,
        similarity=chance.similarity + amount * (1 - 1 / chance.distinct),
        pooled_without=pooled_without,
    )

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

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Comparisons, Floats, Ints, Pooling, Ratings, sums
from softirr.meaning.measures.arrays import find_keys


@dataclass(frozen=True, eq=False)
class DifferentPairs:
    """Unordered pairs of pooled rows of different items.

    Attributes
    ----------
    first, second : shape (M,)
        Rows of the ratings.
    rater_pair : shape (M,)
        The rater pair that answered the items of both rows; if there is none, the number of rater pairs.
    density : shape (M,)
        Probability of each pair in a single draw; 1 if all pairs are here.
    """

    first: Ints
    second: Ints
    rater_pair: Ints
    density: Floats

    @classmethod
    def all(cls, ratings: Ratings, pooling: Pooling) -> DifferentPairs:
        """Every pair, once."""
        first, second = (pooling.rows[indices] for indices in np.triu_indices(len(pooling.rows), 1))
        differs = ratings.item[first] != ratings.item[second]
        first, second = first[differs], second[differs]
        rater_pair = shared_rater_pairs(ratings, first, second)
        return cls(first, second, rater_pair, np.ones(len(first)))

    @classmethod
    def sample(cls, ratings: Ratings, pooling: Pooling, size: int, rng: np.random.Generator) -> DifferentPairs:
        """Random pairs, drawn with replacement, half of them within rater pairs; needs two items."""
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
        rater_pair = shared_rater_pairs(ratings, first, second)
        # infinite for pairs of rows that do not belong to a rater pair with two items
        shared = comparisons.shared.astype(np.float64)
        n_ordered = np.append(np.where(comparisons.shared >= 2, m * shared * (shared - 1), np.inf), np.inf)
        of_rater_pair = half / size / n_ordered[rater_pair]
        return cls(
            first, second, rater_pair, of_rater_pair + (1 - half / size) * 2 / cls.count_ordered(ratings, pooling)
        )

    @staticmethod
    def count_ordered(ratings: Ratings, pooling: Pooling) -> float:
        """Number of ordered pairs of pooled rows of different items."""
        n, per_item = len(pooling.rows), np.bincount(ratings.item[pooling.rows])
        return float(n * (n - 1) - np.sum(per_item * (per_item - 1)))

    @property
    def complete(self) -> bool:
        """Whether these are all pairs, each once."""
        return bool(len(self.density)) and bool((self.density == 1).all())

    def in_rows(self, ratings: Ratings, rows: Ints) -> DifferentPairs:
        """The same pairs as rows of the same ratings in another order: row i of these is row ``rows[i]`` of those."""
        first, second = rows[self.first], rows[self.second]
        return DifferentPairs(first, second, shared_rater_pairs(ratings, first, second), self.density)

    def joined(self, further: DifferentPairs) -> DifferentPairs:
        """These pairs and further ones that were drawn in the same way."""
        columns = (
            np.concatenate([getattr(self, name), getattr(further, name)])
            for name in ("first", "second", "rater_pair", "density")
        )
        return DifferentPairs(*columns)

    def pooled_weights(self, ratings: Ratings, pooling: Pooling) -> Floats:
        """Weight of each pair's equivalence in π' S π, shape (M,)."""
        of_row = np.zeros(len(ratings.item))
        of_row[pooling.rows] = pooling.weights
        of_item = sums(ratings.item, of_row, ratings.n_items)
        return scaled(of_row[self.first] * of_row[self.second] / self.density, 1 - float(np.sum(of_item**2)))

    def cohen_weights(self, ratings: Ratings) -> Floats:
        """Weight of each pair's equivalence in the mean over rater pairs of ``p_r' S p_s``, shape (M,).

        0 for pairs that belong to no rater pair with two items.
        """
        comparisons = ratings.comparisons
        usable = comparisons.shared >= 2
        item_weight, m = ratings.weight[comparisons.item], len(usable)
        mass, squares = (np.bincount(comparisons.rater_pair, weights=item_weight**k, minlength=m) for k in (1, 2))
        weight = np.append(np.where(usable, 1 / np.maximum(mass, 1e-300) ** 2, 0.0), 0.0)[self.rater_pair]
        count = ratings.weight[ratings.item[self.first]] * ratings.weight[ratings.item[self.second]]
        different = 1 - squares[usable] / np.maximum(mass[usable], 1e-300) ** 2
        return scaled(weight * count / self.density, float(different.sum()) / max(len(different), 1))


def scaled(weights: Floats, total: float) -> Floats:
    """The weights, scaled to a sum; unchanged if all are 0."""
    return weights * (total / float(weights.sum())) if weights.any() else weights


def shared_rater_pairs(ratings: Ratings, first: Ints, second: Ints) -> Ints:
    """For each pair of rows, the rater pair that answered the items of both; if none, the number of rater pairs.

    Parameters
    ----------
    ratings : Ratings
        Needs at least one item with two answers.
    first, second : shape (M,)
        Rows.

    Returns
    -------
    shape (M,)
    """
    comparisons, n = ratings.comparisons, np.int64(ratings.n_raters)
    m = len(comparisons.rater_pairs)
    code = comparisons.rater_pairs[:, 0] * n + comparisons.rater_pairs[:, 1]
    r, s = ratings.rater[first], ratings.rater[second]
    pair_code = np.minimum(r, s) * n + np.maximum(r, s)
    number, is_pair = find_keys(code, pair_code)
    answered = np.sort(ratings.item * n + ratings.rater)

    def has(item: Ints, rater: Ints) -> NDArray[np.bool_]:
        key = item * n + rater
        return find_keys(answered, key)[1]

    is_shared = is_pair & has(ratings.item[first], s) & has(ratings.item[second], r)
    return np.where(is_shared, number, m)


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
        all_comparisons = Ratings(
            self.item, self.rater, self.answer, self.n_items, self.n_raters, self.n_answers
        ).comparisons
        is_compared = (all_comparisons.rater_pairs == self.of_rater).any(axis=1) == self.with_rater
        compared = np.flatnonzero(is_compared[all_comparisons.rater_pair])
        number = np.cumsum(is_compared) - 1
        return Comparisons(
            all_comparisons.left_rows[compared],
            all_comparisons.right_rows[compared],
            all_comparisons.item[compared],
            number[all_comparisons.rater_pair[compared]],
            all_comparisons.rater_pairs[is_compared],
            all_comparisons.shared[is_compared],
        )


class LeftOut:
    """The rows of a pooling that do not count without each rater in turn.

    Parameters
    ----------
    pooling : Pooling
        Pooled with the marginals ``answers``, so that all rows have the same weight.

    Attributes
    ----------
    rows, raters : shape (D,)
        Each is a row that does not count without a rater.
    kept : shape (n_raters,)
        How many rows count without each rater.
    """

    def __init__(self, ratings: Ratings, pooling: Pooling) -> None:
        self._ratings = ratings
        comparisons = ratings.comparisons
        self._partner = np.full(len(ratings.item), -1, dtype=np.int64)
        only_pairs = np.flatnonzero(ratings.per_item[comparisons.item] == 2)
        left_rows, right_rows = comparisons.left_rows[only_pairs], comparisons.right_rows[only_pairs]
        self._partner[left_rows], self._partner[right_rows] = ratings.rater[right_rows], ratings.rater[left_rows]
        with_partner = pooling.rows[self._partner[pooling.rows] >= 0]
        self.rows: Ints = np.concatenate([pooling.rows, with_partner])
        self.raters: Ints = np.concatenate([ratings.rater[pooling.rows], self._partner[with_partner]])
        self.kept = len(pooling.rows) - np.bincount(self.raters, minlength=ratings.n_raters)

    def by_answer(self, position: Ints, size: int) -> Any:
        """Number of rows of each answer that do not count without each rater: sparse, shape (size, n_raters).

        ``position`` maps each answer to its row in the matrix.
        """
        from scipy.sparse import csr_matrix

        answer_index = position[self._ratings.answer[self.rows]]
        return csr_matrix(
            (np.ones(len(answer_index)), (answer_index, self.raters)), shape=(size, self._ratings.n_raters)
        )

    def sums_of_kept(self, first: Ints, second: Ints, values: Floats) -> Floats:
        """Sum of values over the pairs of rows that both count without each rater.

        Parameters
        ----------
        first, second, values : shape (M,)
            Rows and a value of each pair.

        Returns
        -------
        shape (n_raters,)
        """
        a, b = self._ratings.rater[first], self._partner[first]
        c, d = self._ratings.rater[second], self._partner[second]
        n_raters = self._ratings.n_raters
        lost = np.zeros(n_raters)
        for rater, counts in (
            (a, np.ones(len(a), dtype=bool)),
            (b, b >= 0),
            (c, (c != a) & (c != b)),
            (d, (d >= 0) & (d != a) & (d != b)),
        ):
            indices = np.flatnonzero(counts)
            lost += sums(rater[indices], values[indices], n_raters)
        return np.asarray(sums(np.zeros(len(values), dtype=np.int64), values, 1) - lost)

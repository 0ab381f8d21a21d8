"""Chance agreement without one rater: which answers no longer count, and the sums over the remaining pairs.

Removing a rater removes the rater's answers. If an item has two answers, the other one then has nothing to be compared
with, so it no longer counts either.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ints, Pooling, Ratings, sums


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

    def sums_of_kept(self, first: Ints, second: Ints, values: Floats, group: Ints, size: int) -> Floats:
        """Sum of values over the pairs of rows that both count without each rater.

        Parameters
        ----------
        first, second, values, group : shape (M,)
            Rows, a value and a group of each pair.
        size : int
            How many groups there are.

        Returns
        -------
        shape (n_raters, size)
        """
        a, b = self._ratings.rater[first], self._partner[first]
        c, d = self._ratings.rater[second], self._partner[second]
        lost = np.zeros(self._ratings.n_raters * size)
        for rater, counts in (
            (a, np.ones(len(a), dtype=bool)),
            (b, b >= 0),
            (c, (c != a) & (c != b)),
            (d, (d >= 0) & (d != a) & (d != b)),
        ):
            indices = np.flatnonzero(counts)
            lost += sums(rater[indices] * size + group[indices], values[indices], self._ratings.n_raters * size)
        return np.asarray(sums(group, values, size) - lost.reshape(self._ratings.n_raters, size))

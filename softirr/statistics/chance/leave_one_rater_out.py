"""Chance agreement without one rater: which answers stop to count, and the sums over pairs of answers that these leave.

Without a rater, the rater's own answers are gone, and in items of two answers the other one has nobody left to be
compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ints, Pooling, Ratings, sums

__all__ = ["LeftOut"]


class LeftOut:
    """The rows of a pooling that do not count without each rater in turn.

    Parameters
    ----------
    pooling : Pooling
        Of the marginals ``answers``: all its rows weigh the same.

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
        alone = np.flatnonzero(ratings.per_item[comparisons.item] == 2)
        left, right = comparisons.left[alone], comparisons.right[alone]
        self._partner[left], self._partner[right] = ratings.rater[right], ratings.rater[left]
        with_partner = pooling.rows[self._partner[pooling.rows] >= 0]
        self.rows: Ints = np.concatenate([pooling.rows, with_partner])
        self.raters: Ints = np.concatenate([ratings.rater[pooling.rows], self._partner[with_partner]])
        self.kept = len(pooling.rows) - np.bincount(self.raters, minlength=ratings.n_raters)

    def by_answer(self, position: Ints, size: int) -> Any:
        """How many rows of each answer do not count without each rater, by the places of the answers.

        Sparse, of shape (size, n_raters).
        """
        from scipy.sparse import csr_matrix

        places = position[self._ratings.answer[self.rows]]
        return csr_matrix((np.ones(len(places)), (places, self.raters)), shape=(size, self._ratings.n_raters))

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
            used = np.flatnonzero(counts)
            lost += sums(rater[used] * size + group[used], values[used], self._ratings.n_raters * size)
        return np.asarray(sums(group, values, size) - lost.reshape(self._ratings.n_raters, size))

"""Chance by its definitions: sums over all pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from softirr.answers.category_matrix import matrix_ratings
from softirr.answers.ratings import Ratings
from softirr.statistics.chance.expected import MatrixEquivalence, on_grid

SETTINGS = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
SAME = {"abs": 1e-12, "rel": 0}


def similarity(size, seed=0):
    """A random symmetric matrix with ones on its diagonal."""
    upper = np.triu(np.random.default_rng(seed).random((size, size)), 1)
    return upper + upper.T + np.eye(size)


@st.composite
def tables(draw, categories=6, raters=4, weights=False):
    """Ratings with a comparable item, perhaps with weights of the items, and an equivalence."""
    shape = (draw(st.integers(1, 9)), draw(st.integers(2, raters)))
    ratings = matrix_ratings(draw(hnp.arrays(np.int64, shape, elements=st.integers(-1, categories - 1))))
    assume(len(ratings.comparable_items))
    seed = draw(st.integers(0, 2**32 - 1))
    if weights and draw(st.booleans()):
        ratings = replace(ratings, weights=np.random.default_rng(seed).choice([0.25, 1, 2, 5], shape[0]))
    return ratings, MatrixEquivalence(similarity(categories, seed))


def scored(ratings, equivalence):
    """Equivalence of each comparison."""
    comparisons = ratings.comparisons
    return equivalence.score(ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows])


def row_weights(ratings, marginals="answers"):
    """Weight of each row in π."""
    if marginals == "gwet2014":
        weight = 1 / ratings.per_item[ratings.item]
    else:
        weight = np.where(ratings.per_item[ratings.item] >= 2, ratings.weight[ratings.item], 0.0)
    return weight / weight.sum()


@dataclass(frozen=True)
class Direct:
    """The fields of `Chance` from the matrix of the equivalences of all rows with each other."""

    ratings: Ratings
    matrix: np.ndarray
    marginals: Any = "answers"

    @property
    def weight(self):
        return row_weights(self.ratings, self.marginals)

    @property
    def rows(self):
        return self.matrix[np.ix_(self.ratings.answer, self.ratings.answer)]

    @property
    def pooled(self):
        return self.weight @ self.rows @ self.weight

    @property
    def pooled_at(self):
        return (self.rows @ self.weight)[self.weight > 0] if self.marginals == "answers" else self.rows @ self.weight

    @property
    def used(self):
        rows = self.ratings.comparable if self.marginals == "answers" else slice(None)
        return np.unique(self.ratings.answer[rows])

    @property
    def similarity(self):
        return self.matrix[np.ix_(self.used, self.used)].mean()

    def _by_pair(self):
        comparisons = self.ratings.comparisons
        for pair in range(len(comparisons.shared)):
            rows_of_pair = np.flatnonzero(comparisons.rater_pair == pair)
            weight = self.ratings.weight[comparisons.item[rows_of_pair]]
            yield (
                rows_of_pair,
                weight / weight.sum(),
                self.rows[np.ix_(comparisons.left_rows[rows_of_pair], comparisons.right_rows[rows_of_pair])],
            )

    @property
    def cohen(self):
        return np.array([weight @ grid @ weight for _, weight, grid in self._by_pair()])

    @property
    def cohen_met(self):
        result = np.zeros(len(self.ratings.comparisons.left_rows))
        for rows_of_pair, weight, grid in self._by_pair():
            result[rows_of_pair] = grid @ weight + weight @ grid
        return result

    @property
    def pooled_without(self):
        """π' S π of the table without each rater; nan without two answers to an item."""
        values = []
        for rater in range(self.ratings.n_raters):
            other_ratings = self.ratings.restricted(np.flatnonzero(self.ratings.rater != rater))
            values.append(Direct(other_ratings, self.matrix).pooled if len(other_ratings.comparable_items) else np.nan)
        return np.array(values)

    def tail(self, step):
        """Share of the pairs of answers to different items with an equivalence of this step of the grid or more."""
        weight = row_weights(self.ratings)
        mass = np.outer(weight, weight) * (self.ratings.item[:, None] != self.ratings.item)
        return float(np.sum(mass * (on_grid(self.rows) >= step)) / mass.sum()) if mass.sum() else None

    def row_tail(self, step):
        """The same share for each comparable row; 0 for a row without such a pair."""
        mass = row_weights(self.ratings) * (self.ratings.item[:, None] != self.ratings.item)
        total = mass.sum(axis=1)
        share = np.sum(mass * (on_grid(self.rows) >= step), axis=1) / np.where(total > 0, total, 1)
        return share[self.ratings.comparable]

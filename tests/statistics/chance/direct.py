"""Chance by its definitions: sums over all pairs of rows, or over the pairs that were drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from softirr.answers.ratings import Ratings
from softirr.statistics.chance.equivalence import MatrixEquivalence
from softirr.statistics.chance.expected import on_grid


def similarity(size, seed=0):
    """A random symmetric matrix with ones on its diagonal."""
    upper = np.triu(np.random.default_rng(seed).random((size, size)), 1)
    return upper + upper.T + np.eye(size)


@st.composite
def tables(draw, categories=6, raters=4, weights=False):
    """Ratings with a comparable item, perhaps with weights of the items, and an equivalence."""
    shape = (draw(st.integers(1, 9)), draw(st.integers(2, raters)))
    ratings = Ratings.from_matrix(draw(hnp.arrays(np.int64, shape, elements=st.integers(-1, categories - 1))))
    assume(len(ratings.comparable_items))
    seed = draw(st.integers(0, 2**32 - 1))
    if weights and draw(st.booleans()):
        ratings = replace(ratings, weights=np.random.default_rng(seed).choice([0.25, 1, 2, 5], shape[0]))
    return ratings, MatrixEquivalence(similarity(categories, seed))


def scored(ratings, equivalence):
    """Equivalence of each comparison."""
    comparisons = ratings.comparisons
    return equivalence.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])


def row_weights(ratings, marginals="answers"):
    """Weight of each row in π."""
    if marginals == "gwet2014":
        own = 1 / ratings.per_item[ratings.item]
    else:
        own = np.where(ratings.per_item[ratings.item] >= 2, ratings.weight[ratings.item], 0.0)
    return own / own.sum()


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
            mine = np.flatnonzero(comparisons.rater_pair == pair)
            own = self.ratings.weight[comparisons.item[mine]]
            yield mine, own / own.sum(), self.rows[np.ix_(comparisons.left[mine], comparisons.right[mine])]

    @property
    def cohen(self):
        return np.array([own @ grid @ own for _, own, grid in self._by_pair()])

    @property
    def cohen_left(self):
        result = np.zeros(len(self.ratings.comparisons.left))
        for mine, own, grid in self._by_pair():
            result[mine] = grid @ own
        return result

    @property
    def cohen_right(self):
        result = np.zeros(len(self.ratings.comparisons.left))
        for mine, own, grid in self._by_pair():
            result[mine] = own @ grid
        return result

    @property
    def pooled_without(self):
        """π' S π of the table without each rater; nan where no two answers of an item are left."""
        values = []
        for rater in range(self.ratings.n_raters):
            rest = self.ratings.restricted(np.flatnonzero(self.ratings.rater != rater))
            values.append(Direct(rest, self.matrix).pooled if len(rest.comparable_items) else np.nan)
        return np.array(values)

    def tail(self, step):
        """Share of the pairs of answers to different items whose equivalence is this step of the grid or more."""
        weight = row_weights(self.ratings)
        mass = np.outer(weight, weight) * (self.ratings.item[:, None] != self.ratings.item)
        return float(np.sum(mass * (on_grid(self.rows) >= step)) / mass.sum()) if mass.sum() else None

    def row_tail(self, step):
        """The same share for each comparable row; 0 where it has no such pair."""
        mass = row_weights(self.ratings) * (self.ratings.item[:, None] != self.ratings.item)
        total = mass.sum(axis=1)
        share = np.sum(mass * (on_grid(self.rows) >= step), axis=1) / np.where(total > 0, total, 1)
        return share[self.ratings.comparable]


@dataclass(frozen=True)
class Drawn:
    """The fields of `Chance` from a `StratifiedSample`, by loops over its pairs.

    A pair that was not drawn counts with the mean of its stratum.
    """

    sample: Any
    scores: np.ndarray

    @property
    def pairs(self):
        return self.sample.pairs

    @property
    def place(self):
        """Stratum of each pair, the last one for pairs of the same answer."""
        return np.where(self.pairs.stratum >= 0, self.pairs.stratum, self.pairs.n_strata)

    def means(self, weights):
        """Of each stratum, by weight; by number where no drawn pair weighs anything."""
        result = np.ones(self.pairs.n_strata + 1)
        for stratum in range(self.pairs.n_strata):
            mine = self.pairs.stratum[self.sample.members] == stratum
            own = weights[self.sample.members[mine]]
            result[stratum] = np.average(self.sample.values[mine], weights=own if own.any() else None)
        return result

    def values(self, weights):
        """Equivalence of each pair of the population."""
        result = self.means(weights)[self.place]
        result[self.sample.members] = self.sample.values
        return result

    def loadings(self, weights, of=None):
        """Standard error that each stratum adds to a sum with these weights, estimated by the weights `of`."""
        of = weights if of is None else of
        result = np.zeros(self.pairs.n_strata)
        for stratum, variance in enumerate(self.sample.variances()):
            own = of[self.sample.members[self.pairs.stratum[self.sample.members] == stratum]]
            effective = own.sum() ** 2 / np.sum(own**2) if own.any() else len(own)
            inside = self.pairs.stratum == stratum
            left = 1 - len(own) / inside.sum()
            result[stratum] = weights[inside].sum() * np.sqrt(variance * left / effective)
        return result

    def once(self, weights):
        """Standard error of a sum because the population is a random sample of all pairs."""
        return 0.0 if self.pairs.complete else np.sqrt(self.sample.overall_variance() * np.sum(weights**2))

    def error(self, weights):
        return np.hypot(np.linalg.norm(self.loadings(weights)), self.once(weights))

    def rows_of_pi(self):
        result = np.zeros(len(self.pairs.ratings.item))
        result[self.pairs.pooling.rows] = self.pairs.pooling.weights
        return result

    def pooled_weights(self):
        weight = self.rows_of_pi()
        return 2 * self.pairs.weight * weight[self.pairs.first] * weight[self.pairs.second]

    def of_item(self):
        """π' S π within items: each row with itself, and with the others of its item."""
        weight, comparisons = self.rows_of_pi(), self.pairs.ratings.comparisons
        return np.sum(weight**2) + 2 * np.sum(weight[comparisons.left] * weight[comparisons.right] * self.scores)

    @property
    def pooled(self):
        weights = self.pooled_weights()
        return self.of_item() + weights @ self.values(weights)

    @property
    def pooled_error(self):
        return self.error(self.pooled_weights())

    def cohen_weights(self):
        shared = np.append(self.pairs.ratings.comparisons.shared, 1)[self.pairs.cell]
        return np.where(self.pairs.cell < len(self.pairs.ratings.comparisons.shared), self.pairs.weight / shared**2, 0)

    @property
    def cohen(self):
        comparisons = self.pairs.ratings.comparisons
        weights, result = self.cohen_weights(), []
        values = self.values(weights)
        for pair, shared in enumerate(comparisons.shared):
            own, mine = self.scores[comparisons.rater_pair == pair], self.pairs.cell == pair
            result.append(own.sum() / shared**2 + weights[mine] @ values[mine])
        return np.array(result)

    @property
    def cohen_loadings(self):
        """By stratum; last the error of the population, which all rater pairs share."""
        every = self.cohen_weights()
        own = [np.where(self.pairs.cell == pair, every, 0) for pair in range(len(self.cohen))]
        return np.array([[*self.loadings(weights, every), self.once(weights)] for weights in own])

    @property
    def cohen_error(self):
        """More than ten rater pairs share strata: the variance around the strata's means is each one's own."""
        sample, pairs, own = self.sample, self.pairs, np.zeros(len(self.cohen))
        if len(own) > 10:
            variance = np.append((1 - sample.drawn / sample.sizes) * sample.variances(), 0)[pairs.stratum]
            own = np.bincount(pairs.cell, self.cohen_weights() ** 2 * variance, minlength=len(own) + 1)[:-1]
        return np.sqrt(np.sum(self.cohen_loadings**2, axis=1) + own)

    @property
    def similarity(self):
        """Mean over pairs of distinct answers; each pair of rows is one of those of its two answers."""
        answer, comparisons = self.pairs.ratings.answer, self.pairs.ratings.comparisons
        count = np.bincount(answer[self.pairs.pooling.rows])
        q = np.count_nonzero(count)
        k, other = answer[self.pairs.first], answer[self.pairs.second]
        weights = np.where(k == other, 0, 2 * self.pairs.weight / (count[k] * count[other]))
        a, b = answer[comparisons.left], answer[comparisons.right]
        known = sum(2 * s / (count[i] * count[j]) for i, j, s in zip(a, b, self.scores, strict=True) if i != j)
        return (q + known + weights @ self.values(weights)) / q**2, self.error(weights) / q**2

    def at(self, row, others):
        """Mean over the pairs of a row with other rows, by the other's weight in `others`; None without pairs."""
        total = above = 0.0
        level = self.means(np.ones(len(self.place)))
        for place, first, second, weight in zip(
            self.place, self.pairs.first, self.pairs.second, self.pairs.weight, strict=True
        ):
            if row in (first, second):
                own = weight * others[second if row == first else first]
                total, above = total + own, above + own * level[place]
        return above / total if total else None

    @property
    def pooled_at(self):
        ratings, weight = self.pairs.ratings, self.rows_of_pi()
        comparisons, result = ratings.comparisons, []
        level = self.means(np.ones(len(self.place)))
        both = self.pairs.weight * (weight[self.pairs.first] + weight[self.pairs.second])
        for row in self.pairs.pooling.rows:
            far = self.at(row, weight)
            far = (both @ level[self.place] / max(both.sum(), 1e-300)) if far is None else far
            near = weight[row] + weight[comparisons.right] @ (self.scores * (comparisons.left == row))
            near += weight[comparisons.left] @ (self.scores * (comparisons.right == row))
            result.append(near + (1 - weight[ratings.item == ratings.item[row]].sum()) * far)
        return np.array(result)

    def at_comparisons(self, rows):
        comparisons, result = self.pairs.ratings.comparisons, []
        level = self.means(np.ones(len(self.place)))[self.place]
        for row, pair, score in zip(rows, comparisons.rater_pair, self.scores, strict=True):
            mine = (self.pairs.cell == pair) & ((self.pairs.first == row) | (self.pairs.second == row))
            n = comparisons.shared[pair]
            result.append((score + (n - 1) * level[mine].mean()) / n if mine.any() else score)
        return np.array(result)

    @property
    def pooled_without(self):
        """By the pairs of rows that still count without each rater."""
        ratings, rows = self.pairs.ratings, self.pairs.pooling.rows
        comparisons, drawn, result = ratings.comparisons, self.sample.members, []
        overall = self.means(np.ones(len(self.place)))
        for rater in range(ratings.n_raters):
            rest = ratings.per_item[ratings.item] - np.isin(ratings.item, ratings.item[ratings.rater == rater])
            kept = (ratings.rater != rater) & (rest >= 2)
            both = kept[self.pairs.first] & kept[self.pairs.second]
            of_item = self.scores[kept[comparisons.left] & kept[comparisons.right]].sum()
            total = 0.0
            for place in range(self.pairs.n_strata + 1):
                own = (self.pairs.stratum[drawn] == place) & both[drawn]
                weight = self.pairs.weight[drawn][own]
                mean = np.average(self.sample.values[own], weights=weight) if own.any() else overall[place]
                total += self.pairs.weight[both & (self.place == place)].sum() * mean
            n = kept[rows].sum()
            result.append((n + 2 * (of_item + total)) / n**2 if n else np.nan)
        return np.array(result)

    def tail(self, step):
        """The share of pairs by equal shares of each stratum's weight, and the effective number of drawn pairs."""
        size = np.bincount(self.place, self.pairs.weight, minlength=self.pairs.n_strata + 1)
        share = (size[:-1] / self.sample.drawn)[self.pairs.stratum[self.sample.members]]
        reached = share[on_grid(self.sample.values) >= step].sum() + size[-1]
        effective = share.sum() ** 2 / np.sum(share**2) if len(share) else np.inf
        return reached / size.sum(), effective

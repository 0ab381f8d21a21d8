"""Pairs of answers to different items, assigned to strata by a cheap equivalence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints, Marginals, Pooling, Ratings, sums
from softirr.statistics.chance.equivalence import Equivalence

__all__ = ["OWN_STRATA", "POPULATION", "PairPopulation", "cells"]

POPULATION = 2_500_000
"""Most pairs of answers in the population.

Of more pairs a random sample of a million is used, with an error below 0.0005.
"""
_SAMPLED = 1_000_000
OWN_STRATA = 10
"""Most rater pairs with separate strata; more rater pairs share strata."""
_SHARES = (0.25, *(1 - 0.5**k for k in range(1, 11)))
"""Shares of the pairs below each level: quarters; the top quarter is halved repeatedly."""
_LEVEL_SIZE = 40
"""Fewest pairs above the lower end of a level."""
_CHUNK = 1 << 20
"""Pairs whose cheap equivalence is computed at a time."""


@dataclass(frozen=True, eq=False)
class PairPopulation:
    """Unordered pairs of pooled rows of different items, or a random sample of them, in strata.

    Attributes
    ----------
    ratings, pooling
    first, second : shape (M,)
        Rows of the ratings.
    cell : shape (M,)
        The rater pair whose shared items both rows belong to, or m.
    weight : shape (M,)
        Number of pairs that each one represents.
    stratum : shape (M,)
        -1 where both answers are the same, so that their equivalence is known.
    level : shape (n_strata,)
        Level of the cheap equivalence of each stratum, ascending from 0.
    complete : bool
        Whether the population contains all pairs.
    """

    ratings: Ratings
    pooling: Pooling
    first: Ints
    second: Ints
    cell: Ints
    weight: Floats
    stratum: Ints
    level: Ints
    complete: bool

    @classmethod
    def draw(
        cls,
        ratings: Ratings,
        marginals: Marginals,
        cheap: Equivalence | None,
        *,
        population: int,
        rng: np.random.Generator,
    ) -> PairPopulation:
        """Assign the pairs of a table to strata by the cheap equivalence; by rater pair only where there is none."""
        pooling = Pooling.of(ratings, marginals)
        n = len(pooling.rows)
        complete = n * (n - 1) // 2 <= population
        if complete:
            i, j = np.triu_indices(n, 1)
        else:
            size = min(population, _SAMPLED)
            i = rng.integers(0, n, size)
            j = (i + rng.integers(1, n, size)) % n
        first, second = pooling.rows[i], pooling.rows[j]
        different = np.flatnonzero(ratings.item[first] != ratings.item[second])
        first, second = first[different], second[different]
        m = len(ratings.comparisons.shared)
        cell = cells(ratings, first, second)
        k, l = ratings.answer[first], ratings.answer[second]  # noqa: E741
        asked = np.flatnonzero(k != l)
        group = cell[asked] if m <= OWN_STRATA else (cell[asked] == m).astype(np.int64)
        stratum = np.full(len(first), -1, dtype=np.int64)
        values = np.zeros(len(asked)) if cheap is None else _sorting(cheap, k[asked], l[asked], complete)
        stratum[asked], level = _strata(group, values)
        weight = _weights(ratings, pooling, cell, m)
        return cls(ratings, pooling, first, second, cell, weight, stratum, level, complete)

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return len(self.level)

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return int(self.level.max(initial=-1)) + 1

    @cached_property
    def sizes(self) -> Ints:
        """Pairs of each stratum, shape (n_strata,)."""
        return np.bincount(self.stratum[self.stratum >= 0], minlength=self.n_strata)

    @cached_property
    def by_stratum(self) -> Ints:
        """The pairs, stratum after stratum, shape (sum of sizes,)."""
        asked = np.flatnonzero(self.stratum >= 0)
        # numpy sorts 16-bit numbers by counting, and there are at most 12 levels of 11 groups
        return asked[np.argsort(self.stratum[asked].astype(np.uint16), kind="stable")]

    def totals(self, weights: Floats) -> Floats:
        """Sum of the pairs' weights in each stratum and, last, over the pairs of the same answer.

        Shape (n_strata + 1,).
        """
        return sums(np.where(self.stratum >= 0, self.stratum, self.n_strata), weights, self.n_strata + 1)

    @cached_property
    def pooled_totals(self) -> Floats:
        """:meth:`totals` of :meth:`pooled_weights`."""
        return self.totals(self.pooled_weights)

    @cached_property
    def cohen_totals(self) -> Floats:
        """Sums of :meth:`cohen_weights` by rater pair and stratum, the last as in :meth:`totals`.

        Shape (m, n_strata + 1).
        """
        m, strata = len(self.ratings.comparisons.shared), self.n_strata + 1
        mine = np.flatnonzero(self.cell < m)
        place = np.where(self.stratum >= 0, self.stratum, self.n_strata)[mine]
        return sums(self.cell[mine] * strata + place, self.cohen_weights[mine], m * strata).reshape(m, strata)

    @cached_property
    def row_shares(self) -> Floats:
        """For each row, the share of its different-item answers (by their weight in π) in each stratum.

        Shape (rows, n_strata + 1).

        A row without pairs (possible only in a sample of the pairs) gets the shares of all pairs.
        """
        n, strata = len(self.ratings.item), self.n_strata + 1
        weight = np.zeros(n)
        weight[self.pooling.rows] = self.pooling.weights
        place = np.where(self.stratum >= 0, self.stratum, self.n_strata)
        flat = np.zeros(n * strata)
        for a, b in ((self.first, self.second), (self.second, self.first)):
            flat += sums(a * strata + place, self.weight * weight[b], n * strata)
        met = flat.reshape(n, strata)
        total = met.sum(axis=1, keepdims=True)
        overall = met.sum(axis=0) / max(float(total.sum()), 1e-300)
        return np.where(total > 0, met / np.where(total > 0, total, 1.0), overall)

    @cached_property
    def comparison_shares(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Shares by stratum of each answer's pairs with the other rater's answers to other items.

        The left answers of all comparisons come first, then the right ones: shape (2 P, n_strata + 1). Beside them,
        whether such pairs exist: shape (2 P,).
        """
        ratings, comparisons = self.ratings, self.ratings.comparisons
        m, n, strata = len(comparisons.shared), len(ratings.item), self.n_strata + 1
        mine = np.flatnonzero(self.cell < m)
        # one entry for each row and rater pair it belongs to
        key = np.concatenate([self.cell[mine] * n + self.first[mine], self.cell[mine] * n + self.second[mine]])
        wanted = np.concatenate(
            [comparisons.rater_pair * n + comparisons.left, comparisons.rater_pair * n + comparisons.right]
        )
        order = np.argsort(wanted)
        place = order[np.searchsorted(wanted, key, sorter=order)]
        stratum = np.where(self.stratum >= 0, self.stratum, self.n_strata)[mine]
        count = np.bincount(place * strata + np.tile(stratum, 2), minlength=len(wanted) * strata)
        count = count.reshape(len(wanted), strata)
        total = count.sum(axis=1, keepdims=True)
        return count / np.maximum(total, 1), total[:, 0] > 0

    @cached_property
    def pooled_weights(self) -> Floats:
        """Weight of each pair's equivalence in π' S π, shape (M,)."""
        of_row = np.zeros(len(self.ratings.item))
        of_row[self.pooling.rows] = self.pooling.weights
        return 2 * self.weight * of_row[self.first] * of_row[self.second]

    @cached_property
    def cohen_weights(self) -> Floats:
        """Weight of each pair's equivalence in the expected agreement of its rater pair (0 without one), shape (M,)."""
        shared = np.append(self.ratings.comparisons.shared, np.inf)
        return np.asarray(self.weight / shared[self.cell] ** 2)


def _sorting(cheap: Equivalence, k: Ints, l: Ints, complete: bool) -> Floats:  # noqa: E741
    """The cheap equivalence of each pair of answers; a complete population is computed as one block."""
    if not complete:
        return np.concatenate([np.zeros(0), *(cheap.score(k[part], l[part]) for part in _parts(len(k)))])
    answers, place = _numbered(np.concatenate([k, l]))
    block = cheap.block(answers, answers)
    return np.asarray(block[place[: len(k)], place[len(k) :]], dtype=np.float64)


def _parts(size: int) -> list[slice]:
    return [slice(start, start + _CHUNK) for start in range(0, size, _CHUNK)]


def cells(ratings: Ratings, first: Ints, second: Ints) -> Ints:
    """For each pair of rows, the rater pair whose shared items both belong to, or the number of rater pairs.

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
    wanted = np.minimum(r, s) * n + np.maximum(r, s)
    place = np.minimum(np.searchsorted(code, wanted), m - 1)
    answered = np.sort(ratings.item * n + ratings.rater)

    def has(item: Ints, rater: Ints) -> NDArray[np.bool_]:
        key = item * n + rater
        return answered[np.minimum(np.searchsorted(answered, key), len(answered) - 1)] == key

    both = (code[place] == wanted) & has(ratings.item[first], s) & has(ratings.item[second], r)
    return np.where(both, place, m)


def _weights(ratings: Ratings, pooling: Pooling, cell: Ints, m: int) -> Floats:
    """Number of different-item pairs of its cell that each pair represents; 1 in a complete population."""
    comparisons = ratings.comparisons
    shared = comparisons.shared
    size = np.append(shared * (shared - 1), 0).astype(np.float64)
    n = len(pooling.rows)
    used = np.bincount(ratings.item[pooling.rows], minlength=ratings.n_items)
    size[m] = n * (n - 1) / 2 - float(np.sum(used * (used - 1) / 2)) - size[:m].sum()
    there = np.bincount(cell, minlength=m + 1)
    return size[cell] / there[cell]


def _strata(group: Ints, values: Floats) -> tuple[Ints, Ints]:
    """Stratum of each pair, by its group and its level, and the level of each stratum."""
    kept = [share for share in _SHARES if (1 - share) * len(values) >= _LEVEL_SIZE]
    cuts = np.unique(np.quantile(values, kept)) if kept else np.zeros(0)
    # ties stay together: levels are the values in (lower cut, upper cut]
    _, level = _numbered(np.searchsorted(cuts, values, side="left"))
    numbers, stratum = _numbered(group * np.int64(len(cuts) + 1) + level)
    return stratum, numbers % (len(cuts) + 1)


def _numbered(codes: Ints) -> tuple[Ints, Ints]:
    """The codes that occur, ascending, and the index of each entry's code.

    ``np.unique`` for small codes, without sorting.
    """
    there = np.bincount(codes) > 0 if len(codes) else np.zeros(0, dtype=bool)
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]

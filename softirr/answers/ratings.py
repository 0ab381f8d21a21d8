"""Ratings as arrays: answers, pairs of answers to the same item, and the answers that define chance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError

MOST_COMPARISONS = 10_000_000
"""Maximum pairs of answers to the same item (4,472 raters on an item): they take 3 GB and about half a minute."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def sums(codes: Ints, values: Floats, size: int) -> Floats:
    """Sum of the values of each code, shape (size,).

    Parameters
    ----------
    codes : shape (n,)
        From 0 to ``size - 1``.
    values : shape (n,)
    """
    return np.bincount(codes, weights=values, minlength=size).astype(np.float64, copy=False)


def sums_by_code(codes: Ints, size: int) -> Any:
    """Sparse matrix that adds up rows by code, shape (size, len(codes))."""
    from scipy.sparse import csr_matrix

    n = len(codes)
    return csr_matrix((np.ones(n), (codes, np.arange(n))), shape=(size, n))


@dataclass(frozen=True, eq=False)
class Ratings:
    """Given answers as parallel arrays of indices, one row per (item, rater).

    Attributes
    ----------
    item, rater, answer : shape (n,)
        In row i, ``rater[i]`` gave ``answer[i]`` to ``item[i]``. Missing answers have no row.
    n_items, n_raters, n_answers : int
        How many of each there are; indices are below.
    weights : shape (n_items,), optional
        How much each item counts; None counts each once.
    """

    item: Ints
    rater: Ints
    answer: Ints
    n_items: int
    n_raters: int
    n_answers: int
    weights: Floats | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, table: Any) -> Ratings:
        """The rows of an ``AnnotationTable``."""
        sizes = len(table.items), len(table.raters), len(table.answers)
        return cls(table.item, table.rater, table.answer, *sizes, weights=table.weights)

    @cached_property
    def per_item(self) -> Ints:
        """Number of answers of each item, shape (n_items,)."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def weight(self) -> Floats:
        """How much each item counts, shape (n_items,): 1 without weights.

        Weights are counts of items. Smaller ones, with a mean below 1 over the comparable items (shares that sum to
        1), are scaled to a mean of 1, because Krippendorff's expected agreement depends on how many answers there are.
        """
        if self.weights is None:
            return np.ones(self.n_items)
        mean = float(self.weights[self.comparable_items].mean()) if len(self.comparable_items) else 1.0
        return np.asarray(self.weights / mean if 0 < mean < 1 else self.weights)

    @cached_property
    def comparable(self) -> Ints:
        """Rows of items with two answers or more: the only ones that count for a coefficient."""
        return np.flatnonzero(self.per_item[self.item] >= 2)

    @cached_property
    def comparable_items(self) -> Ints:
        """Items with two answers or more."""
        return np.flatnonzero(self.per_item >= 2)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Every pair of answers to one item.

        Raises
        ------
        InputError
            If there are more than ``MOST_COMPARISONS``.
        """
        n_pairs = int(np.sum(self.per_item * (self.per_item - 1) // 2))
        if n_pairs > MOST_COMPARISONS:
            raise InputError(
                f"The table has {n_pairs:,} pairs of answers to the same item, with up to "
                f"{int(self.per_item.max()):,} raters on one item; at most {MOST_COMPARISONS:,} can be compared. "
                "Keep a random sample of the items, or of the raters of each item."
            )
        return _compare(self)

    @cached_property
    def pair_weights(self) -> Floats:
        """Weight of each of ``comparisons`` in observed agreement, shape (P,).

        They sum to 1, and the pairs of an item share its weight.
        """
        item = self.comparisons.item
        n_pairs = np.bincount(item, minlength=self.n_items)
        item_weights = np.where(n_pairs > 0, self.weight, 0.0)
        return np.asarray((item_weights / np.maximum(n_pairs, 1) / max(float(item_weights.sum()), 1e-300))[item])

    @cached_property
    def rater_pair_shares(self) -> Floats:
        """Share of each of ``comparisons`` in the weight of its rater pair, shape (P,)."""
        pair, item_weight = self.comparisons.rater_pair, self.weight[self.comparisons.item]
        return item_weight / sums(pair, item_weight, len(self.comparisons.shared))[pair]

    def restricted(self, rows: Ints) -> Ratings:
        """The same items, raters and answers, with these rows only."""
        return replace(self, item=self.item[rows], rater=self.rater[rows], answer=self.answer[rows])


@dataclass(frozen=True, eq=False)
class OrderedRatings:
    """Ratings with items and raters numbered by their sorted ids, so that random pairs do not depend on a file's order.

    Attributes
    ----------
    ratings : Ratings
        Sorted by item, then by rater.
    rows : shape (n,)
        The table's row of each row of ``ratings``.
    """

    ratings: Ratings
    rows: Ints

    @classmethod
    def of(cls, table: Any) -> OrderedRatings:
        """The ratings of an ``AnnotationTable``."""
        items, raters = _ranks(table.items), _ranks(table.raters)
        item, rater = items[table.item], raters[table.rater]
        weights = None if table.weights is None else table.weights[np.argsort(items)]
        rows = np.lexsort((rater, item))
        return cls(replace(Ratings.of(table), item=item, rater=rater, weights=weights).restricted(rows), rows)


def _ranks(ids: tuple[str, ...]) -> Ints:
    """Rank of each id in sorted order, from 0."""
    result = np.empty(len(ids), dtype=np.int64)
    result[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return result


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairs of answers to the same item by two raters, each unordered pair once.

    Attributes
    ----------
    left_rows, right_rows : shape (P,)
        Rows of the two answers; the left rater has the lower index.
    item : shape (P,)
    rater_pair : shape (P,)
        Index into ``rater_pairs``.
    rater_pairs : shape (m, 2)
        Raters that share an item, in order.
    shared : shape (m,)
        How many items each of these pairs shares.
    """

    left_rows: Ints
    right_rows: Ints
    item: Ints
    rater_pair: Ints
    rater_pairs: Ints
    shared: Ints

    @cached_property
    def _grouped(self) -> tuple[Ints, Ints]:
        """Comparisons in the order of their rater pair, and where each rater pair's end."""
        return np.argsort(self.rater_pair, kind="stable"), np.cumsum(self.shared)

    @cached_property
    def _by_second(self) -> tuple[Ints, Ints]:
        """Rater pairs in the order of their second rater, and that rater of each."""
        order = np.argsort(self.rater_pairs[:, 1], kind="stable")
        return order, self.rater_pairs[order, 1]

    def pairs_of_rater(self, rater: int) -> Ints:
        """Which rater pairs this rater is one of, ascending."""
        order, second = self._by_second
        first = self.rater_pairs[:, 0]  # ascending: the pairs are in order
        as_first = np.arange(*np.searchsorted(first, (rater, rater + 1)))
        as_second = order[slice(*np.searchsorted(second, (rater, rater + 1)))]
        return np.sort(np.concatenate([as_first, as_second]))

    def of_pairs(self, pairs: Ints) -> Ints:
        """Which comparisons are of one of these rater pairs, ascending."""
        order, ends = self._grouped
        sizes = self.shared[pairs]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.sort(order[np.repeat(ends[pairs] - sizes, sizes) + within])


def _compare(ratings: Ratings) -> Comparisons:
    order = np.lexsort((ratings.rater, ratings.item))
    sizes = ratings.per_item
    starts = np.cumsum(sizes) - sizes
    positions_a, positions_b = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for size in np.unique(sizes[sizes >= 2]).tolist():
        first, second = np.triu_indices(size, 1)
        start = starts[sizes == size][:, None]
        positions_a.append((start + first).ravel())
        positions_b.append((start + second).ravel())
    a, b = np.concatenate(positions_a), np.concatenate(positions_b)
    by_item = np.argsort(a, kind="stable")
    a, b = order[a[by_item]], order[b[by_item]]
    key = ratings.rater[a] * np.int64(ratings.n_raters) + ratings.rater[b]
    pairs, rater_pair, shared = np.unique(key, return_inverse=True, return_counts=True)
    rater_pairs = np.stack(np.divmod(pairs, max(ratings.n_raters, 1)), axis=1).astype(np.int64)
    return Comparisons(a, b, ratings.item[a], rater_pair.astype(np.int64), rater_pairs, shared.astype(np.int64))


Marginals = Literal["answers", "gwet2014"]


@dataclass(frozen=True, eq=False)
class Pooling:
    """Which answers make up the distribution π of all raters, and how much each of them weighs.

    Attributes
    ----------
    rows : shape (n,)
        Rows of the ratings.
    weights : shape (n,)
        Sum to 1.
    items : shape (N,)
        Items that have one of these rows.
    marginals : str
        See :meth:`of`.
    """

    rows: Ints
    weights: Floats
    items: Ints
    marginals: Marginals = "answers"

    @classmethod
    def of(cls, ratings: Ratings, marginals: Marginals = "answers") -> Pooling:
        """``answers``: all answers of items with two or more have the same weight, or the weight of their item.

        See Fleiss 1971 and Krippendorff 2011. ``gwet2014``: every item weighs the same, items with one answer
        included (Gwet 2014, as in irrCAC).
        """
        if marginals == "gwet2014":
            items = np.flatnonzero(ratings.per_item)
            weights = 1 / (len(items) * ratings.per_item[ratings.item])
            return cls(np.arange(len(ratings.item)), weights, items, marginals)
        rows = ratings.comparable
        mass = ratings.weight[ratings.item[rows]]
        return cls(rows, mass / max(float(mass.sum()), 1e-300), ratings.comparable_items)


def item_means(ratings: Ratings, scores: Floats) -> Floats:
    """Mean equivalence of the pairs of each comparable item (soft Fleiss, Wullschleger et al. 2026).

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.

    Returns
    -------
    shape (N,), in the order of ``ratings.comparable_items``
    """
    item, items, n = ratings.comparisons.item, ratings.comparable_items, ratings.n_items
    return np.asarray(sums(item, scores, n)[items] / np.bincount(item, minlength=n)[items])

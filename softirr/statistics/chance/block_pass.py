"""One pass over the equivalences of all distinct answers, block by block, and the sums that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.statistics.chance.expected import GRID, ChanceDistribution, Equivalence, on_grid

BLOCK = 2_048
"""Rows and columns of one block of the exact pass: 32 MB as float64."""
DOUBLE = 1_000
"""Up to this many distinct answers the exact pass uses double precision.

Above, blocks are float32 and rounding errors average out.
"""
_KEPT = 24_000_000
"""Most numbers of S times the raters' marginals kept at a time: 192 MB."""
_DENSE_COLUMNS = 32
"""Up to this many marginals, a product with them takes a dense matrix."""
_LANDMARKS = 256
"""Rows sampled to estimate each row's share of chance pairs (for intervals of sigma and KS)."""


def rater_columns(ratings: Ratings, position: Ints, size: int, lost: Any | None) -> tuple[Any, list[tuple[Ints, Ints]]]:
    """The raters' answer distributions over the items they share with each other, without repetitions.

    Parameters
    ----------
    position : shape (n_answers,)
        Index of each answer among the V distinct ones.
    size : int
        Number of distinct answers V.
    lost : sparse matrix, shape (V, n_raters), optional
        How many rows of each answer do not count without each rater; it provides further columns.

    Returns
    -------
    sparse matrix, shape (V, C)
        The distributions as columns.
    list of (shape (n,), shape (n,))
        Answers and columns: the left answer of each comparison with its right rater, the right answer with the left
        rater, and the entries of ``lost``.
    """
    from scipy.sparse import csr_matrix, hstack

    comparisons = ratings.comparisons
    sides = comparisons.left_rows, comparisons.right_rows
    order, ends = np.argsort(comparisons.rater_pair, kind="stable"), np.cumsum(comparisons.shared)
    numbers: dict[bytes, int] = {}
    of_raters: list[Ints] = []
    for side in sides:
        answered = [np.sort(pair_rows).tobytes() for pair_rows in np.split(side[order], ends[:-1])]
        columns = np.array([numbers.setdefault(key, len(numbers)) for key in answered], dtype=np.int64)
        of_raters.append(columns[comparisons.rater_pair])
    rows = [np.frombuffer(key, dtype=sides[0].dtype) for key in numbers]
    all_rows, of_column = np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    values = ratings.weight[ratings.item[all_rows]]
    values = values / sums(of_column, values, len(rows))[of_column]
    matrix = csr_matrix((values, (position[ratings.answer[all_rows]], of_column)), shape=(size, len(rows)))
    entries = [(position[ratings.answer[s]], c) for s, c in zip(sides, of_raters[::-1], strict=True)]
    if lost is not None:
        entries.append((lost.row, len(rows) + lost.col))
        matrix = hstack([matrix, lost], format="csr")
    return matrix, entries


class BlockPass:
    """One pass over S in blocks that accumulates S times some columns.

    Parameters
    ----------
    answers : shape (V,)
        The distinct answers.
    weights : shape (V, d)
        Columns; ``dense`` becomes S times them.
    columns : sparse matrix, shape (V, C)
        Further columns; with many raters their product is large.
    entries : sequence of (shape (n,), shape (n,))
        The entries of that product to keep in ``kept``, by the indices of their answers and columns.
    histogram : Histogram or None
        Counts the equivalences.
    """

    def __init__(
        self,
        equivalence: Equivalence,
        answers: Ints,
        weights: Floats,
        columns: Any,
        entries: Sequence[tuple[Ints, Ints]],
        histogram: Histogram | None,
    ) -> None:
        self._equivalence, self._answers = equivalence, answers
        self._histogram, self._weights, self._columns = histogram, weights, columns
        self._dense = columns.toarray() if columns.shape[1] <= _DENSE_COLUMNS else None
        self._height = max(1, _KEPT // columns.shape[1])
        self.dense = np.zeros_like(weights)
        self.kept = [np.zeros(len(answer)) for answer, _ in entries]
        orders = [np.argsort(answer) for answer, _ in entries]
        self._entries = [(o, answer[o], column[o]) for o, (answer, column) in zip(orders, entries, strict=True)]

    def run(self) -> None:
        """Visit every block and its transpose; S is symmetric, so each is scored once."""
        slices = list(block_slices(len(self._answers), BLOCK))
        for i, rows in enumerate(slices):
            for cols in slices[i:]:
                block = self._block(rows, cols)
                if self._histogram is not None:
                    self._histogram.add(block, rows, cols, 1 if cols == rows else 2)
                block = block.astype(np.float64, copy=False)
                self._add(block, rows, cols)
                if cols != rows:
                    self._add(block.T, cols, rows)

    def _add(self, block: Floats, rows: slice, cols: slice) -> None:
        """Add a block's share of the products."""
        self.dense[rows] += block @ self._weights[cols]
        for row_slice in block_slices(len(block), self._height):
            first = rows.start + row_slice.start
            if self._dense is not None:
                product = block[row_slice] @ self._dense[cols]
            else:
                product = (self._columns[cols].T @ block[row_slice].T).T
            for (order, answer, column), out in zip(self._entries, self.kept, strict=True):
                entries = slice(*np.searchsorted(answer, [first, first + len(product)]))
                out[order[entries]] += product[answer[entries] - first, column[entries]]

    def _block(self, rows: slice, cols: slice) -> NDArray[Any]:
        k, l = self._answers[rows], self._answers[cols]  # noqa: E741
        if len(self._answers) <= DOUBLE:
            scores = self._equivalence.score(np.repeat(k, len(l)), np.tile(l, len(k)))
            return np.asarray(scores, dtype=np.float64).reshape(len(k), len(l))
        block = self._equivalence.block(k, l)
        if rows == cols:
            block = block.copy()
            np.fill_diagonal(block, 1)
        return block


class Histogram:
    """Counts pairs of rows by the equivalence of their answers, on the grid; needs two items.

    A pair of distinct answers counts once for each pair of rows.
    """

    def __init__(self, ratings: Ratings, position: Ints, size: int) -> None:
        rows = ratings.comparable
        self._ratings, self._item_weight = ratings, ratings.weight[ratings.item[rows]]
        self._weights = sums(position[ratings.answer[rows]], self._item_weight, size)
        self._even = bool((self._weights == 1).all())
        self._counts = np.zeros(GRID + 1)

    def add(self, block: NDArray[Any], rows: slice, cols: slice, times: int) -> None:
        """Add a block, `times` times; every pair of answers (k, l) is also visited as (l, k), so each counts half."""
        flat = on_grid(block).ravel()
        if self._even:
            counts = np.bincount(flat, minlength=GRID + 1).astype(np.float64)
        else:
            weights = np.multiply.outer(self._weights[rows], self._weights[cols]).ravel()
            counts = sums(flat, weights, GRID + 1)
        if rows == cols:
            counts[GRID] -= float(np.sum(self._weights[rows] ** 2))
        self._counts += counts * (times / 2)

    def distribution(self, scores: Floats, equivalence: Equivalence) -> ChanceDistribution:
        """The distribution without pairs of the same item, which have these scores."""
        ratings, counts = self._ratings, self._counts.copy()
        counts[GRID] += float(np.sum(self._weights**2) - np.sum(self._item_weight**2)) / 2
        counts -= sums(on_grid(scores), ratings.weight[ratings.comparisons.item] ** 2, GRID + 1)
        return ChanceDistribution.of(counts, _RowTail(ratings, equivalence))


class _RowTail:
    """For each comparable row, the share of answers to other items with an equivalence of at least a step.

    With many rows, the share is estimated from a sample of them.
    """

    def __init__(self, ratings: Ratings, equivalence: Equivalence) -> None:
        rows = ratings.comparable
        landmarks = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _LANDMARKS)).astype(np.int64))]
        answers, self._place = np.unique(ratings.answer[rows], return_inverse=True)
        targets, columns = np.unique(ratings.answer[landmarks], return_inverse=True)
        blocks = (equivalence.block(answers[slice_], targets) for slice_ in block_slices(len(answers), BLOCK))
        steps = np.concatenate([on_grid(block).astype(np.int32) for block in blocks])
        steps[answers[:, None] == targets] = GRID
        self._steps = steps[:, columns]
        in_other_item = ratings.item[rows][:, None] != ratings.item[landmarks][None, :]
        self._other = (
            in_other_item if ratings.weights is None else in_other_item * ratings.weight[ratings.item[landmarks]]
        )

    def __call__(self, step: int) -> Floats:
        reached = (self._steps >= step)[self._place]
        total = self._other.sum(axis=1)
        return np.asarray((reached * self._other).sum(axis=1) / np.where(total > 0, total, 1))


def block_slices(size: int, step: int) -> Iterator[slice]:
    """Consecutive slices of at most ``step`` rows that cover ``size`` rows."""
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))

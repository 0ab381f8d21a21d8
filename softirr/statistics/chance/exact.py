"""Agreement expected by chance from every pair of distinct answers.

Every expected agreement is a weighted mean of the equivalence S over pairs of distinct answers, so one pass over S
computes all of them. The pass goes block by block and never keeps the whole matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints, Marginals, Pooling, Ratings, sums
from softirr.statistics.chance.equivalence import Equivalence
from softirr.statistics.chance.expected import GRID, Chance, ChanceDistribution, on_grid
from softirr.statistics.chance.leave_one_rater_out import LeftOut

__all__ = ["exact"]

BLOCK = 2_048
"""Rows and columns of one block of the exact pass: 32 MB as float64."""
DOUBLE = 1_000
"""Up to this many distinct answers the exact pass uses double precision.

Above, blocks are float32 and rounding errors average out.
"""
_LANDMARKS = 256
"""Rows sampled to estimate each row's share of chance pairs (for intervals of sigma and KS)."""
_KEPT = 24_000_000
"""Most numbers of S times the raters' marginals kept at a time: 192 MB."""
_DENSE_COLUMNS = 32
"""Up to this many marginals, a product with them takes a dense matrix."""


def exact(
    ratings: Ratings,
    equivalence: Equivalence,
    scores: Floats,
    *,
    marginals: Marginals = "answers",
    block_size: int = BLOCK,
) -> Chance:
    """Expected agreement from every pair of distinct answers.

    Parameters
    ----------
    ratings : Ratings
        Needs at least one item with two answers.
    equivalence : Equivalence
        Scores every pair of distinct answers.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    marginals : {"answers", "gwet2014"}
        Which answers the pooled distribution π consists of, see :class:`Pooling`.
    block_size : int
        Rows and columns of S in memory at a time.

    Returns
    -------
    Chance
        Without sampling error.
    """
    pooling = Pooling.of(ratings, marginals)
    distinct, distinct_index = np.unique(ratings.answer[pooling.rows], return_inverse=True)
    position = np.full(ratings.n_answers, -1, dtype=np.int64)
    position[distinct] = np.arange(len(distinct))
    columns = _Columns(ratings, position, len(distinct))
    pi = sums(distinct_index, pooling.weights, len(distinct))
    multiplicity = sums(
        position[ratings.answer[ratings.comparable]], ratings.weight[ratings.item[ratings.comparable]], len(distinct)
    )

    single = len(ratings.comparable_items) < 2
    left_out = LeftOut(ratings, pooling) if pooling.marginals == "answers" and ratings.weights is None else None
    lost = _Lost(left_out.by_answer(position, len(distinct))) if left_out is not None else None
    dense = np.stack([pi, np.full(len(distinct), 1 / len(distinct))], axis=1)
    histogram = None if single else _Histogram(multiplicity)
    pass_ = _Pass(equivalence, distinct, dense, columns, histogram, lost)
    pass_.run(block_size)
    distribution = None
    if histogram is not None:
        counts = histogram.different_items(ratings, scores)
        distribution = ChanceDistribution.of(counts, _RowTail(ratings, equivalence))
    m = len(ratings.comparisons.rater_pairs)
    pair, item_weight = ratings.comparisons.rater_pair, ratings.weight[ratings.comparisons.item]
    h = pass_.dense[:, 0]
    pooled, pooled_at = float(pi @ h), h[distinct_index]
    return Chance(
        method="exact",
        cohen=sums(pair, item_weight * pass_.left, m) / sums(pair, item_weight, m),
        cohen_error=np.zeros(m),
        cohen_left=pass_.left,
        cohen_right=pass_.right,
        cohen_noise=np.zeros(m),
        pooling=pooling,
        pooled=pooled,
        pooled_error=0.0,
        pooled_at=pooled_at,
        pooled_noise=0.0,
        distinct=len(distinct),
        similarity=float(pass_.dense[:, 1].mean()),
        similarity_error=0.0,
        distribution=distribution,
        pairs_scored=len(distinct) * (len(distinct) - 1) // 2,
        pooled_without=lost.pooled(left_out, h[position[ratings.answer[left_out.rows]]], pooled)
        if left_out and lost
        else None,
    )


class _Lost:
    """Adds up, block by block, the equivalences of the answers that do not count without each rater with each other.

    Parameters
    ----------
    counts : sparse, shape (V, n_raters)
        See :meth:`LeftOut.by_answer`.
    """

    def __init__(self, counts: Any) -> None:
        self._counts, self._product = counts, _Product(counts)
        self._total = np.zeros(counts.shape[1])

    def add(self, block: Floats, rows: slice, cols: slice, times: int) -> None:
        """A block, `times` times."""
        self._total += times * np.asarray(self._counts[rows].multiply(self._product(block, cols)).sum(axis=0)).ravel()

    def pooled(self, left_out: LeftOut, pooled_at: Floats, pooled: float) -> Floats:
        """π' S π without each rater, given ``pooled_at`` of each of ``left_out.rows`` and π' S π of all."""
        n = left_out.kept + np.bincount(left_out.raters, minlength=len(left_out.kept))
        below = left_out.kept.astype(np.float64) ** 2
        above = n**2 * pooled - 2 * n * sums(left_out.raters, pooled_at, len(n)) + self._total
        return np.divide(above, below, out=np.full(len(n), np.nan), where=below > 0)


class _Columns:
    """The raters' answer distributions over the items they share with each other, without repetitions.

    They are the columns of a sparse matrix (V, C); ``of_left[q]`` and ``of_right[q]`` are the two raters of pair q.
    """

    def __init__(self, ratings: Ratings, position: Ints, size: int) -> None:
        from scipy.sparse import csr_matrix

        comparisons = ratings.comparisons
        order = np.argsort(comparisons.rater_pair, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(comparisons.shared)])
        column_numbers: dict[bytes, int] = {}
        rows: list[Ints] = []
        self.of_left, self.of_right = (np.zeros(len(comparisons.shared), dtype=np.int64) for _ in range(2))
        for pair, (start, stop) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            pair_rows = order[start:stop]
            for side, column in ((comparisons.left_rows, self.of_left), (comparisons.right_rows, self.of_right)):
                answered = np.sort(side[pair_rows])
                number = column_numbers.setdefault(answered.tobytes(), len(rows))
                if number == len(rows):
                    rows.append(answered)
                column[pair] = number
        self.count = len(rows)
        lengths = np.array([len(r) for r in rows], dtype=np.int64)
        all_rows, of_column = np.concatenate(rows), np.repeat(np.arange(len(rows)), lengths)
        values = ratings.weight[ratings.item[all_rows]]
        values = values / sums(of_column, values, len(rows))[of_column]
        self.matrix = csr_matrix((values, (position[ratings.answer[all_rows]], of_column)), shape=(size, len(rows)))
        self.left_answer = position[ratings.answer[comparisons.left_rows]]
        self.right_answer = position[ratings.answer[comparisons.right_rows]]
        self.comparisons = comparisons


class _Pass:
    """One pass over S in blocks that accumulates S times the marginals and keeps what the draws need.

    It computes S @ weights for ``weights`` (V, d). S @ columns (V, C) is large when there are many raters; the pass
    keeps its entries at the answers of the comparisons: ``left`` and ``right``.
    """

    def __init__(
        self,
        equivalence: Equivalence,
        answers: Ints,
        weights: Floats,
        columns: _Columns,
        histogram: _Histogram | None,
        lost: _Lost | None,
    ) -> None:
        self._equivalence, self._answers = equivalence, answers
        self._histogram, self._lost, self._weights = histogram, lost, weights
        self.dense = np.zeros_like(weights)
        comparisons = columns.comparisons
        self._product, self._height = _Product(columns.matrix), max(1, _KEPT // columns.count)
        self.left, self.right = np.zeros(len(comparisons.left_rows)), np.zeros(len(comparisons.left_rows))
        self._kept = []
        for answer, column, out in (
            (columns.left_answer, columns.of_right, self.left),
            (columns.right_answer, columns.of_left, self.right),
        ):
            order = np.argsort(answer)
            self._kept.append((order, answer[order], column[comparisons.rater_pair[order]], out))

    def run(self, block_size: int) -> None:
        """Visit every block and its transpose; S is symmetric, so each is scored once."""
        slices = list(_slices(len(self._answers), block_size))
        for i, rows in enumerate(slices):
            for cols in slices[i:]:
                block = self._visit(rows, cols, 1 if cols == rows else 2)
                self._add(block, rows, cols)
                if cols != rows:
                    self._add(block.T, cols, rows)

    def _add(self, block: Floats, rows: slice, cols: slice) -> None:
        """Add a block's share of the products."""
        self.dense[rows] += block @ self._weights[cols]
        for row_slice in _slices(len(block), self._height):
            product, first = self._product(block[row_slice], cols), rows.start + row_slice.start
            for order, answer, column, out in self._kept:
                entries = slice(*np.searchsorted(answer, [first, first + len(product)]))
                out[order[entries]] += product[answer[entries] - first, column[entries]]

    def _visit(self, rows: slice, cols: slice, times: int) -> Floats:
        """A block of S, once its sums are taken: twice where its transpose is not visited."""
        block = self._block(rows, cols)
        if self._histogram is not None:
            self._histogram.add(block, rows, cols, times)
        block = block.astype(np.float64, copy=False)
        if self._lost is not None:
            self._lost.add(block, rows, cols, times)
        return block

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


class _Product:
    """Product of a block of S with the columns of a sparse matrix, dense while there are few of them."""

    def __init__(self, matrix: Any) -> None:
        self._sparse = matrix
        self._dense = matrix.toarray() if matrix.shape[1] <= _DENSE_COLUMNS else None

    def __call__(self, block: Floats, cols: slice) -> Floats:
        if self._dense is not None:
            return np.asarray(block @ self._dense[cols])
        return np.asarray((self._sparse[cols].T @ block.T).T)


class _Histogram:
    """Counts pairs of rows by the equivalence of their answers, on the grid.

    A pair of distinct answers counts once for each pair of rows.
    """

    def __init__(self, multiplicity: Floats) -> None:
        self._weights = multiplicity
        self._even = bool((multiplicity == 1).all())
        self.counts = np.zeros(GRID + 1)

    def add(self, block: NDArray[Any], rows: slice, cols: slice, times: int) -> None:
        """Add a block, `times` times; every pair of answers (k, l) is also visited as (l, k), so each counts half."""
        counts = self._count(block, rows, cols)
        low, high = max(rows.start, cols.start), min(rows.stop, cols.stop)
        if low < high:
            counts[GRID] -= float(np.sum(self._weights[low:high] ** 2))
        self.counts += counts * (times / 2)

    def different_items(self, ratings: Ratings, scores: Floats) -> Floats:
        """The counts without pairs of the same item, shape (GRID + 1,)."""
        counts = self.counts.copy()
        item_weight = ratings.weight[ratings.item[ratings.comparable]]
        counts[GRID] += float(np.sum(self._weights**2) - np.sum(item_weight**2)) / 2
        return counts - sums(on_grid(scores), ratings.weight[ratings.comparisons.item] ** 2, GRID + 1)

    def _count(self, block: NDArray[Any], rows: slice, cols: slice) -> Floats:
        flat = on_grid(block).ravel()
        if self._even:
            return np.bincount(flat, minlength=GRID + 1).astype(np.float64)
        weights = np.multiply.outer(self._weights[rows], self._weights[cols]).ravel()
        return sums(flat, weights, GRID + 1)


def _slices(size: int, step: int) -> Iterator[slice]:
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


class _RowTail:
    """For each comparable row, the share of answers to other items with an equivalence of at least a step.

    With many rows, the share is estimated from a sample of them.
    """

    def __init__(self, ratings: Ratings, equivalence: Equivalence) -> None:
        rows = ratings.comparable
        landmarks = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _LANDMARKS)).astype(np.int64))]
        answers, self._place = np.unique(ratings.answer[rows], return_inverse=True)
        targets, columns = np.unique(ratings.answer[landmarks], return_inverse=True)
        steps = np.concatenate(
            [
                on_grid(equivalence.block(answers[row_slice], targets)).astype(np.int32)
                for row_slice in _slices(len(answers), BLOCK)
            ]
        )
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

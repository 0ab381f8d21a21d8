"""One pass over the equivalences of all distinct answers, block by block, and the sums that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.statistics.chance.different_pairs import LeftOut
from softirr.statistics.chance.expected import GRID, Equivalence, on_grid

DOUBLE = 1_000
"""Up to this many distinct answers the exact pass uses double precision.

Above, blocks are float32 and rounding errors average out.
"""
_KEPT = 24_000_000
"""Most numbers of S times the raters' marginals kept at a time: 192 MB."""
_DENSE_COLUMNS = 32
"""Up to this many marginals, a product with them takes a dense matrix."""


class LostSums:
    """Adds up, block by block, the equivalences of the answers that do not count without each rater with each other.

    Parameters
    ----------
    left_out : LeftOut
        The rows that do not count without each rater.
    position : shape (n_answers,)
        Index of each answer among the V distinct ones.
    size : int
        Number of distinct answers V.
    """

    def __init__(self, left_out: LeftOut, position: Ints, size: int) -> None:
        self._left_out, self._counts = left_out, left_out.by_answer(position, size)
        self._product, self._total = _Product(self._counts), np.zeros(self._counts.shape[1])

    def add(self, block: Floats, rows: slice, cols: slice, times: int) -> None:
        """A block, `times` times."""
        self._total += times * np.asarray(self._counts[rows].multiply(self._product(block, cols)).sum(axis=0)).ravel()

    def pooled(self, pooled_at: Floats, pooled: float) -> Floats:
        """π' S π without each rater, from the mean equivalence of each row with π and from π' S π of all raters."""
        left_out = self._left_out
        n = left_out.kept + np.bincount(left_out.raters, minlength=len(left_out.kept))
        below = left_out.kept.astype(np.float64) ** 2
        above = n**2 * pooled - 2 * n * sums(left_out.raters, pooled_at[left_out.rows], len(n)) + self._total
        return np.divide(above, below, out=np.full(len(n), np.nan), where=below > 0)


class RaterColumns:
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


class BlockPass:
    """One pass over S in blocks that accumulates S times the marginals and keeps what the draws need.

    It computes S @ weights for ``weights`` (V, d). S @ columns (V, C) is large when there are many raters; the pass
    keeps its entries at the answers of the comparisons: ``left`` and ``right``.
    """

    def __init__(
        self,
        equivalence: Equivalence,
        answers: Ints,
        weights: Floats,
        columns: RaterColumns,
        histogram: Histogram | None,
        lost: LostSums | None,
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
        slices = list(block_slices(len(self._answers), block_size))
        for i, rows in enumerate(slices):
            for cols in slices[i:]:
                block = self._visit(rows, cols, 1 if cols == rows else 2)
                self._add(block, rows, cols)
                if cols != rows:
                    self._add(block.T, cols, rows)

    def _add(self, block: Floats, rows: slice, cols: slice) -> None:
        """Add a block's share of the products."""
        self.dense[rows] += block @ self._weights[cols]
        for row_slice in block_slices(len(block), self._height):
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


class Histogram:
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


def block_slices(size: int, step: int) -> Iterator[slice]:
    """Consecutive slices of at most ``step`` rows that cover ``size`` rows."""
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))

"""Agreement expected by chance: exact, by permutation (Wullschleger et al. 2026), or stratified with a stated standard error.

Every expected agreement is a weighted mean of the equivalence S over pairs of distinct answers, so one pass over S computes all of them.
The pass goes block by block and never holds the whole matrix; where S is expensive, a sample of the pairs is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softirr.chance.expected import GRID, Chance, ChanceDistribution, on_grid
from softirr.chance.without import LeftOut
from softirr.tables.ratings import Comparisons, Floats, Ints, Marginals, Pooling, Ratings, sums

__all__ = ["Equivalence", "MatrixEquivalence", "Scored", "exact", "permutation"]

BLOCK = 2_048
"""Rows and columns of one block of the exact pass: 32 MB as float64."""
DOUBLE = 1_000
"""Up to this many distinct answers the exact pass uses double precision; above, blocks are float32 and rounding errors average out."""
_LANDMARKS = 256
"""Rows sampled to estimate each row's share of chance pairs (for intervals of sigma and KS)."""
_DENSE = 24_000_000
"""Most numbers of S times the raters' marginals kept at a time: 192 MB."""


class Equivalence(Protocol):
    """Equivalence of distinct answers by index, symmetric, 1 for an answer with itself: ``AnswerScorer``, or a matrix."""

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Equivalence of answer k[i] with answer l[i], shape (n,)."""
        ...

    def block(self, ks: Ints, ls: Ints) -> NDArray[Any]:
        """Equivalence of each answer in ks with each in ls, shape (len(ks), len(ls))."""
        ...


class MatrixEquivalence:
    """Equivalence given as a symmetric matrix with ones on its diagonal: weighted kappa's weights; the identity is classical.

    Parameters
    ----------
    matrix : shape (V, V)
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Entries (k[i], l[i])."""
        return self.matrix[k, l]

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """Rows ks and columns ls."""
        return self.matrix[np.ix_(ks, ls)]


class Scored:
    """An equivalence of few answers that scores pairs only, as an `Equivalence` with blocks.

    Parameters
    ----------
    score : callable
        Equivalence of answers k[i] and l[i].
    """

    def __init__(self, score: Callable[[Ints, Ints], Floats]) -> None:
        self._score = score

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Equivalence of answer k[i] with answer l[i], shape (n,)."""
        return self._score(k, l)

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """Equivalence of each answer in ks with each in ls, shape (len(ks), len(ls)); each pair is scored."""
        return self._score(np.repeat(ks, len(ls)), np.tile(ls, len(ks))).reshape(len(ks), len(ls))


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
    distinct, place = np.unique(ratings.answer[pooling.rows], return_inverse=True)
    position = np.full(ratings.n_answers, -1, dtype=np.int64)
    position[distinct] = np.arange(len(distinct))
    columns = _Columns(ratings, position, len(distinct))
    pi = sums(place, pooling.weights, len(distinct))
    multiplicity = sums(
        position[ratings.answer[ratings.comparable]], ratings.weight[ratings.item[ratings.comparable]], len(distinct)
    )

    single = len(ratings.comparable_items) < 2
    left_out = LeftOut(ratings, pooling) if pooling.marginals == "answers" and ratings.weights is None else None
    lost = _Lost(left_out.by_answer(position, len(distinct))) if left_out is not None else None
    dense = np.stack([pi, np.full(len(distinct), 1 / len(distinct))], axis=1)
    pass_ = _Pass(equivalence, distinct, dense, columns, lost)
    histogram = None if single else _Histogram(multiplicity)
    pass_.run(block_size, histogram)
    distribution = None
    if histogram is not None:
        counts = histogram.different_items(ratings, scores, multiplicity)
        distribution = ChanceDistribution.of(counts, _RowTail(ratings, equivalence))
    expected, left, right = pass_.cohen()
    h = pass_.dense[:, 0]
    pooled, pooled_at = float(pi @ h), h[place]
    m = len(ratings.comparisons.rater_pairs)
    return Chance(
        method="exact",
        cohen=expected,
        cohen_error=np.zeros(m),
        cohen_left=left,
        cohen_right=right,
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

    def add(self, block: Floats, rows: slice, cols: slice, *, times: int = 1) -> None:
        """A block, `times` times."""
        self._total += times * np.asarray(self._counts[rows].multiply(self._product(block, cols)).sum(axis=0)).ravel()

    def pooled(self, left_out: LeftOut, at: Floats, pooled: float) -> Floats:
        """π' S π without each rater, given ``pooled_at`` of each of ``left_out.rows`` and π' S π of all."""
        n = left_out.kept + np.bincount(left_out.raters, minlength=len(left_out.kept))
        below = left_out.kept.astype(np.float64) ** 2
        above = n**2 * pooled - 2 * n * sums(left_out.raters, at, len(n)) + self._total
        return np.divide(above, below, out=np.full(len(n), np.nan), where=below > 0)


class _Columns:
    """The raters' answer distributions over the items they share with each other, without repetitions, as a sparse matrix (V, C).

    ``of_left[q]`` and ``of_right[q]`` are the columns of the two raters of pair q.
    """

    def __init__(self, ratings: Ratings, position: Ints, size: int) -> None:
        from scipy.sparse import csr_matrix

        comparisons = ratings.comparisons
        order = np.argsort(comparisons.rater_pair, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(comparisons.shared)])
        known: dict[bytes, int] = {}
        rows: list[Ints] = []
        self.of_left, self.of_right = (np.zeros(len(comparisons.shared), dtype=np.int64) for _ in range(2))
        for pair, (start, stop) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            mine = order[start:stop]
            for side, column in ((comparisons.left, self.of_left), (comparisons.right, self.of_right)):
                answered = np.sort(side[mine])
                number = known.setdefault(answered.tobytes(), len(rows))
                if number == len(rows):
                    rows.append(answered)
                column[pair] = number
        self.count = len(rows)
        lengths = np.array([len(r) for r in rows], dtype=np.int64)
        values = np.repeat(1 / np.maximum(lengths, 1), lengths)
        places = position[ratings.answer[np.concatenate(rows)]] if rows else np.zeros(0, dtype=np.int64)
        if ratings.weights is not None and rows:
            values = ratings.weight[ratings.item[np.concatenate(rows)]]
            values = values / np.repeat(np.add.reduceat(values, np.cumsum(lengths) - lengths), lengths)
        self.weight = ratings.weight[ratings.item[comparisons.left]]
        self.matrix = csr_matrix(
            (values, (places, np.repeat(np.arange(len(rows)), lengths))), shape=(size, max(self.count, 1))
        )
        self.left_answer = position[ratings.answer[comparisons.left]]
        self.right_answer = position[ratings.answer[comparisons.right]]
        self.comparisons = comparisons


class _Pass:
    """One pass over S in blocks that accumulates S times the marginals and keeps what the influence functions need.

    It computes S @ dense for ``dense`` (V, d). S @ columns (V, C) is large when there are many raters; the pass keeps its entries at the
    answers of the comparisons.
    """

    def __init__(
        self, equivalence: Equivalence, answers: Ints, dense: Floats, columns: _Columns, lost: _Lost | None = None
    ) -> None:
        self._equivalence, self._answers, self._columns, self._lost = equivalence, answers, columns, lost
        self._weights = dense
        self.dense = np.zeros_like(dense)
        comparisons = columns.comparisons
        self._wanted_left = columns.of_right[comparisons.rater_pair]
        self._wanted_right = columns.of_left[comparisons.rater_pair]
        self._left, self._right = np.zeros(len(comparisons.left)), np.zeros(len(comparisons.left))

    def run(self, block_size: int, histogram: _Histogram | None) -> None:
        """Visit every block; uses the symmetry of S unless S @ columns is too large to keep."""
        if len(self._answers) * self._columns.count <= _DENSE:
            self._symmetric(block_size, histogram)
        else:
            self._by_strips(block_size, histogram)

    def cohen(self) -> tuple[Floats, Floats, Floats]:
        """Expected agreement of each rater pair, and the mean equivalences at the left and right answers."""
        comparisons = self._columns.comparisons
        m, weight = len(comparisons.shared), self._columns.weight
        total = sums(comparisons.rater_pair, weight * self._left, m)
        return total / sums(comparisons.rater_pair, weight, m), self._left, self._right

    def _symmetric(self, block_size: int, histogram: _Histogram | None) -> None:
        slices = list(_slices(len(self._answers), block_size))
        columns = _Product(self._columns.matrix)
        kept = np.zeros((len(self._answers), self._columns.count))
        for i, rows in enumerate(slices):
            for cols in slices[i:]:
                block = self._block(rows, cols)
                if histogram is not None:
                    histogram.add(block, rows, cols)
                block = block.astype(np.float64, copy=False)
                self.dense[rows] += block @ self._weights[cols]
                kept[rows] += columns(block, cols)
                if self._lost is not None:
                    self._lost.add(block, rows, cols, times=1 if cols == rows else 2)
                if cols != rows:
                    self.dense[cols] += block.T @ self._weights[rows]
                    kept[cols] += columns(block.T, rows)
        self._left[:] = kept[self._columns.left_answer, self._wanted_left]
        self._right[:] = kept[self._columns.right_answer, self._wanted_right]

    def _by_strips(self, block_size: int, histogram: _Histogram | None) -> None:
        columns = _Product(self._columns.matrix)
        height = max(1, min(block_size, _DENSE // self._columns.count))
        left_order, right_order = np.argsort(self._columns.left_answer), np.argsort(self._columns.right_answer)
        for rows in _slices(len(self._answers), height):
            kept = np.zeros((rows.stop - rows.start, self._columns.count))
            for cols in _slices(len(self._answers), block_size):
                block = self._block(rows, cols)
                if histogram is not None:
                    histogram.add_ordered(block, rows, cols)
                block = block.astype(np.float64, copy=False)
                self.dense[rows] += block @ self._weights[cols]
                kept += columns(block, cols)
                if self._lost is not None:
                    self._lost.add(block, rows, cols)
            for order, answer, wanted, out in (
                (left_order, self._columns.left_answer, self._wanted_left, self._left),
                (right_order, self._columns.right_answer, self._wanted_right, self._right),
            ):
                start, stop = np.searchsorted(answer[order], [rows.start, rows.stop])
                mine = order[start:stop]
                out[mine] = kept[answer[mine] - rows.start, wanted[mine]]

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
        self._dense = matrix.toarray() if matrix.shape[1] <= 32 else None

    def __call__(self, block: Floats, cols: slice) -> Floats:
        if self._dense is not None:
            return np.asarray(block @ self._dense[cols])
        return np.asarray((self._sparse[cols].T @ block.T).T)


class _Histogram:
    """Counts pairs of rows by the equivalence of their answers, on the grid; a pair of distinct answers counts once for each pair of rows."""

    def __init__(self, multiplicity: Floats) -> None:
        self._weights = multiplicity
        self._even = bool((multiplicity == 1).all())
        self.counts = np.zeros(GRID + 1)

    def add(self, block: NDArray[Any], rows: slice, cols: slice) -> None:
        """Add a block on or above the diagonal, which holds unordered pairs."""
        counts = self._count(block, rows, cols)
        if rows == cols:
            counts[GRID] -= float(np.sum(self._weights[rows] ** 2))
            counts /= 2
        self.counts += counts

    def add_ordered(self, block: NDArray[Any], rows: slice, cols: slice) -> None:
        """Add a block of a pass that visits both (k, l) and (l, k)."""
        counts = self._count(block, rows, cols)
        low, high = max(rows.start, cols.start), min(rows.stop, cols.stop)
        if low < high:
            counts[GRID] -= float(np.sum(self._weights[low:high] ** 2))
        self.counts += counts / 2

    def different_items(self, ratings: Ratings, scores: Floats, multiplicity: Floats) -> Floats:
        """The counts without pairs of the same item, shape (GRID + 1,)."""
        counts = self.counts.copy()
        own = ratings.weight[ratings.item[ratings.comparable]]
        counts[GRID] += float(np.sum(multiplicity**2) - np.sum(own**2)) / 2
        return counts - sums(on_grid(scores), ratings.weight[ratings.comparisons.item] ** 2, GRID + 1)

    def _count(self, block: NDArray[Any], rows: slice, cols: slice) -> Floats:
        steps = (
            (block * block.dtype.type(GRID))
            if block.dtype == np.float32
            else block.astype(np.float32) * np.float32(GRID)
        )
        np.rint(steps, out=steps)
        flat = steps.astype(np.int64).ravel()
        if self._even:
            return np.bincount(flat, minlength=GRID + 1).astype(np.float64)
        weights = np.multiply.outer(self._weights[rows], self._weights[cols]).ravel()
        return sums(flat, weights, GRID + 1)


def _slices(size: int, step: int) -> Iterator[slice]:
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


class _RowTail:
    """For each comparable row, the share of different-item answers whose equivalence reaches a step; estimated from sampled rows when many."""

    def __init__(self, ratings: Ratings, equivalence: Equivalence) -> None:
        rows = ratings.comparable
        chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _LANDMARKS)).astype(np.int64))]
        answers, self._place = np.unique(ratings.answer[rows], return_inverse=True)
        targets, columns = np.unique(ratings.answer[chosen], return_inverse=True)
        steps = np.concatenate(
            [
                on_grid(equivalence.block(answers[part], targets)).astype(np.int32)
                for part in _slices(len(answers), BLOCK)
            ]
        )
        self._steps = steps[:, columns]
        other = ratings.item[rows][:, None] != ratings.item[chosen][None, :]
        self._other = other if ratings.weights is None else other * ratings.weight[ratings.item[chosen]]

    def __call__(self, step: int) -> Floats:
        reached = (self._steps >= step)[self._place]
        total = self._other.sum(axis=1)
        return np.asarray((reached * self._other).sum(axis=1) / np.where(total > 0, total, 1))


def permutation(
    ratings: Ratings,
    equivalence: Equivalence,
    *,
    permutations: int = 3,
    marginals: Marginals = "answers",
    seed: int = 0,
) -> Chance:
    """Expected agreement by permuting the second rater's answers D times (Wullschleger et al. 2026).

    The pooled expectation of Scott and Fleiss permutes all answers; the mean over distinct answers (Gwet) permutes the distinct answers. The
    standard errors treat the permuted pairs as independent draws, which makes them slightly too large.

    Parameters
    ----------
    ratings : Ratings
        Needs at least one item with two answers.
    equivalence : Equivalence
        Scores the permuted pairs.
    permutations : int
        Number of permutations D.
    marginals : {"answers", "gwet2014"}
        As for :func:`exact`.
    seed : int

    Returns
    -------
    Chance
        With the standard errors of the permutation.
    """
    rng = np.random.default_rng(seed)
    comparisons = ratings.comparisons
    pooling = Pooling.of(ratings, marginals)
    distinct = np.unique(ratings.answer[pooling.rows])
    if ratings.weights is not None:
        return _weighted_draws(ratings, equivalence, pooling, permutations, rng)
    raters = [_permuted_pairs(comparisons, rng) for _ in range(permutations)]
    draws = [_permuted_pooling(pooling, rng) for _ in range(permutations)]
    others = [rng.permutation(len(distinct)) for _ in range(permutations)]
    left = [ratings.answer[comparisons.left]] * permutations
    right = [ratings.answer[comparisons.right[p]] for p in raters]
    first, second = zip(*draws, strict=True)
    left += [ratings.answer[rows] for rows in first] + [distinct] * permutations
    right += [ratings.answer[rows] for rows in second] + [distinct[p] for p in others]
    k, l = np.concatenate(left), np.concatenate(right)  # noqa: E741
    values = equivalence.score(k, l)
    n_pairs, n_rows = len(comparisons.left), len(first[0])
    pairwise = values[: permutations * n_pairs].reshape(permutations, n_pairs)
    pooled = values[permutations * n_pairs : permutations * (n_pairs + n_rows)].reshape(permutations, n_rows)
    uniform = values[permutations * (n_pairs + n_rows) :]
    keys = np.unique(np.minimum(k, l)[k != l] * np.int64(ratings.n_answers) + np.maximum(k, l)[k != l])

    cohen, cohen_error, at_left, at_right, cohen_noise = _cohen_from_permutations(comparisons, pairwise, raters)
    pooled_at, pooled_noise = _pooled_from_draws(pooling, pooled, first, second, len(ratings.item))
    off = np.concatenate([p != np.arange(len(distinct)) for p in others])
    q = len(distinct)
    similarity = (1 + (q - 1) * float(uniform[off].mean())) / q if off.any() else 1.0
    similarity_error = float(uniform[off].std() / np.sqrt(off.sum())) if off.any() else 0.0
    return Chance(
        method="permutation",
        cohen=cohen,
        cohen_error=cohen_error,
        cohen_left=at_left,
        cohen_right=at_right,
        cohen_noise=cohen_noise,
        pooling=pooling,
        pooled=float(pooled.mean()),
        pooled_error=float(pooled.std(ddof=1) / np.sqrt(pooled.size)),
        pooled_at=pooled_at,
        pooled_noise=pooled_noise,
        distinct=q,
        similarity=similarity,
        similarity_error=similarity_error,
        distribution=_sampled_distribution(ratings, pooled.ravel(), np.concatenate(first), np.concatenate(second)),
        pairs_scored=len(keys),
        pooled_without=_without_from_draws(ratings, pooling, pooled, first, second),
    )


def _weighted_draws(
    ratings: Ratings, equivalence: Equivalence, pooling: Pooling, draws: int, rng: np.random.Generator
) -> Chance:
    """What :func:`permutation` gives where items weigh differently: partners are drawn with replacement, by the weights of their items."""
    comparisons, distinct = ratings.comparisons, np.unique(ratings.answer[pooling.rows])
    weight, pair, m = ratings.weight[comparisons.item], comparisons.rater_pair, len(comparisons.shared)
    mass = sums(pair, weight, m)
    partners = [_partners(comparisons, weight, rng) for _ in range(2 * draws)]
    pooled_draws = [_permuted_pooling(pooling, rng) for _ in range(draws)]
    others = [rng.permutation(len(distinct)) for _ in range(draws)]
    first, second = zip(*pooled_draws, strict=True)
    left = [ratings.answer[comparisons.left]] * draws + [
        ratings.answer[comparisons.left[at]] for at in partners[draws:]
    ]
    right = [ratings.answer[comparisons.right[at]] for at in partners[:draws]] + [
        ratings.answer[comparisons.right]
    ] * draws
    left += [ratings.answer[rows] for rows in first] + [distinct] * draws
    right += [ratings.answer[rows] for rows in second] + [distinct[at] for at in others]
    k, l = np.concatenate(left), np.concatenate(right)  # noqa: E741
    values = equivalence.score(k, l)
    n, rows = len(weight), len(first[0])
    pairwise, pooled = values[: 2 * draws * n].reshape(2, draws, n), values[2 * draws * n :][: draws * rows]
    pooled, uniform = pooled.reshape(draws, rows), values[2 * draws * n + draws * rows :]
    at = pairwise.mean(axis=1)  # (2, P): at the left and at the right answers
    expected = sums(pair, weight * at.mean(axis=0), m) / mass
    spread = sums(pair, weight**2 * ((pairwise - expected[pair]) ** 2).mean(axis=(0, 1)), m)
    within = pairwise.var(axis=1, ddof=1).sum(axis=0) / draws if draws > 1 else np.zeros(n)
    pooled_at, pooled_noise = _pooled_from_draws(pooling, pooled, first, second, len(ratings.item))
    off = np.concatenate([at != np.arange(len(distinct)) for at in others])
    q = len(distinct)
    keys = np.unique(np.minimum(k, l)[k != l] * np.int64(ratings.n_answers) + np.maximum(k, l)[k != l])
    return Chance(
        method="permutation",
        cohen=expected,
        cohen_error=np.sqrt(spread / (2 * draws)) / mass,
        cohen_left=at[0],
        cohen_right=at[1],
        cohen_noise=sums(pair, weight**2 * within, m) / sums(pair, weight**2, m),
        pooling=pooling,
        pooled=float(pooled.mean()),
        pooled_error=float(pooled.std(ddof=1) / np.sqrt(pooled.size)),
        pooled_at=pooled_at,
        pooled_noise=pooled_noise,
        distinct=q,
        similarity=(1 + (q - 1) * float(uniform[off].mean())) / q if off.any() else 1.0,
        similarity_error=float(uniform[off].std() / np.sqrt(off.sum())) if off.any() else 0.0,
        distribution=_sampled_distribution(ratings, pooled.ravel(), np.concatenate(first), np.concatenate(second)),
        pairs_scored=len(keys),
    )


def _partners(comparisons: Comparisons, weight: Floats, rng: np.random.Generator) -> Ints:
    """For each comparison another one of its rater pair, drawn with replacement by weight."""
    order = np.argsort(comparisons.rater_pair, kind="stable")
    reached = np.concatenate([[0.0], np.cumsum(weight[order])])
    ends = np.cumsum(comparisons.shared)
    low, high = reached[ends - comparisons.shared][comparisons.rater_pair], reached[ends][comparisons.rater_pair]
    found = np.searchsorted(reached, low + rng.random(len(weight)) * (high - low), side="right") - 1
    first, last = (ends - comparisons.shared)[comparisons.rater_pair], ends[comparisons.rater_pair] - 1
    return np.asarray(order[np.clip(found, first, last)])


def _without_from_draws(
    ratings: Ratings, pooling: Pooling, values: Floats, first: tuple[Ints, ...], second: tuple[Ints, ...]
) -> Floats | None:
    """The pooled expectation without each rater: the mean over the draws that are left; values (D, n)."""
    if pooling.marginals != "answers":
        return None
    rows, others, flat = np.concatenate(first), np.concatenate(second), values.ravel()
    left_out, one = LeftOut(ratings, pooling), np.zeros(len(flat), dtype=np.int64)
    above = left_out.sums_of_kept(rows, others, flat, one, 1)[:, 0]
    below = left_out.sums_of_kept(rows, others, np.ones(len(flat)), one, 1)[:, 0]
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0.5)


def _permuted_pairs(comparisons: Comparisons, rng: np.random.Generator) -> Ints:
    """A permutation of the comparisons within each rater pair: the comparison whose right answer is paired with each left answer."""
    order = np.lexsort((rng.random(len(comparisons.left)), comparisons.rater_pair))
    met = np.empty(len(order), dtype=np.int64)
    met[np.argsort(comparisons.rater_pair, kind="stable")] = order
    return met


def _permuted_pooling(pooling: Pooling, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs of rows, both sides distributed as π: a permutation where all weights are equal, else draws with replacement."""
    n = len(pooling.rows)
    if np.ptp(pooling.weights) == 0:
        return pooling.rows, pooling.rows[rng.permutation(n)]
    return rng.choice(pooling.rows, n, p=pooling.weights), rng.choice(pooling.rows, n, p=pooling.weights)


def _cohen_from_permutations(
    comparisons: Comparisons, values: Floats, met: list[Ints]
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Expected agreement of each rater pair, its error, the means at left and right answers, and their noise, from values (D, P)."""
    d, m = len(values), len(comparisons.shared)
    received = np.empty_like(values)
    for row, permuted, out in zip(values, met, received, strict=True):
        out[permuted] = row
    at_left, at_right = values.mean(axis=0), received.mean(axis=0)
    total = sums(comparisons.rater_pair, at_left, m)
    expected = total / comparisons.shared
    squares = sums(comparisons.rater_pair, ((values - expected[comparisons.rater_pair]) ** 2).sum(axis=0), m)
    draws = d * comparisons.shared
    error = np.sqrt(squares / np.maximum(draws - 1, 1) / draws)
    if d < 2:
        return expected, error, at_left, at_right, np.zeros(m)
    spread = (values.var(axis=0, ddof=1) + received.var(axis=0, ddof=1)) / d
    noise = sums(comparisons.rater_pair, spread, m) / comparisons.shared
    return expected, error, at_left, at_right, noise


def _pooled_from_draws(
    pooling: Pooling, values: Floats, first: tuple[Ints, ...], second: tuple[Ints, ...], n_rows: int
) -> tuple[Floats, float]:
    """Mean equivalence of each pooled row over its drawn pairs, and the mean noise of these means, from values (D, n)."""
    rows = np.concatenate([*first, *second])
    flat = np.concatenate([values.ravel(), values.ravel()])
    count = np.bincount(rows, minlength=n_rows)[pooling.rows]
    total = np.bincount(rows, weights=flat, minlength=n_rows)[pooling.rows]
    squares = np.bincount(rows, weights=flat**2, minlength=n_rows)[pooling.rows]
    mean = np.where(count > 0, total / np.maximum(count, 1), values.mean())
    repeated = count >= 2
    within = (squares - count * mean**2)[repeated].sum() / max(float((count - 1)[repeated].sum()), 1.0)
    return mean, float(max(within, 0) * np.mean(1 / np.maximum(count, 1)))


def _sampled_distribution(ratings: Ratings, values: Floats, first: Ints, second: Ints) -> ChanceDistribution | None:
    different = ratings.item[first] != ratings.item[second]
    if not different.any():
        return None
    counts = np.bincount(on_grid(values[different]), minlength=GRID + 1).astype(np.float64)
    return ChanceDistribution.of(counts, sample=float(different.sum()))

"""Agreement expected by chance from every pair of distinct answers.

Every expected agreement is a weighted mean of the equivalence S over pairs of distinct answers, so one pass over S
computes all of them. The pass goes block by block and never keeps the whole matrix.
"""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Marginals, Pooling, Ratings, sums
from softirr.statistics.chance.block_pass import BlockPass, Histogram, LostSums, RaterColumns, block_slices
from softirr.statistics.chance.different_pairs import LeftOut
from softirr.statistics.chance.expected import GRID, Chance, ChanceDistribution, Equivalence, on_grid

BLOCK = 2_048
"""Rows and columns of one block of the exact pass: 32 MB as float64."""
_LANDMARKS = 256
"""Rows sampled to estimate each row's share of chance pairs (for intervals of sigma and KS)."""


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
    pi = sums(distinct_index, pooling.weights, len(distinct))
    has_left_out = pooling.marginals == "answers" and ratings.weights is None
    lost = LostSums(LeftOut(ratings, pooling), position, len(distinct)) if has_left_out else None
    histogram = _histogram(ratings, position, len(distinct))
    dense = np.stack([pi, np.full(len(distinct), 1 / len(distinct))], axis=1)
    pass_ = BlockPass(equivalence, distinct, dense, RaterColumns(ratings, position, len(distinct)), histogram, lost)
    pass_.run(block_size)
    h = pass_.dense[:, 0]
    pooled = float(pi @ h)
    return Chance(
        method="exact",
        cohen=_mean_by_rater_pair(ratings, pass_.left),
        cohen_error=np.zeros(len(ratings.comparisons.rater_pairs)),
        cohen_left=pass_.left,
        cohen_right=pass_.right,
        cohen_noise=np.zeros(len(ratings.comparisons.rater_pairs)),
        pooling=pooling,
        pooled=pooled,
        pooled_error=0.0,
        pooled_at=h[distinct_index],
        pooled_noise=0.0,
        distinct=len(distinct),
        similarity=float(pass_.dense[:, 1].mean()),
        distribution=None if histogram is None else _distribution(histogram, ratings, scores, equivalence),
        pairs_scored=len(distinct) * (len(distinct) - 1) // 2,
        pooled_without=None if lost is None else lost.pooled(h[position[ratings.answer]], pooled),
    )


def _histogram(ratings: Ratings, position: Ints, size: int) -> Histogram | None:
    """Counts pairs of rows by equivalence; None with a single item, which has no pairs of different items."""
    if len(ratings.comparable_items) < 2:
        return None
    rows = ratings.comparable
    return Histogram(sums(position[ratings.answer[rows]], ratings.weight[ratings.item[rows]], size))


def _distribution(
    histogram: Histogram, ratings: Ratings, scores: Floats, equivalence: Equivalence
) -> ChanceDistribution:
    counts = histogram.different_items(ratings, scores)
    return ChanceDistribution.of(counts, _RowTail(ratings, equivalence))


def _mean_by_rater_pair(ratings: Ratings, values: Floats) -> Floats:
    """Mean of a value of each comparison by rater pair, weighted by item, shape (m,)."""
    comparisons, m = ratings.comparisons, len(ratings.comparisons.rater_pairs)
    item_weight = ratings.weight[comparisons.item]
    weighted = sums(comparisons.rater_pair, item_weight * values, m)
    return weighted / sums(comparisons.rater_pair, item_weight, m)


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
                for row_slice in block_slices(len(answers), BLOCK)
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

"""Agreement expected by chance from every pair of distinct answers.

Every expected agreement is a weighted mean of the equivalence S over pairs of distinct answers, so one pass over S
computes all of them. The pass goes block by block and never keeps the whole matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Marginals, Pooling, Ratings, sums, sums_by_code
from softirr.statistics.chance.block_pass import BlockPass, Histogram, rater_columns
from softirr.statistics.chance.different_pairs import LeftOut
from softirr.statistics.chance.expected import Chance, Equivalence


def exact(ratings: Ratings, equivalence: Equivalence, scores: Floats, *, marginals: Marginals = "answers") -> Chance:
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

    Returns
    -------
    Chance
        Without sampling error.
    """
    pooling = Pooling.of(ratings, marginals)
    distinct, distinct_index = np.unique(ratings.answer[pooling.rows], return_inverse=True)
    q = len(distinct)
    position = np.full(ratings.n_answers, -1, dtype=np.int64)
    position[distinct] = np.arange(q)
    pi = sums(distinct_index, pooling.weights, q)
    histogram = Histogram(ratings, position, q) if len(ratings.comparable_items) >= 2 else None
    left_out = LeftOut.of(ratings, pooling)
    lost = None if left_out is None else (sums_by_code(distinct_index, q) @ left_out.lost[pooling.rows]).tocoo()
    columns, entries = rater_columns(ratings, position, q, lost)
    pass_ = BlockPass(equivalence, distinct, np.stack([pi, np.full(q, 1 / q)], axis=1), columns, entries, histogram)
    pass_.run()
    h, comparisons = pass_.dense[:, 0], ratings.comparisons
    return Chance(
        method="exact",
        cohen=sums(comparisons.rater_pair, ratings.rater_pair_shares * pass_.kept[0], len(comparisons.shared)),
        cohen_met=pass_.kept[0] + pass_.kept[1],
        pooling=pooling,
        pooled=float(pi @ h),
        pooled_at=h[distinct_index],
        distinct=q,
        similarity=float(pass_.dense[:, 1].mean()),
        distribution=None if histogram is None else histogram.distribution(scores, equivalence),
        pairs_scored=q * (q - 1) // 2,
        pooled_without=None if lost is None else _pooled_without(lost, pass_.kept[2], pi, h, len(pooling.rows)),
    )


def _pooled_without(lost: Any, lost_sums: Floats, pi: Floats, h: Floats, n: int) -> Floats:
    """π' S π without each rater.

    Parameters
    ----------
    lost : sparse matrix, shape (V, n_raters)
        How many of the n rows with each answer do not count without each rater.
    lost_sums : shape (D,)
        Sum of the equivalences of the answer of each entry of ``lost`` with all answers that the rater takes along.
    pi, h : shape (V,)
        The distribution π, and S π.
    """
    remaining = n - np.asarray(lost.sum(axis=0)).ravel()
    total = n**2 * (pi @ h) - 2 * n * (lost.T @ h) + sums(lost.col, lost.data * lost_sums, len(remaining))
    return np.where(remaining > 0, total / np.maximum(remaining, 1) ** 2, np.nan)

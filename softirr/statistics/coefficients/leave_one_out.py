"""Krippendorff's alpha without each rater in turn: who pulls agreement down."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.coefficients.estimate import CERTAIN
from softirr.statistics.draws import Draws


def alpha_without_each_rater(center: Draws) -> Floats:
    """Soft Krippendorff's alpha of the table without each rater, against the chance agreement of the others.

    Nothing is scored again: all pairs of the smaller table are pairs of the whole one.

    Parameters
    ----------
    center : Draws
        A single draw with equal weights, which the value of the whole table comes from. Its chance is computed with the
        marginals ``answers``.

    Returns
    -------
    shape (n_raters,)
        nan if it is undefined; all of them with fewer than three raters that can be compared.
    """
    ratings, scores, by_measure = center.ratings, center.scores[:, 0], center.chance.pooled_without
    values = np.full(ratings.n_raters, np.nan)
    rows = ratings.comparable
    if by_measure is None or len(np.unique(ratings.rater[rows])) < 3:
        return values
    rater, sizes = ratings.rater[rows], ratings.per_item[ratings.item].astype(np.float64)
    n_remaining = np.where(sizes > 2, sizes - 1, 0.0)  # answers of the row's item that still count without its rater
    n = len(rows) + sums(rater, (n_remaining - sizes)[rows], ratings.n_raters)
    n_items = len(ratings.comparable_items) - sums(rater, (n_remaining[rows] == 0).astype(np.float64), ratings.n_raters)
    squares = np.maximum(n, 1) ** 2
    of_item, of_item_by_measure = (
        (n + 2 * _total_without(ratings, equivalences)) / squares for equivalences in (scores, center.by_measure)
    )
    pooled = of_item + center.pooled_ratio[0] * (by_measure - of_item_by_measure)
    expected = (n * pooled - 1) / np.maximum(n - 1, 1)
    attainable = 1 - expected
    is_defined = (np.bincount(rater, minlength=ratings.n_raters) > 0) & (n_items >= 2) & (attainable > CERTAIN)
    observed = _agreement_without(ratings, scores, n_remaining) / np.maximum(n, 1)
    values[is_defined] = ((observed - expected) / np.maximum(attainable, CERTAIN))[is_defined]
    return values


def _total_without(ratings: Ratings, scores: Floats) -> Floats:
    """Sum of the equivalences of all comparisons without each rater, shape (n_raters,)."""
    comparisons = ratings.comparisons
    of_rater = sum(
        sums(ratings.rater[rows], scores, ratings.n_raters) for rows in (comparisons.left_rows, comparisons.right_rows)
    )
    return np.asarray(float(scores.sum()) - of_rater)


def _agreement_without(ratings: Ratings, scores: Floats, n_remaining: Floats) -> Floats:
    """Sum over items of their agreement times their number of answers, without each rater, shape (n_raters,)."""
    comparisons, n_rows, rows = ratings.comparisons, len(ratings.item), ratings.comparable
    of_row = sums(comparisons.left_rows, scores, n_rows) + sums(comparisons.right_rows, scores, n_rows)
    of_item = sums(comparisons.item, scores, ratings.n_items)

    def agreement(total: Floats, n: Floats) -> Floats:
        return np.divide(2 * total, n - 1, out=np.zeros(len(n)), where=n > 1)

    with_rater = agreement(of_item[ratings.item], ratings.per_item[ratings.item].astype(np.float64))
    without_rater = agreement(of_item[ratings.item] - of_row, n_remaining)
    table_sum = float(agreement(of_item, ratings.per_item.astype(np.float64)).sum())
    return table_sum + sums(ratings.rater[rows], (without_rater - with_rater)[rows], ratings.n_raters)

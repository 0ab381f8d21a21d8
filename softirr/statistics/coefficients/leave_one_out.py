"""Krippendorff's alpha without each rater in turn: who pulls agreement down."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.chance_correction import corrected_all

__all__ = ["alpha_without_each_rater"]


def alpha_without_each_rater(ratings: Ratings, scores: Floats, chance: Chance) -> Floats:
    """Soft Krippendorff's alpha of the table without each rater, against the chance agreement of the others.

    Nothing is scored anew: all pairs of the smaller table are pairs of the whole one.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Of the marginals ``answers``.

    Returns
    -------
    shape (n_raters,)
        nan where it is not defined; all of them with fewer than three raters that can be compared.
    """
    values = np.full(ratings.n_raters, np.nan)
    mine = ratings.comparable
    if chance.pooled_without is None or len(np.unique(ratings.rater[mine])) < 3:
        return values
    comparisons, n_rows = ratings.comparisons, len(ratings.item)
    of_row = sums(comparisons.left, scores, n_rows) + sums(comparisons.right, scores, n_rows)
    of_item = sums(comparisons.item, scores, ratings.n_items)
    sizes = ratings.per_item[ratings.item].astype(np.float64)
    left = np.where(sizes > 2, sizes - 1, 0.0)  # answers of the row's item that still count without its rater

    def agreement(total: Floats, n: Floats) -> Floats:
        """Mean equivalence of an item's pairs times its number of answers."""
        return np.divide(2 * total, n - 1, out=np.zeros(len(n)), where=n > 1)

    before = agreement(of_item[ratings.item], sizes)
    after = agreement(of_item[ratings.item] - of_row, left)
    rater = ratings.rater[mine]
    whole = float(agreement(of_item, ratings.per_item.astype(np.float64)).sum())
    reached = whole + sums(rater, (after - before)[mine], ratings.n_raters)
    n = len(mine) + sums(rater, (left - sizes)[mine], ratings.n_raters)
    n_items = len(ratings.comparable_items) - sums(rater, (left[mine] == 0).astype(np.float64), ratings.n_raters)
    expected = (n * chance.pooled_without - 1) / np.maximum(n - 1, 1)
    answered = np.bincount(rater, minlength=ratings.n_raters) > 0
    defined = answered & (n_items >= 2)
    values[defined] = corrected_all(reached[defined] / n[defined], expected[defined])
    return values

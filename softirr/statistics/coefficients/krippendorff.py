"""Soft Krippendorff's alpha: answers are paired without replacement, and items count by their number of answers.

Alpha without each rater in turn shows who pulls agreement down.
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import CERTAIN, Definition, Reference, Undefined, one_item
from softirr.statistics.draws import Draws


def krippendorff(draws: Draws) -> Floats:
    """Soft Krippendorff's alpha: distance 1 - S, answers paired without replacement (Krippendorff 2011).

    Parameters
    ----------
    draws : Draws
        K draws of the equivalences, of agreement by chance and of the item weights.

    Returns
    -------
    shape (K,)
        The coefficient in each draw.

    Examples
    --------
    Four observers, twelve units with missing answers, nominal categories (Krippendorff 2011, example C):

    >>> import numpy as np
    >>> from softirr.statistics.coefficients.matrix import matrix_agreement
    >>> observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    >>> matrix = np.array([[-1 if a == "." else int(a) - 1 for a in row] for row in observers]).T
    >>> round(matrix_agreement(matrix).coefficients["krippendorff_alpha"].value, 3)
    0.743
    """
    return draws.corrected(draws.observed(by_answers=True), draws.without_replacement)


def _reason(ratings: Ratings, chance: Chance) -> Undefined | None:
    if reason := one_item(ratings):
        return reason
    items = ratings.comparable_items
    n = float((ratings.per_item[items] * ratings.weight[items]).sum())
    return Undefined.NO_VARIATION if 1 - (n * chance.pooled - 1) / (n - 1) <= CERTAIN else None


KRIPPENDORFF_ALPHA = Definition(
    key="krippendorff_alpha",
    name="Krippendorff's alpha",
    short="Krippendorff's alpha",
    meaning="Beyond chance; suited to missing answers and small samples.",
    formula=(
        "1 minus the ratio of observed to expected disagreement, with 1 minus "
        "equivalence as the distance of two answers"
    ),
    observed="as Fleiss, items weighted by their number of answers",
    expected=r"$(n\, \pi^\top S\, \pi - 1) / (n - 1)$: without replacement",
    references=(
        Reference(
            key="krippendorff2011",
            authors="Krippendorff, K.",
            year=2011,
            title="Computing Krippendorff's alpha-reliability",
            where="University of Pennsylvania",
        ),
    ),
    over_draws=krippendorff,
    by_chance=attrgetter("without_replacement"),
    reason=_reason,
    chance="krippendorff",
    audited=True,
)


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

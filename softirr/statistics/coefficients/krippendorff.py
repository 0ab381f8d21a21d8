"""Soft Krippendorff's alpha: answers are paired without replacement, and items count by their number of answers.

Alpha without each rater in turn shows who pulls agreement down.
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from softirr.answers.ratings import Floats, sums
from softirr.statistics.chance.different_pairs import LeftOut
from softirr.statistics.coefficients.definition import CERTAIN, Definition, Reference
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


KRIPPENDORFF_ALPHA = Definition(
    key="krippendorff_alpha",
    name="Krippendorff's alpha",
    meaning="Beyond chance; suited to missing answers and small samples.",
    formula=(
        "1 minus the ratio of observed to expected disagreement, with 1 minus "
        "equivalence as the distance of two answers"
    ),
    observed="as Fleiss, items weighted by their number of answers",
    expected=r"$(n\, \pi^\top S\, \pi - 1) / (n - 1)$: without replacement",
    references=(
        Reference("Krippendorff, K.", 2011, "Computing Krippendorff's alpha-reliability", "University of Pennsylvania"),
    ),
    own_draws=krippendorff,
    by_chance=attrgetter("without_replacement"),
    chance="krippendorff",
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
    ratings, scores, comparisons = center.ratings, center.scores[:, 0], center.ratings.comparisons
    left_out, by_measure = LeftOut.of(ratings, center.chance.pooling), center.chance.pooled_without
    rows, size = ratings.comparable, ratings.per_item[ratings.item].astype(np.float64)
    rater = ratings.rater[rows]
    if left_out is None or by_measure is None or len(np.unique(rater)) < 3:
        return np.full(ratings.n_raters, np.nan)
    n, n_rows = left_out.n_remaining, np.bincount(rater, minlength=ratings.n_raters)
    n_items = len(ratings.comparable_items) - (len(rows) - n - n_rows)  # without the items of the rater and one other
    mean = 2 * scores / (size[comparisons.left_rows] - 1)
    values = np.stack([scores, center.by_measure, mean], axis=1)
    remaining = left_out.sums_of_kept(comparisons.left_rows, comparisons.right_rows, values).T
    of_item, of_item_by_measure = (n + 2 * remaining[:2]) / np.maximum(n, 1) ** 2
    pooled = of_item + center.pooled_ratio[0] * (by_measure - of_item_by_measure)
    expected = (n * pooled - 1) / np.maximum(n - 1, 1)
    attainable = 1 - expected
    # the pairs of an item with fewer answers weigh more: their sum is divided by the size minus 2
    of_row = sum(sums(side, mean, len(size)) for side in (comparisons.left_rows, comparisons.right_rows))
    other_pairs = (sums(comparisons.item, mean, ratings.n_items)[ratings.item] - of_row) / np.maximum(size - 2, 1)
    observed = (remaining[2] + sums(rater, other_pairs[rows], ratings.n_raters)) / np.maximum(n, 1)
    is_defined = (n_rows > 0) & (n_items >= 2) & (attainable > CERTAIN)
    return np.where(is_defined, (observed - expected) / np.maximum(attainable, CERTAIN), np.nan)

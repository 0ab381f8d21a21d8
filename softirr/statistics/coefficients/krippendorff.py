"""Soft Krippendorff's alpha: answers are paired without replacement, and items count by their number of answers."""

from __future__ import annotations

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.chance_correction import PooledChance, pooled_estimate, uncomparable
from softirr.statistics.coefficients.definition import Definition, Reference
from softirr.statistics.coefficients.estimate import Estimate, undefined
from softirr.statistics.draws import Draws, corrected_draws

__all__ = ["DEFINITION", "krippendorff"]


def krippendorff(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Krippendorff's alpha: distance 1 - S, answers paired without replacement (Krippendorff 2011).

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Computed with the marginals ``answers``.

    Returns
    -------
    Estimate
        Influence in the order of the items with two or more answers.

    Examples
    --------
    Four observers, twelve units with missing answers, nominal categories (Krippendorff 2011, example C):

    >>> import numpy as np
    >>> from softirr.statistics.coefficients.matrix import matrix_agreement
    >>> observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    >>> matrix = np.array([[-1 if a == "." else int(a) - 1 for a in row] for row in observers]).T
    >>> result = matrix_agreement(matrix, marginals="answers")
    >>> round(krippendorff(result.ratings, result.scores, result.chance).value, 3)
    0.743
    """
    if reason := uncomparable(ratings):
        return undefined(reason)
    used = ratings.comparable_items
    n = float((ratings.per_item[used] * ratings.weight[used]).sum())
    without_replacement = n / (n - 1)
    pooled = PooledChance(
        (n * float(chance.pooled) - 1) / (n - 1),
        2 * without_replacement,
        chance.pooled_at,
        without_replacement * chance.pooled_error,
        chance.pooled_noise,
    )
    return pooled_estimate(ratings, scores, chance, pooled, by_answers=True, with_shift=True)


def _over_draws(draws: Draws) -> Floats:
    return corrected_draws(draws.observed(by_answers=True), draws.without_replacement)


DEFINITION = Definition(
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
            short="Krippendorff",
            year=2011,
            title="Computing Krippendorff's alpha-reliability",
            kind="techreport",
            where="University of Pennsylvania",
        ),
    ),
    estimate=krippendorff,
    over_draws=_over_draws,
    chance="krippendorff",
    audited=True,
)

"""Soft Krippendorff's alpha: answers are paired without replacement, and items count by their number of answers."""

from __future__ import annotations

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import Definition, Reference
from softirr.statistics.coefficients.estimate import CERTAIN, Undefined, uncomparable
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


def _by_chance(draws: Draws) -> Floats:
    return draws.without_replacement


def _reason(ratings: Ratings, chance: Chance) -> Undefined | None:
    if reason := uncomparable(ratings):
        return reason
    items = ratings.comparable_items
    n = float((ratings.per_item[items] * ratings.weight[items]).sum())
    return Undefined.NO_VARIATION if 1 - (n * chance.pooled - 1) / (n - 1) <= CERTAIN else None


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
            where="University of Pennsylvania",
        ),
    ),
    over_draws=krippendorff,
    by_chance=_by_chance,
    reason=_reason,
    chance="krippendorff",
    audited=True,
)

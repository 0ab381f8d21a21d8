"""The soft Brennan-Prediger coefficient: by chance, every distinct answer is equally likely."""

from __future__ import annotations

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.definition import Definition, Reference
from softirr.statistics.coefficients.estimate import CERTAIN, Undefined, uncomparable
from softirr.statistics.draws import Draws


def brennan_prediger(draws: Draws) -> Floats:
    """Soft Brennan-Prediger coefficient (Brennan and Prediger 1981).

    ``Pe`` is the mean of S over all q × q pairs of distinct answers, which do not vary with the items. With S in {0, 1}
    it is ``1 / q``.

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
    Two categories, and agreement on three of four items:

    >>> from softirr.statistics.coefficients.matrix import matrix_agreement
    >>> result = matrix_agreement([[0, 0], [1, 1], [0, 1], [1, 1]])
    >>> result.coefficients["brennan_prediger"].value
    0.5
    """
    return draws.corrected(draws.observed(), draws.similarity)


def _by_chance(draws: Draws) -> Floats:
    return draws.similarity


def pooled_categories(ratings: Ratings, chance: Chance) -> Undefined | None:
    """Reason why a coefficient that takes the mean equivalence of the distinct answers is undefined, or None."""
    if reason := uncomparable(ratings):
        return reason
    if chance.distinct < 2:
        return Undefined.ONE_CATEGORY
    return Undefined.NO_VARIATION if 1 - chance.similarity <= CERTAIN else None


DEFINITION = Definition(
    key="brennan_prediger",
    name="Brennan-Prediger coefficient",
    short="Brennan-Prediger coefficient",
    meaning="Beyond chance, as if every distinct answer were equally likely.",
    formula=(
        "observed agreement corrected for the mean equivalence of all distinct answers, each as likely as any other"
    ),
    observed="as Fleiss",
    expected=r"$\bar{S}$: for equivalences of 0 and 1, $1 / q$",
    references=(
        Reference(
            key="brennan1981",
            authors="Brennan, R. L. and Prediger, D. J.",
            short="Brennan and Prediger",
            year=1981,
            title="Coefficient kappa: some uses, misuses, and alternatives",
            where="Educational and Psychological Measurement",
        ),
    ),
    over_draws=brennan_prediger,
    by_chance=_by_chance,
    reason=pooled_categories,
    audited=True,
    marginals="chosen",
)

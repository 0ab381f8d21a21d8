"""The soft Brennan-Prediger coefficient: by chance, every distinct answer is equally likely."""

from __future__ import annotations

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.chance_correction import PooledChance, pooled_estimate, uncomparable
from softirr.statistics.coefficients.definition import Definition, Reference
from softirr.statistics.coefficients.estimate import Estimate, Undefined, undefined
from softirr.statistics.draws import Draws, corrected_draws

__all__ = ["DEFINITION", "brennan_prediger"]


def brennan_prediger(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Brennan-Prediger coefficient (Brennan and Prediger 1981).

    ``Pe`` is the mean of S over all q × q pairs of distinct answers.

    The answers are taken as given, so that the agreement by chance does not vary with the items. With S in {0, 1} it is
    ``1 / q``.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        With the number of distinct answers q and their mean equivalence.

    Returns
    -------
    Estimate
        Influence in the order of the items with pooled answers.

    Examples
    --------
    Two categories, and agreement on three of four items:

    >>> from softirr.statistics.coefficients.matrix import matrix_agreement
    >>> result = matrix_agreement([[0, 0], [1, 1], [0, 1], [1, 1]])
    >>> brennan_prediger(result.ratings, result.scores, result.chance).value
    0.5
    """
    if reason := uncomparable(ratings):
        return undefined(reason)
    if chance.distinct < 2:
        return undefined(Undefined.ONE_CATEGORY)
    pooled = PooledChance(float(chance.similarity), 0.0, chance.pooled_at, float(chance.similarity_error))
    return pooled_estimate(ratings, scores, chance, pooled)


def _over_draws(draws: Draws) -> Floats:
    return corrected_draws(draws.observed(), draws.similarity)


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
    estimate=brennan_prediger,
    over_draws=_over_draws,
    audited=True,
    marginals="chosen",
)

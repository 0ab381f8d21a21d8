"""Soft Gwet's AC2; with equivalences of 0 and 1 it is AC1."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.chance_correction import PooledChance, pooled_estimate, uncomparable
from softirr.statistics.coefficients.definition import Definition, Reference
from softirr.statistics.coefficients.estimate import Estimate, Undefined, undefined
from softirr.statistics.draws import Draws, corrected_draws

__all__ = ["DEFINITION", "gwet"]


def gwet(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Soft Gwet's AC2; with S in {0, 1} it is AC1 (Gwet 2008, 2014).

    ``Pe = q / (q - 1) × mean of S over all q × q pairs of distinct answers × Σ π_k (1 - π_k)``.

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
    """
    if reason := uncomparable(ratings):
        return undefined(reason)
    q = chance.distinct
    if q < 2:
        return undefined(Undefined.ONE_CATEGORY)
    answers = ratings.answer[chance.pooling.rows]
    frequency = sums(answers, chance.pooling.weights, ratings.n_answers)
    scale = chance.similarity * q / (q - 1)
    expected = float(scale * np.sum(frequency * (1 - frequency)))
    error = expected / chance.similarity * chance.similarity_error
    return pooled_estimate(ratings, scores, chance, PooledChance(expected, -2 * scale, frequency[answers], error))


def _over_draws(draws: Draws) -> Floats:
    chance, ratings = draws.chance, draws.ratings
    answers = ratings.answer[chance.pooling.rows]
    frequency = sums(answers, chance.pooling.weights, ratings.n_answers)
    spread = draws.mean_over_rows(1 - 2 * frequency[answers]) + float(np.sum(frequency**2))
    scale = draws.similarity * chance.distinct / (chance.distinct - 1)
    return corrected_draws(draws.observed(), scale * spread)


DEFINITION = Definition(
    key="gwet_ac2",
    name="Gwet's AC2",
    short="Gwet's AC2",
    meaning="Beyond chance; stays high where nearly all answers are alike.",
    formula="observed agreement corrected for the agreement by chance of answers that are hard to give",
    observed="as Fleiss",
    expected=(
        r"$\bar{S} \cdot (1 - \sum_k \pi_k^2) \cdot q / (q - 1)$, where $q$ is the number of distinct answers and "
        r"$\bar{S}$ the mean of $S$"
    ),
    references=(
        Reference(
            key="gwet2008",
            authors="Gwet, K. L.",
            short="Gwet",
            year=2008,
            title="Computing inter-rater reliability and its variance in the presence of high agreement",
            where="British Journal of Mathematical and Statistical Psychology",
        ),
    ),
    estimate=gwet,
    over_draws=_over_draws,
    audited=True,
    marginals="chosen",
)

"""Soft Gwet's AC2; with equivalences of 0 and 1 it is AC1."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.brennan_prediger import pooled_categories
from softirr.statistics.coefficients.definition import Definition, Reference
from softirr.statistics.coefficients.estimate import CERTAIN, Undefined
from softirr.statistics.draws import Draws


def gwet(draws: Draws) -> Floats:
    """Soft Gwet's AC2; with S in {0, 1} it is AC1 (Gwet 2008, 2014).

    ``Pe = q / (q - 1) × mean of S over all q × q pairs of distinct answers × Σ π_k (1 - π_k)``.

    Parameters
    ----------
    draws : Draws
        K draws of the equivalences, of agreement by chance and of the item weights.

    Returns
    -------
    shape (K,)
        The coefficient in each draw.
    """
    return draws.corrected(draws.observed(), _by_chance(draws))


def _by_chance(draws: Draws) -> Floats:
    frequency = _frequency(draws.ratings, draws.chance)
    answers = draws.ratings.answer[draws.chance.pooling.rows]
    spread = draws.mean_over_rows(1 - 2 * frequency[answers]) + float(np.sum(frequency**2))
    return draws.similarity * draws.chance.distinct / (draws.chance.distinct - 1) * spread


def _frequency(ratings: Ratings, chance: Chance) -> Floats:
    """Share of each answer in π, shape (n_answers,)."""
    return sums(ratings.answer[chance.pooling.rows], chance.pooling.weights, ratings.n_answers)


def _reason(ratings: Ratings, chance: Chance) -> Undefined | None:
    reason = pooled_categories(ratings, chance)
    if reason in (None, Undefined.NO_VARIATION):
        frequency = _frequency(ratings, chance)
        scale = chance.similarity * chance.distinct / (chance.distinct - 1)
        expected = float(scale * np.sum(frequency * (1 - frequency)))
        return Undefined.NO_VARIATION if 1 - expected <= CERTAIN else None
    return reason


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
    over_draws=gwet,
    by_chance=_by_chance,
    reason=_reason,
    audited=True,
    marginals="chosen",
)

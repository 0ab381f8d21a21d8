"""sigma (Braylan et al. 2022): how many same-item pairs are closer than nearly all pairs of different items."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.statistics.chance.expected import Chance, ChanceDistribution
from softirr.statistics.coefficients.definition import BRAYLAN_2022, Definition
from softirr.statistics.coefficients.distributions import (
    LEVEL,
    credit,
    pair_influence,
    same_and_different,
    tail_influence,
    upper_point,
)
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.draws import Draws

__all__ = ["DEFINITION", "sigma"]


def sigma(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Share of same-item pairs exceeded by fewer than 5% of the different-item pairs (Braylan et al. 2022).

    Where different-item pairs tie with the 5% point, tied same-item pairs count in part, so that sigma is exactly 0.05
    when both distributions are equal. (With the rank p of a pair uniform on its ties, this is P(p < 0.05).)

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    """
    both = same_and_different(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    at, part = upper_point(known)
    slope = _slope(ratings, steps, known)
    below, within = tail_influence(ratings, known, at + 1), tail_influence(ratings, known, at)
    influence = pair_influence(ratings, credit(steps, known)) - slope * (part * within + (1 - part) * below)
    return Estimate(
        _share(ratings, steps, known, LEVEL),
        influence,
        expected=LEVEL,
        chance_error=slope * known.error(LEVEL),
        floor=0.0,
        items=ratings.comparable_items,
    )


def _share(ratings: Ratings, steps: Ints, known: ChanceDistribution, level: float) -> float:
    return float(np.average(credit(steps, known, level), weights=ratings.weight[ratings.comparisons.item]))


def _slope(ratings: Ratings, steps: Ints, known: ChanceDistribution) -> float:
    """Slope of the same-item share against the chance share, measured between 0.5 and 1.5 times the level."""
    above, below = (_share(ratings, steps, known, factor * LEVEL) for factor in (1.5, 0.5))
    return (above - below) / LEVEL


def _over_draws(draws: Draws) -> Floats:
    both = same_and_different(draws.ratings, draws.by_measure, draws.chance)
    if isinstance(both, Estimate):
        raise InputError(str(both.undefined))
    steps, known = both
    at, part = upper_point(known)
    tail = [tail_influence(draws.ratings, known, step) for step in (at + 1, at)]
    slope = _slope(draws.ratings, steps, known)
    chance = slope * (part * tail[1] + (1 - part) * tail[0])
    return draws.mean_over_pairs(credit(steps, known)) - draws.mean_over_items(chance)


DEFINITION = Definition(
    key="sigma",
    name="sigma (Braylan et al. 2022)",
    short="sigma",
    meaning="Share of same-{item} pairs more alike than 95% of different-{item} pairs (Braylan et al. 2022).",
    formula=(
        "the share of pairs of answers to one item that are closer than 95% of the pairs of answers to different items"
    ),
    observed="share of same-item pairs beyond the upper 5% point of different-item pairs",
    expected="0.05",
    references=(BRAYLAN_2022,),
    estimate=sigma,
    over_draws=_over_draws,
)

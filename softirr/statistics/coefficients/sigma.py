"""sigma (Braylan et al. 2022): how many same-item pairs are closer than nearly all pairs of different items."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.statistics.chance.expected import ChanceDistribution
from softirr.statistics.coefficients.definition import BRAYLAN_2022, Definition
from softirr.statistics.coefficients.distributions import (
    LEVEL,
    credit,
    one_item,
    same_and_different,
    tail_shift,
    upper_point,
)
from softirr.statistics.draws import Draws


def sigma(draws: Draws) -> Floats:
    """Share of same-item pairs exceeded by fewer than 5% of the different-item pairs (Braylan et al. 2022).

    If different-item pairs tie with the 5% point, tied same-item pairs count as a fraction, so that sigma is exactly
    0.05 when both distributions are equal. (With the rank p of a pair uniform on its ties, this is P(p < 0.05).) The 5%
    point moves with the items to first order.

    Parameters
    ----------
    draws : Draws
        K draws of the equivalences, of agreement by chance and of the item weights.

    Returns
    -------
    shape (K,)
        The coefficient in each draw.
    """
    steps, chance = same_and_different(draws)
    boundary, tie_share = upper_point(chance)
    below, within = (tail_shift(draws, chance, step) for step in (boundary + 1, boundary))
    slope = _slope(draws, steps, chance)
    moved = tie_share * within + (1 - tie_share) * below
    return draws.mean_over_pairs(credit(steps, chance)) - slope * (moved + chance.error(LEVEL) * draws.sampling)


def _slope(draws: Draws, steps: Ints, chance: ChanceDistribution) -> float:
    """Slope of the same-item share against the chance share, measured between 0.5 and 1.5 times the level."""
    weights = draws.ratings.weight[draws.ratings.comparisons.item]
    above, below = (np.average(credit(steps, chance, factor * LEVEL), weights=weights) for factor in (1.5, 0.5))
    return float(above - below) / LEVEL


def _by_chance(draws: Draws) -> Floats:
    return np.full(len(draws.sampling), LEVEL)


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
    over_draws=sigma,
    by_chance=_by_chance,
    reason=one_item,
    floor=0.0,
)

"""sigma (Braylan et al. 2022): how many same-item pairs are closer than nearly all pairs of different items."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
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

__all__ = ["DEFINITION", "sigma"]


def sigma(ratings: Ratings, scores: Floats, chance: Chance) -> Estimate:
    """Share of same-item pairs exceeded by fewer than 5% of the different-item pairs (Braylan et al. 2022).

    Where different-item pairs tie with the 5% point, tied same-item pairs count in part, so that sigma is exactly 0.05
    when both distributions are equal. (With the rank p of a pair uniform on its ties, this is P(p < 0.05).)

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance

    Returns
    -------
    Estimate
    """
    both = same_and_different(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    own = ratings.weight[ratings.comparisons.item]

    def share(level: float) -> float:
        return float(np.average(credit(steps, known, level), weights=own))

    at, part = upper_point(known)
    # slope of the same-item share against the chance share, measured between 0.5 and 1.5 times the level
    slope = (share(1.5 * LEVEL) - share(0.5 * LEVEL)) / LEVEL
    below, within = tail_influence(ratings, known, at + 1), tail_influence(ratings, known, at)
    influence = pair_influence(ratings, credit(steps, known)) - slope * (part * within + (1 - part) * below)
    return Estimate(
        share(LEVEL),
        influence,
        expected=LEVEL,
        chance_error=slope * known.error(LEVEL),
        floor=0.0,
        items=ratings.comparable_items,
    )


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
)

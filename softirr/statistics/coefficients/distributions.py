"""The equivalences of same-item and different-item pairs, which sigma and KS compare (Braylan et al. 2022).

Both coefficients are exact and deterministic and handle ties. :mod:`softirr.statistics.coefficients.braylan` computes
them as the authors' code does.
"""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.statistics.chance.expected import Chance, ChanceDistribution, on_grid
from softirr.statistics.coefficients.estimate import Undefined, uncomparable
from softirr.statistics.draws import Draws

LEVEL = 0.05
"""Upper share of the different-item pairs that a same-item pair has to reach for sigma."""


def same_and_different(draws: Draws) -> tuple[Ints, ChanceDistribution]:
    """The equivalences of same-item pairs by the measure on the grid, shape (P,), and the distribution by chance."""
    distribution = draws.chance.distribution
    if distribution is None:
        raise InputError(str(Undefined.ONE_ITEM))
    return on_grid(draws.by_measure), distribution


def one_item(ratings: Ratings, chance: Chance) -> Undefined | None:
    """Reason for the lack of pairs of different items to compare with, or None."""
    if reason := uncomparable(ratings):
        return reason
    return Undefined.ONE_ITEM if chance.distribution is None else None


def tail_shift(draws: Draws, chance: ChanceDistribution, step: int) -> Floats:
    """First-order change of ``chance.tail[step]`` by the item weights, shape (K,).

    0 if the shares by row are unknown.
    """
    if chance.row_tail is None:
        return np.zeros(len(draws.sampling))
    values = chance.row_tail(step)
    return 2 * (draws.mean_over_rows(values) - float(draws.chance.pooling.weights @ values))


def beyond_chance(scores: Floats, chance: ChanceDistribution) -> Floats:
    """Credit of each same-item pair towards sigma.

    The mean over the pairs of an item, a rater or two raters is their sigma, against the chance distribution of the
    whole project.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of same-item pairs.
    chance : ChanceDistribution
        Equivalences of answers to different items.

    Returns
    -------
    shape (P,)
    """
    return credit(on_grid(scores), chance)


def upper_point(chance: ChanceDistribution, level: float = LEVEL) -> tuple[int, float]:
    """The step of the chance distribution's upper ``level`` point, and the share of its ties that lies beyond.

    Parameters
    ----------
    chance : ChanceDistribution
        Equivalences of answers to different items.
    level : float
        Share of the different-item pairs beyond the point, between 0 and 1.
    """
    step = int(np.flatnonzero(chance.tail >= level)[-1])
    return step, float((level - chance.tail[step + 1]) / (chance.tail[step] - chance.tail[step + 1]))


def credit(steps: Ints, chance: ChanceDistribution, level: float = LEVEL) -> Floats:
    """1 where fewer than a share ``level`` of the different-item pairs exceed a pair, else 0; ties get a fraction.

    Parameters
    ----------
    steps : shape (P,)
        Equivalence of same-item pairs on the grid.
    chance : ChanceDistribution
        Equivalences of answers to different items.
    level : float
        Share of the different-item pairs that lies beyond chance, between 0 and 1.

    Returns
    -------
    shape (P,)
    """
    step, tie_share = upper_point(chance, level)
    return np.where(steps > step, 1.0, np.where(steps == step, tie_share, 0.0))

"""The equivalences of same-item and different-item pairs, which sigma and KS compare (Braylan et al. 2022).

Both coefficients are exact and deterministic and handle ties; :mod:`softirr.statistics.coefficients.braylan` computes them as the
authors' code does.
"""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Pooling, Ratings, sums
from softirr.statistics.chance.expected import Chance, ChanceDistribution, on_grid
from softirr.statistics.coefficients.estimate import Estimate, Undefined, missing, undefined

__all__ = [
    "LEVEL",
    "beyond_chance",
    "credit",
    "pair_influence",
    "same_and_different",
    "tail_influence",
    "upper_point",
]

LEVEL = 0.05
"""Upper share of the different-item pairs that a same-item pair has to reach for sigma."""


def same_and_different(ratings: Ratings, scores: Floats, chance: Chance) -> tuple[Ints, ChanceDistribution] | Estimate:
    """The equivalences of same-item pairs on the grid, and the distribution by chance.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.

    Returns
    -------
    tuple of (shape (P,), ChanceDistribution), or Estimate
        An undefined estimate where one of them is missing.
    """
    if reason := missing(ratings):
        return undefined(reason)
    if chance.distribution is None or len(ratings.comparable_items) < 2:
        return undefined(Undefined.ONE_ITEM)
    return on_grid(scores), chance.distribution


def pair_influence(ratings: Ratings, values: Floats) -> Floats:
    """Influence of each comparable item on the mean of a value over all same-item pairs, which weigh as their items do.

    Parameters
    ----------
    values : shape (P,)

    Returns
    -------
    shape (N,)
    """
    item = ratings.comparisons.item
    own = ratings.weight[item]
    total = sums(item, own * (values - np.average(values, weights=own)), ratings.n_items)
    used = ratings.comparable_items
    return total[used] * len(used) / own.sum()


def tail_influence(ratings: Ratings, chance: ChanceDistribution, step: int) -> Floats:
    """Influence of each comparable item on ``chance.tail[step]``; zeros where the shares by row are unknown.

    Returns
    -------
    shape (N,)
    """
    if chance.row_tail is None:
        return np.zeros(len(ratings.comparable_items))
    return 2 * Pooling.of(ratings).influence(ratings, chance.row_tail(step))


def beyond_chance(scores: Floats, chance: ChanceDistribution) -> Floats:
    """Credit of each same-item pair towards sigma.

    The mean over the pairs of an item, a rater or two raters is their sigma, against the chance distribution of the
    whole project.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of same-item pairs.

    Returns
    -------
    shape (P,)
    """
    return credit(on_grid(scores), chance)


def upper_point(chance: ChanceDistribution, level: float = LEVEL) -> tuple[int, float]:
    """The step of the chance distribution's upper ``level`` point, and the share of its ties that lies beyond."""
    at = int(np.flatnonzero(chance.tail >= level)[-1])
    return at, float((level - chance.tail[at + 1]) / (chance.tail[at] - chance.tail[at + 1]))


def credit(steps: Ints, chance: ChanceDistribution, level: float = LEVEL) -> Floats:
    """1 where fewer than a share ``level`` of the different-item pairs exceed a pair, else 0; ties get a fraction.

    Parameters
    ----------
    steps : shape (P,)
        Equivalence of same-item pairs on the grid.

    Returns
    -------
    shape (P,)
    """
    at, part = upper_point(chance, level)
    return np.where(steps > at, 1.0, np.where(steps == at, part, 0.0))

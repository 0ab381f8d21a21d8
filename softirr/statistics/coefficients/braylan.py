"""Sigma and KS, which compare the equivalences of same-item and different-item pairs (Braylan et al. 2022).

Both coefficients are exact and deterministic and handle ties.
"""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings, sums
from softirr.statistics.chance.expected import Chance, ChanceDistribution, on_grid
from softirr.statistics.coefficients.definition import BRAYLAN_2022, Definition, Undefined
from softirr.statistics.draws import Draws

LEVEL = 0.05
"""Upper share of the different-item pairs that a same-item pair has to reach for sigma."""


def _one_item(_: Ratings, chance: Chance) -> Undefined | None:
    """Reason for the lack of pairs of different items to compare with, or None."""
    return Undefined.ONE_ITEM if chance.distribution is None else None


def _tail_shift(draws: Draws, chance: ChanceDistribution, step: int) -> Floats:
    """First-order change of ``chance.tail[step]`` by the item weights, shape (K,).

    0 if the shares by row are unknown.
    """
    if chance.row_tail is None:
        return np.zeros(len(draws.sampling))
    values = chance.row_tail(step)
    return 2 * (draws.mean_over_rows(values) - float(draws.chance.pooling.weights @ values))


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


def beyond_chance(scores: Floats, chance: ChanceDistribution, level: float = LEVEL) -> Floats:
    """Credit of each same-item pair towards sigma: 1 if few different-item pairs exceed it.

    Few are fewer than a share ``level`` of them. Ties get a fraction. The mean over the pairs of an item, a rater or
    two raters is their sigma, against the chance distribution of the whole project.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of same-item pairs.
    chance : ChanceDistribution
        Equivalences of answers to different items.
    level : float
        Share of the different-item pairs that lies beyond chance, between 0 and 1.

    Returns
    -------
    shape (P,)
    """
    step, tie_share = upper_point(chance, level)
    steps = on_grid(scores)
    return np.where(steps > step, 1.0, np.where(steps == step, tie_share, 0.0))


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
    chance = draws.chance.distribution
    assert chance is not None
    boundary, tie_share = upper_point(chance)
    below, within = (_tail_shift(draws, chance, step) for step in (boundary + 1, boundary))
    weights = draws.ratings.weight[draws.ratings.comparisons.item]
    # slope of the same-item share against the chance share, measured between 0.5 and 1.5 times the level
    shares = [np.average(beyond_chance(draws.by_measure, chance, k * LEVEL), weights=weights) for k in (0.5, 1.5)]
    slope = float(shares[1] - shares[0]) / LEVEL
    moved = tie_share * within + (1 - tie_share) * below + chance.error(LEVEL) * draws.sampling
    return draws.mean_over_pairs(beyond_chance(draws.by_measure, chance)) - slope * moved


SIGMA = Definition(
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
    own_draws=sigma,
    by_chance=lambda draws: np.full(len(draws.sampling), LEVEL),
    reason=_one_item,
    floor=0.0,
    audited=False,
)


def ks(draws: Draws) -> Floats:
    """One-sided two-sample Kolmogorov-Smirnov statistic: max over e of P(same >= e) - P(different >= e).

    As in Braylan et al. (2022), but over all different-item pairs instead of a sample. The gap stays at the point where
    it is largest with equal weights: the maximum of each draw would be larger on average.

    Parameters
    ----------
    draws : Draws
        K draws of the equivalences, of agreement by chance and of the item weights.

    Returns
    -------
    shape (K,)
        The coefficient in each draw.
    """
    chance, steps = draws.chance.distribution, on_grid(draws.by_measure)
    assert chance is not None
    point, lead = _largest_gap(draws.ratings, steps, chance)
    if lead <= 0:
        return np.zeros(len(draws.sampling))
    expected = float(chance.tail[point])
    by_chance = expected + _tail_shift(draws, chance, point) + chance.error(expected) * draws.sampling
    return draws.mean_over_pairs((steps >= point).astype(np.float64)) - by_chance


def _largest_gap(ratings: Ratings, steps: Ints, chance: ChanceDistribution) -> tuple[int, float]:
    """The step with the largest difference of the two tails, and that difference."""
    distinct, index = np.unique(steps, return_inverse=True)
    count = sums(index, ratings.weight[ratings.comparisons.item], len(distinct))
    lead = np.cumsum(count[::-1])[::-1] / count.sum() - chance.tail[distinct]
    largest = int(np.argmax(lead))
    return int(distinct[largest]), float(lead[largest])


KS = Definition(
    key="ks",
    name="KS (Braylan et al. 2022)",
    short="KS",
    meaning="Greatest gap between same-{item} and different-{item} pairs (Braylan et al. 2022).",
    formula=(
        "the largest difference between the distributions of the equivalence of answers "
        "to one item and to different items"
    ),
    observed="largest difference between the cumulative distributions of same-item and different-item equivalences",
    references=(BRAYLAN_2022,),
    own_draws=ks,
    reason=_one_item,
    floor=0.0,
    audited=False,
)

"""What chance-corrected coefficients have in common.

Soft means that two answers agree to a degree S(a, b) in [0, 1] with S(a, a) = 1; with S in {0, 1} every coefficient is
the classical one. Every coefficient is ``(Po - Pe) / (1 - Pe)`` for an observed agreement Po and an agreement Pe
expected by chance. Each has a file in this package with its definition, its value and the influence of each item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Floats, Ratings, item_means, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.estimate import Estimate, Undefined, missing, undefined

__all__ = [
    "CERTAIN",
    "PooledChance",
    "corrected",
    "corrected_all",
    "lowest",
    "pooled_estimate",
    "uncomparable",
]

CERTAIN = 1e-12


def corrected(observed: float, expected: float) -> float | None:
    """(Po - Pe) / (1 - Pe).

    Returns
    -------
    float or None
        None where Pe is 1.
    """
    return None if 1 - expected <= CERTAIN else (observed - expected) / (1 - expected)


def corrected_all(observed: Floats, expected: Floats) -> Floats:
    """(Po - Pe) / (1 - Pe) of arrays.

    Parameters
    ----------
    observed, expected : arrays of one shape

    Returns
    -------
    array of the same shape
        nan where Pe is 1.
    """
    attainable = 1 - expected
    return np.divide(observed - expected, attainable, out=np.full(attainable.shape, np.nan), where=attainable > CERTAIN)


def lowest(value: float) -> float:
    """Where the interval of a chance-corrected coefficient ends below.

    At -1, as the classical coefficients do, or at the value.
    """
    return min(-1.0, value)


def uncomparable(ratings: Ratings) -> Undefined | None:
    """Reason why a coefficient of pooled answers is not defined."""
    if reason := missing(ratings):
        return reason
    return Undefined.ONE_ITEM if len(ratings.comparable_items) < 2 else None


@dataclass(frozen=True, eq=False)
class PooledChance:
    """The agreement by chance of a coefficient that pools the answers of all raters, and how it depends on the items.

    To first order, ``Pe = expected + slope × (mean of at - its present mean)``, where the mean goes over the pooled
    rows by their weights.

    Attributes
    ----------
    slope : float
        0 where the items do not change the agreement by chance.
    at : shape (n,)
        A value of each of the pooled rows.
    error : float
        Standard error of ``expected`` from sampling.
    noise : float
        Mean variance that sampling adds to ``at``.
    """

    expected: float
    slope: float
    at: Floats
    error: float = 0.0
    noise: float = 0.0


def pooled_estimate(
    ratings: Ratings,
    scores: Floats,
    chance: Chance,
    pooled: PooledChance,
    *,
    by_answers: bool = False,
    with_shift: bool = False,
) -> Estimate:
    """A coefficient of pooled answers with the influence of each item.

    Parameters
    ----------
    ratings : Ratings
        Two comparable items or more.
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
        Its pooling says which rows are pooled.
    by_answers : bool
        Whether an item weighs in the observed agreement as it has answers (Krippendorff).
    with_shift : bool
        Whether the value has a first-order bias to correct: pairs of an item with itself count in its agreement by
        chance.

    Returns
    -------
    Estimate
        Influence in the order of the items with pooled answers.
    """
    pooling, used, expected = chance.pooling, ratings.comparable_items, pooled.expected
    means = item_means(ratings, scores)
    size = ratings.weight[used] * ratings.per_item[used] if by_answers else ratings.weight[used]
    observed = float(np.average(means, weights=size))
    value = corrected(observed, expected)
    if value is None:
        return undefined(Undefined.NO_VARIATION, expected)
    slope = (1 - value) / (1 - expected)
    spread = size / size.mean() * (means - observed) if by_answers else pooling.spread(ratings, means, expected)
    by_chance = pooled.slope * pooling.influence(ratings, pooled.at)
    shift = 0.0
    if with_shift:
        different = corrected(observed, _expected_of_different_items(ratings, scores, chance))
        shift = 0.0 if different is None else different - value
    return Estimate(
        value,
        spread / (1 - expected) - slope * by_chance,
        expected=expected,
        chance_error=slope * pooled.error,
        floor=lowest(value),
        noise=slope**2 * pooled.slope**2 * pooling.noise(ratings, pooled.noise),
        shift=shift,
        items=pooling.items,
    )


def _expected_of_different_items(ratings: Ratings, scores: Floats, chance: Chance) -> float:
    """π' S π over answers to different items only, the limit of π' S π for many items."""
    pooling, comparisons = chance.pooling, ratings.comparisons
    weight = np.zeros(len(ratings.item))
    weight[pooling.rows] = pooling.weights
    same = np.sum(weight**2) + 2 * np.sum(weight[comparisons.left] * weight[comparisons.right] * scores)
    share = np.sum(sums(ratings.item, weight, ratings.n_items) ** 2)
    return float((chance.pooled - same) / (1 - share)) if share < 1 - CERTAIN else float(chance.pooled)

"""Variance of a coefficient from the choice of items, by the number of raters.

The variance is V / N for N items. V depends on the number of raters: a coefficient is a mean over pairs of raters, and
two pairs of one item can have both raters, one rater or no rater in common (Hoeffding 1948). A pilot with three raters
or more estimates the three components; with two raters they are assumed.

References
----------
Hoeffding, W. (1948). A class of statistics with asymptotically normal distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Floats, Ratings, sums
from softirr.statistics.chance.expected import Chance
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.coefficients.intervals import standard_error

__all__ = ["ALIKE", "Components", "assumed", "components"]

ALIKE = 0.5
"""Correlation of two pairs of raters of one item where a pilot has two raters only: a conservative guess."""


@dataclass(frozen=True)
class Components:
    """Variance of one item, by what two pairs of its raters have in common.

    Attributes
    ----------
    same, one, none : float
        Mean product of the influences of a pair with itself, with a pair that has one rater in common, and with one
        that has none.
    known : int
        Raters of an item that the pilot had at most: 2, 3, or 4 for four and more. What needs more raters is assumed.
    """

    same: float
    one: float
    none: float
    known: int

    def variance(self, raters: int) -> float:
        """V: variance of the influence of an item with this many raters.

        Examples
        --------
        >>> Components(1.0, 0.5, 0.5, 4).variance(2), round(Components(1.0, 0.5, 0.5, 4).variance(3), 3)
        (1.0, 0.667)
        """
        pairs = math.comb(raters, 2)
        sharing = raters * (raters - 1) * (raters - 2)
        apart = pairs * math.comb(raters - 2, 2)
        return (pairs * self.same + sharing * self.one + apart * self.none) / pairs**2

    def scaled(self, factor: float) -> Components:
        """The same with each variance multiplied by a factor."""
        return Components(self.same * factor, self.one * factor, self.none * factor, self.known)


def components(ratings: Ratings, scores: Floats, chance: Chance, estimate: Estimate) -> Components:
    """Variance components of an item, from the pairs of a pilot.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : Chance
    estimate : Estimate
        Of the coefficient; the components are scaled to its variance.

    Returns
    -------
    Components
    """
    comparisons, n = ratings.comparisons, ratings.n_items
    at = np.full(len(ratings.item), chance.pooled)
    at[chance.pooling.rows] = chance.pooled_at
    value = float(estimate.value or 0.0)
    z = scores - scores.mean()
    if estimate.expected is not None:
        by_chance = at[comparisons.left] + at[comparisons.right]
        z = z - (1 - value) * (by_chance - by_chance.mean())
    square = sums(comparisons.item, z**2, n)
    total = sums(comparisons.item, z, n) ** 2
    of_row = sums(comparisons.left, z, len(ratings.item)) + sums(comparisons.right, z, len(ratings.item))
    by_rater = sums(ratings.item, of_row**2, n)
    k = ratings.per_item.astype(np.float64)
    k = np.where(k >= 2, k, 0)
    pairs, sharing, apart = k * (k - 1) / 2, k * (k - 1) * (k - 2), k * (k - 1) * (k - 2) * (k - 3) / 4
    same = float(square.sum() / max(pairs.sum(), 1))
    known = int(min(k.max(initial=2), 4))
    one = float((by_rater - 2 * square).sum() / sharing.sum()) if sharing.sum() > 0 else ALIKE * same
    one = float(np.clip(one, 0, same))
    none = float((total - by_rater + square).sum() / apart.sum()) if apart.sum() > 0 else one
    raw = Components(same, one, float(np.clip(none, 0, one)), known)
    used = k[k >= 2].astype(int)
    predicted = float(np.mean([raw.variance(int(size)) for size in used])) if len(used) else 0.0
    error = standard_error(estimate) or 0.0
    scale = error**2 * len(estimate.influence) / predicted if predicted > 0 else 0.0
    return raw.scaled(scale)


def assumed(value: float, chance: float) -> Components:
    """Components of an item, where answers are the same or not and nothing is measured.

    Parameters
    ----------
    value, chance : float
        The coefficient and the agreement by chance.

    Returns
    -------
    Components
    """
    observed = value + (1 - value) * chance
    same = observed * (1 - observed) / (1 - chance) ** 2
    return Components(same, ALIKE * same, ALIKE * same, 0)

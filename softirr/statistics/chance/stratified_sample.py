"""A sample of pairs from each stratum: the strata's means and variances, and the pairs that are still needed."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats, Ints, sums
from softirr.statistics.chance.strata import PairPopulation

__all__ = ["StratifiedSample", "level_variances"]

_UNSEEN = 2
"""Fully equivalent pairs that the overall variance adds to those drawn.

Without them a sample with few equivalent pairs stops too early.
"""


class StratifiedSample:
    """Pairs drawn without replacement from each stratum, and estimates for the strata.

    The first draw takes a pair of each stratum at least.
    """

    def __init__(self, pairs: PairPopulation, rng: np.random.Generator) -> None:
        self.pairs = pairs
        self.sizes = pairs.sizes
        self._rng = rng
        self._starts = np.cumsum(self.sizes) - self.sizes
        self._taken: list[Ints] = [np.zeros(0, dtype=np.int64)] * pairs.n_strata
        self.drawn = np.zeros(pairs.n_strata, dtype=np.int64)
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.values: Floats = np.zeros(0)

    def extend(self, wanted: Ints) -> Ints:
        """Draw until each stratum has as many pairs as wanted (or all); returns the new pairs of the population."""
        more = np.minimum(wanted, self.sizes) - self.drawn
        fresh = [np.zeros(0, dtype=np.int64)]
        for stratum in np.flatnonzero(more > 0).tolist():
            picked = _not_taken(int(self.sizes[stratum]), self._taken[stratum], int(more[stratum]), self._rng)
            self._taken[stratum] = np.concatenate([self._taken[stratum], picked])
            fresh.append(self.pairs.by_stratum[self._starts[stratum] + picked])
        self.drawn = np.asarray(self.drawn + np.maximum(more, 0))
        new: Ints = np.concatenate(fresh)
        self.members = np.concatenate([self.members, new])
        return new

    def record(self, values: Floats) -> None:
        """Record the equivalences of the pairs drawn last."""
        self.values = np.concatenate([self.values, values])

    def means(self) -> Floats:
        """Mean equivalence of each stratum."""
        stratum = self.pairs.stratum[self.members]
        return sums(stratum, self.values, self.pairs.n_strata) / self.drawn

    def variances(self) -> Floats:
        """Variance of each stratum, from all strata of the same level; see :func:`level_variances`."""
        level = self.pairs.level
        mine = level[self.pairs.stratum[self.members]]
        drawn = np.bincount(mine, minlength=self.pairs.n_levels)
        mean = sums(mine, self.values, self.pairs.n_levels) / drawn
        off = (self.values - mean[mine]) ** 2
        return level_variances(mine, off, drawn, self.overall_variance())[level]

    def overall_variance(self) -> float:
        """Variance of the equivalence of all pairs, within and between strata.

        Some equivalent pairs are added to those drawn.
        """
        stratum = self.pairs.stratum[self.members]
        share = self.sizes / self.sizes.sum()
        means = self.means()
        second = sums(stratum, self.values**2, self.pairs.n_strata) / self.drawn
        unseen = _UNSEEN / max(len(self.values), 2 * _UNSEEN)
        return float(max(np.sum(share * second) - np.sum(share * means) ** 2, 0.0)) + unseen * (1 - unseen)

    def weighted_means(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weighted mean equivalence of each stratum, and the effective number of its drawn pairs.

        The weights are of the drawn pairs. Pairs of one stratum all weigh something, or all nothing: then neither is
        used.
        """
        stratum, strata = self.pairs.stratum[self.members], self.pairs.n_strata
        total, squares = sums(stratum, weights, strata), sums(stratum, weights**2, strata)
        weighed = squares > 0
        above = sums(stratum, weights * self.values, strata)
        mean = np.divide(above, total, out=np.zeros(strata), where=weighed)
        return mean, np.divide(total**2, squares, out=np.ones(strata), where=weighed)

    def loadings(self, totals: Floats, effective: Floats | None = None) -> Floats:
        """Standard error that each stratum adds to a weighted sum of equivalences.

        Parameters
        ----------
        totals : shape (..., n_strata)
            Sum of weights in each stratum.
        effective : shape (n_strata,), optional
            Effective number of drawn pairs; their actual number by default.
        """
        n = self.drawn if effective is None else effective
        left = 1 - self.drawn / self.sizes
        return totals * np.sqrt(self.variances() * left / n)

    def allocate(self, totals: list[Floats], target: float) -> Ints:
        """Number of pairs each stratum needs for every weighted sum to meet the target (Neyman 1934).

        At most twice the present number.
        """
        variance = self.variances()
        importance = np.sqrt(sum(t**2 for t in totals) * variance)
        enough = 0.95 * target  # slightly below the target, so that another round is rarely needed

        def planned(scale: float) -> Floats:
            return np.clip(np.ceil(scale * importance), self.drawn, self.sizes)

        def reached(scale: float) -> bool:
            n = planned(scale)
            spread = variance * (1 - n / self.sizes) / n
            return all(float(np.sum(t**2 * spread)) <= enough**2 for t in totals)

        low, high = 0.0, 1.0
        while not reached(high) and (planned(high) < self.sizes).any():
            high *= 2
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        limit = 2 * int(self.drawn.sum())
        n = planned(high)
        while n.sum() > limit:
            high *= 0.9
            n = planned(high)
        if (n > self.drawn).any():
            return np.asarray(n, dtype=np.int64)
        return np.minimum(self.drawn + (importance > 0), self.sizes)  # rounding gave nothing to draw


def level_variances(level: Ints, off: Floats, drawn: Ints, overall: float) -> Floats:
    """Variance of the equivalence at each level of the cheap measure.

    A variance from a few pairs is unreliable where equivalent pairs are rare: a level without a drawn equivalent pair
    would look constant and get no more pairs. So the levels' variances are smoothed in two steps. First, a curve,
    log-linear in the level, is fitted to the squared deviations by quasi-likelihood; its slope is shrunk towards 0
    according to its standard error. Second, the levels' own variances are shrunk towards the curve. Let Q be their
    chi-square distance from the curve with d degrees of freedom; by chance alone it has mean d and standard deviation
    √(2d). The weight of the levels' own variances is the share of Q that exceeds d + 2 √(2d).

    Parameters
    ----------
    level, off : shape (n,)
        Level of each drawn pair, and its squared distance from the mean of the level.
    drawn : shape (L,)
        Number of drawn pairs of each level, at least one.
    overall : float
        Variance of all pairs; it counts as one more observation of each level.

    Returns
    -------
    shape (L,)
    """
    levels = len(drawn)
    n = drawn.astype(np.float64) + 1
    squares = sums(level, off, levels)
    squares *= drawn / np.maximum(drawn - 1, 1)
    squares += overall
    own = squares / n
    if levels < 3:
        return own
    at = np.arange(levels, dtype=np.float64)
    at -= float(np.sum(n * at) / n.sum())
    slope = _slope(at, squares, n)
    curve = _through(slope, at, squares, n)
    dispersion = float(np.mean((off - curve[level]) ** 2 / curve[level]))
    weight = n * curve
    spread = float(np.sum(weight * (at - np.sum(weight * at) / weight.sum()) ** 2))
    surely = 0.0 if slope == 0 else max(1 - 4 * dispersion / spread / slope**2, 0.0)
    curve = _through(slope * surely, at, squares, n)
    distance = float(np.sum(n * (own - curve) ** 2 / curve)) / max(dispersion, 1e-300)
    by_chance = levels - 2 + 2 * np.sqrt(2 * (levels - 2))
    trust = 1 - by_chance / max(distance, by_chance)
    return trust * own + (1 - trust) * curve


def _slope(at: Floats, squares: Floats, n: Floats) -> float:
    """Slope b of the quasi-Poisson fit E[squares / n] = exp(a + b at), whose residuals are orthogonal to ``at``.

    Within ±3.
    """
    low, high = -3.0, 3.0
    for _ in range(50):
        middle = (low + high) / 2
        if np.sum(at * (squares - n * _through(middle, at, squares, n))) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _through(slope: float, at: Floats, squares: Floats, n: Floats) -> Floats:
    """The curve with this slope that reproduces the observed sum of squares."""
    curve = np.exp(slope * at)
    return np.asarray(curve * squares.sum() / np.sum(n * curve))


def _not_taken(size: int, taken: Ints, k: int, rng: np.random.Generator) -> Ints:
    """Draw k numbers below size, without replacement, from those not taken yet."""
    if 4 * (len(taken) + k) > size:
        return np.asarray(rng.permutation(np.setdiff1d(np.arange(size), taken))[:k])
    cells: Ints = np.zeros(0, dtype=np.int64)
    while len(cells) < k:
        candidates, first = np.unique(rng.integers(0, size, 2 * k), return_index=True)
        candidates = candidates[np.argsort(first)]
        fresh = candidates[~np.isin(candidates, taken) & ~np.isin(candidates, cells)]
        cells = np.append(cells, fresh[: k - len(cells)])
    return cells

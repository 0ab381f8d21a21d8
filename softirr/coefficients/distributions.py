"""sigma and KS (Braylan et al. 2022), which compare the distributions of same-item and different-item equivalences.

Both are exact and deterministic and handle ties; :mod:`softirr.coefficients.braylan` computes them as the authors' code does.
"""

from __future__ import annotations

import numpy as np

from softirr.chance.expected import GRID, ChanceDistribution, on_grid
from softirr.coefficients.estimate import Estimate, Replicate, Undefined, missing, undefined
from softirr.tables.ratings import Floats, Ints, Pooling, Ratings, sums

__all__ = ["beyond_chance", "ks", "sigma"]


def _distributions(
    ratings: Ratings, scores: Floats, chance: ChanceDistribution | None
) -> tuple[Ints, ChanceDistribution] | Estimate:
    if reason := missing(ratings):
        return undefined(reason)
    if chance is None or len(ratings.comparable_items) < 2:
        return undefined(Undefined.ONE_ITEM)
    return on_grid(scores), chance


def _pair_influence(ratings: Ratings, values: Floats) -> Floats:
    """Influence of each comparable item on the mean of a value over all same-item pairs, which weigh as their items do."""
    item = ratings.comparisons.item
    own = ratings.weight[item]
    total = sums(item, own * (values - np.average(values, weights=own)), ratings.n_items)
    used = ratings.comparable_items
    return total[used] * len(used) / own.sum()


def _tail_influence(ratings: Ratings, chance: ChanceDistribution, step: int) -> Floats:
    """Influence of each comparable item on ``chance.tail[step]``; zeros where the shares by row are unknown."""
    if chance.row_tail is None:
        return np.zeros(len(ratings.comparable_items))
    return 2 * Pooling.of(ratings).influence(ratings, chance.row_tail(step))


def sigma(ratings: Ratings, scores: Floats, chance: ChanceDistribution | None, *, level: float = 0.05) -> Estimate:
    """Share of same-item pairs exceeded by fewer than 5% of the different-item pairs (Braylan et al. 2022, sigma).

    Where chance pairs tie with the 5% point, tied same-item pairs count in part, so that sigma is exactly 0.05 when both distributions are
    equal. (With the rank p of a pair uniform on its ties, this is P(p < 0.05).)

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : ChanceDistribution or None
        Equivalences of answers to different items; None where there are none.
    level : float
        Upper share of the chance distribution.

    Returns
    -------
    Estimate
    """
    both = _distributions(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    own = ratings.weight[ratings.comparisons.item]
    value = _share_beyond(steps, own, known, level)
    at, part = _point(known, level)
    counts = _beyond(steps, known, level)
    # slope of the same-item share against the chance share, measured between 0.5 and 1.5 times the level
    slope = (_share_beyond(steps, own, known, 1.5 * level) - _share_beyond(steps, own, known, 0.5 * level)) / level
    below = _tail_influence(ratings, known, at + 1)
    within = _tail_influence(ratings, known, at)
    influence = _pair_influence(ratings, counts) - slope * (part * within + (1 - part) * below)
    replicate = _Resampled(ratings, steps, known, _around(known, level)).sigma(level)
    error = slope * known.error(level)
    return Estimate(
        value, influence, None, level, error, floor=0.0, replicate=replicate, items=ratings.comparable_items
    )


def beyond_chance(scores: Floats, chance: ChanceDistribution, *, level: float = 0.05) -> Floats:
    """Credit of each same-item pair towards :func:`sigma`, which is the mean of the credits.

    The credit is 1 where fewer than 5% of the different-item pairs exceed the pair, else 0; ties get a fraction. The mean over the pairs of
    an item, a rater or two raters is their sigma, against the chance distribution of the whole project.

    Parameters
    ----------
    scores : shape (P,)
        Equivalence of same-item pairs.
    chance : ChanceDistribution
    level : float

    Returns
    -------
    ndarray, shape (P,)
    """
    return _beyond(on_grid(scores), chance, level)


def _point(chance: ChanceDistribution, level: float) -> tuple[int, float]:
    """The step of the chance distribution's upper ``level`` point, and the share of its ties that lies beyond."""
    at = int(np.flatnonzero(chance.tail >= level)[-1])
    return at, float((level - chance.tail[at + 1]) / (chance.tail[at] - chance.tail[at + 1]))


def _beyond(steps: Ints, chance: ChanceDistribution, level: float) -> Floats:
    at, part = _point(chance, level)
    return np.where(steps > at, 1.0, np.where(steps == at, part, 0.0))


def _around(chance: ChanceDistribution, level: float, most: int = 96) -> Ints:
    """Steps around the chance distribution's upper ``level`` point, and both ends, ascending."""
    change = np.flatnonzero(np.diff(chance.tail[::-1], prepend=-1.0))[::-1]
    steps = GRID + 1 - change
    near = steps[(chance.tail[steps] >= level / 5) & (chance.tail[steps] <= 4 * level)]
    if len(near) > most:
        near = near[np.unique(np.linspace(0, len(near) - 1, most).astype(np.int64))]
    below, above = steps[chance.tail[steps] > 4 * level], steps[chance.tail[steps] < level / 5]
    return np.unique(np.concatenate([[0], below[-1:], near, above[:1], [GRID + 1]]).astype(np.int64))


class _Resampled:
    """Tails of the same-item and different-item distributions in resampled tables, at some steps.

    The shares of chance pairs beyond each step are linearized in the weights; they stay constant where the shares by row are unknown.
    """

    def __init__(self, ratings: Ratings, steps: Ints, chance: ChanceDistribution, at: Ints) -> None:
        self._ratings, self._steps, self._chance, self._at = ratings, steps, chance, at
        self._terms: tuple[Floats, Floats, Floats] | None = None

    def _tails(self, weights: Floats) -> tuple[Floats, Floats]:
        """Shares of same-item and of different-item pairs at each step or beyond, shape (B, G) each."""
        if self._terms is None:
            ratings, used = self._ratings, self._ratings.comparable_items
            item = ratings.comparisons.item
            own = ratings.weight[item]
            count = sums(item, own, ratings.n_items)[used]
            shares = [sums(item, own * (self._steps >= e), ratings.n_items)[used] for e in self._at]
            shifts = [_tail_influence(ratings, self._chance, int(e)) / len(used) for e in self._at]
            self._terms = count, np.stack(shares, axis=1), np.stack(shifts, axis=1)
        count, reached, moved = self._terms
        same = (weights @ reached) / (weights @ count)[:, None]
        return same, np.clip(self._chance.tail[self._at] + weights @ moved, 0.0, 1.0)

    def ks(self, weights: Floats) -> Floats:
        """KS of each resampled table."""
        same, different = self._tails(weights)
        return np.maximum((same - different).max(axis=1), 0.0)

    def sigma(self, level: float) -> Replicate:
        """Sigma of each resampled table, with ties counted in part."""

        def replicate(weights: Floats) -> Floats:
            same, different = self._tails(weights)
            beyond = np.maximum.accumulate(different[:, ::-1], axis=1)
            return np.array([np.interp(level, x, y) for x, y in zip(beyond, same[:, ::-1], strict=True)])

        return replicate


def _share_beyond(steps: Ints, weights: Floats, chance: ChanceDistribution, level: float) -> float:
    """Same-item share beyond the chance distribution's upper ``level`` point, with ties counted in part."""
    return float(np.average(_beyond(steps, chance, level), weights=weights))


def ks(ratings: Ratings, scores: Floats, chance: ChanceDistribution | None) -> Estimate:
    """One-sided two-sample Kolmogorov-Smirnov statistic: max over e of P(same >= e) - P(different >= e).

    As in Braylan et al. (2022), but over all different-item pairs instead of a sample.

    Parameters
    ----------
    ratings : Ratings
    scores : shape (P,)
        Equivalence of each of ``ratings.comparisons``.
    chance : ChanceDistribution or None
        Equivalences of different-item pairs; None where they were not computed.

    Returns
    -------
    Estimate
        In [0, 1].
    """
    both = _distributions(ratings, scores, chance)
    if isinstance(both, Estimate):
        return both
    steps, known = both
    distinct, place = np.unique(steps, return_inverse=True)
    count = sums(place, ratings.weight[ratings.comparisons.item], len(distinct))
    same_tail = np.cumsum(count[::-1])[::-1] / count.sum()
    lead = same_tail - known.tail[distinct]
    best = int(np.argmax(lead))
    if lead[best] <= 0:
        nothing = np.zeros(len(ratings.comparable_items))
        return Estimate(0.0, nothing, floor=0.0, items=ratings.comparable_items)
    at = int(distinct[best])
    influence = _pair_influence(ratings, (steps >= at).astype(np.float64)) - _tail_influence(ratings, known, at)
    expected = float(known.tail[at])
    # a resampled maximum lies near the observed one: keep the best steps, and a spread of the others
    near = distinct[np.argsort(-lead, kind="stable")[:48]]
    spread = distinct[np.unique(np.linspace(0, len(distinct) - 1, min(len(distinct), 48)).astype(np.int64))]
    replicate = _Resampled(ratings, steps, known, np.union1d(near, spread)).ks
    return Estimate(
        float(lead[best]),
        influence,
        None,
        expected,
        known.error(expected),
        floor=0.0,
        replicate=replicate,
        items=ratings.comparable_items,
    )

"""Weights of the items (Bayesian bootstrap; Rubin 1981) and equivalences in each draw.

References
----------
Rubin, D. B. (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ints, Ratings

N_DRAWS = 400
_AT_ONCE = 2_000
"""Number of items in a block of weights, which bounds the memory."""
_HALF_FROM = 20_000_000
"""Fewest numbers of an array of draws in half precision: in double precision they take too much memory.

Each is one of many in a mean, so its three digits are enough.
"""


@dataclass(frozen=True, eq=False)
class ItemWeights:
    """The items of a table and their weights, which are computed once for all draws of the table.

    Attributes
    ----------
    ids : shape (N,)
        A number that identifies each item: two tables share the weights of an item.
    n_items : int
        Number of items with something to compare.
    n_draws : int
        Number of draws K.
    """

    ids: Ints
    n_items: int
    n_draws: int = N_DRAWS

    @classmethod
    def of(cls, names: Iterable[str], ratings: Ratings) -> ItemWeights:
        """The items of ratings, each with a number that depends on its name only."""
        ids = [zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in names]
        return cls(np.array(ids, dtype=np.int64), len(ratings.comparable_items))

    @cached_property
    def weights(self) -> Floats:
        """Weights of the items in each draw, mean 1, shape (N, K).

        An item's weights depend on its id only, so that the same item has the same weights in two tables.
        """
        n_ids, n_draws = len(self.ids), self.n_draws
        # a Dirichlet distribution has the variance of the mean with n + 1 in place of n - 1
        spread = np.sqrt((self.n_items + 1) / max(self.n_items - 1, 1))
        weights: Floats = np.empty((n_ids, n_draws), number_format(n_ids * n_draws))
        for start in range(0, n_ids, _AT_ONCE):  # all at once would take several times the memory of the result
            rows = slice(start, start + _AT_ONCE)
            uniform = _hashed(self.ids[rows].astype(np.uint64), n_draws)
            weights[rows] = np.maximum(1 + (-np.log(uniform) - 1) * spread, 0.01)
        return weights


def number_format(size: int) -> Any:
    """Precision of an array of draws."""
    return np.float64 if size < _HALF_FROM else np.float16


def _hashed(keys: Any, n_draws: int) -> Floats:
    """Uniform numbers in (0, 1) that depend on key and draw (SplitMix64; Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        z = keys[:, None] * np.uint64(0x9E3779B97F4A7C15)
        z = z + np.arange(1, n_draws + 1, dtype=np.uint64)[None, :] * np.uint64(0xD1B54A32D192ED03)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53


@dataclass(frozen=True, eq=False)
class ScoreDraws:
    """The equivalence of each comparison in each draw: a constant plus shares of a few levels that vary.

    Attributes
    ----------
    constant : shape (P,)
        The part of each equivalence that is the same in all draws.
    shares : sparse matrix or array, shape (P, L)
        How much of each level the equivalence contains.
    levels : shape (L, K)
        Levels in each draw, such as the probability that two texts mean the same.
    noise : shape (P, K)
        Deviation of the true equivalence from the drawn one, in units of ``noise_unit``. Items are drawn from a
        population with the distribution of the drawn one, so the item weights do not apply to the deviation.
    lowest, highest : float
        Bounds of an equivalence.
    noise_unit : float
        Large tables have whole numbers as ``noise``, of one byte each.
    """

    constant: Floats
    shares: Any
    levels: Floats
    noise: Any
    lowest: float = -np.inf
    highest: float = np.inf
    noise_unit: float = 1.0

    @classmethod
    def fixed(cls, scores: Floats, n_draws: int) -> ScoreDraws:
        """The same equivalences in all draws."""
        return cls.exact(scores, np.zeros((len(scores), 0)), np.zeros((0, n_draws)))

    @classmethod
    def exact(cls, constant: Floats, shares: Any, levels: Floats) -> ScoreDraws:
        """Equivalences without noise and bounds."""
        return cls(constant, shares, levels, np.broadcast_to(np.zeros((1, 1)), (len(constant), levels.shape[1])))

    def columns(self, columns: slice) -> ScoreDraws:
        """Some of the draws."""
        return replace(self, levels=self.levels[:, columns], noise=self.noise[:, columns])

    def of(self, comparisons: Ints | slice) -> Floats:
        """Equivalences of some comparisons, shape (n, K)."""
        constant = self.constant[comparisons, None]
        if not len(self.levels):
            return np.broadcast_to(constant, (len(constant), self.levels.shape[1]))
        scores = np.asarray(self.shares[comparisons] @ self.levels)
        scores += constant
        return np.clip(scores, self.lowest, self.highest, out=scores)

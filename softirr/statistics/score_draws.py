"""Equivalences in each draw, computed for some comparisons and draws at a time: all of them take much memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats, Ints


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
    lowest, highest : float
        Bounds of an equivalence.
    """

    constant: Floats
    shares: Any
    levels: Floats
    lowest: float = -np.inf
    highest: float = np.inf

    @classmethod
    def fixed(cls, scores: Floats, n_draws: int) -> ScoreDraws:
        """The same equivalences in all draws."""
        return cls(scores, np.zeros((len(scores), 0)), np.zeros((0, n_draws)))

    def columns(self, columns: slice) -> ScoreDraws:
        """Some of the draws."""
        return replace(self, levels=self.levels[:, columns])

    def of(self, comparisons: Ints | slice) -> Floats:
        """Equivalences of some comparisons, shape (n, K)."""
        constant = self.constant[comparisons, None]
        if not len(self.levels):
            return np.broadcast_to(constant, (len(constant), self.levels.shape[1]))
        scores = np.asarray(self.shares[comparisons] @ self.levels)
        scores += constant
        return np.clip(scores, self.lowest, self.highest, out=scores)

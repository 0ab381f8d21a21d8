"""Equivalence of answers, and the agreement expected by chance that is computed from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints, Pooling
from softirr.meaning.measures.arrays import pair_keys

GRID = 65_536
"""Steps of the grid on which sigma and KS compare equivalences, so that ties are the same on every machine."""


class Equivalence(Protocol):
    """Equivalence of distinct answers by index, symmetric, 1 for an answer with itself.

    ``AnswerScorer``, or a matrix.
    """

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Equivalence of answer k[i] with answer l[i], shape (n,)."""
        ...

    def block(self, ks: Ints, ls: Ints) -> NDArray[Any]:
        """Equivalence of each answer in ks with each in ls, shape (len(ks), len(ls))."""
        ...


class MatrixEquivalence:
    """Equivalence given as a symmetric matrix with ones on its diagonal: weighted kappa's weights.

    The identity is classical.

    Parameters
    ----------
    matrix : shape (V, V)
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Entries (k[i], l[i])."""
        return self.matrix[k, l]

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """Rows ks and columns ls."""
        return self.matrix[np.ix_(ks, ls)]


class PairEquivalence:
    """An equivalence that scores pairs only, for a few answers, as an `Equivalence` with blocks.

    Parameters
    ----------
    score : callable
        Equivalence of answers k[i] and l[i].
    """

    def __init__(self, score: Callable[[Ints, Ints], Floats]) -> None:
        self.score = score

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """Equivalence of each answer in ks with each in ls, shape (len(ks), len(ls)); each pair is scored."""
        return self.score(np.repeat(ks, len(ls)), np.tile(ls, len(ks))).reshape(len(ks), len(ls))


def on_grid(equivalence: Any) -> Ints:
    """Round equivalences to steps of 1/65,536, through float32 so that float32 and float64 scores give the same step.

    Parameters
    ----------
    equivalence : array_like
        Values in [0, 1], of any shape.

    Returns
    -------
    array of int
        From 0 to 65,536, of the same shape.
    """
    return np.rint(np.asarray(equivalence, dtype=np.float32) * np.float32(GRID)).astype(np.int64)


def different_pairs(k: Ints, l: Ints, n_answers: int) -> int:  # noqa: E741
    """Number of unordered pairs of different answers k[i] and l[i], however often they are given.

    Parameters
    ----------
    k, l : shape (n,)
    n_answers : int
        Number of answers of the table; every index is below it.
    """
    return len(np.unique(pair_keys(k, l, n_answers)[k != l]))


@dataclass(frozen=True, eq=False)
class ChanceDistribution:
    """Equivalences of answers to different items, on the grid.

    Attributes
    ----------
    tail : shape (GRID + 2,)
        ``tail[e]``: share of different-item pairs with an equivalence of e steps or more; ``tail[GRID + 1]`` is 0.
    sample : float
        Number of independent pairs it was estimated from; infinite when it includes all pairs.
    row_tail : callable, optional
        ``row_tail(e)``: the same share among the pairs of each comparable row, shape (n,); None if unknown.
    """

    tail: Floats
    sample: float = np.inf
    row_tail: Callable[[int], Floats] | None = None

    @classmethod
    def of(
        cls, counts: Floats, row_tail: Callable[[int], Floats] | None = None, *, sample: float = np.inf
    ) -> ChanceDistribution:
        """Make the distribution from the number of pairs at each step, shape (GRID + 1,); at least one pair."""
        counts = np.maximum(counts, 0)
        tail = np.zeros(GRID + 2)
        tail[:-1] = np.cumsum(counts[::-1])[::-1] / counts.sum()
        return cls(tail, sample, row_tail)

    def error(self, share: float) -> float:
        """Standard error of a tail share from the sampling of pairs."""
        return float(np.sqrt(share * (1 - share) / self.sample))


@dataclass(frozen=True, eq=False, kw_only=True)
class Chance:
    """Expected agreements of all coefficients, with the quantities that draws of the item weights need.

    Attributes
    ----------
    method : str
        ``exact``, ``permutation`` or ``sample``.
    cohen, cohen_error : shape (m,)
        Expected agreement of each rater pair, in the order of ``Comparisons.rater_pairs``, and its standard error from
        sampling.
    cohen_met : shape (P,)
        For each same-item pair: mean equivalence of its left answer with the right rater's answers to the shared items,
        plus the mean equivalence of its right answer with the left rater's.
    cohen_noise : shape (m,), optional
        Mean variance that sampling adds to ``cohen_met``, by the squared weights of the items; None if it adds none.
    pooling : Pooling
        The rows of π and their weights.
    pooled, pooled_error : float
        π' S π: the expected agreement of Scott and Fleiss.
    pooled_at : shape (n,)
        For each row of ``pooling``: mean equivalence of its answer with an answer drawn from π.
    pooled_noise : float
        Mean variance that sampling adds to ``pooled_at``, by squared weights.
    distinct : int
        Number of distinct answers, q.
    similarity : float
        Mean of S over all q × q pairs of distinct answers.
    distribution : ChanceDistribution or None
        Equivalences of answers to different items; None with one item.
    pairs_scored : int
        Number of unordered pairs of different answers that were scored.
    cohen_common : shape (m,), or 0
        The part of ``cohen_error`` that comes from an error that all rater pairs share. The rest is independent between
        rater pairs.
    pooled_without : shape (n_raters,), optional
        ``pooled`` without each rater in turn, nan if no answers remain; None for marginals other than ``answers``.
    """

    method: str
    cohen: Floats
    cohen_error: Floats | float = 0.0
    cohen_met: Floats
    cohen_noise: Floats | None = None
    pooling: Pooling
    pooled: float
    pooled_error: float = 0.0
    pooled_at: Floats
    pooled_noise: float = 0.0
    distinct: int
    similarity: float
    distribution: ChanceDistribution | None
    pairs_scored: int
    cohen_common: Floats | float = 0.0
    pooled_without: Floats | None = None

    def cohen_sum_error(self, slopes: Floats) -> float:
        """Standard error, from sampling, of a sum of ``cohen`` with weights of shape (m,)."""
        independent_variance = np.maximum(self.cohen_error**2 - np.square(self.cohen_common), 0.0)
        common = np.sum(slopes * self.cohen_common)
        return float(np.sqrt(common**2 + np.sum(slopes**2 * independent_variance)))

    @property
    def standard_error(self) -> float:
        """The larger of two standard errors: of the mean over rater pairs, and of the pooled expectation."""
        shares = np.ones(len(self.cohen)) / len(self.cohen)
        return max(self.cohen_sum_error(shares), self.pooled_error)


def shrinkage(variance: Floats, noise: Floats) -> Floats:
    """Factor by which deviations with this variance shrink so that they no longer contain the noise."""
    return np.asarray(np.sqrt(np.clip(1 - noise / np.maximum(variance, 1e-300), 0, 1)))

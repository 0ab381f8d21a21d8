"""The equivalence of distinct answers, as the computation of chance takes it: by pairs, or in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints


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
        self._score = score

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Equivalence of answer k[i] with answer l[i], shape (n,)."""
        return self._score(k, l)

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """Equivalence of each answer in ks with each in ls, shape (len(ks), len(ls)); each pair is scored."""
        return self._score(np.repeat(ks, len(ls)), np.tile(ls, len(ks))).reshape(len(ks), len(ls))

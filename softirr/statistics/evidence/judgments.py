"""Judged pairs of texts as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Floats, Ints

__all__ = ["Judged"]


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of texts.

    Attributes
    ----------
    keys : shape (n,)
        ``low * n_texts + high`` of the numbers of the two texts, ascending.
    same : shape (n,)
        1 where the texts mean the same, 0 where not, in between where judges differ.
    weight : shape (n,)
        Inverse of the relative probability with which each pair was drawn.
    p : shape (n,)
        The measure's P.
    """

    keys: Ints
    same: Floats
    weight: Floats
    p: Floats
    n_texts: int

    @classmethod
    def nothing(cls, n_texts: int) -> Judged:
        """No judgments."""
        none = np.zeros(0)
        return cls(np.zeros(0, dtype=np.int64), none, none, none, n_texts)

    def place(self, left: Ints, right: Ints) -> Ints:
        """Number of the judgment of texts left[i] and right[i], -1 where there is none, shape (len(left),)."""
        if not len(self.keys):
            return np.full(len(left), -1, dtype=np.int64)
        key = self.key(left, right)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, at, -1)

    def key(self, left: Ints, right: Ints) -> Ints:
        """A number for the unordered pair of texts left[i] and right[i], shape (len(left),)."""
        return np.asarray(np.minimum(left, right) * np.int64(self.n_texts) + np.maximum(left, right))

"""Judged pairs of texts as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.meaning.measures.arrays import find_keys


@dataclass(frozen=True, eq=False)
class FormerPairs:
    """Judged pairs of texts that are no longer pairs of the table.

    They inform the calibration of the measure and nothing else.

    Attributes
    ----------
    p : shape (n,)
        The measure's P.
    same : shape (n,)
        1 for the same meaning, 0 for different ones, in between if judges differ.
    of_item : shape (n,)
        Whether the texts were of answers to the same item.
    """

    p: Floats
    same: Floats
    of_item: Ints

    @classmethod
    def nothing(cls) -> FormerPairs:
        """No such pairs."""
        return cls(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))

    def part(self, *, of_item: bool) -> tuple[Floats, Floats]:
        """P and judgment of the pairs of the same item, or of different ones."""
        selected = self.of_item == of_item
        return self.p[selected], self.same[selected]


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of texts.

    Attributes
    ----------
    keys : shape (n,)
        ``low * n_texts + high`` of the numbers of the two texts, ascending.
    same : shape (n,)
        1 for the same meaning, 0 for different ones, in between if judges differ.
    p : shape (n,)
        The measure's P.
    n_texts : int
        Number of texts of the table; part of the encoding of ``keys``.
    former : FormerPairs
        Judged pairs that are no longer pairs of the table.
    """

    keys: Ints
    same: Floats
    p: Floats
    n_texts: int
    former: FormerPairs = field(default_factory=FormerPairs.nothing)

    @classmethod
    def nothing(cls, n_texts: int) -> Judged:
        """No judgments."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), n_texts)

    def place(self, left_texts: Ints, right_texts: Ints) -> Ints:
        """Number of the judgment of each pair of texts, -1 without one, shape (len(left_texts),)."""
        index, is_judged = find_keys(self.keys, self.key(left_texts, right_texts))
        return np.where(is_judged, index, -1)

    def key(self, left_texts: Ints, right_texts: Ints) -> Ints:
        """A number for each unordered pair of texts, shape (len(left_texts),)."""
        return np.asarray(
            np.minimum(left_texts, right_texts) * np.int64(self.n_texts) + np.maximum(left_texts, right_texts)
        )

"""The plan of a job: unique texts, and each unordered pair of different texts once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.text import normalize

__all__ = ["PairPlan"]


@dataclass(frozen=True, eq=False)
class PairPlan:
    """The unique texts and pairs that a model has to score for a list of pairs.

    Attributes
    ----------
    texts
        Unique normalized texts, sorted, so that the plan does not depend on the order of the pairs.
    low, high : shape (m,)
        Unordered pairs of different texts as indices, low < high, each once.
    wanted : shape (n,)
        For each pair of the list its index in low and high; -1 where both texts are the same.
    turned : shape (n,)
        Whether the list has the pair in reverse order.
    """

    texts: tuple[str, ...]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    wanted: NDArray[np.int64]
    turned: NDArray[np.bool_]

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> PairPlan:
        """The plan of a list of pairs."""
        left, right = [normalize(a) for a, _ in pairs], [normalize(b) for _, b in pairs]
        texts = tuple(sorted({*left, *right}))
        numbers = {text: number for number, text in enumerate(texts)}
        a = np.fromiter((numbers[text] for text in left), dtype=np.int64, count=len(left))
        b = np.fromiter((numbers[text] for text in right), dtype=np.int64, count=len(right))
        differ = np.flatnonzero(a != b)
        keys, places = np.unique(
            np.minimum(a, b)[differ] * max(len(texts), 1) + np.maximum(a, b)[differ], return_inverse=True
        )
        wanted = np.full(len(pairs), -1, dtype=np.int64)
        wanted[differ] = places
        low, high = np.divmod(keys, max(len(texts), 1))
        return cls(texts, low, high, wanted, a > b)

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the unordered pairs, shape (m, 2) as (low ⇒ high, high ⇒ low), as values of the list, shape (n, 2).

        1 for the same text.
        """
        result = np.ones((len(self.wanted), 2), dtype=np.float64)
        known = self.wanted >= 0
        result[known] = values[self.wanted[known]]
        swap = known & self.turned
        result[swap] = result[swap][:, ::-1]
        return result

    def spread_flags(self, flags: NDArray[np.bool_], *, same: bool) -> NDArray[np.bool_]:
        """Flags of the unordered pairs, shape (m,), as flags of the list, shape (n,); `same` for the same text."""
        result = np.full(len(self.wanted), same)
        known = self.wanted >= 0
        result[known] = flags[self.wanted[known]]
        return result

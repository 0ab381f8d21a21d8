"""The plan of a job: unique texts, and each unordered pair of different texts once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.protocols import Pairs, numbered_pairs

__all__ = ["PairPlan", "each_once"]

Ints = NDArray[np.int64]


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
    def of(cls, pairs: Pairs) -> PairPlan:
        """The plan of a list of pairs."""
        texts, left, right = numbered_pairs(pairs)
        order = sorted(range(len(texts)), key=texts.__getitem__)
        place = np.argsort(np.array(order, dtype=np.int64))
        a, b = place[left], place[right]
        low, high, wanted = each_once(np.minimum(a, b), np.maximum(a, b))
        return cls(tuple(texts[k] for k in order), low, high, wanted, a > b)

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


def each_once(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """Pairs of different numbers, each once, in order.

    Parameters
    ----------
    first, second : shape (n,)
        Not negative.

    Returns
    -------
    shape (m,), shape (m,)
        The numbers of each different pair.
    shape (n,)
        The place of each given pair among these; -1 for a number with itself.

    Examples
    --------
    >>> first, second, places = each_once(np.array([2, 1, 0, 2]), np.array([3, 1, 2, 3]))
    >>> first.tolist(), second.tolist(), places.tolist()
    ([0, 2], [2, 3], [1, -1, 0, 1])
    """
    size = max(int(first.max(initial=0)), int(second.max(initial=0))) + 1
    differ = np.flatnonzero(first != second)
    keys, places = np.unique(first[differ] * size + second[differ], return_inverse=True)
    wanted = np.full(len(first), -1, dtype=np.int64)
    wanted[differ] = places
    low, high = np.divmod(keys, size)
    return low, high, wanted

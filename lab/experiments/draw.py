"""Random draws that are the same to the byte on every machine, in every version of Python and NumPy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws that depends on its key alone.

    Only ``random.Random.random`` is used, because Python promises never to change its sequence.

    Parameters
    ----------
    key
        Parts of the stream's name, such as (seed, terminology, setting, number).
    """

    def __init__(self, *key: object) -> None:
        self._random = random.Random("/".join(str(word) for word in key)).random

    def unit(self) -> float:
        """A number in [0, 1)."""
        return self._random()

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._random() * n)

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Draw k of the items, each at most once, in random order."""
        pool = list(items)
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]

"""Stores of scored pairs: what a model has scored once is never scored again.

A pair is kept under the hash of the model's content and the hashes of both texts, never under the texts themselves; the value is
P(first ⇒ second) and P(second ⇒ first) (a symmetric measure puts the same number twice).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 16


def text_hash(text: str) -> bytes:
    """The hash that stands for a normalised text, 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=HASH_BYTES).digest()


@runtime_checkable
class PairCache(Protocol):
    """A store of scored pairs. The first hash of a pair is never greater than the second."""

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Values of the pairs, shape (n, 2), and whether each is known, shape (n,); unknown ones are 0."""
        ...

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """Keeps values of shape (n, 2); the last put of a pair stays."""
        ...

    def close(self) -> None:
        """Lets go of files and connections."""
        ...


class MemoryCache:
    """Scored pairs in this process's memory."""

    def __init__(self) -> None:
        self._values: dict[str, dict[tuple[bytes, bytes], tuple[float, float]]] = {}

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """As :meth:`PairCache.get`."""
        known = self._values.get(model, {})
        return _answer(pairs, ((place, known[pair]) for place, pair in enumerate(pairs) if pair in known))

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """As :meth:`PairCache.put`."""
        self._values.setdefault(model, {}).update(zip(pairs, map(tuple, values.tolist()), strict=True))

    def close(self) -> None:
        """Forgets everything."""
        self._values.clear()


def _answer(
    pairs: list[tuple[bytes, bytes]], found: Iterable[tuple[int, tuple[float, float]]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values = np.zeros((len(pairs), 2), dtype=np.float64)
    known = np.zeros(len(pairs), dtype=bool)
    for place, value in found:
        values[place] = value
        known[place] = True
    return values, known

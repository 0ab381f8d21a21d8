"""Base class of stores of scored pairs, so that a model scores each pair once.

The key of a pair consists of the hash of the model's content and the hashes of both texts; texts are never stored. The
value is P(first ⇒ second) and P(second ⇒ first) (a symmetric measure stores the same number twice).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 16
ROWS_AT_ONCE = 10_000
"""Number of keys of one database query."""


def text_hash(text: str) -> bytes:
    """Hash of a normalized text, 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=HASH_BYTES).digest()


class PairCache:
    """A store of scored pairs, by default of none. The first hash of a pair is never greater than the second."""

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Values of the pairs, shape (n, 2), and whether each is known, shape (n,); unknown ones are 0."""
        indices: dict[bytes, list[int]] = {}
        for index, key in enumerate(_keys(model, pairs)):
            indices.setdefault(key, []).append(index)
        values = np.zeros((len(pairs), 2), dtype=np.float64)
        is_known = np.zeros(len(pairs), dtype=bool)
        for key, forward, backward in self._read(list(indices)):
            values[indices[bytes(key)]] = forward, backward
            is_known[indices[bytes(key)]] = True
        return values, is_known

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """Store values of shape (n, 2); a later value replaces an earlier one."""
        # the last of equal keys stays; sorted keys prevent deadlocks of two writers
        rows = dict(zip(_keys(model, pairs), values.tolist(), strict=True))
        if rows:
            self._write([(key, *rows[key]) for key in sorted(rows)])

    def close(self) -> None:
        """Close files and connections."""

    def _read(self, keys: list[bytes]) -> Iterable[tuple[bytes, float, float]]:
        """Stored rows (key, forward, backward) of some keys."""
        return []

    def _write(self, rows: list[tuple[bytes, float, float]]) -> None:
        """Store rows (key, forward, backward)."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _keys(model: str, pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Key of each pair: the hash of the model's key and the hashes of both texts."""
    base = hashlib.blake2b(model.encode("utf-8"), digest_size=HASH_BYTES)
    keys = []
    for first, second in pairs:
        key = base.copy()
        key.update(first + second)
        keys.append(key.digest())
    return keys

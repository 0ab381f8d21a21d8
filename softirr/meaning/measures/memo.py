"""Scores of pairs that a scorer has computed."""

from __future__ import annotations

import numpy as np

from softirr.meaning.measures.arrays import Bools, Floats, Ints

__all__ = ["Memo"]

_Part = tuple[Ints, Floats]


class Memo:
    """Sorted keys with values of shape (n, 2); a small recent part makes many small additions cheap."""

    def __init__(self) -> None:
        self._parts = [self._empty(), self._empty()]

    @staticmethod
    def _empty() -> _Part:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.float64)

    def get(self, keys: Ints) -> tuple[Floats, Bools]:
        """Values, shape (n, 2), and which keys are known."""
        values, is_known = np.zeros((len(keys), 2), dtype=np.float64), np.zeros(len(keys), dtype=bool)
        for part_keys, part_values in self._parts:
            if len(part_keys):
                place = np.minimum(np.searchsorted(part_keys, keys), len(part_keys) - 1)
                is_found = part_keys[place] == keys
                values[is_found] = part_values[place[is_found]]
                is_known |= is_found
        return values, is_known

    def put(self, keys: Ints, values: Floats) -> None:
        """Add sorted keys that are not known yet."""
        self._parts[1] = self._merged(self._parts[1], (keys, values))
        if len(self._parts[1][0]) > max(4096, len(self._parts[0][0]) // 8):
            self._parts = [self._merged(*self._parts), self._empty()]

    @staticmethod
    def _merged(old: _Part, new: _Part) -> _Part:
        place = np.searchsorted(old[0], new[0])
        return np.insert(old[0], place, new[0]), np.insert(old[1], place, new[1], axis=0)

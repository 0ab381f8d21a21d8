"""Attributes that two texts give to each other's findings: "mild headache, severe nausea" and the reverse.

Both texts have the same words, so a model that reads them as a bag of words calls them the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from softirr.lexicon.words import entries, opposites
from softirr.measures.assertions import Assertions
from softirr.terminology.folded_words import fold_word

__all__ = ["KINDS", "ExchangedWords"]

KINDS = ("severity", "time", "opposite")
"""Kinds of words that are compared: two of attributes, and opposites that belong to neither."""


@cache
def _kind_of() -> dict[str, str]:
    """The kind of each folded word; sides are compared by themselves."""
    words = dict.fromkeys((fold_word(word) for pair in opposites("exclude") for word in pair), "opposite")
    named = [(word, entry.kind) for entry in entries() if entry.kind in KINDS for word in entry.wordings]
    words |= {fold_word(word): kind for word, kind in named if word.isalpha()}
    sides = (word for entry in entries() if entry.kind == "side" for word in entry.wordings)
    for word in sides:
        words.pop(fold_word(word), None)
    return words


class ExchangedWords:
    """The clauses of n texts without their attributes, and the attributes of each clause.

    Parameters
    ----------
    asserted : sequence of Assertions or None
        The clauses of each text.

    Examples
    --------
    >>> from softirr.measures.assertions import assertions
    >>> texts = ["mild headache, severe nausea", "severe headache, mild nausea", "severe nausea, mild headache"]
    >>> words = ExchangedWords([assertions(text) for text in texts])
    >>> words.differ(np.array([0, 0]), np.array([1, 2]), ["severity"]).tolist()
    [True, False]
    """

    def __init__(self, asserted: Sequence[Assertions | None]) -> None:
        parts = [_parts(one) for one in asserted]
        most = max(map(len, parts), default=0)
        frames: dict[object, int] = {}
        self._frame = np.zeros(len(parts), dtype=np.int64)
        self._values = {kind: np.zeros((len(parts), most), dtype=np.int64) for kind in KINDS}
        self._all = {kind: np.zeros(len(parts), dtype=np.int64) for kind in KINDS}
        numbers: dict[tuple[str, ...], int] = {(): 0}
        for k, clauses in enumerate(parts):
            if not clauses:
                continue
            self._frame[k] = frames.setdefault(tuple(clauses), len(frames) + 1)
            for kind in KINDS:
                own = [tuple(word for word in words if _kind_of()[word] == kind) for words in clauses.values()]
                self._values[kind][k, : len(own)] = [numbers.setdefault(words, len(numbers)) for words in own]
                together = tuple(sorted(word for words in own for word in words))
                self._all[kind][k] = numbers.setdefault(together, len(numbers))

    def differ(
        self, left: NDArray[np.int64], right: NDArray[np.int64], kinds: Collection[str] = KINDS
    ) -> NDArray[np.bool_]:
        """Which pairs have the same clauses and attributes, but a clause with other attributes than its counterpart.

        Parameters
        ----------
        left, right : ndarray of int, shape (n,)
            Numbers of the texts of each pair.
        kinds : collection of str
            The kinds of words to compare.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        result: NDArray[np.bool_] = (self._frame[left] > 0) & (self._frame[left] == self._frame[right])
        rows = np.nonzero(result)
        a, b = left[rows], right[rows]
        apart = np.zeros(len(a), dtype=bool)
        for kind in set(KINDS).intersection(kinds):
            one, other = self._values[kind][a], self._values[kind][b]
            moved = ((one != other) & (one > 0) & (other > 0)).any(axis=1)
            apart |= moved & (self._all[kind][a] == self._all[kind][b])
        result[rows] = apart
        return result


def _parts(asserted: Assertions | None) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Words of each clause without its attributes, in order, and these; none where clauses differ in nothing else."""
    if asserted is None or len(asserted.content) < 2:
        return {}
    known = _kind_of()
    parts = {
        tuple(word for word in words if word not in known): tuple(word for word in words if word in known)
        for words in asserted.content
    }
    if len(parts) < len(asserted.content) or () in parts or sum(map(bool, parts.values())) < 2:
        return {}
    return dict(sorted(parts.items()))

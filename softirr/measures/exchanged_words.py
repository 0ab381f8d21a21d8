"""What two texts with the same words exchange, so that a model which reads them as a bag of words calls them the same.

Attributes of findings ("mild headache, severe nausea" and "severe headache, mild nausea"), and the two sides of a
relation ("rash leads to fever" and "fever leads to rash", "from back to leg" and "from leg to back").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from softirr.lexicon.words import any_of, entries, opposites
from softirr.measures.assertions import Assertions
from softirr.measures.clause_words import words_of_role
from softirr.terminology.folded_words import fold_word

__all__ = ["KINDS", "ExchangedSides", "ExchangedWords"]

KINDS = ("severity", "time", "opposite")
"""Kinds of words that are compared: two of attributes, and opposites that belong to neither."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_MOST_WORDS = 30
"""Words of a text beyond which no relation is read."""


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


class ExchangedSides:
    """The words of n texts, in order, where a relation is among them.

    Parameters
    ----------
    texts : sequence of str
        Normalized.

    Examples
    --------
    >>> texts = ["rash leads to fever", "fever leads to rash", "pain from back to leg", "pain from leg to back"]
    >>> ExchangedSides(texts).differ(np.array([0, 0, 2]), np.array([1, 0, 3])).tolist()
    [True, False, True]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [_words_with_relation(text) for text in texts]
        numbers: dict[tuple[str, ...], int] = {(): 0}
        self._bag = np.array(
            [numbers.setdefault(tuple(sorted(words)), len(numbers)) for words in self._words], dtype=np.int64
        )

    def differ(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs have the same words, with the two sides of a relation exchanged.

        Parameters
        ----------
        left, right : ndarray of int
            Numbers of the texts of each pair, of shapes that go together.

        Returns
        -------
        ndarray of bool
        """
        result: NDArray[np.bool_] = (self._bag[left] > 0) & (self._bag[left] == self._bag[right])
        left, right = np.broadcast_arrays(left, right)
        pairs = zip(left[result].tolist(), right[result].tolist(), strict=True)
        result[result] = [_are_exchanged(self._words[a], self._words[b]) for a, b in pairs]
        return result


@cache
def _relation() -> re.Pattern[str]:
    ends = rf"{any_of(words_of_role('from'))}\W.+\W{any_of(words_of_role('to'))}"
    return re.compile(rf"(?<!\w)(?:{any_of(words_of_role('relation'))}|{ends})(?!\w)", re.IGNORECASE)


def _words_with_relation(text: str) -> tuple[str, ...]:
    """The folded words of a text in which a relation is; none of a longer text and of one without."""
    words = _WORD.findall(text.casefold())
    if not 3 <= len(words) <= _MOST_WORDS or not _relation().search(text):
        return ()
    return tuple(words)


def _are_exchanged(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a relation's two sides in one text are in the other order in another text, and all else is the same."""
    first = 0
    while first < len(one) and one[first] == other[first]:
        first += 1
    last = len(one)
    while last > first and one[last - 1] == other[last - 1]:
        last -= 1
    own, exchanged = one[first:last], other[first:last]
    return any(
        own[stop:] + own[start:stop] + own[:start] == exchanged and _is_relation(one[:first], own[start:stop])
        for start, stop in combinations(range(1, len(own)), 2)
    )


def _is_relation(before: tuple[str, ...], between: tuple[str, ...]) -> bool:
    """Whether the words between two sides relate them: words of a relation, or to with a from before."""
    if between[-1] in words_of_role("to") and set(before).intersection(words_of_role("from")):
        return True
    return any(words in (between[k : k + len(words)] for k in range(len(between))) for words in _relations())


@cache
def _relations() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_WORD.findall(words.casefold())) for words in words_of_role("relation"))

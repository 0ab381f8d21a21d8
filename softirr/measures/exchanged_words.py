"""What two texts with the same words exchange, so that a model which reads them as a bag of words calls them the same.

Words of two clauses ("mild headache, severe nausea" and "severe headache, mild nausea"), and the two sides of a
relation ("rash leads to fever" and "fever leads to rash", "from back to leg" and "from leg to back").
"""

from __future__ import annotations

import re
from collections import Counter
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
"""Kinds of attributes that are compared: two of the lexicon, and opposites that belong to neither."""
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
    """The clauses of n texts, and which texts put the same words together to other clauses.

    A text is seen without its attributes, with the attributes of one kind, and with all that are compared.

    Parameters
    ----------
    asserted : sequence of Assertions or None
        The clauses of each text.
    texts : sequence of str
        Normalized.

    Examples
    --------
    >>> from softirr.measures.assertions import assertions
    >>> texts = ["mild headache, severe nausea", "severe headache, mild nausea", "severe nausea, mild headache"]
    >>> words = ExchangedWords([assertions(text) for text in texts], texts)
    >>> words.differ(np.array([0, 0]), np.array([1, 2]), ["severity"]).tolist()
    [True, False]
    >>> texts = ["red bag with blue straps", "blue bag with red straps"]
    >>> bool(ExchangedWords([assertions(text) for text in texts], texts).differ(np.array([0]), np.array([1]))[0])
    True
    """

    def __init__(self, asserted: Sequence[Assertions | None], texts: Sequence[str]) -> None:
        pronouns = frozenset(words_of_role("pronoun"))
        words = [_WORD.findall(text.casefold()) for text in texts]
        self._clauses = [
            one.content if one is not None and len(one.content) > 1 and pronouns.isdisjoint(own) else ()
            for one, own in zip(asserted, words, strict=True)
        ]
        self._joined = [
            _joined(own) if clauses else frozenset() for own, clauses in zip(words, self._clauses, strict=True)
        ]
        self._views: dict[frozenset[str], _View] = {}

    def differ(
        self, left: NDArray[np.int64], right: NDArray[np.int64], kinds: Collection[str] = KINDS
    ) -> NDArray[np.bool_]:
        """Which pairs have the same words, and two clauses or more that exchange some of them.

        Parameters
        ----------
        left, right : ndarray of int, shape (n,)
            Numbers of the texts of each pair.
        kinds : collection of str
            The kinds of attributes to compare; other words are always compared.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        left, right = np.broadcast_arrays(left, right)
        result = np.zeros(left.shape, dtype=bool)
        compared = frozenset(kinds).intersection(KINDS)
        for shown in {frozenset(), *(frozenset([kind]) for kind in compared), compared}:
            if shown not in self._views:
                self._views[shown] = _View(self._clauses, self._joined, shown)
            result |= self._views[shown].differ(left, right)
        return result


class _View:
    """The clauses of n texts with attributes of some kinds only."""

    def __init__(
        self,
        clauses: Sequence[Sequence[tuple[str, ...]]],
        joined: Sequence[frozenset[frozenset[str]]],
        shown: frozenset[str],
    ) -> None:
        hidden = {word for word, kind in _kind_of().items() if kind not in shown}
        self._joined = joined
        self._clauses = [
            Counter(tuple(_bare(word) for word in words if word not in hidden) for words in own) for own in clauses
        ]
        bags: dict[object, int] = {(): 0}
        together: dict[object, int] = {}
        own_words = [tuple(sorted(word for words in own.elements() for word in words)) for own in self._clauses]
        self._bag = np.array([bags.setdefault(words, len(bags)) for words in own_words], dtype=np.int64)
        keys = [frozenset(own.items()) for own in self._clauses]
        self._together = np.array([together.setdefault(key, len(together)) for key in keys], dtype=np.int64)

    def differ(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = (self._bag[left] > 0) & (self._bag[left] == self._bag[right])
        result &= self._together[left] != self._together[right]
        pairs = zip(left[result].tolist(), right[result].tolist(), strict=True)
        result[result] = [
            _exchange(self._clauses[a], self._clauses[b], self._joined[a] & self._joined[b]) for a, b in pairs
        ]
        return result


def _exchange(
    one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]], joined: Collection[frozenset[str]]
) -> bool:
    """Whether each clause without an equal one has a counterpart in which one word is another one.

    Words that only move may belong to both clauses (meningioma of spinal canal and spinal cord, spinal canal and spinal
    cord meningioma), and so may the words around two that both texts join (mixed ductal and lobular carcinoma).
    """
    here, there = list((one - other).elements()), list((other - one).elements())
    words = {word for own in here for word in own}
    if any(pair <= words for pair in joined):
        return False
    alike = np.zeros((len(here), len(there)), dtype=bool)
    for k, own in enumerate(here):
        for j, its in enumerate(there):
            lost, gained = Counter(own) - Counter(its), Counter(its) - Counter(own)
            if not lost or not gained:
                return False
            alike[k, j] = lost.total() == gained.total() == 1 and len(own) > 1
    return bool(alike.any(axis=0).all() and alike.any(axis=1).all())


def _bare(word: str) -> str:
    """A folded word without the ending of short plurals."""
    return word.removesuffix("s")


def _joined(words: Sequence[str]) -> frozenset[frozenset[str]]:
    """Every two words with only a joining word between them."""
    bare = [_bare(fold_word(word)) for word in words]
    return frozenset(frozenset([bare[k - 1], bare[k + 1]]) for k in range(1, len(words) - 1) if words[k] in _joining())


@cache
def _joining() -> frozenset[str]:
    return frozenset(word for role in ("and", "with", "alternative") for word in words_of_role(role))


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

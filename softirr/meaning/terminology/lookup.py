"""Looking up texts in the index of a terminology.

By name, by variants of it, and by one slip of the keyboard in one word, if the text is long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.terminology.folded_words import Folder, WordLists
from softirr.meaning.terminology.index import SHORTEST_MISTYPED, TerminologyIndex, is_long
from softirr.meaning.terminology.name_keys import exact_keys, keys_of, word_keys

__all__ = ["MATCH_KINDS", "MatchKind", "TextConcepts", "find"]

MatchKind = Literal["name", "variant", "word order", "spelling"]
MATCH_KINDS: tuple[MatchKind, ...] = ("name", "variant", "word order", "spelling")
"""How a text was found: as it is but for case; with another ending, hyphen, accent, punctuation or British spelling; with its words in another
order; with one slip in a word."""
_LEVELS: tuple[tuple[str, int], ...] = (("folded", 1), ("bag", 2), ("joined", 1))
_SPELLING = 3
_KEYS = {
    key: complex(at + row / 2, 0.75 * row)
    for row, keys in enumerate(("qwertyuiop", "asdfghjkl", "zxcvbnm"))
    for at, key in enumerate(keys)
}
"""Places of the keys of a keyboard."""
_NEIGHBOR = 1.1
"""Distance below which two of them are neighbors."""


@dataclass(frozen=True, eq=False)
class TextConcepts:
    """Concepts of n texts.

    Attributes
    ----------
    text : shape (m,)
        Place of a text, ascending; a text appears once for each of its concepts.
    concept : shape (m,)
        A concept that it names.
    match_kind : shape (n,)
        Index into ``MATCH_KINDS``; -1 for texts that are not known.
    """

    text: NDArray[np.int64]
    concept: NDArray[np.int64]
    match_kind: NDArray[np.int8]


def find(index: TerminologyIndex, texts: Sequence[str]) -> TextConcepts:
    """Look up texts. The closest kind of match counts; within it, every concept of an ambiguous name is found."""
    folder = Folder()
    way = np.full(len(texts), -1, dtype=np.int8)
    places: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    concepts: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]

    def add(at: NDArray[np.int64], key: str, hashes: NDArray[np.uint64], level: int) -> None:
        text, concept = index.concepts(key, hashes)
        places.append(at[text])
        concepts.append(concept)
        way[at[text]] = level

    add(np.arange(len(texts)), "exact", exact_keys(texts), 0)
    unknown = np.flatnonzero(way < 0)
    keys, words = keys_of([texts[i] for i in unknown.tolist()], folder)
    for key, level in _LEVELS:
        rest = np.flatnonzero(way[unknown] < 0)
        add(unknown[rest], key, getattr(keys, key)[rest], level)
    rest = np.flatnonzero(way[unknown] < 0)
    at, mended = _mended(index, words.part(rest), folder)
    if len(at):
        at = unknown[rest[at]]
        respelled = word_keys(folder.numbered(mended), folder)
        for key in ("folded", "bag"):
            new = np.flatnonzero(way[at] < 0)
            add(at[new], key, getattr(respelled, key)[new], _SPELLING)
    place, concept = np.concatenate(places), np.concatenate(concepts)
    order = np.lexsort((concept, place))
    return TextConcepts(place[order], concept[order], way)


def _mended(index: TerminologyIndex, words: WordLists, folder: Folder) -> tuple[NDArray[np.int64], list[list[str]]]:
    """Texts with one word that no name has, where a single word of the names is one slip away.

    Their places and mended words.
    """
    used = np.unique(words.flat)
    if not len(used):
        return np.zeros(0, dtype=np.int64), []
    is_strange = np.zeros(len(words.vocabulary), dtype=bool)
    is_strange[used] = ~index.knows_words(folder.hashes_of(used))
    strange = np.flatnonzero(is_strange[words.flat])
    text = np.repeat(np.arange(len(words)), words.sizes)[strange]
    alone = np.bincount(text, minlength=len(words))[text] == 1
    strange, text = strange[alone], text[alone]
    numbers = [number for number in np.unique(words.flat[strange]).tolist() if is_long(words.vocabulary[number])]
    long = np.isin(words.flat[strange], numbers)
    long[long] = _letters(words.part(text[long])) >= SHORTEST_MISTYPED
    strange, text = strange[long], text[long]
    meant = dict(zip(numbers, _meant(index, [words.vocabulary[number] for number in numbers]), strict=True))
    starts = np.cumsum(words.sizes) - words.sizes
    places, mended = [], []
    for slip, place in zip(strange.tolist(), text.tolist(), strict=True):
        right = meant.get(int(words.flat[slip]))
        if right is not None:
            first = int(starts[place])
            known_words = [words.vocabulary[i] for i in words.flat[first : first + int(words.sizes[place])].tolist()]
            known_words[slip - first] = right
            places.append(place)
            mended.append(known_words)
    return np.array(places, dtype=np.int64), mended


def _letters(words: WordLists) -> NDArray[np.int64]:
    """Letters of each text."""
    sizes = [len(words.vocabulary[number]) for number in words.flat.tolist()]
    text = np.repeat(np.arange(len(words)), words.sizes)
    return np.bincount(text, weights=sizes, minlength=len(words)).astype(np.int64)


def _meant(index: TerminologyIndex, words: Sequence[str]) -> Iterator[str | None]:
    """The only word of the names that is one slip away from each word, if there is one."""
    for word, others in zip(words, index.words_near(words), strict=True):
        near = [other for other in others if one_slip(word, other)]
        yield near[0] if len(near) == 1 else None


def one_slip(word: str, other: str) -> bool:
    """Whether one slip makes one word of the other: a letter lost or added, two exchanged, or a neighboring key.

    The first letter stays.

    Other changes of a letter make another word more often than a misspelling: microcephaly, macrocephaly.

    Examples
    --------
    >>> one_slip("hypertenison", "hypertension"), one_slip("microcephaly", "macrocephaly")
    (True, False)
    """
    from rapidfuzz.distance import OSA

    if word[:1] != other[:1] or OSA.distance(word, other) != 1:
        return False
    differ = [(a, b) for a, b in zip(word, other, strict=False) if a != b]
    if len(word) != len(other) or len(differ) == 2:
        return True
    return all(abs(_KEYS.get(a, math.inf) - _KEYS.get(b, -math.inf)) < _NEIGHBOR for a, b in differ)

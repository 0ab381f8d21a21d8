"""Keys of names: two texts with an equal key differ in case, number, spelling, hyphens, punctuation or word order only.

A text has four keys, each a number of 64 bits and 0 where it has none: exact (case folded), ``folded`` (words without
plural endings, accents and British spelling, in order), ``bag`` (the same in any order) and ``joined`` (the words
written as one). Word order is kept wherever it can carry meaning: around words such as "due to" and "without", and in
texts with two numbers or with opposites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.terminology.folded_words import SHORTEST_JOINED, Folder, Role, WordLists
from softirr.meaning.terminology.hashes import STEP, Hashes, Ints, hash_texts, mixed, powers, summed
from softirr.text import normalize

__all__ = ["Keys", "exact_keys", "keys_of", "pair_hashes", "word_keys"]


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of n texts, each of shape (n,)."""

    folded: Hashes
    bag: Hashes
    joined: Hashes


def keys_of(texts: Sequence[str], folder: Folder | None = None) -> tuple[Keys, WordLists]:
    """Keys of texts, and the folded words of each.

    Parameters
    ----------
    folder : Folder, optional
        Remembers words from call to call.

    Examples
    --------
    >>> keys, _ = keys_of(["Cancer of the lung", "lung cancers", "lung cancer due to smoking"])
    >>> bool(keys.bag[0] == keys.bag[1]), bool(keys.bag[1] == keys.bag[2])
    (True, False)
    """
    folder = folder or Folder()
    words = folder.word_lists([normalize(text) for text in texts])
    return word_keys(words, folder), words


def pair_hashes(words: WordLists, folder: Folder) -> Hashes:
    """Hashes of every two neighboring words.

    Parameters
    ----------
    folder : Folder
        That numbered them.

    Returns
    -------
    shape (m,)
    """
    text = np.repeat(np.arange(len(words)), words.sizes)
    word = folder.hashes_of(words.flat)
    return mixed(word[:-1] + mixed(word[1:] + STEP))[text[:-1] == text[1:]]


def exact_keys(texts: Sequence[str]) -> Hashes:
    """Keys of texts but for case and white space.

    Returns
    -------
    shape (n,)
    """
    return hash_texts([normalize(text, casefold=True) for text in texts])


def word_keys(words: WordLists, folder: Folder) -> Keys:
    """Keys of texts whose folded words are known already."""
    n, flat, sizes = len(words), words.flat, words.sizes
    text = np.repeat(np.arange(n), sizes)
    start = np.cumsum(sizes) - sizes
    joined = _joined(words, folder, text, start)
    word, role = folder.hashes_of(flat), folder.roles_of(flat)
    place = (np.arange(len(flat)) - start[text]).astype(np.uint64)
    folded = summed(mixed(word + (place + np.uint64(1)) * STEP), text, n)
    segment, side = _segments(role, text, start)
    kept = role != Role.DROPPED
    n_segments = int(segment[-1]) + 1 if len(segment) else 0
    inner = summed(mixed(word[kept]), segment[kept], n_segments)
    text_of, side_of = np.zeros(n_segments, dtype=np.int64), np.zeros(n_segments, dtype=np.uint64)
    text_of[segment], side_of[segment] = text, side
    bag = summed(mixed(inner + (side_of + np.uint64(1)) * STEP), text_of, n)
    bag[_ordered(role, text, n)] = 0
    return Keys(folded, bag, joined)


def _segments(
    role: NDArray[np.int64], text: NDArray[np.int64], start: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Hashes]:
    """The segment of each word, from 0, and how many directed words come before it in its text.

    A segment is a stretch between directed and joining words, or one of these: words move within it.
    """
    if not len(role):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    directed = (role == Role.DIRECTED).astype(np.int64)
    alone = (directed > 0) | (role == Role.JOINING)
    new = alone.copy()
    new[1:] |= alone[:-1] | (text[1:] != text[:-1])
    new[0] = False
    so_far = np.cumsum(directed)
    return np.cumsum(new), (so_far - (so_far - directed)[start[text]]).astype(np.uint64)


def _joined(words: WordLists, folder: Folder, text: Ints, start: Ints) -> Hashes:
    """Hashes of the words of each text written as one; 0 for short texts."""
    n = len(words)
    letters, lengths = folder.letters_of(words.flat)
    whole = np.zeros(n, dtype=np.int64)
    np.add.at(whole, text, lengths)
    before = np.cumsum(lengths) - lengths
    if len(before):
        filled = start[text]
        before -= before[filled]
    result = mixed(summed(letters * powers(before)[before], text, n))
    result[whole < SHORTEST_JOINED] = 0
    return result


def _ordered(role: NDArray[np.int64], text: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Texts in which word order counts: those with two numbers or two opposites."""
    counts = [np.bincount(text[role == wanted], minlength=n) for wanted in (Role.OPPOSITE, Role.NUMBER)]
    return np.asarray((counts[0] > 1) | (counts[1] > 1))

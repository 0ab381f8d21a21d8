"""Hashes of many texts at a time, of words without each of their letters, and sums of hashes by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat

import numpy as np
from numpy.typing import NDArray

__all__ = ["STEP", "Hashes", "Ints", "cut_hashes", "hash_texts", "letter_polynomials", "mixed", "powers", "summed"]

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]

STEP = np.uint64(0x9E3779B97F4A7C15)
"""Added to a hash once for each place, so that equal values at other places differ."""
_BASE = 0xD1342543DE82EF95
_MASK = (1 << 64) - 1


def hash_texts(texts: Sequence[str]) -> Hashes:
    """Hashes of many texts, 64 bits each; 0 for empty texts.

    Returns
    -------
    shape (n,)
    """
    letters = _letters(texts)
    return summed(_placed(letters.flat, letters.place), letters.text, len(texts))


def cut_hashes(words: Sequence[str]) -> tuple[Hashes, Ints]:
    """Hashes of words as they are, and without each of their letters in turn.

    Returns
    -------
    shape (m,), shape (m,)
        Hashes, and the place of the word that each belongs to. Every word has each of its hashes once.
    """
    letters = _letters(words)
    first = np.zeros(len(letters.flat) + 1, dtype=np.uint64)
    moved = first.copy()
    np.cumsum(_placed(letters.flat, letters.place), out=first[1:])
    np.cumsum(_placed(letters.flat, letters.place - 1), out=moved[1:])
    start = np.concatenate([[0], np.cumsum(letters.sizes)])
    whole = first[start[1:]] - first[start[:-1]]
    cut = np.arange(len(letters.flat))
    cut = cut[
        ~((letters.place > 0) & (letters.flat == np.roll(letters.flat, 1)))
    ]  # of two equal letters one is left out
    word = letters.text[cut]
    rest = (first[cut] - first[start[word]]) + (moved[start[word + 1]] - moved[cut + 1])
    return np.concatenate([whole, rest]), np.concatenate([np.arange(len(words)), word])


@dataclass(frozen=True, eq=False)
class _Letters:
    """The bytes of n texts, one text after the other, shape (m,): the place of each in its text, and its text.

    ``sizes``, of shape (n,), has the number of bytes of each text.
    """

    flat: NDArray[np.uint8]
    place: Ints
    text: Ints
    sizes: Ints


def _letters(texts: Sequence[str]) -> _Letters:
    joined = "".join(texts)
    if joined.isascii():
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    else:
        sizes = np.fromiter((len(text.encode("utf-8")) for text in texts), dtype=np.int64, count=len(texts))
    flat = np.frombuffer(joined.encode("utf-8"), dtype=np.uint8)
    place = np.arange(len(flat)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return _Letters(flat, place, np.repeat(np.arange(len(texts)), sizes), sizes)


def _placed(letters: NDArray[np.uint8], place: Ints) -> Hashes:
    """Hashes of letters at their places."""
    return mixed(letters + (place + 1).astype(np.uint64) * STEP)


def letter_polynomials(words: Sequence[str]) -> tuple[Hashes, Ints]:
    """The bytes of words as polynomials modulo 2**64, from which the polynomials of joined words follow.

    Returns
    -------
    shape (n,), shape (n,)
        Polynomials, and lengths in bytes.
    """
    letters = _letters(words)
    values = (letters.flat.astype(np.uint64) + np.uint64(1)) * STEP
    return summed(values * powers(letters.sizes)[letters.place], letters.text, len(words)), letters.sizes


def powers(lengths: Ints) -> Hashes:
    """Powers of the base of polynomials, from the 0th to the power of the greatest length.

    Parameters
    ----------
    lengths : shape (n,)

    Returns
    -------
    shape (greatest length + 1,)
    """
    most = int(lengths.max(initial=0))
    return np.fromiter(accumulate(repeat(_BASE, most), lambda a, b: a * b & _MASK, initial=1), dtype=np.uint64)


def mixed(values: Hashes) -> Hashes:
    """A bijection that spreads every bit (the finalizer of SplitMix64, Steele et al. 2014).

    Parameters
    ----------
    values : shape (n,)

    Returns
    -------
    shape (n,)
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def summed(values: Hashes, group: Ints, n: int) -> Hashes:
    """Sums modulo 2**64 of the values of each group.

    Parameters
    ----------
    values : shape (m,)
    group : shape (m,)
        Ascending.
    n : int
        Number of groups.

    Returns
    -------
    shape (n,)
    """
    result = np.zeros(n, dtype=np.uint64)
    if len(values):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        result[group[starts]] = np.add.reduceat(values, starts)
    return result

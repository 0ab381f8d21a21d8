"""Keys of names: two texts with an equal key differ in case, number, spelling, hyphens, punctuation or word order only.

A text has four keys, each a number of 64 bits and 0 where it has none: exact (case folded), ``folded`` (words without plural endings, accents
and British spelling, in order), ``bag`` (the same in any order) and ``joined`` (the words written as one). Word order is kept wherever it can
carry meaning: around words such as "due to" and "without", and in texts with two numbers or with opposites.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.text import normalize

__all__ = ["Folder", "Keys", "exact_keys", "hash_text", "keys_of"]

Hashes = NDArray[np.uint64]

_POSSESSIVE = re.compile(r"['’]s\b|['’]|\(s\)")
_SIGN = re.compile(r"(?<=\w)([+-])(?![\w+-])")
_DIGIT_SIGN = re.compile(r"(?<=\d)-(?![\w+-])")
_ARTICLES = ("a", "an")

_DIRECTED = frozenset(
    [
        "with",
        "without",
        "no",
        "not",
        "non",
        "due",
        "to",
        "from",
        "by",
        "secondary",
        "following",
        "after",
        "before",
        "during",
        "versus",
        "vs",
        "except",
        "excluding",
        "than",
        "into",
        "because",
        "caused",
        "causing",
        "leading",
        "associated",
        "resulting",
        "complicating",
        "complicated",
        "induced",
    ]
)
"""Words that say how their two sides are related: words do not move across them."""
_JOINING = frozenset({"and", "or"})
"""Words whose sides can be exchanged, though words do not move across them."""
_DROPPED = frozenset({"of", "in", "on", "at", "the"})
"""Words that a reordering leaves out: cancer of the lung, lung cancer."""
_OPPOSITES = frozenset(
    [
        "positive",
        "negative",
        "left",
        "right",
        "upper",
        "lower",
        "high",
        "low",
        "increased",
        "decreased",
        "elevated",
        "reduced",
        "large",
        "small",
        "long",
        "short",
        "proximal",
        "distal",
        "anterior",
        "posterior",
        "medial",
        "lateral",
        "superior",
        "inferior",
        "internal",
        "external",
        "dominant",
        "recessive",
        "primary",
        "early",
        "late",
    ]
)
"""Two of these in one text belong to different words: then word order counts."""
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_SHORTEST_STEM = 5
_SHORTEST_JOINED = 8
_STEP = np.uint64(0x9E3779B97F4A7C15)


def hash_text(text: str) -> int:
    """Hash of a word, the same in every process.

    Parameters
    ----------
    text : str

    Returns
    -------
    int
        64 bits, never 0.
    """
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "little") or 1


def hash_texts(texts: Sequence[str], *, shortest: int = 1) -> Hashes:
    """Hashes of many texts, 64 bits each, shape (n,); 0 for texts of fewer bytes than `shortest`."""
    encoded = [text.encode("utf-8") for text in texts]
    sizes = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    flat = np.frombuffer(b"".join(encoded), dtype=np.uint8).astype(np.uint64)
    text = np.repeat(np.arange(len(encoded)), sizes)
    place = (np.arange(len(flat)) - np.repeat(np.cumsum(sizes) - sizes, sizes)).astype(np.uint64)
    result = _summed(_mixed(flat + (place + np.uint64(1)) * _STEP), text, len(encoded))
    result[sizes < shortest] = 0
    return result


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of n texts, each of shape (n,)."""

    folded: Hashes
    bag: Hashes
    joined: Hashes


class Folder:
    """Splits texts into folded words, and remembers each word."""

    def __init__(self) -> None:
        self._separators = _Separators()
        self._folded: dict[str, str] = {}
        self.hashes: dict[str, int] = {}
        """Hash of every folded word so far."""

    def words(self, text: str) -> list[str]:
        """The folded words of a normalized text, in order.

        Examples
        --------
        >>> Folder().words("Tumours of the oesophagus (stage II)")
        ['tumor', 'of', 'the', 'esophagus', 'stage', '2']
        """
        if "'" in text or "’" in text or "(s)" in text:
            text = _POSSESSIVE.sub("", text)
        if "+" in text or "-" in text:
            text = _DIGIT_SIGN.sub(" negative ", text)
            text = _SIGN.sub(lambda found: " positive " if found[1] == "+" else " ", text)
        if "&" in text:
            text = text.replace("&", " and ")
        parts = text.translate(self._separators).split()
        if len(parts) > 1 and parts[0].casefold() in _ARTICLES and parts[0] != "A":
            del parts[0]
        if text.isupper() and (len(parts) > 1 or len(text) > _SHORTEST_JOINED):
            parts = [part.lower() for part in parts]
        known = self._folded
        return [known.get(part) or self._fold(part) for part in parts]

    def _fold(self, raw: str) -> str:
        word = fold_word(raw)
        self._folded[raw] = word
        if word not in self.hashes:
            self.hashes[word] = hash_text(word)
        return word


class _Separators(dict[int, int | None]):
    """Translation table, filled on demand: what is neither letter, mark, number nor symbol separates words."""

    def __missing__(self, code: int) -> int | None:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMNS" else 32
        return self[code]


def fold_word(raw: str) -> str:
    """A word without accents, case, plural ending and British spelling. The result is a key, not always a word.

    Acronyms, words with digits and short words keep their ending.

    Examples
    --------
    >>> [fold_word(word) for word in ("Haemorrhages", "hemorrhage", "metastases", "metastasis", "AIDS", "biopsies")]
    ['hemorrhage', 'hemorrhage', 'metastas', 'metastas', 'aids', 'biopsy']
    """
    word = raw.casefold()
    if not word.isascii():
        word = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)) or word
    word = _ROMAN.get(word, word)
    if len(word) < _SHORTEST_STEM or not (word.isascii() and word.isalpha()) or sum(map(str.isupper, raw)) > 1:
        return word
    if word.endswith("ae") and len(word) > _SHORTEST_STEM:
        return word[:-1]  # vertebrae, vertebra
    for pattern, into in _AMERICAN:
        word = pattern.sub(into, word)
    return _singular(word)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > _SHORTEST_STEM and word.endswith(("ses", "sis")):
        return word[:-2]
    if len(word) > _SHORTEST_STEM and word.endswith("se"):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("ss", "is", "us")):
        return word[:-1]
    return word


_AMERICAN = tuple(
    (re.compile(pattern), into)
    for pattern, into in (
        ("[ao]e", "e"),
        ("(?<=...)our", "or"),
        ("([tb])re(s?)$", r"\1er\2"),
        ("is(e|ed|ing|ation)$", r"iz\1"),
        ("ys(e|ed|ing)$", r"yz\1"),
        ("ll(ing|ed|er)$", r"l\1"),
        ("sulph", "sulf"),
        ("leuco", "leuko"),
        ("grey", "gray"),
        ("ogue$", "og"),
    )
)


def keys_of(texts: Sequence[str], folder: Folder | None = None) -> tuple[Keys, list[list[str]]]:
    """Keys of texts, and the folded words of each.

    Parameters
    ----------
    texts : sequence of str
    folder : Folder, optional
        Remembers words from call to call.

    Returns
    -------
    Keys
    list of list of str

    Examples
    --------
    >>> keys, _ = keys_of(["Cancer of the lung", "lung cancers", "lung cancer due to smoking"])
    >>> bool(keys.bag[0] == keys.bag[1]), bool(keys.bag[1] == keys.bag[2])
    (True, False)
    """
    folder = folder or Folder()
    words = [folder.words(normalize(text)) for text in texts]
    return word_keys(words, folder), words


def exact_keys(texts: Sequence[str]) -> Hashes:
    """Keys of texts but for case and white space.

    Parameters
    ----------
    texts : sequence of str

    Returns
    -------
    shape (n,)
    """
    return hash_texts([normalize(text, casefold=True) for text in texts])


def word_keys(words: Sequence[Sequence[str]], folder: Folder) -> Keys:
    """Keys of texts whose folded words are known already."""
    n = len(words)
    joined = hash_texts(["".join(found) for found in words], shortest=_SHORTEST_JOINED)
    vocabulary, roles = _vocabulary(words, folder)
    numbers = {word: number for number, word in enumerate(vocabulary)}
    flat = np.fromiter((numbers[word] for found in words for word in found), dtype=np.int64)
    sizes = np.fromiter(map(len, words), dtype=np.int64, count=n)
    hashes = np.fromiter((folder.hashes[word] for word in vocabulary), dtype=np.uint64, count=len(vocabulary))
    text = np.repeat(np.arange(n), sizes)
    start = np.cumsum(sizes) - sizes
    word, role = hashes[flat], roles[flat]
    place = (np.arange(len(flat)) - start[text]).astype(np.uint64)
    folded = _summed(_mixed(word + (place + np.uint64(1)) * _STEP), text, n)
    segment, side = _segments(role, text, start)
    kept = role != _IS_DROPPED
    n_segments = int(segment[-1]) + 1 if len(segment) else 0
    inner = _summed(_mixed(word[kept]), segment[kept], n_segments)
    text_of, side_of = np.zeros(n_segments, dtype=np.int64), np.zeros(n_segments, dtype=np.uint64)
    text_of[segment], side_of[segment] = text, side
    bag = _summed(_mixed(inner + (side_of + np.uint64(1)) * _STEP), text_of, n)
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
    directed = (role == _IS_DIRECTED).astype(np.int64)
    alone = (directed > 0) | (role == _IS_JOINING)
    new = alone.copy()
    new[1:] |= alone[:-1] | (text[1:] != text[:-1])
    new[0] = False
    so_far = np.cumsum(directed)
    return np.cumsum(new), (so_far - (so_far - directed)[start[text]]).astype(np.uint64)


_IS_PLAIN, _IS_DIRECTED, _IS_JOINING, _IS_DROPPED, _IS_OPPOSITE, _IS_NUMBER = range(6)


def _vocabulary(words: Iterable[Sequence[str]], folder: Folder) -> tuple[list[str], NDArray[np.int64]]:
    """Every folded word, and its role."""
    vocabulary = list(dict.fromkeys(word for found in words for word in found))
    for word in vocabulary:
        if word not in folder.hashes:
            folder.hashes[word] = hash_text(word)
    return vocabulary, np.fromiter(map(_role, vocabulary), dtype=np.int64, count=len(vocabulary))


def _role(word: str) -> int:
    if word in _DIRECTED:
        return _IS_DIRECTED
    if word in _JOINING:
        return _IS_JOINING
    if word in _DROPPED:
        return _IS_DROPPED
    if word in _OPPOSITES:
        return _IS_OPPOSITE
    return _IS_NUMBER if len(word) == 1 or any(map(str.isdigit, word)) else _IS_PLAIN


def _ordered(role: NDArray[np.int64], text: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Texts in which word order counts: those with two numbers or two opposites."""
    counts = [np.bincount(text[role == wanted], minlength=n) for wanted in (_IS_OPPOSITE, _IS_NUMBER)]
    return np.asarray((counts[0] > 1) | (counts[1] > 1))


def _mixed(values: Hashes) -> Hashes:
    """A bijection that spreads every bit (the finalizer of SplitMix64, Steele et al. 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _summed(values: Hashes, group: NDArray[np.int64], n: int) -> Hashes:
    """Sums modulo 2**64 of the values of each group, shape (n,)."""
    result = np.zeros(n, dtype=np.uint64)
    np.add.at(result, group, values)
    return result

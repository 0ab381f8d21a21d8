"""Words of texts, folded: without case, accents, plural endings and British spelling, each with a number and a role."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from softirr.meaning.lexicon.words import opposites, rows
from softirr.meaning.terminology.hashes import Hashes, Ints, hash_texts, letter_polynomials

__all__ = ["SHORTEST_JOINED", "Folder", "Role", "WordLists", "fold_word"]

_POSSESSIVE = re.compile(r"['’]s\b|['’]|\(s\)")
_SIGN = re.compile(r"(?<=\w)([+-])(?![\w+-])")
_MINUS = re.compile(r"(?:(?<=[A-Z\d])|(?<=\b[A-Z][a-z]))-(?![\w+-])|(?<![\w-])-(?=$|\s*[,;)])")
"""A minus sign that denies the words before it: HIV-, "cough (-)"."""
_ARTICLES = frozenset({"a", "an", "An", "aN", "AN"})
"""A capital A may be a name: vitamin A."""
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_SHORTEST_STEM = 5
SHORTEST_JOINED = 8
"""Letters of a text from which on its words may be written as one."""


class Role(IntEnum):
    """What a word means for the order of words; the directed, joining and dropped words are in ``word_order.tsv``."""

    PLAIN = 0
    DIRECTED = 1
    """Says how its two sides are related: words do not move across it."""
    JOINING = 2
    """Its sides can be exchanged, though words do not move across it."""
    DROPPED = 3
    """A reordering leaves it out: cancer of the lung, lung cancer."""
    OPPOSITE = 4
    """Two of these in one text belong to different words: then word order counts."""
    NUMBER = 5


_ROLES = {word: Role.OPPOSITE for pair in opposites("order") for word in pair} | {
    word: Role[role.upper()] for role, words in rows("word_order") for word in words.split(", ")
}


def _role(word: str) -> int:
    role = _ROLES.get(word)
    if role is not None:
        return role
    if len(word) > 1 and (word.isalpha() or not any(map(str.isdigit, word))):
        return Role.PLAIN
    return Role.NUMBER


@dataclass(frozen=True, eq=False)
class WordLists:
    """The folded words of n texts, as numbers of a :class:`Folder`.

    Attributes
    ----------
    flat : shape (m,)
        The words of all texts, one text after the other.
    sizes : shape (n,)
        Number of words of each text.
    vocabulary : list of str
        The words by their numbers.
    """

    flat: Ints
    sizes: Ints
    vocabulary: Sequence[str]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, text: int) -> list[str]:
        first = int(self.sizes[:text].sum())
        return [self.vocabulary[number] for number in self.flat[first : first + int(self.sizes[text])].tolist()]

    def part(self, texts: Ints) -> WordLists:
        """The words of some of the texts, ascending."""
        chosen = np.zeros(len(self.sizes), dtype=bool)
        chosen[texts] = True
        return WordLists(self.flat[np.repeat(chosen, self.sizes)], self.sizes[texts], self.vocabulary)


class Folder:
    """Splits texts into folded words, and remembers and numbers each word."""

    def __init__(self) -> None:
        self._separators = _Filled(_separator)
        self._number = _Filled(self._added)
        self._raw = _Filled(lambda raw: self._number[fold_word(raw)])
        words, numbers = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        self._described = _Described(words, numbers, words, numbers)
        self.vocabulary: list[str] = []
        """Every folded word so far, by its number."""

    def words(self, text: str) -> list[str]:
        """The folded words of a normalized text, in order.

        Examples
        --------
        >>> Folder().words("Tumours of the oesophagus (stage II)")
        ['tumor', 'of', 'the', 'esophagus', 'stage', '2']
        """
        return [self.vocabulary[number] for number in self._numbers(text)]

    def word_lists(self, texts: Iterable[str]) -> WordLists:
        """The folded words of normalized texts."""
        return self._lists(map(self._numbers, texts))

    def numbered(self, lists: Iterable[Sequence[str]]) -> WordLists:
        """Lists of folded words as numbers."""
        return self._lists([self._number[word] for word in words] for words in lists)

    def hashes_of(self, numbers: Ints) -> Hashes:
        """Hashes of words by their numbers."""
        return self._words().hashes[numbers]

    def roles_of(self, numbers: Ints) -> Ints:
        """Roles of words by their numbers: what they mean for the order of words."""
        return self._words().roles[numbers]

    def letters_of(self, numbers: Ints) -> tuple[Hashes, Ints]:
        """Polynomials of the bytes of words by their numbers, and the lengths in bytes."""
        words = self._words()
        return words.letters[numbers], words.lengths[numbers]

    def _numbers(self, text: str) -> list[int]:
        """Numbers of the words of a normalized text, in order."""
        if "'" in text or "’" in text or "(s)" in text:
            text = _POSSESSIVE.sub("", text)
        if "+" in text or "-" in text:
            text = _MINUS.sub(" negative ", text)
            text = _SIGN.sub(lambda match: " positive " if match[1] == "+" else " ", text)
        if "?" in text:
            text = text.replace("?", " possible ")
        if "&" in text:
            text = text.replace("&", " and ")
        if text.isascii():
            parts = text.encode().translate(_ASCII_SEPARATORS).decode().split()
        else:
            parts = text.translate(self._separators).split()
        if len(parts) > 1 and parts[0] in _ARTICLES:
            del parts[0]
        if text.isupper() and (len(parts) > 1 or len(text) > SHORTEST_JOINED):
            parts = [part.lower() for part in parts]
        return list(map(self._raw.__getitem__, parts))

    def _lists(self, lists: Iterable[list[int]]) -> WordLists:
        given = list(lists)
        sizes = np.fromiter(map(len, given), dtype=np.int64, count=len(given))
        flat = np.fromiter(chain.from_iterable(given), dtype=np.int64, count=int(sizes.sum()))
        return WordLists(flat, sizes, self.vocabulary)

    def _added(self, word: str) -> int:
        self.vocabulary.append(word)
        return len(self.vocabulary) - 1

    def _words(self) -> _Described:
        """What is known of every word so far; words that are new since the last call are added."""
        new = self.vocabulary[len(self._described.hashes) :]
        if new:
            roles = np.fromiter(map(_role, new), dtype=np.int64, count=len(new))
            both: Any = zip(self._described, (hash_texts(new), roles, *letter_polynomials(new)), strict=True)
            self._described = _Described(*map(np.concatenate, both))
        return self._described


class _Described(NamedTuple):
    """Of n words: hashes, roles (what they mean for the order of words), and lengths in bytes.

    ``letters`` has their bytes as polynomials modulo 2**64: the polynomial of joined words follows from the words'
    polynomials.
    """

    hashes: Hashes
    roles: Ints
    letters: Hashes
    lengths: Ints


class _Filled(dict[Any, int]):
    """A number of each key, made on demand."""

    def __init__(self, make: Callable[[Any], int]) -> None:
        self._make = make

    def __missing__(self, key: Any) -> int:
        self[key] = number = self._make(key)
        return number


def _separator(code: int) -> int:
    """What is neither letter, mark, number nor symbol separates words."""
    return code if unicodedata.category(chr(code))[0] in "LMNS" else 32


_ASCII_SEPARATORS = bytes(map(_separator, range(128))) + bytes(128)


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
        # letter by letter: putting thousands of accents in order takes long, and they are dropped
        apart = "".join(unicodedata.normalize("NFKD", letter) for letter in word)
        word = "".join(c for c in apart if not unicodedata.combining(c)) or word
    word = _ROMAN.get(word, word)
    if (
        len(word) < _SHORTEST_STEM
        or not (word.isascii() and word.isalpha())
        or (raw != word and sum(map(str.isupper, raw)) > 1)
    ):
        return word
    if word.endswith("ae") and len(word) > _SHORTEST_STEM:
        return word[:-1]  # vertebrae, vertebra
    if _BRITISH.search(word):
        for pattern, into in _AMERICAN:
            word = pattern.sub(into, word)
    return _singular(word)


def _singular(word: str) -> str:
    if word[-1] not in "es":
        return word
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


_PATTERNS = (
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
_AMERICAN = tuple((re.compile(pattern), into) for pattern, into in _PATTERNS)
_BRITISH = re.compile("|".join(pattern for pattern, _ in _PATTERNS))
"""Words in which none of the patterns is found have no part of this."""

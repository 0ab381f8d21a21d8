"""Reasons why two texts do not match, and the attributes, words and parts of a list that they are found by.

Two words are opposites, spelling variants, or only look alike.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from itertools import chain

from softirr.meaning.lexicon import opposites, rows, word_list
from softirr.meaning.policy.attributes import KIND_NAMES, KINDS, LONGEST, attributes

REASON_NAMES: dict[str, str] = KIND_NAMES | {
    "list": "a list against a part of it",
    "contradiction": "contradiction",
    "spelling": "spelling",
    "look-alike": "words that look alike",
    "more general": "one is more general",
    "one rater only": "found by one rater only",
    "unrelated": "unrelated",
}
"""Reasons, in the order in which they are tried, and their names for people."""
REASONS: tuple[str, ...] = tuple(REASON_NAMES)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_MARKS = r"\s*[,;\n]\s*|\s+(?:and|or|as well as|plus)\s+"
_LISTED = re.compile(rf"{_MARKS}|(?<=[\w\s])\s*[/&+]\s*(?=\w)", re.IGNORECASE)
_LISTED_ADDRESSES = re.compile(_MARKS, re.IGNORECASE)
_ADDRESS = re.compile(r":/|\bwww\.|\w\.[a-z]{2,}/|(?<!\S)[.~]*/\w", re.IGNORECASE)
"""Part of a web address or a path: its slashes separate no list."""
_KNOWN_FROM = 3
"""Texts from which a word is known."""
ALIKE = 0.7
"""Indel similarity from which two words look alike."""
_SHORTEST = 4
_LONGEST = 100
"""Letters of a word; a longer run of letters is none, and is neither like another one nor a misspelling."""
_LETTERS_PER_SLIP = 4
_CACHED = 1 << 16
_NEGATING = ("un", "in", "im", "ir", "il", "non", "dis", "ab", "non-")
_VARIANTS = [(re.compile(pattern), instead) for instead, pattern in rows("spelling_variants")]


@dataclass(frozen=True)
class Reason:
    """Why two texts do not match.

    Attributes
    ----------
    kind : str
        One of :data:`REASONS`.
    left_wording, right_wording : str
        Wordings of the two texts: "left" and "right" of `side`. Empty if a text has none.
    also : tuple of str
        Other attributes that have to be left out, too, before the texts match.
    """

    kind: str
    left_wording: str = ""
    right_wording: str = ""
    also: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The reason in words, such as "left against right"."""
        first, second = self.left_wording, self.right_wording
        if self.kind == "more general":
            beside = f", apart from {' and '.join(self.also)}" if self.also else ""
            return f"“{first}” is more general than “{second}”{beside}"
        if self.kind == "one rater only":
            return f"found by one rater only: {' and '.join(filter(None, (first, second)))}"
        if self.kind in KINDS and not (first and second):
            first, second = _named(self.kind, first), _named(self.kind, second)
        return f"{first} against {second}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Everything that the texts disagree about."""
        return (self.kind, *self.also)

    def turned(self) -> Reason:
        """The reason of the same two texts in the other order; which text is more general does not depend on it."""
        if self.kind == "more general":
            return self
        return Reason(self.kind, self.right_wording, self.left_wording, self.also)

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {"kind": self.kind, "also": list(self.also), "words": self.words}


def _named(kind: str, text: str) -> str:
    """Wording of an attribute that only one of two texts has."""
    if kind == "negation":
        return f"negated (“{text}”)" if text else "affirmed"
    return f"“{text}”" if text else f"no {kind}"


class TextParts:
    """Attributes, words and parts of a text, computed on first use."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def wordings(self) -> dict[str, list[str]]:
        """The wordings of each attribute, in folded case and sorted."""
        wordings: dict[str, list[str]] = {}
        read = attributes(self._text)
        for span in read.spans:
            wordings.setdefault(span.kind, []).append(read.text[span.start : span.end].casefold())
        return {kind: sorted(spans) for kind, spans in wordings.items()}

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, in folded case."""
        return tuple(_WORD.findall(self._text.casefold()))

    @cached_property
    def content(self) -> frozenset[str]:
        """The words that are not small ones."""
        return frozenset(self.words).difference(word_list("small_in_reasons"))

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Its parts if it may be a list, else the text."""
        marks = _LISTED_ADDRESSES if _ADDRESS.search(self._text) else _LISTED
        entries = [entry.strip() for entry in marks.split(self._text)]
        return tuple(entry for entry in entries if any(map(str.isalpha, entry))) or (self._text,)


_cached_parts = lru_cache(maxsize=1 << 14)(TextParts)


def parts_of(text: str) -> TextParts:
    """The parts of a text, which are kept for short texts."""
    return _cached_parts(text) if len(text) <= LONGEST else TextParts(text)


def known_words(texts: Iterable[str]) -> frozenset[str]:
    """Words, in folded case, that several texts of a project use: hardly misspellings.

    Examples
    --------
    >>> sorted(known_words(["ileum", "the ileum", "ileum biopsy", "ilium"]))
    ['ileum']
    """
    counts = Counter(chain.from_iterable(set(parts_of(text).words) for text in texts))
    return frozenset(word for word, n in counts.items() if n >= _KNOWN_FROM)


Known = Collection[str]
"""Words that are known to exist, in folded case."""


@lru_cache(maxsize=_CACHED)
def are_opposites(first: str, second: str) -> bool:
    """Whether two words, in folded case, exclude each other by a prefix, a suffix or as wholes.

    Examples
    --------
    >>> are_opposites("hypertension", "hypotension"), are_opposites("gain", "loss"), are_opposites("happy", "unhappy")
    (True, True, True)
    >>> are_opposites("migraine", "headache")
    False
    """
    excluded, longest = _opposites()
    for size in range(1, min(len(first), longest) + 1):
        for opposite in excluded.get(first[:size], ()):
            if second.startswith(opposite) and _stems(first[size:], second[len(opposite) :]):
                return True
        for opposite in excluded.get(first[-size:], ()):
            if second.endswith(opposite) and _stems(first[:-size], second[: -len(opposite)]):
                return True
    short, long = sorted((first, second), key=len)
    return len(short) >= _SHORTEST and long.endswith(short) and long[: -len(short)] in _NEGATING


@cache
def _opposites() -> tuple[dict[str, tuple[str, ...]], int]:
    """The words that each word excludes, and the length of the longest word."""
    excluded: dict[str, tuple[str, ...]] = {}
    for first, second in opposites("exclude"):
        excluded[first] = (*excluded.get(first, ()), second)
        excluded[second] = (*excluded.get(second, ()), first)
    return excluded, max(map(len, excluded))


def _stems(first: str, second: str) -> bool:
    """Whether what is left of two words is the same: nothing, or three letters and more."""
    return first == second and (not first or len(first) > 2)


@lru_cache(maxsize=_CACHED)
def look_alike(first: str, second: str) -> bool:
    """Whether the letters of two words are close.

    Examples
    --------
    >>> look_alike("ileum", "ilium"), look_alike("fever", "cough")
    (True, False)
    """
    from rapidfuzz.distance import Indel

    lengths = len(first), len(second)
    if max(lengths) > _LONGEST or min(lengths) < _SHORTEST or first.isdigit() or second.isdigit():
        return False
    return Indel.normalized_similarity(first, second) >= ALIKE


def is_misspelling(first: str, second: str, known_words: Known = ()) -> bool:
    """Whether two words with similar letters are one word, spelled in two ways.

    They are if they differ by a usual variant ("oesophagus"), by the ending of a plural, by doubled letters or by
    two letters that changed places. Otherwise it takes a known word and an unknown one, with a slip in four letters at
    most: two known words are different words. Of two unknown ones, one that lacks a letter of the other is taken for a
    slip.

    Parameters
    ----------
    first, second : str
        In folded case.
    known_words : collection of str
        Words of the project; common English words are known already.

    Examples
    --------
    >>> is_misspelling("haemorrhage", "hemorrhage"), is_misspelling("pnuemonia", "pneumonia")
    (True, True)
    >>> is_misspelling("ileum", "ilium")
    False
    """
    if max(len(first), len(second)) > _LONGEST:
        return False
    short, long = sorted((first, second), key=len)
    if _plain(first) == _plain(second) or long in (f"{short}s", f"{short}es"):
        return True
    if sorted(first) == sorted(second) and sum(a != b for a, b in zip(first, second, strict=True)) == 2:
        return True
    from rapidfuzz.distance import OSA

    is_known = _is_known(first, known_words)
    if is_known != _is_known(second, known_words):
        return OSA.distance(first, second) <= max(1, len(short) // _LETTERS_PER_SLIP)
    # one word is the other one without a letter of its inside
    inner = range(1, len(long) - 1) if len(long) == len(short) + 1 and not is_known else ()
    return any(long[:index] + long[index + 1 :] == short for index in inner)


def _plain(word: str) -> str:
    for pattern, instead in _VARIANTS:
        word = pattern.sub(instead, word)
    return word


def _is_known(word: str, known_words: Known) -> bool:
    return word in known_words or word in _common_words() or (word.endswith("s") and word[:-1] in _common_words())


@cache
def _common_words() -> frozenset[str]:
    """Whole words of the bundled model's tokenizer; empty if it is not installed."""
    try:
        text = resources.files("softirr").joinpath("models", "nli", "tokenizer.json").read_text(encoding="utf-8")
    except OSError:
        return frozenset()
    return frozenset(word for word in json.loads(text)["model"]["vocab"] if word.isalpha() and len(word) >= _SHORTEST)

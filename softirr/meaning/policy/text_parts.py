"""What reasons need of a text several times: its attributes, words and the parts of a list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import chain

from softirr.meaning.policy.attributes import LONGEST, Attributes, attributes, without

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_LISTED = re.compile(r"\s*[,;\n]\s*|(?<=[\w\s])\s*[/&+]\s*(?=\w)|\s+(?:and|or|as well as|plus)\s+", re.IGNORECASE)
_SMALL = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "by", "from", "and", "or", "is", "are", "was",
    "were", "my", "his", "her", "their", "has", "have", "had",
})  # fmt: skip
_KNOWN_FROM = 3
"""Texts from which a word is known."""


class TextParts:
    """Attributes, words and parts of a text, computed on first use."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._shorter: dict[tuple[str, ...], str] = {}

    @cached_property
    def attributes(self) -> Attributes:
        """Its attributes and its head."""
        return attributes(self._text)

    @cached_property
    def wordings(self) -> dict[str, list[str]]:
        """The wordings of each attribute, in folded case and sorted."""
        wordings: dict[str, list[str]] = {}
        for span in self.attributes.spans:
            wordings.setdefault(span.kind, []).append(self.attributes.text[span.start : span.end].casefold())
        return {kind: sorted(spans) for kind, spans in wordings.items()}

    def without(self, kinds: tuple[str, ...]) -> str:
        """The text without attributes of these kinds."""
        if kinds not in self._shorter:
            self._shorter[kinds] = without(self._text, kinds)
        return self._shorter[kinds]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, in folded case."""
        return tuple(_WORD.findall(self._text.casefold()))

    @cached_property
    def content(self) -> frozenset[str]:
        """The words that are not small ones."""
        return frozenset(self.words) - _SMALL

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Its parts if it may be a list, else the text."""
        entries = [entry.strip() for entry in _LISTED.split(self._text)]
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

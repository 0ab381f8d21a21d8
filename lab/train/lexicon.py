"""Small tables of words: opposites, words of one kind, spellings, and short forms in charts."""

from __future__ import annotations

from functools import cache

from lab.train.words import read_sections
from softirr.meaning.lexicon.words import words_of

__all__ = ["IN_OTHER_WORDS", "contrasts", "shortened", "small_table", "spellings"]

IN_OTHER_WORDS = frozenset({"color", "labor", "liter", "meter"})
"""American spellings inside words that are the same everywhere: colorectal, laboratory, literature, diameter."""


@cache
def contrasts() -> tuple[tuple[str, ...], ...]:
    """Words of one kind, such as organs: two of them exclude each other."""
    return tuple(tuple(line.split("/")) for line in small_table("contrasts"))


@cache
def spellings() -> tuple[tuple[str, str], ...]:
    """Parts of words in British and in American spelling."""
    return tuple((british, american) for british, american in map(str.split, small_table("spellings")))


@cache
def shortened() -> dict[str, tuple[str, ...]]:
    """Words, and what charts write for them."""
    forms: dict[str, tuple[str, ...]] = {}
    for word, _, short in (line.partition(": ") for line in small_table("shortened")):
        if short == "@":
            forms[word] = (words_of("side", word, "letter")[0].upper(), *words_of("side", word, "short"))
        else:
            forms[word] = tuple(short.split(", "))
    return forms


def small_table(name: str) -> tuple[str, ...]:
    """The lines of one of the small tables."""
    return dict(read_sections("small_tables"))[name]

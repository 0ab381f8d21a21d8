"""The word lists of this project.

Concepts with their everyday and clinical wordings, abbreviations, spellings, short forms in charts, and words that can
replace each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from softirr.errors import InputError
from softirr.meaning.lexicon import wordings

LISTS = (
    "abbreviations", "groups", "findings", "cells",
    "skeleton", "nerves", "organs", "tissues", "diseases", "charts", "symptoms", "reports", "drugs", "shorthand", "lay",
)  # fmt: skip
"""Lists of concepts."""
SHORT_FORMS = ("abbreviations", "shorthand")
"""Lists in which a concept begins with an abbreviation."""
CONFUSED = ("confused_findings", "confused_diseases", "opposites", "look_alikes", "wrong_expansions")
"""Lists of pairs that mean different things."""


@dataclass(frozen=True)
class WordList:
    """Concepts with their wordings.

    Attributes
    ----------
    groups
        The wordings of each concept, the usual one first.
    above
        For each concept the position of the next more general one, or None.
    """

    groups: tuple[tuple[str, ...], ...]
    above: tuple[int | None, ...]


def _lines(name: str) -> list[str]:
    """The lines of a file of ``word_lists`` without comments and empty lines."""
    try:
        text = resources.files("lab.train").joinpath("word_lists", f"{name}.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError("The word lists for training are not in the installed package: use a checkout.") from None
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@cache
def read_sections(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sections of a file of ``word_lists``: the words in the brackets of its heading, and its lines.

    Two sections may have one heading.
    """
    sections: list[tuple[str, list[str]]] = []
    for line in _lines(name):
        if line.startswith("["):
            sections.append((line.strip("[]"), []))
        else:
            sections[-1][1].append(line)
    return tuple((heading, tuple(lines)) for heading, lines in sections)


@cache
def read_list(name: str) -> WordList:
    """One list: a concept per line, wordings separated by bars, comments after a hash.

    Concepts after a line that begins with ``>`` are kinds of it.
    """
    groups: list[tuple[str, ...]] = []
    above: list[int | None] = []
    heading: int | None = None
    for line in _lines(name):
        heads = line.startswith("> ")
        if heads:
            heading = len(groups)
        groups.append(tuple(wording.strip() for wording in line.removeprefix("> ").split(" | ")))
        above.append(None if heads else heading)
    return WordList(tuple(groups), tuple(above))


def read_groups(name: str) -> tuple[tuple[str, ...], ...]:
    """The wordings of each concept of one list."""
    return read_list(name).groups


@cache
def read_confused() -> tuple[tuple[str, str], ...]:
    """Pairs of texts that look alike, are opposites or are often confused."""
    return tuple((first, two) for name in CONFUSED for first, two in read_groups(name))


@cache
def read_medical() -> list[dict[str, tuple[str, ...]]]:
    """Everyday and technical words of each concept, by language."""
    header, *rows = (line.split("|") for line in _lines("medical"))
    return [{code: tuple(cell.split("/")) for code, cell in zip(header, row, strict=False) if cell} for row in rows]


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
            letters, short_forms = (wordings("side", name, value=word) for name in ("letter", "short"))
            forms[word] = (letters[0].upper(), *short_forms)
        else:
            forms[word] = tuple(short.split(", "))
    return forms


def small_table(name: str) -> tuple[str, ...]:
    """The lines of one of the small tables."""
    return dict(read_sections("small_tables"))[name]

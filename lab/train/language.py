"""Wordings of one language: modifiers of a text, two texts in one, and opposites."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from random import Random

from lab.train.modifiers import Join, ModifierClass, joins, modifiers
from lab.train.perturb import hyphenate, invert, opposite, punctuate
from lab.train.words import read_sections

DEFAULT_WEIGHT = 0.9
"""How often pairs of a language without wordings are drawn; the table has the weights of the others."""
_RESTRICTING = ("side", "severity", "course")
"""Modifiers with which a text entails the text without them."""
_OTHERS = ("negation", "change", "context")
_JOINS = (
    ("due to", ("cause",), False, True, True),
    ("after", ("after",), False, True, True),
    ("and", ("and", "with"), True, True, True),
    ("or", ("or",), True, False, False),
    ("without", ("without",), False, True, False),
)
"""Name of a join, its wordings in the table, whether its texts can be swapped, and which of them it entails."""
_UNSPACED = frozenset({"zh", "ja", "th", "ko"})
"""Languages in which opposites are found inside longer words."""
_VARIANTS = {"no": "nb", "nn": "nb"}
Groups = tuple[tuple[str, ...], ...]
"""Wordings of one group mean the same; groups exclude each other."""


@dataclass(frozen=True)
class Language:
    """Wordings of one language; a language that is not listed has none.

    Attributes
    ----------
    opposite_words
        Pairs of words, or of beginnings of words, which end with a hyphen.
    """

    code: str
    modifiers: tuple[ModifierClass, ...] = ()
    joins: tuple[Join, ...] = ()
    opposite_words: tuple[tuple[str, str], ...] = ()
    weight: float = DEFAULT_WEIGHT

    def opposite(self, rng: Random, text: str) -> str | None:
        """The text with one word turned into its opposite, or None if it has no such word."""
        if self.code == "en":
            return opposite(rng, text)
        pattern, opposites_of = self._opposites
        spots = list(pattern.finditer(text)) if opposites_of else []
        if not spots:
            return None
        spot = rng.choice(spots)
        choices = opposites_of.get(spot.group().lower())  # none for a capital İ: its small form has two characters
        return text[: spot.start()] + rng.choice(choices) + text[spot.end() :] if choices else None

    @cached_property
    def _opposites(self) -> tuple[re.Pattern[str], dict[str, list[str]]]:
        opposites_of: dict[str, list[str]] = {}
        beginnings: set[str] = set()
        for pair in self.opposite_words:
            for word, opposite_word in (pair, pair[::-1]):
                lower = word.removesuffix("-").lower()
                opposites_of.setdefault(lower, []).append(opposite_word.removesuffix("-"))
                beginnings.update([lower] if word.endswith("-") else ())
        longest_first = sorted(opposites_of, key=len, reverse=True)
        if self.code in _UNSPACED:
            return re.compile("|".join(map(re.escape, longest_first))), opposites_of
        endings = (re.escape(word) + (r"(?=\w\w\w)" if word in beginnings else r"(?!\w)") for word in longest_first)
        return re.compile(r"(?<!\w)(?:" + "|".join(endings) + ")", re.IGNORECASE), opposites_of

    def vary(self, rng: Random, text: str) -> str:
        """The text as another person would type it, in any language but English, which has more changes."""
        changes = (_other_case, punctuate, hyphenate, invert, _without_accents)
        for _ in range(3):
            changed = rng.choice(changes)(rng, text)
            if changed is not None and changed != text:
                return changed
        return text


def _other_case(rng: Random, text: str) -> str:
    return rng.choice((text.upper(), text.lower(), text[:1].upper() + text[1:]))


def _without_accents(rng: Random, text: str) -> str | None:
    """A text in Latin letters without accents; None for other scripts, in which marks are letters."""
    if not all(c.isascii() or unicodedata.name(c, "").startswith("LATIN") for c in text if c.isalpha()):
        return None
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def language_of(code: str) -> str:
    """The code of the table of a language or of one of its variants.

    Examples
    --------
    >>> language_of("pt-BR"), language_of("nn"), language_of("de")
    ('pt', 'nb', 'de')
    """
    base = code.partition("-")[0]
    return _VARIANTS.get(base, base)


def listed_languages() -> tuple[str, ...]:
    """Codes of the languages that have wordings."""
    return tuple(code for code, _ in read_sections("languages"))


@cache
def language(code: str) -> Language:
    """The wordings of a language, by its code."""
    if code == "en":
        return Language(code, modifiers(), joins())
    lines = dict(read_sections("languages")).get(language_of(code), ())
    rows = {name: value for name, _, value in (line.partition(" = ") for line in lines)}
    groups = {name: _groups(rows[name]) for name in (*_RESTRICTING, *_OTHERS) if name in rows}
    wordings: dict[str, list[str]] = {
        name: rows[name].split(" | ") for name in ("cause", "after", "and", "with", "or", "without") if name in rows
    }
    return Language(
        language_of(code),
        tuple(ModifierClass(name, groups[name], name in _RESTRICTING) for name in groups),
        tuple(
            Join(name, tuple(w for key in keys for w in wordings.get(key, ())), *flags)
            for name, keys, *flags in _JOINS
            if any(key in wordings for key in keys)
        ),
        tuple((first, second) for first, second in re.findall(r"(\S+)/(\S+)", rows.get("opposites", ""))),
        float(rows.get("weight", DEFAULT_WEIGHT)),
    )


def _groups(line: str) -> Groups:
    return tuple(tuple(group.split(" | ")) for group in line.split(" || ")) if line else ()

"""The words that divide a short text into clauses, deny them and name their side, by language.

They are in ``softirr/meaning/lexicon/clauses.tsv``; English negations and sides are in ``softirr/meaning/lexicon/attributes.tsv``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from softirr.meaning.lexicon.words import any_of, rows, wordings, words_of

__all__ = [
    "LEFT_OVER_RIGHT",
    "RIGHT_OVER_LEFT",
    "SIDES",
    "SIDES_EXCLUDE",
    "ClauseWords",
    "clause_words",
    "words_of_role",
]

SIDES = {"left": 2, "right": 3, "both": 4}
"""Codes of the sides of a clause; 0 is no clause, 1 a clause without a side."""
LEFT_OVER_RIGHT, RIGHT_OVER_LEFT = 5, 6
"""Codes of "left > right" and "right > left"."""
SIDES_EXCLUDE = np.zeros((7, 7), dtype=bool)
"""Whether two sides exclude each other: one side and the other or both, and an order and its reverse."""
for _one, _other in ((2, 3), (2, 4), (3, 4), (LEFT_OVER_RIGHT, RIGHT_OVER_LEFT)):
    SIDES_EXCLUDE[_one, _other] = SIDES_EXCLUDE[_other, _one] = True
NEGATORS = ("negator", "negative determiner")
"""Roles of words that deny; a determiner beside another one denies once: sin ningún dolor."""
_ENGLISH = "en"
_NEVER = "(?!)"


@dataclass(frozen=True)
class ClauseWords:
    """The patterns of some languages.

    Attributes
    ----------
    breaks : re.Pattern
        Between clauses, where the scope of a negation ends.
    joiners : re.Pattern
        Between clauses.
    alternatives : re.Pattern
        Between the clauses that one negation denies; it begins with a comma or with `either`.
    either : re.Pattern
        The words between alternatives.
    negators : re.Pattern
    order : re.Pattern
        One side compared with the other: groups ``first``, ``over`` or ``under``, ``second``.
    small : frozenset of str
        Words without content, in folded case.
    sides : dict of str to int
        Codes of the words for sides, in folded case.
    """

    breaks: re.Pattern[str]
    joiners: re.Pattern[str]
    alternatives: re.Pattern[str]
    either: re.Pattern[str]
    negators: re.Pattern[str]
    order: re.Pattern[str]
    small: frozenset[str]
    sides: dict[str, int]


def clause_words(words: frozenset[str]) -> ClauseWords:
    """The patterns of English and of the other languages in a text.

    Parameters
    ----------
    words : frozenset of str
        The text's words in folded case.

    Returns
    -------
    ClauseWords

    Examples
    --------
    >>> words = clause_words(frozenset(["kein", "fieber", "aber", "husten"]))
    >>> words.breaks.split("kein Fieber, aber Husten")
    ['kein Fieber,', 'Husten']
    """
    return _of_languages(frozenset(name for word in words for name in _evidence().get(word, ())))


@cache
def words_of_role(role: str) -> tuple[str, ...]:
    """The words of one role in all languages.

    Parameters
    ----------
    role : str
        As in ``clauses.tsv``.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "leads to" in words_of_role("relation"), words_of_role("to")[0]
    (True, 'to')
    """
    return tuple(dict.fromkeys(word for (_, own), words in _table().items() if own == role for word in words))


@cache
def _table() -> dict[tuple[str, str], tuple[str, ...]]:
    table = {(language, role): tuple(words.split(", ")) for language, role, words in rows("clauses")}
    table[_ENGLISH, "negator"] += wordings("negation", "negator")
    table[_ENGLISH, "left"], table[_ENGLISH, "right"] = (
        words_of("side", side, "left_right", "short", "letter") for side in ("left", "right")
    )
    table[_ENGLISH, "both"] = words_of("side", "bilateral", "side")
    return table


@cache
def _evidence() -> dict[str, tuple[str, ...]]:
    """The languages of the words between clauses, before them and for sides; letters and English words show none."""
    languages: defaultdict[str, set[str]] = defaultdict(set)
    for (language, role), words in _table().items():
        if language == _ENGLISH or role in (*NEGATORS, "break", "and", "with", "alternative", *SIDES):
            for word in words:
                languages[re.split(r"[ '’]", word.casefold())[0]].add(language)
    return {word: tuple(sorted(names)) for word, names in languages.items() if len(word) > 1 and _ENGLISH not in names}


@lru_cache(maxsize=1 << 8)
def _of_languages(others: frozenset[str]) -> ClauseWords:
    names = (_ENGLISH, *sorted(others))
    breaks, either, over, under = (_any(names, role) for role in ("break", "alternative", "over", "under"))
    joiners, negators = _any(names, "and", "with"), _any(names, *NEGATORS)
    every = {(language, role): words for (language, role), words in _table().items() if role in SIDES}
    sides = {word.casefold(): SIDES[role] for (_, role), words in every.items() for word in words if word.isalpha()}
    side = any_of(word for word, code in sides.items() if code != SIDES["both"])
    return ClauseWords(
        breaks=re.compile(rf"\s*(?:[;.]\s|\b{breaks}\b)\s*", re.IGNORECASE),
        joiners=re.compile(rf"\s*(?:,|\+|&|\b(?:{joiners}|{either})\b)\s*", re.IGNORECASE),
        alternatives=re.compile(rf"\s*(?:,|\b{either}\b)+\s*(?:{either}\b)?\s*", re.IGNORECASE),
        either=re.compile(rf"\b{either}\b", re.IGNORECASE),
        negators=re.compile(rf"(?<![\w-])(?:(?i:(?:{breaks}|{joiners})\s+)?(?i:{negators}))(?:(?=\s)|(?<=['’]))"),
        order=re.compile(
            rf"(?<!\w)(?P<first>{side})\s*(?:(?P<over>{over})|(?P<under>{under}))\s*(?P<second>{side})(?!\w)",
            re.IGNORECASE,
        ),
        small=frozenset(word.casefold() for name in names for word in _table()[name, "small"]),
        sides=sides,
    )


def _any(languages: tuple[str, ...], *roles: str) -> str:
    words = [word for language in languages for role in roles for word in _table().get((language, role), ())]
    return any_of(words) if words else _NEVER

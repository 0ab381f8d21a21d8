"""The language of texts, by function words, letters and script.

Enough for the texts of a whole project, not for a single one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from softirr.meaning.lexicon.words import rows
from softirr.meaning.measures.scripts import LATIN, letter_scripts

ENGLISH = "English"
_WORD = re.compile(r"[^\W\d_]+")
UNRECOGNIZED = "another language than English"
"""Name of a language, or of several languages, that no list of function words shows."""


@cache
def _markers() -> dict[str, frozenset[str]]:
    """Frequent words that mean little, of each language.

    Words that are also words of another language's medical notes are left out.
    """
    return {name: frozenset(words.split()) for name, _, words in rows("languages")}


@cache
def _languages_of_scripts() -> dict[str, str]:
    return dict(rows("scripts"))


@dataclass(frozen=True)
class LanguageProfile:
    """The language of texts.

    Attributes
    ----------
    name
        The language that fits best, or a description of it.
    english, foreign
        Share of the texts with a function word of English, and with a mark of another language: one of its function
        words, a letter with an accent, or another script.
    n_foreign
        Number of texts with a mark of another language.
    """

    name: str
    english: float
    foreign: float
    n_foreign: int

    @property
    def is_foreign(self) -> bool:
        """Whether the texts as a whole are not English.

        Examples
        --------
        >>> language_profile(["douleur au genou", "toux sèche", "mal de dos", "fatigue"]).is_foreign
        True
        """
        return self.n_foreign >= FEWEST_MARKED and self.foreign >= LEAST_FOREIGN and self.foreign > self.english


LEAST_FOREIGN = 0.12
"""Share of texts with a mark of another language from which a project is taken to be in it.

Names of English tables reach 0.10: eponyms.
"""


FEWEST_MARKED = 3
"""Texts with such a mark below which nothing follows from them."""


def language_profile(texts: Sequence[str]) -> LanguageProfile:
    """The language of a project's texts.

    Examples
    --------
    >>> language_profile(["pain in the chest", "fever", "cough since Monday"]).name
    'English'
    """
    if not texts:
        return LanguageProfile(ENGLISH, 0.0, 0.0, 0)
    having = dict.fromkeys(_markers(), 0)
    scripts: dict[str, int] = {}
    foreign = 0
    for text in texts:
        languages = _languages(text)
        for name in languages:
            having[name] += 1
        script = _language_of_script(text)
        if script is not None:
            scripts[script] = scripts.get(script, 0) + 1
        has_accent = any(c.isalpha() and not c.isascii() for c in text)
        foreign += script is not None or has_accent or any(name != ENGLISH for name in languages)
    english = having.pop(ENGLISH) / len(texts)
    share = foreign / len(texts)
    best = max(having, key=lambda name: having[name])
    if scripts and max(scripts.values()) * 2 > foreign:
        name = max(scripts, key=lambda script: scripts[script])
    else:
        name = best if having[best] * 8 >= foreign and having[best] > 1 else UNRECOGNIZED
    profile = LanguageProfile(name, english, share, foreign)
    return profile if profile.is_foreign else LanguageProfile(ENGLISH, english, share, foreign)


def function_words(text: str) -> int:
    """1 if a text has a function word of English, -1 if it has only function words of other languages, else 0.

    Examples
    --------
    >>> function_words("pain in the chest"), function_words("douleur dans la poitrine"), function_words("fever")
    (1, -1, 0)
    """
    languages = _languages(text)
    return 1 if ENGLISH in languages else -1 if languages else 0


def language_of_text(text: str) -> str:
    """Return the language that one text shows by its script or its function words; English if it shows none.

    Examples
    --------
    >>> language_of_text("כאב ראש"), language_of_text("douleur dans la poitrine"), language_of_text("fever")
    ('Hebrew', 'French', 'English')
    """
    if (language := _language_of_script(text)) is not None:
        return language
    languages = _languages(text)
    return ENGLISH if not languages or ENGLISH in languages else languages[0]


def _languages(text: str) -> list[str]:
    """The languages of the function words in a text."""
    words = {word.casefold() for word in _WORD.findall(text)}
    return [name for name, markers in _markers().items() if not words.isdisjoint(markers)]


def _language_of_script(text: str) -> str | None:
    """The language that is written in the script of most letters of a text; None if they are Latin."""
    scripts = letter_scripts(text)
    other_scripts = [script for script in scripts if script != LATIN]
    if len(other_scripts) * 2 <= len(scripts):
        return None
    languages = _languages_of_scripts()
    return next((languages[script] for script in other_scripts if script in languages), UNRECOGNIZED)

"""The language of texts.

The language of a whole project shows in function words, letters and script. How English one short text looks shows in
its script, else in its groups of letters and its function words.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softirr.meaning.lexicon import rows

ENGLISH = "English"
_WORD = re.compile(r"[^\W\d_]+")
UNRECOGNIZED = "another language than English"
"""Name of a language, or of several languages, that no list of function words shows."""


LATIN = "LATIN"
LEAST_FOREIGN = 0.12
"""Share of texts with a mark of another language from which a project is taken to be in it.

Names of English tables reach 0.10: eponyms.
"""
FEWEST_MARKED = 3
"""Texts with such a mark below which nothing follows from them."""
ENGLISH_TEST = "english.npz"
"""File of the test, in the folder of the multilingual model."""
BUCKETS = 16_384
SIZES = (2, 3, 4)
"""Letters of a group."""
BOUND = -1.0
"""Sum of the scores of both texts below which a pair is taken to be in another language than English."""
NEUTRAL = 0.0
"""Lowest score of a text of English words and abbreviations, which may be words of other languages too."""
OTHER_SCRIPT = -1_000.0
"""Score of a text in another script."""
FUNCTION_WORD = 2.0
"""Score of an English function word; words of other languages subtract it."""
FOREIGN_LETTER = -4.0
"""Score of a Latin letter outside Latin-1, as in Turkish and Polish; names of diseases have none."""
_SHORT = 3
"""Maximum number of letters of a word without information about its language."""
_EXTENDED = re.compile("[\u0100-\u024f\u1e00-\u1eff]")
_NO_LETTER = re.compile(r"[\W\d_]+")


def letter_scripts(text: str) -> list[str]:
    """The script of each letter of a text, by the first word of the letter's name in Unicode; empty without a name.

    Examples
    --------
    >>> letter_scripts("α7-b")
    ['GREEK', 'LATIN']
    """
    return [_script(character) for character in text if character.isalpha()]


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


_MARKERS = {name: frozenset(words.split()) for name, _, words in rows("languages")}
"""Frequent words that mean little, of each language.

Words that are also words of another language's medical notes are left out.
"""
_LANGUAGES_OF_SCRIPTS: dict[str, str] = dict(rows("scripts"))


def project_language(texts: Sequence[str]) -> str | None:
    """The language of a project's texts, or a description of it; None if no text shows any.

    The texts are not English if enough of them have a mark of another language (a function word, a letter with an
    accent, or another script), and more than have a function word of English.

    Examples
    --------
    >>> project_language(["pain in the chest", "fever", "cough since Monday"])
    'English'
    >>> project_language(["douleur au genou", "toux sèche", "mal de dos", "fatigue"])
    'French'
    """
    having = Counter(dict.fromkeys(_MARKERS, 0))
    scripts: Counter[str] = Counter()
    foreign = 0
    for text in texts:
        languages, script = _languages(text), _language_of_script(text)
        having.update(languages)
        scripts.update([] if script is None else [script])
        has_accent = any(c.isalpha() and not c.isascii() for c in text)
        foreign += script is not None or has_accent or any(name != ENGLISH for name in languages)
    english = having.pop(ENGLISH)
    if foreign < FEWEST_MARKED or foreign / len(texts) < LEAST_FOREIGN or foreign <= english:
        return ENGLISH if english else None
    if scripts and max(scripts.values()) * 2 > foreign:
        return max(scripts, key=scripts.__getitem__)
    best = max(having, key=having.__getitem__)
    return best if having[best] * 8 >= foreign and having[best] > 1 else UNRECOGNIZED


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
    return [name for name, markers in _MARKERS.items() if not words.isdisjoint(markers)]


def _language_of_script(text: str) -> str | None:
    """The language that is written in the script of most letters of a text; None if they are Latin."""
    scripts = letter_scripts(text)
    other_scripts = [script for script in scripts if script != LATIN]
    if len(other_scripts) * 2 <= len(scripts):
        return None
    return next(filter(None, map(_LANGUAGES_OF_SCRIPTS.get, other_scripts)), UNRECOGNIZED)


class EnglishTest:
    """A logistic regression on groups of letters, with 8-bit weights.

    Parameters
    ----------
    file
        Arrays ``weights``, ``scale``, ``bias`` and ``words`` (checksums of English words that look foreign). The file
        is read when the first text in Latin letters is tested.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.score = lru_cache(maxsize=100_000)(self._score)

    def _score(self, text: str) -> float:
        """Log odds that the text is English; 0 if it has no letters."""
        if not any(c.isalpha() for c in text):
            return 0.0
        if not mostly_latin(text):
            return OTHER_SCRIPT
        weights, scale, bias, english = self._arrays
        groups = letter_groups(text)
        letters = float(weights[groups].sum() * scale / max(len(groups), 1) ** 0.5 + bias)
        languages = _languages(text)
        score = letters + (FUNCTION_WORD if ENGLISH in languages else -FUNCTION_WORD if languages else 0)
        if _EXTENDED.search(unicodedata.normalize("NFC", text)):
            score += FOREIGN_LETTER
        words = _NO_LETTER.sub(" ", text).split()
        is_known = all(
            len(word) <= _SHORT or word.isupper() or zlib.crc32(word.lower().encode()) in english for word in words
        )
        return max(score, NEUTRAL) if is_known and (ENGLISH in languages or not languages) else score

    @cached_property
    def _arrays(self) -> tuple[Any, float, float, frozenset[int]]:
        with np.load(self._file, allow_pickle=False) as file:
            weights, words = file["weights"].astype(np.int64), frozenset(file["words"].tolist())
            return weights, float(file["scale"]), float(file["bias"].item()), words


def mostly_latin(text: str) -> bool:
    """Whether more than half of the letters are Latin.

    Examples
    --------
    >>> mostly_latin("α-synuclein"), mostly_latin("发烧 38 °C")
    (True, False)
    """
    scripts = letter_scripts(text)
    return 2 * scripts.count(LATIN) > len(scripts)


def letter_groups(text: str) -> list[int]:
    """Numbers of the groups of two to four letters of a text, a space before and after each word.

    Returns
    -------
    list of int
        Each below ``BUCKETS``.
    """
    words = f" {_NO_LETTER.sub(' ', unicodedata.normalize('NFKC', text).lower()).strip()} "
    return [
        zlib.crc32(words[start : start + size].encode()) % BUCKETS
        for size in SIZES
        for start in range(len(words) - size + 1)
    ]

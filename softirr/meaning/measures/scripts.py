"""The scripts and symbols of texts: the bundled models compare only texts that have some in common.

They learned from pairs within a language. The multilingual model calls most pairs of texts in two scripts the same,
whatever they mean (docs/results/multilingual.md). Most symbols and emoji are one unknown word to both models, so that
a check mark and a cross, or two different emoji, are the same to them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from softirr.answers.ratings import Ratings
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures.arrays import Bools, Ints

LATIN = "LATIN"
_ALIASES = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "BOPOMOFO"), "CJK")
"""Scripts that one language writes together with another one."""
_LONGEST_ABBREVIATION = 6
"""Maximum number of letters."""
_MOST_BITS = 62
_RUN = re.compile(r"(.)\1*", re.DOTALL)
_SIGNS = ("+", "-", "−")
"""Texts that facts read as a word."""
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")


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


@lru_cache(maxsize=1 << 17)
def scripts_of(text: str) -> frozenset[str]:
    """The scripts of a text.

    A short text in capitals has none: "ECG" is an abbreviation in every language.

    Examples
    --------
    >>> sorted(scripts_of("α-synuclein")), sorted(scripts_of("カタカナ 漢字")), sorted(scripts_of("38.5 %"))
    (['GREEK', 'LATIN'], ['CJK'], [])
    """
    scripts = letter_scripts(text)
    if text.isupper() and len(scripts) <= _LONGEST_ABBREVIATION:
        return frozenset()
    return frozenset(_ALIASES.get(script, script) for script in scripts if script)


@lru_cache(maxsize=1 << 17)
def symbols_of(text: str) -> frozenset[str]:
    """The symbols of a text, repeated ones as one; all of a text without letters and digits is one.

    Bullets, skin tones and the symbols of keyboards, other than "++", do not count.

    Examples
    --------
    >>> sorted(symbols_of("☑ edema ++")), sorted(symbols_of("->")), sorted(symbols_of("■ 38.5 ± 1 °C (grade Ⅱ)"))
    (['++', '☑'], ['->'], ['Ⅱ'])
    """
    text = _SKIN_TONES.sub("", text)
    if not _has_words(text):
        return frozenset((text,)) if text else frozenset()
    if text.isascii() and "++" not in text:
        return frozenset()
    return frozenset(run[0] for run in _RUN.finditer(text) if run[0].startswith("++") or _is_symbol(run[1]))


def _has_words(text: str) -> bool:
    return text in _SIGNS or any(map(str.isalnum, text))


def _is_symbol(mark: str) -> bool:
    """Whether a character is a symbol that counts, and not a bullet or such as ° and ±."""
    category = unicodedata.category(mark)
    if category in ("So", "Sm"):
        return "\u2190" <= mark < "\u25a0" or mark > "\u25ff"
    return category in ("No", "Nl")


def pairs_across_scripts(texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Bools:
    """Which pairs of texts have letters and no script in common, or symbols and none in common, shape (n,).

    A text of symbols only differs from every text without them.

    Parameters
    ----------
    texts : sequence of str
        Normalized. Texts outside the pairs are not looked at.
    left_texts, right_texts : shape (n,)
        Numbers of the pairs' texts.
    """
    numbers, index = np.unique(np.stack([left_texts, right_texts]), return_inverse=True)
    number: dict[str, int] = {}
    bits = np.zeros(len(numbers), dtype=np.int64)
    for k, text in enumerate(numbers.tolist()):
        for name in sorted(scripts_of(texts[text])):
            bits[k] |= 1 << number.setdefault(name, len(number) % _MOST_BITS)
    left_bits, right_bits = bits[index].reshape(2, -1)
    differ = np.asarray((left_bits & right_bits == 0) & (left_bits != 0) & (right_bits != 0))
    sides, symbols = index.reshape(2, -1), [symbols_of(texts[text]) for text in numbers.tolist()]
    has_symbols = np.array([bool(marks) for marks in symbols])[sides]
    has_words = np.array([not texts[text] or _has_words(texts[text]) for text in numbers.tolist()])[sides]
    for pair in np.flatnonzero(has_symbols.all(axis=0) | ~has_words.all(axis=0)).tolist():
        differ[pair] |= symbols[sides[0, pair]].isdisjoint(symbols[sides[1, pair]])
    return differ


def comparisons_across_scripts(table: AnnotationTable, ratings: Ratings) -> int:
    """Number of pairs of answers to one item that have no script, or no symbol, in common.

    Parameters
    ----------
    table : AnnotationTable
        With the texts of the answers.
    ratings : Ratings
        The ratings of this table.
    """
    answers = ["".join(table.texts_of(answer)) for answer in range(len(table.answers))]
    rows = ratings.comparisons.left_rows, ratings.comparisons.right_rows
    return int(pairs_across_scripts(answers, *(ratings.answer[row] for row in rows)).sum())

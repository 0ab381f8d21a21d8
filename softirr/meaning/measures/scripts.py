"""The scripts of texts: the bundled models compare only texts with a common script.

They learned from pairs within a language. The multilingual model calls most pairs of texts in two scripts the same,
whatever they mean (docs/results/multilingual.md).
"""

from __future__ import annotations

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


def pairs_across_scripts(texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Bools:
    """Which pairs of texts have letters and no script in common, shape (n,).

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
    return np.asarray((left_bits & right_bits == 0) & (left_bits != 0) & (right_bits != 0))


def comparisons_across_scripts(table: AnnotationTable, ratings: Ratings) -> int:
    """Number of pairs of answers to one item that have no script in common.

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

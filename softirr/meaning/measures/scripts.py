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

_ALIASES = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "BOPOMOFO"), "CJK")
"""Scripts that one language writes together with another one."""
_LONGEST_ABBREVIATION = 6
"""Maximum number of letters."""
_MOST_BITS = 62


@lru_cache(maxsize=1 << 17)
def scripts_of(text: str) -> frozenset[str]:
    """The scripts of the letters of a text, by the first word of the letters' names in Unicode.

    A short text in capitals has none: "ECG" is an abbreviation in every language.

    Examples
    --------
    >>> sorted(scripts_of("α-synuclein")), sorted(scripts_of("カタカナ 漢字")), sorted(scripts_of("38.5 %"))
    (['GREEK', 'LATIN'], ['CJK'], [])
    """
    letters = [letter for letter in text if letter.isalpha()]
    if text.isupper() and len(letters) <= _LONGEST_ABBREVIATION:
        return frozenset()
    names = {unicodedata.name(letter, "").partition(" ")[0] for letter in set(letters)}
    return frozenset(_ALIASES.get(name, name) for name in names if name)


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

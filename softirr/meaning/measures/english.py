"""How English one short text looks: by its script, else by its groups of letters and its function words."""

from __future__ import annotations

import re
import unicodedata
import zlib
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softirr.meaning.measures.languages import function_words
from softirr.meaning.measures.scripts import LATIN, letter_scripts

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
        score = letters + FUNCTION_WORD * function_words(text)
        if _EXTENDED.search(unicodedata.normalize("NFC", text)):
            score += FOREIGN_LETTER
        words = _NO_LETTER.sub(" ", text).split()
        is_known = all(
            len(word) <= _SHORT or word.isupper() or zlib.crc32(word.lower().encode()) in english for word in words
        )
        return max(score, NEUTRAL) if is_known and function_words(text) >= 0 else score

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

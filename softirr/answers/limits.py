"""Bounds of what is compared: answers beyond them are left out with the reason, by every reader and for Label Studio alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from softirr.text import normalize

__all__ = [
    "LONGEST_TEXT",
    "TOO_LONG",
    "TOO_MANY",
    "TOO_MUCH",
    "comparisons",
    "has_too_much",
    "items_with_too_much",
    "within_limits",
]

LONGEST_TEXT = 100_000
"""Characters of a text, some forty pages: comparing a longer one may take as long as all other texts of a project."""
_MOST_COMPARISONS = 500_000
"""Pairs of texts of one item: they take some 5 s and 300 MB with a lexical measure."""
_MOST_CHARACTERS = 400_000
"""Characters of two raters' answers to one item: their edit distance takes some 3 s."""
_FEW, _SHORT = 1_000, 20_000
"""Texts of one item, and their characters, that no limit leaves out."""
TOO_LONG = f"a text too long to compare (more than {LONGEST_TEXT:,} characters)"
TOO_MANY = f"too many texts of one item to compare (more than {_MOST_COMPARISONS:,} pairs)"
TOO_MUCH = f"texts of one item too long to compare (more than {_MOST_CHARACTERS:,} characters against as many)"


def within_limits(answers: Mapping[str, Sequence[str]]) -> tuple[dict[str, Sequence[str]], list[tuple[str, str]]]:
    """The answers to one item that can be compared, and the raters of the others with the reason.

    Parameters
    ----------
    answers : mapping of str to sequence of str
        Rater -> texts.

    Examples
    --------
    >>> kept, left_out = within_limits({"ann": ["fever"], "bob": ["x" * 100_001]})
    >>> kept, left_out
    ({'ann': ['fever']}, [('bob', 'a text too long to compare (more than 100,000 characters)')])
    """
    if _is_little(answers.values()):
        return dict(answers), []
    left_out = [(rater, TOO_LONG) for rater, texts in answers.items() if _longest(texts) > LONGEST_TEXT]
    comparable = {rater: texts for rater, texts in answers.items() if (rater, TOO_LONG) not in left_out}
    if reason := has_too_much(comparable.values()):
        return {}, left_out + [(rater, reason) for rater in comparable]
    return comparable, left_out


def _is_little(answers: Iterable[Sequence[str]]) -> bool:
    """Whether texts are so few and short that no limit needs counting, even if normalizing makes them longer."""
    texts = list(chain.from_iterable(answers))
    return len(texts) <= _FEW and sum(map(len, texts)) <= _SHORT


def has_too_much(answers: Iterable[Sequence[str]]) -> str:
    """Why the answers to one item are too much to compare; empty if they are not.

    Parameters
    ----------
    answers : iterable of sequence of str
        The texts of each rater.
    """
    sizes = [_size(texts) for texts in answers]
    if not sizes:
        return ""
    counts, lengths = np.array(sizes, dtype=np.int64).T
    return items_with_too_much(np.zeros(len(counts), dtype=np.int64), counts, lengths).get(0, "")


def items_with_too_much(
    item: NDArray[np.int64], counts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> dict[int, str]:
    """Items whose answers are too much to compare, each with the reason.

    Parameters
    ----------
    item, counts, lengths : ndarray of int64, shape (n,)
        Of each answer its item, its number of texts and their characters in all.
    """
    limits_and_reasons = (_MOST_COMPARISONS, TOO_MANY), (_MOST_CHARACTERS**2, TOO_MUCH)
    reasons: dict[int, str] = {}
    for (limit, reason), sizes in zip(limits_and_reasons, (counts, lengths), strict=True):
        for i in np.flatnonzero(_across(item, sizes) > limit).tolist():
            reasons.setdefault(i, reason)
    return reasons


def comparisons(answers: Iterable[Sequence[str]]) -> int:
    """Number of pairs of texts of different raters.

    Parameters
    ----------
    answers : iterable of sequence of str
        The texts of each rater.
    """
    counts = np.array([len(texts) for texts in answers], dtype=np.int64)
    return int(_across(np.zeros(len(counts), dtype=np.int64), counts).sum())


def _longest(texts: Iterable[str]) -> int:
    return max((len(text) if len(text) <= LONGEST_TEXT else len(normalize(text)) for text in texts), default=0)


def _size(texts: Iterable[str]) -> tuple[int, int]:
    """Number and characters of the distinct texts of an answer."""
    distinct = {normalize(text) for text in texts} - {""}
    return len(distinct), sum(map(len, distinct))


def _across(item: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each item, the sum of the products of the sizes of all pairs of its answers."""
    n_items = int(item.max(initial=-1)) + 1
    totals, squares = np.zeros((2, n_items), dtype=np.int64)
    np.add.at(totals, item, sizes)
    np.add.at(squares, item, sizes * sizes)
    return (totals * totals - squares) // 2

"""The numbers of stages, grades and classes, in Arabic or Roman digits, with a letter: "IIIA" and "3a" are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from softirr.meaning.lexicon.words import any_of, wordings
from softirr.meaning.measures.typed_values import LETTER, NUMBER, Part, TypedValue, typed

__all__ = ["stages"]

_ROMAN = {"i": 1, "v": 5, "x": 10}


@cache
def _stage() -> re.Pattern[str]:
    number = r"(?P<number>\d{1,2}|(?:X|IX|IV|V?I{1,3}|V)|(?:x|ix|iv|vi{1,3}|i{2,3}))"
    scales = rf"(?i:{any_of(wordings('scale', 'scale'))})"
    return re.compile(rf"(?<!\w){scales}[\s-]{number}(?P<letter>[A-Da-d])?(?![\w/]|[.,:-]\w)")


def stages(text: str) -> Iterator[TypedValue]:
    """The numbers and letters after words such as stage, in the order of the text.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue

    Examples
    --------
    >>> [(value.quantity, value.low, value.written) for value in stages("stage IIIA")]
    [('number', 2.5, None), ('letter', 1.0, '3A')]
    """
    for match in _stage().finditer(text):
        number, letter = _value(match["number"].casefold()), (match["letter"] or "").upper()
        parts = [Part(NUMBER, number - 0.5, number + 0.5)]
        if letter:
            parts.append(Part(LETTER, *(float(ord(letter) - ord("A") + 1),) * 2))
        yield from typed(parts, match.start("number"), match.end(), f"{number}{letter}")


def _value(digits: str) -> int:
    if digits.isdigit():
        return int(digits)
    numbers = [_ROMAN[one] for one in digits]
    return sum(-one if one < following else one for one, following in zip(numbers, [*numbers[1:], 0], strict=True))

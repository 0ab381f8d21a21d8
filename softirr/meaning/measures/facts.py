"""Reads facts that models overlook in a text: dates, amounts, signs, doubt, sides and the scope of negation.

A value that is written in another unit or form is rewritten to one form before the model sees the text.
:mod:`softirr.meaning.measures.fact_comparisons` compares the facts of two texts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from string import ascii_letters

from softirr.meaning.lexicon.words import any_of, wordings
from softirr.meaning.measures.assertions import Assertions, assertions, without_question_mark
from softirr.meaning.measures.dates import clock_times, dates, weekdays
from softirr.meaning.measures.money import money
from softirr.meaning.measures.plain_numbers import bounds, number_words, numbers, ratios
from softirr.meaning.measures.quantities import quantities
from softirr.meaning.measures.signs import sign_words, signs
from softirr.meaning.measures.stages import stages
from softirr.meaning.measures.typed_values import TypedValue

__all__ = ["VERSION", "TextFacts", "facts_of"]

VERSION = 9
"""Of what is read; it is part of the key of cached scores and of the provenance."""
LONGEST = 2_000
"""Characters of a text from which nothing is read."""
_FRACTION = re.compile("(?:([0-9]{1,9})\\s?)?([½⅓⅔¼¾⅛⅜⅝⅞])")
_SYMMETRIC = re.compile(r"[\s,;/&+x×-]*|\s*(?:and|or|by)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class TextFacts:
    """What was read in a text.

    Attributes
    ----------
    values : tuple of TypedValue
        In the order of the text.
    written : str
        The text with its values in one form.
    frame : str
        The text without its values.
    is_list : bool
        Whether only marks and "and" are between the values, so that their order means nothing.
    asserted : Assertions or None
    """

    values: tuple[TypedValue, ...]
    written: str
    frame: str
    is_list: bool
    asserted: Assertions | None


@lru_cache(maxsize=1 << 17)
def facts_of(text: str) -> TextFacts:
    """Read a normalized text; one that is long has no facts.

    Parameters
    ----------
    text : str

    Returns
    -------
    TextFacts

    Examples
    --------
    >>> facts_of("0.005 g on 5 January 2026").written
    '5 mg on 2026-01-05'
    """
    if len(text) > LONGEST:
        return TextFacts((), text, text, True, None)
    text = _FRACTION.sub(lambda match: _decimal(match[1], match[2]), text)
    asserted = assertions(text)
    if not _may_have_a_value().search(text):
        return TextFacts((), text, text, True, asserted)
    values = _not_overlapping(
        [
            *dates(text),
            *clock_times(text),
            *weekdays(text),
            *money(text),
            *quantities(text),
            *ratios(text),
            *signs(text),
            *stages(text),
            *bounds(text),
            *numbers(text),
        ]
    )
    written, frame, between = [], [], []
    at = 0
    for value in values:
        if value.end == value.start:
            continue
        gap = text[at : value.start]
        written += [gap, value.written or text[value.start : value.end]]
        frame += [gap, "#"]
        between.append(gap)
        at = value.end
    first = between[0] if between else ""
    prefix = first[len(first.rstrip(ascii_letters)) :]  # L3-L5
    is_list = all(_SYMMETRIC.fullmatch(gap.removesuffix(prefix)) for gap in between[1:])
    whole = "".join([*written, text[at:]])
    return TextFacts(values, without_question_mark(whole), "".join([*frame, text[at:]]), is_list, asserted)


def _decimal(whole: str | None, fraction: str) -> str:
    """The number 2½ in digits."""
    return f"{int(whole or 0) + round(unicodedata.numeric(fraction), 3):.10g}"


@cache
def _may_have_a_value() -> re.Pattern[str]:
    """What every text with a value has, and most texts of most projects have not."""
    words = any_of([*number_words(), *wordings("time", "weekday"), *wordings("time", "weekday_short"), *sign_words()])
    return re.compile(rf"\d|[+?−]|-(?:$|[\s,;)/]|ve\b)|\s[IVX]+[A-D]?\b|\b{words}", re.IGNORECASE)


def _not_overlapping(values: list[TypedValue]) -> tuple[TypedValue, ...]:
    """Values in order, without those that overlap an earlier kind of value: a date's numbers are no ratio."""
    kept: list[TypedValue] = []
    taken: list[tuple[int, int]] = []
    group: list[TypedValue] = []
    for value in values:  # the parts of one wording follow each other, and the last one spans it
        group.append(value)
        if value.end == value.start:
            continue
        if not any(start < value.end and value.start < end for start, end in taken):
            kept += group
            taken.append((value.start, value.end))
        group = []
    return tuple(sorted(kept, key=lambda value: (value.start, value.end)))

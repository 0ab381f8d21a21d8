"""Dates and weekdays in a text, as years, months and days; times of a day. Names of months come from Babel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from softirr.meaning.lexicon.words import any_of, entries, rows, word_list, wordings
from softirr.meaning.measures.typed_values import AS_WRITTEN, Part, TypedValue, typed

__all__ = ["clock_times", "dates", "weekdays"]

_DAY = r"(\d{1,2})(?:st|nd|rd|th|\.|º|er)?"
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?![\w/-]|\.\d)")
_YEAR = re.compile(r"\b(?:in|since|until|till|of|from|during|by|year)\s+((?:19|20)\d\d)(?![\w/-])", re.IGNORECASE)
_NAME = r"([^\W\d_]{3,12})\.?"
_WITH_MONTH = (
    (("day", "month", "year"), re.compile(rf"(?<![\w./-]){_DAY}[\s-](?:(?:of|de)\s)?{_NAME}(?:(?:,?\s(?:de\s)?|-)(\d{{4}}|\d\d\b))?(?![\w/-])", re.I)),
    (("month", "day", "year"), re.compile(rf"(?<![\w./-]){_NAME}\s(\d{{1,2}})(?:st|nd|rd|th)?(?!\d|\s?%)(?:,?\s(\d{{4}}))?(?![\w/-])", re.I)),
    (("month", "year"), re.compile(rf"(?<![\w./-]){_NAME},?\s(?:de\s)?(\d{{4}})(?![\w/-])", re.I)),
    (("month number", "year"), re.compile(r"(?<![\w./-])(\d{1,2})/((?:19|20)\d\d)(?![\w/-])")),
)  # fmt: skip
"""Parts of a date, and its wordings."""
_START = r"(?:(?<![\w:.,/-])|(?<=m-)|(?<=:\d\d-))"
"""Before a time: 5pm-7pm has two."""
_RELATIVE = "".join(rf"(?<!{part}\s{word}\s)" for part in ("quarter", "half", "minutes") for word in ("past", "to"))
"""Not in "quarter past 3 pm"."""
_CLOCK = re.compile(rf"{_START}{_RELATIVE}(\d{{1,2}})(?:[:.]([0-5]\d))?\s?(?:([ap])\.?m\b\.?)", re.IGNORECASE)
_HOURS = re.compile(rf"{_START}(\d\d):([0-5]\d)(?![\w:.])")
_SHORT_YEAR = "year" + AS_WRITTEN
"""The type of years in two digits."""
_LAST_CENTURY = 69


@cache
def _months() -> dict[str, int]:
    """Names and abbreviations of months in folded case, from the tables of Unicode."""
    from babel.dates import get_month_names

    result: dict[str, int] = {"sept": 9}
    for _, language, _ in rows("languages"):
        for width in ("wide", "abbreviated"):
            for number, name in get_month_names(width, "format", language).items():
                result.setdefault(name.casefold().rstrip("."), number)
    return {name: number for name, number in result.items() if name not in word_list("no month")}


@cache
def _after_short_year() -> re.Pattern[str]:
    """What follows a year of two digits: the end, a mark or a function word; 12 May 10:30 and 5 Jan 26 mg have none."""
    words = any_of(word for _, _, function_words in rows("languages") for word in function_words.split())
    return re.compile(rf"$|\s*[,;()–-]|[.!?](?!\d)|\s{words}(?!\w)", re.IGNORECASE)


def dates(text: str) -> Iterator[TypedValue]:
    """The years, months and days of dates, in the order of the text.

    Only the year of a date such as 1/5/2026 is sure; its other parts are compared only with dates in the same form.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue

    Examples
    --------
    >>> [(one.quantity, one.low, one.written) for one in dates("seen 5 January 2026")]
    [('year', 2026, None), ('month', 1, None), ('day', 5, '2026-01-05')]
    >>> [value.written for value in dates("5 Jan 26, 31/12/99")]
    [None, None, None, '2026-01-05', None, None, None, '1999-12-31']
    """
    spans: list[tuple[int, int, list[tuple[str, int]]]] = []
    for match in _NUMERIC.finditer(text):
        spans.append((*match.span(), _of_numbers(int(match[1]), match[2], int(match[3]), int(match[4]), match[0])))
    taken = {place for start, end, _ in spans for place in range(start, end)}
    for names, pattern in _WITH_MONTH:  # the longest form first: "January 2026" is a part of "5 January 2026"
        for match in pattern.finditer(text):
            if match.start() in taken or match.end() - 1 in taken:
                continue
            wording, end = dict(zip(names, match.groups(), strict=True)), match.end()
            if len(wording.get("year") or "") == 2 and not _after_short_year().match(text, end):
                wording["year"], end = None, match.end(2)
            if parts := _with_month(wording):
                spans.append((match.start(), end, parts))
                taken |= set(range(match.start(), end))
    for match in _YEAR.finditer(text):
        if match.start(1) not in taken:
            spans.append((*match.span(1), [("year", int(match[1]))]))
    for start, end, parts in sorted(spans):
        known = {part.removesuffix(AS_WRITTEN): number for part, number in parts}
        written = None
        if {"year", "month"} <= set(known):
            written = "-".join(f"{known[part]:02}" for part in ("year", "month", "day") if part in known)
        yield from typed([bounds for part, number in parts for bounds in _bounds(part, number)], start, end, written)


def _bounds(part: str, number: int) -> list[Part]:
    """A part of a date; a year in two digits is one of two centuries, unless the other year has two digits, too."""
    if part != _SHORT_YEAR:
        return [Part(part, number, number)]
    first = 1900 + number % 100
    return [Part(part, number, number), Part("year", first - 0.5, first + 100.5)]


def _century(year: int) -> int:
    """The year of two digits as in POSIX: 69 to 99 are in the last century."""
    return year + (1900 if year >= _LAST_CENTURY else 2000)


def _of_numbers(first: int, mark: str, second: int, third: int, wording: str) -> list[tuple[str, int]]:
    if first > 31:
        return _valid({"year": first, "month": second, "day": third})
    if len(wording.rpartition(mark)[2]) not in (2, 4) or not max(first, second):
        return []
    name, year = ("year", third) if third > 99 else (_SHORT_YEAR, _century(third))
    if first > 12 and second <= 12:
        return [(name, year), ("month", second), ("day", first)]
    if second > 12 and first <= 12 and second <= 31:
        return [(name, year), ("month", first), ("day", second)]
    if mark == "." and max(first, second) <= 12:
        return [(name, year), ("month", second), ("day", first)]
    return [(name, year), ("first of a date", first), ("second of a date", second)] if max(first, second) <= 12 else []


def _with_month(wording: dict[str, str | None]) -> list[tuple[str, int]]:
    """The parts of a date with the name of a month; none where it is no month."""
    parts = {part: int(word) for part, word in wording.items() if word and part in ("year", "day")}
    month = wording.get("month")
    number = _months().get(month.casefold()) if month else int(wording["month number"] or 0)
    if number is None or (month in word_list("month with a year") and "year" not in parts):
        return []
    if parts.get("year", 100) < 100:
        parts[_SHORT_YEAR] = _century(parts.pop("year"))
    return _valid({**parts, "month": number})


def _valid(parts: dict[str, int]) -> list[tuple[str, int]]:
    """The parts of a date that exists, in order; a year that is missing is a leap year."""
    try:
        date(parts.get("year", parts.get(_SHORT_YEAR, 2000)), parts["month"], parts.get("day", 1))
    except ValueError:
        return []
    return [(part, parts[part]) for part in ("year", _SHORT_YEAR, "month", "day") if part in parts]


def clock_times(text: str) -> Iterator[TypedValue]:
    """Times of a day that say which half of it, such as 8 pm and 20:00, in minutes.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue

    Examples
    --------
    >>> [(one.low, one.written) for one in clock_times("at 8 a.m. and 22:30")]
    [(480, '08:00'), (1350, '22:30')]
    """
    for match in sorted([*_CLOCK.finditer(text), *_HOURS.finditer(text)], key=lambda match: match.start()):
        hour, minute, half = int(match[1]), int(match[2] or 0), (*match.groups(), None)[2]
        if (half is None and (hour > 23 or 9 < hour < 13)) or (half is not None and not 1 <= hour <= 12):
            continue
        if half is not None:
            hour = hour % 12 + (12 if half in "pP" else 0)
        time = 60 * hour + minute
        yield TypedValue("time of day", time, time, *match.span(), f"{hour:02}:{minute:02}")


@cache
def _weekday_names() -> tuple[re.Pattern[str], dict[str, tuple[int, str]]]:
    days = wordings("time", "weekday")
    names = {
        word.casefold(): (days.index(entry.value), entry.value.capitalize())
        for entry in entries()
        if entry.dimension == "weekday"
        for word in entry.wordings
    }
    full = rf"(?i:{any_of(days)})"
    return re.compile(rf"(?<![\w-])(?:{full}|{any_of(wordings('time', 'weekday_short'))}\b\.?)(?=s?(?![\w-]))"), names


def weekdays(text: str) -> Iterator[TypedValue]:
    """The weekdays of a text; abbreviations count with a capital.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue

    Examples
    --------
    >>> [one.written for one in weekdays("Tue and friday")]
    ['Tuesday', 'Friday']
    """
    pattern, names = _weekday_names()
    for match in pattern.finditer(text):
        number, name = names[match[0].rstrip(".").casefold()]
        yield TypedValue("weekday", number, number, match.start(), match.end(), name)

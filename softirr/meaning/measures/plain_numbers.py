"""Numbers in digits and words, with and without a bound, and two numbers beside each other, as intervals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from softirr.meaning.lexicon.words import any_of, entries, rows
from softirr.meaning.measures.typed_values import AS_WRITTEN, BOUND, NUMBER, Part, TypedValue, typed

__all__ = [
    "NUMBER_WORDING",
    "Number",
    "bound_words",
    "bounds",
    "number_in_words",
    "number_value",
    "number_words",
    "numbers",
    "ratios",
    "wording_of_bound",
]

NUMBER_WORDING = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+(?:[.,]\d+)?|\.\d+)"
"""A pattern for a number in digits."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+")
"""Thousands and decimals as in the languages that have a decimal comma."""
_OPEN = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""Three digits after a point: decimals, or thousands in the languages that have a decimal comma."""
_DECIMALS = re.compile(r"(?<![\d.,])(?:0\.\d|\d+\.\d(?!\d\d(?!\d)))|,\d{3}(?!\d)")
"""Numbers that show that a text's decimals follow a point."""
_RATIO = re.compile(r"(?<![\w.,/+-])(\d{2,3})(?:\s?/\s?|\s(?:over|out\sof)\s)(\d{2,3})(?![\w/]|[.,]\d)")
_BARE = re.compile(r"(?:(?<![\w.,)+−-])[+−-])?(?<![.,\d])\d++(?:[.,]\d++)*")
_ENUMERATOR = re.compile(r"\(?\d{1,2}[.)]\s")
_LONGEST_NUMBER = 15
_YEARS = re.compile(r"(?:19|20)\d\d[/–-]")
"""Before a year without its century: 1914-18."""


@dataclass(frozen=True)
class Number:
    """A number in digits or words.

    Attributes
    ----------
    value : float
        Its point read as a decimal point.
    low, high : float
        What it may mean, with the width of its rounding.
    digits : int
        How many digits of it count.
    is_open : bool
        Whether its point may separate thousands, so that `low` and `high` are far apart.
    """

    value: float
    low: float
    high: float
    digits: int
    is_open: bool = False

    def __neg__(self) -> Number:
        return replace(self, value=-self.value, low=-self.high, high=-self.low)


@cache
def number_words() -> dict[str, int]:
    """Numbers that are written as words, up to ninety.

    Returns
    -------
    dict of str to int
    """
    return {word: int(number) for word, number, _ in rows("numbers")}


@cache
def number_in_words() -> str:
    """A pattern for a number in words, up to ninety-nine.

    Returns
    -------
    str
    """
    tens, digits = (any_of(word for word, _, own in rows("numbers") if own == name) for name in ("tens", "one_to_nine"))
    return rf"(?:{tens}[\s-]{digits}|{any_of(number_words())})"


@cache
def bound_words() -> dict[str, str]:
    """What wordings such as "more than" mean: over, under or about.

    Returns
    -------
    dict of str to str
    """
    return {
        word: entry.value
        for entry in entries()
        if entry.kind == "number" and "bound" in entry.classes
        for word in entry.wordings
    }


def number_value(word: str, text: str) -> Number | None:
    """A number in digits or words; None for what is none, as a version.

    Parameters
    ----------
    word : str
        In lower case.
    text : str
        Its text: other numbers show what a point means.

    Returns
    -------
    Number or None

    Examples
    --------
    >>> number_value("1,500", ""), number_value("0,005", "").value
    (Number(value=1500.0, low=1499.5, high=1500.5, digits=4, is_open=False), 0.005)
    >>> number_value("1.500", "1.500").is_open, number_value("1.500", "1.500 of 2.5").is_open
    (True, False)
    """
    if word[0].isalpha():
        parts = re.split(r"[\s-]", word)
        if not set(parts) <= set(number_words()):
            return None
        number = float(sum(number_words()[part] for part in parts))
        return Number(number, number - 0.5, number + 0.5, 2)
    if not word.strip(".")[:1].isdigit() or len(word) > _LONGEST_NUMBER:
        return None
    if _DECIMAL_COMMA.fullmatch(word):
        word = word.replace(".", "")
    has_thousands = _THOUSANDS.fullmatch(word) is not None
    if len(re.findall("[.,]", word)) > 1 and not has_thousands:
        return None  # a version or a section
    plain = word.replace(",", "") if has_thousands else word.replace(",", ".")
    number, step = float(plain), 10.0 ** -len(plain.partition(".")[2])
    is_open = _OPEN.fullmatch(word) is not None and _DECIMALS.search(text) is None
    most = 1_000 * number if is_open else number
    return Number(number, number - step / 2, most + step / 2, len(plain.replace(".", "").lstrip("0")), is_open)


def wording_of_bound(*kinds: str) -> str:
    """A pattern for the words and signs before a number that is a bound; an arrow is none.

    Parameters
    ----------
    *kinds : str
        Of ``over``, ``under``, ``about``.

    Returns
    -------
    str
    """
    return rf"(?:(?<!\w)|(?=[^\w\s]))(?<![-=]){any_of(word for word, kind in bound_words().items() if kind in kinds)}"


@cache
def _bound() -> re.Pattern[str]:
    return re.compile(rf"{wording_of_bound('over', 'under')}\s?(?=\d)", re.IGNORECASE)


def bounds(text: str) -> Iterator[TypedValue]:
    """Whether numbers are a lower or an upper bound, in the order of the text.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue

    Examples
    --------
    >>> [one.low for one in bounds("over 18 and under 65")]
    [1.0, 0.0]
    """
    for match in _bound().finditer(text):
        over = float(bound_words()[" ".join(match[0].casefold().split())] == "over")
        yield TypedValue(BOUND, over, over, match.start(), match.end())


def ratios(text: str) -> Iterator[TypedValue]:
    """Two numbers with a slash between them, such as a blood pressure, as two values.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue

    Examples
    --------
    >>> [one.low for one in ratios("BP 160/95")]
    [160.0, 95.0]
    """
    for match in _RATIO.finditer(text):
        first, second = float(match[1]), float(match[2])
        parts = [Part("first of two", first, first), Part("second of two", second, second)]
        yield from typed(parts, *match.span(), f"{match[1]}/{match[2]}")


def numbers(text: str) -> Iterator[TypedValue]:
    """Numbers of any kind, digits inside words included, with the width of their rounding.

    The number of a list item is none.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue

    Examples
    --------
    >>> [(one.low, one.high) for one in numbers("vitamin B12, 1,000 IU")]
    [(11.5, 12.5), (999.5, 1000.5)]
    """
    enumerator = _ENUMERATOR.match(text)
    for match in _BARE.finditer(text, enumerator.end() if enumerator else 0):
        number = number_value(match[0].lstrip("+−-"), text)
        if number is None:
            continue
        if match[0][0] in "−-":
            number = -number
        low, high = number.low, number.high
        is_year = len(match[0]) == 2 and _YEARS.fullmatch(text, max(0, match.start() - 5), match.start())
        if is_year:  # 2020-11 may be a month
            century = int(text[match.start() - 5 : match.start() - 3])
            high += 100 * (century + (number.value <= int(text[match.start() - 3 : match.start() - 1])))
        parts = [Part(NUMBER + AS_WRITTEN, number.value, number.value)] if number.is_open or is_year else []
        yield from typed([*parts, Part(NUMBER, low, high)], *match.span())

"""Amounts with units, and numbers beside each other, as intervals of one unit for each quantity.

Conversions come from pint, which is imported when a text has a number before a unit. The wordings of units are in
``softirr/lexicon/units.tsv``; its
units with a name are those that amounts are written in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from softirr.errors import InputError
from softirr.lexicon.words import any_of, entries, rows
from softirr.measures.typed_values import AS_WRITTEN, NUMBER, Part, TypedValue, typed

__all__ = [
    "NUMBER_WORDING",
    "Number",
    "number_value",
    "number_words",
    "numbers",
    "quantities",
    "ratios",
]

NUMBER_WORDING = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)"
"""A pattern for a number in digits."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_OPEN = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""Three digits after a point: decimals, or thousands in the languages that have a decimal comma."""
_DECIMALS = re.compile(r"(?<![\d.,])(?:0\.\d|\d+\.\d(?!\d\d(?!\d)))|,\d{3}(?!\d)")
"""Numbers that show that a text's decimals follow a point."""
_RATIO = re.compile(r"(?<![\w.,/+-])(\d{2,3})(?:\s?/\s?|\s(?:over|out\sof)\s)(\d{2,3})(?![\w/]|[.,]\d)")
_BARE = re.compile(r"(?:(?<![\w.,)+−-])[+−-])?(?<![.,\d])\d++(?:[.,]\d++)*")
_ENUMERATOR = re.compile(r"\(?\d{1,2}[.)]\s")
_PLAUSIBLE = {"c": (30.0, 45.0), "f": (86.0, 115.0)}
"""Letters that stand for a unit beside numbers of a body's temperature only."""
_APPROXIMATE = 0.2
"""Part of a value that "about" leaves open."""
_LONGEST_NUMBER = 15
_AFTER_HUNDRED = "".join(rf"(?<!{word}\s)(?<!{word}\sand\s)" for word in ("hundred", "thousand", "million"))
"""Not in "two hundred and five mg"."""
_SUMMED = frozenset({"foot", "meter", "hour", "pound"})
"""Units whose amount a number without a unit may continue: 5 ft 10, 2 h 45."""
_SUMMAND = re.compile(r"\s?(?=\d)")
_TIMES = re.compile(r"\d\s?[x×]\s?\d")
_RANGE = re.compile(r"\d\s?[-–]\s?\d|\b(?:to|or)\b")


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


@dataclass(frozen=True)
class _Unit:
    quantity: str
    unit: str


@cache
def number_words() -> dict[str, int]:
    """Numbers that are written as words, up to ninety.

    Returns
    -------
    dict of str to int
    """
    return {word: int(number) for word, number, _ in rows("numbers")}


@cache
def _number_in_words() -> str:
    """A pattern for a number in words, up to ninety-nine."""
    tens, digits = (any_of(word for word, _, own in rows("numbers") if own == name) for name in ("tens", "one_to_nine"))
    return rf"(?:{tens}[\s-]{digits}|{any_of(number_words())})"


@cache
def _written_number() -> re.Pattern[str]:
    return re.compile(rf"{NUMBER_WORDING}|{_number_in_words()}\b|[a-z]{{3,}}")


@cache
def _units() -> dict[str, _Unit]:
    return {word: _Unit(quantity, unit) for quantity, _, _, unit, words in rows("units") for word in words.split(", ")}


@cache
def _ladder(quantity: str) -> tuple[tuple[str, str, str], ...]:
    """The units that amounts are written in, the smallest first: singular, plural, unit."""
    return tuple((one, many, unit) for name, one, many, unit, _ in rows("units") if name == quantity and one)


@cache
def _registry() -> Any:
    try:
        import pint
    except ImportError:
        raise InputError(
            "A text has an amount with a unit, and the package pint is not installed: pip install pint."
        ) from None
    return pint.UnitRegistry(cache_folder=None)


@cache
def _linear(unit: str, target: str) -> tuple[float, float]:
    """Factor and offset by which a value in one unit becomes one in another."""
    if unit == target:
        return 1.0, 0.0
    registry = _registry()
    if not any(name.startswith("degree") for name in (unit, target)):
        return float((registry(unit) if unit else registry.Quantity(1)).to(target).magnitude), 0.0
    zero, one = (float(registry.Quantity(x, unit).to(target).magnitude) for x in (0.0, 1.0))
    return one - zero, zero


@cache
def _bounds() -> dict[str, str]:
    return {
        word: entry.value
        for entry in entries()
        if entry.kind == "number" and "bound" in entry.classes
        for word in entry.wordings
    }


@cache
def _amount() -> re.Pattern[str]:
    number = rf"(?:{NUMBER_WORDING}|(?<!\w){_number_in_words()}(?=[\s-]))"
    between = r"\s?(?:-|–|to|or|x|×|by)\s?"
    return re.compile(
        rf"(?P<bound>(?<!\w){any_of(_bounds())}\s?)?(?<![\w.,/^])(?<!\d\s)(?<!\bpoint\s){_AFTER_HUNDRED}"
        rf"(?P<sign>(?<![\w)])(?:[-+−]|minus\s))?"
        rf"(?P<numbers>{number}(?:{between}{number}){{0,2}})(?P<gap>\s?-?)(?P<unit>{any_of(_units())})(?![\w/²³^])",
        re.IGNORECASE,
    )


def quantities(text: str) -> Iterator[TypedValue]:
    """Amounts with a unit, in the order of the text.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue
        A value for each number of "2 x 3 cm".

    Examples
    --------
    >>> [(one.quantity, one.written) for one in quantities("0.005 g for two weeks")]
    [('mass', '5 mg'), ('time', '14 days')]
    """
    for match in _amount().finditer(text):
        written = " ".join(match["unit"].split())
        name = written.casefold()
        unit = _units().get(written) or _units().get(name) or _units().get(name.replace("-", " "))
        if unit is None:
            continue  # V is a volt, v may be "versus"
        rest = _SUMMAND.match(text, match.end()) if unit.unit in _SUMMED else None
        if rest is not None and not _amount().match(text, rest.end()):
            continue
        parsed = [number_value(word, text) for word in _written_number().findall(match["numbers"].casefold())]
        if any(one is None for one in parsed):
            continue
        bound = _bounds().get(" ".join((match["bound"] or "").casefold().split()))
        values = [one for one in parsed if one is not None]
        if not _is_plausible(name, values):
            continue
        if match["sign"] not in (None, "+"):
            values = [-one for one in values]
        yield from _typed(match, unit, bound, values)


def _typed(match: re.Match[str], unit: _Unit, bound: str | None, values: list[Number]) -> Iterator[TypedValue]:
    start, end = match.span("numbers")[0] - len(match["sign"] or ""), match.end()
    if unit.quantity != "length" and _TIMES.search(match["numbers"].casefold()):
        values = values[-1:]  # 2 x 5 mg: two doses of 5 mg
        start = match.end("numbers") - len(_written_number().findall(match["numbers"].casefold())[-1])
    target = _ladder(unit.quantity)[0][2]
    factor, offset = _linear(unit.unit, target)
    lows = [factor * one.low + offset for one in values]
    highs = [factor * one.high + offset for one in values]
    parts = [Part(unit.quantity + AS_WRITTEN, *(factor * one.value + offset,) * 2) for one in values]
    if not any(one.is_open for one in values):
        parts.clear()
    is_range = len(values) == 2 and _RANGE.search(match["numbers"].casefold()) is not None
    amounts = ["" if one.is_open else _amount_of(unit, one) for one in values]
    if is_range or bound is not None:
        low, high = min(lows), max(highs)
        if bound == "over":
            low, high = (low + high) / 2, math.inf
        elif bound == "under":
            low, high = -math.inf, (low + high) / 2
        elif bound == "about":
            low, high = low - _APPROXIMATE * abs(low), high + _APPROXIMATE * abs(high)
        amounts = ["" if is_range else amounts[0]]
        lows, highs = [low], [high]
    parts += [Part(unit.quantity, *one) for one in zip(lows, highs, amounts, strict=True)]
    yield from typed(parts, start, end, _in_text(match, amounts[0]) if len(amounts) == 1 else None)


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
    if not word[0].isdigit() or len(word) > _LONGEST_NUMBER:
        return None
    has_thousands = _THOUSANDS.fullmatch(word) is not None
    if len(re.findall("[.,]", word)) > 1 and not has_thousands:
        return None  # a version or a section
    plain = word.replace(",", "") if has_thousands else word.replace(",", ".")
    number, step = float(plain), 10.0 ** -len(plain.partition(".")[2])
    is_open = _OPEN.fullmatch(word) is not None and _DECIMALS.search(text) is None
    most = 1_000 * number if is_open else number
    return Number(number, number - step / 2, most + step / 2, len(plain.replace(".", "").lstrip("0")), is_open)


def _is_plausible(unit: str, values: list[Number]) -> bool:
    low, high = _PLAUSIBLE.get(unit, (-math.inf, math.inf))
    return all(low <= one.value <= high for one in values)


def _amount_of(unit: _Unit, number: Number) -> str:
    """One amount in the largest unit of its quantity in which it is at least 1."""
    value, digits = number.value, number.digits
    best = ""
    for singular, plural, target in _ladder(unit.quantity):
        factor, offset = _linear(unit.unit, target)
        amount = factor * value + offset
        exact = amount if _is_round(factor) and not offset else float(f"{amount:.{max(2, digits)}g}")
        if best and abs(exact) < 1:
            break
        shown = f"{exact:.10g}"
        if "e" not in shown:
            best = f"{shown} {singular if shown == '1' else plural}"
    return best


def _in_text(match: re.Match[str], amount: str) -> str | None:
    """An amount as it is written in place of a wording."""
    number, _, unit = amount.partition(" ")
    if match["gap"] == "-" and unit.isalpha():
        return f"{number}-{_singular(unit)}"
    return f"{number}%" if unit == "%" else amount or None


@cache
def _singular(unit: str) -> str:
    return next((one for _, one, many, _, _ in rows("units") if many == unit), unit)


def _is_round(factor: float) -> bool:
    """Whether a factor only moves the decimal point, or makes a whole number of smaller units."""
    power = math.log10(factor)
    return abs(power - round(power)) < 1e-9 or (factor >= 1 and abs(factor - round(factor)) < 1e-9)


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
        parts = [Part(NUMBER + AS_WRITTEN, number.value, number.value)] if number.is_open else []
        yield from typed([*parts, Part(NUMBER, number.low, number.high)], *match.span())

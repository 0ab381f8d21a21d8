"""Amounts with units, as intervals of one unit for each quantity.

Conversions come from pint, which is imported when a text has a number before a unit. The wordings of units are in
``softirr/meaning/lexicon/units.tsv``; its units with a name are those that amounts are written in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from softirr.errors import InputError
from softirr.meaning.lexicon.words import any_of, rows
from softirr.meaning.measures.plain_numbers import (
    NUMBER_WORDING,
    Number,
    bound_words,
    number_in_words,
    number_value,
    wording_of_bound,
)
from softirr.meaning.measures.typed_values import AS_WRITTEN, Part, TypedValue, typed

__all__ = ["quantities"]

_PLAUSIBLE = {"c": (30.0, 45.0), "f": (94.0, 115.0), "foot": (2.5, math.inf), "feet": (2.5, math.inf)}
"""Numbers beside which these wordings are units: a body's temperature, no woman of 88, and no part of a body."""
_APPROXIMATE = 0.2
"""Part of a value that "about" leaves open."""
_AFTER_HUNDRED = "".join(rf"(?<!{word}\s)(?<!{word}\sand\s)" for word in ("hundred", "thousand", "million"))
"""Not in "two hundred and five mg"."""
_SUMMED = frozenset({"foot", "meter", "hour", "pound"})
"""Units whose amount a number without a unit may continue: 5 ft 10, 2 h 45."""
_SUMMAND = re.compile(r"\s?(?=\d)")
_AND = {"time": (" ", " and "), "months": (" ", " and ")}
"""Wordings between two amounts that are one: 1 hour and 30 minutes; 3 cm and 5 mm are two lengths."""
_BY = re.compile(r"\bby\s$", re.IGNORECASE)
_TIMES = re.compile(r"\d\s?[x×]\s?\d")
_RANGE = re.compile(r"\d\s?[-–]\s?\d|\b(?:to|or)\b")


@dataclass(frozen=True)
class _Unit:
    quantity: str
    unit: str


@dataclass(frozen=True)
class _Amount:
    """A wording of numbers and a unit; `end` is after it and after what it is summed with."""

    match: re.Match[str]
    end: int
    unit: _Unit
    values: list[Number]


@cache
def _written_number() -> re.Pattern[str]:
    return re.compile(rf"{NUMBER_WORDING}|{number_in_words()}\b|[a-z]{{3,}}")


@cache
def _units() -> dict[str, _Unit]:
    units = {word: _Unit(quantity, unit) for quantity, _, _, unit, words in rows("units") for word in words.split(", ")}
    return {word.replace("/", " per ").strip(): unit for word, unit in units.items()} | units


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
def _amount() -> re.Pattern[str]:
    bound = wording_of_bound("over", "under", "about")
    number = rf"(?:{NUMBER_WORDING}|(?<!\w){number_in_words()}(?=[\s-]))"
    between = r"\s?(?:-|–|to|or|x|×|by)\s?"
    return re.compile(
        rf"(?P<bound>{bound}\s?)?(?<![\w.,/^])(?<!\d\s)(?<!\bpoint\s)(?<!\d\+){_AFTER_HUNDRED}"
        rf"(?P<sign>(?<![\w)])(?:[-+−]|minus\s))?"
        rf"(?P<numbers>{number}(?:{between}{number}){{0,2}})(?P<plus>\+(?=\s))?(?P<gap>\s?-?)"
        rf"(?P<unit>{any_of(_units())})(?![\w/²³^])",
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
    amounts: list[_Amount] = []
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
        values = [one for one in parsed if one is not None]
        if len(values) < len(parsed):
            continue
        if match["sign"] not in (None, "+"):
            values = [-one for one in values]
        amount = _Amount(match, match.end(), unit, values)
        if amounts and (total := _sum(amounts[-1], amount, text)) is not None:
            amounts[-1] = total
        else:
            amounts.append(amount)
    for amount in amounts:
        if _is_plausible(amount, text):
            yield from _typed(amount)


def _sum(one: _Amount, other: _Amount, text: str) -> _Amount | None:
    """Two amounts as one, where the second is less than one unit of the first: 1 hour 30 minutes."""
    gap = text[one.end : other.match.start()]
    is_plain = not (other.match["bound"] or other.match["sign"] or one.match["plus"] or other.match["plus"])
    quantity = one.unit.quantity
    if not is_plain or quantity != other.unit.quantity or gap.casefold() not in _AND.get(quantity, (" ",)):
        return None
    (first, *_), (second, *_) = one.values, other.values
    factor, _ = _linear(one.unit.unit, other.unit.unit)
    is_single = len(one.values) == len(other.values) == 1 and not (first.is_open or second.is_open)
    if not is_single or factor <= 1 or second.value >= factor or first.value % 1 or first.value < 0:
        return None
    whole = factor * first.value
    total = Number(whole + second.value, whole + second.low, whole + second.high, first.digits + second.digits)
    return _Amount(one.match, other.end, other.unit, [total])


def _typed(amount: _Amount) -> Iterator[TypedValue]:
    match, unit, values = amount.match, amount.unit, amount.values
    bound = "over" if match["plus"] else bound_words().get(" ".join((match["bound"] or "").casefold().split()))
    start = match.span("numbers")[0] - len(match["sign"] or "")
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
    is_written = len(amounts) == 1 and not match["plus"]
    yield from typed(parts, start, amount.end, _in_text(match, amounts[0]) if is_written else None)


def _is_plausible(amount: _Amount, text: str) -> bool:
    """Whether a wording is an amount of its unit; a temperature after "by" is a difference of two."""
    low, high = _PLAUSIBLE.get(amount.match["unit"].casefold(), (-math.inf, math.inf))
    is_change = amount.unit.quantity == "temperature" and _BY.search(text[: amount.match.start()])
    return not is_change and all(low <= one.value <= high for one in amount.values)


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

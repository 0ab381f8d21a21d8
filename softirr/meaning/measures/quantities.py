"""Numbers in digits and words with units (``lexicon/units.tsv``) and bounds, as intervals of one unit a quantity."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from softirr.meaning.lexicon import any_of, entries, rows, word_list

NUMBER = "number"
"""Quantity of values without a unit."""
NUMBER_WORDS = {word: int(number) for word, number, _ in rows("numbers")}
"""Number words up to ninety, with their values."""
_SINGULAR = {plural: singular for _, singular, plural, *_ in rows("units") if singular}
_BOUND_WORDS = {
    word: entry.value
    for entry in entries()
    if entry.kind == "number" and "bound" in entry.classes
    for word in entry.wordings
}
_ABOUT = 0.2
"""Relative width of a value after "about"."""
_NEAR = 40
"""Number of characters before a number in which its sign and bound are looked for."""
_GROUPED = r"[1-9]\d{0,2}(?:[,'’٬]\d{3})+(?:\.\d+)?"
"""A number with marks between thousands: commas, apostrophes, or the mark that goes with Arabic digits."""
_DIGITS = rf"(?:{_GROUPED}|\d{{1,3}}(?:\.\d{{3}})+,\d+|\d+(?:[.,]\d+)*|\.\d+)"
_THOUSANDS = re.compile(_GROUPED)
_DECIMAL_COMMA = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+")
_OPEN = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_ENUMERATOR = re.compile(r"\(?\d{1,2}[.)]\s")
_TOUCHES = re.compile(r"\s?(?:and\s)?|\s?[-–+]\s?", re.IGNORECASE)
_TIMES = re.compile(r"\s?[x×]\s?")
_RANGE = re.compile(r"\s?(?:[-–x×]|to|or|by)\s?")
_TENS, _ONES = (any_of(word for word, _, name in rows("numbers") if name == kind) for kind in ("tens", "one_to_nine"))
_NUMBER_WORD = (
    rf"(?<!hundred\s)(?<!thousand\s)(?<!\sand\s)(?:{_TENS}[\s-]{_ONES}|{any_of(NUMBER_WORDS)})"
    r"(?!\w|[\s-](?:hundred|thousand|million|billion|dozen))"
)
_BOUND = re.compile(rf"(?:(?<![\w])(?<!\d\s)|(?=[^\w\s]))(?<![-=]){any_of(_BOUND_WORDS)}\s?$", re.IGNORECASE)


@dataclass(frozen=True)
class Value:
    """A value in a text.

    Attributes
    ----------
    quantity : str
        ``length``, ``mass``, ...; ``number`` without a unit, ``side`` or ``sign``.
    low, high : float
        Smallest and largest value that the digits allow: "5 cm" means 4.5 to 5.5 cm.
    start, end : int
        Position in the text, words such as "over" included.
    bound : str
        ``over``, ``under``, ``about``, ``open`` (the point of "1.500" may separate thousands) or empty.
    amount : str
        Number and unit in the form that all wordings share; empty without a unit.
    is_rewritten : bool
        Whether the amount replaces the wording.
    """

    quantity: str
    low: float
    high: float
    start: int
    end: int
    bound: str = ""
    amount: str = ""
    is_rewritten: bool = False

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value that the wording allows, bounds included."""
        middle, width = (self.low + self.high) / 2, self.high - self.low
        margin = _ABOUT * abs(middle)
        return {
            "over": (middle, math.inf),
            "under": (-math.inf, middle),
            "about": (self.low - margin, self.high + margin),
            "open": (self.low, 1_000 * middle + width),
        }.get(self.bound, (self.low, self.high))


@dataclass(frozen=True)
class _Unit:
    quantity: str
    singular: str
    plural: str
    factor: float
    offset: float
    plausible: tuple[float, ...]


def numbers(text: str, unread: Sequence[tuple[int, int]]) -> Iterator[Value]:
    """Numbers of a text outside `unread`, with their units and bounds.

    Examples
    --------
    >>> [(value.quantity, value.amount) for value in numbers("0.005 g, 3 times", ())]
    [('mass', '5 mg'), ('number', '')]
    """
    tokens = [
        match
        for match in _amount().finditer(text)
        if not any(first < match.end() and match.start() < last for first, last in unread)
    ]
    if tokens and (enumerator := _ENUMERATOR.match(text)) and tokens[0].start() < enumerator.end():
        tokens = tokens[1:]
    for k, token in enumerate(tokens):
        following = text[token.end() : tokens[k + 1].start()] if k + 1 < len(tokens) else "."
        unit = _unit_of(token["unit"] or "")
        if not token["unit"] and k + 1 < len(tokens) and _RANGE.fullmatch(following):
            shared = _unit_of(tokens[k + 1]["unit"] or "")  # 2-3 weeks, 2 x 3 cm; not 2 x 5 mg
            unit = shared if shared and (shared.quantity == "length" or not _TIMES.fullmatch(following)) else None
        previous = text[tokens[k - 1].end() : token.start()] if k else "."
        touches = bool(_TOUCHES.fullmatch(following) or _TOUCHES.fullmatch(previous))
        value = _value(text, token, unit, touches=touches)
        if value is not None:
            yield value


def _value(text: str, token: re.Match[str], unit: _Unit | None, *, touches: bool) -> Value | None:
    parsed = _parse(token["number"], text)
    if parsed is None:
        return None
    number, step, is_open = parsed
    first = max(0, token.start() - _NEAR)
    preceding = text[first : token.start()]
    sign = re.search(r"(?:(?<![\w).])[-+−]|\bminus\s)$", preceding)
    start = first + sign.start() if sign else token.start()
    if sign and sign[0] != "+":
        number = -number
    bound = _BOUND.search(text[first:start])
    kind = "over" if token["unit"] and text[token.end() : token.end() + 1] == "+" else "open" if is_open else ""
    if bound is not None:
        start, kind = first + bound.start(), _BOUND_WORDS[" ".join(bound[0].casefold().split())]
    low, high = number - step / 2, number + step / 2
    is_difference = unit is not None and unit.quantity == "temperature" and preceding.casefold().endswith(" by ")
    if unit is None or is_difference or (unit.plausible and not unit.plausible[0] <= number <= unit.plausible[1]):
        return Value(NUMBER, low, high, start, token.end("number"), kind)
    if touches and token["unit"]:  # 5 ft 10 in, 2 h 45
        return Value(f"{unit.quantity} {token['unit'].casefold()}", low, high, start, token.end(), kind)
    amount = "" if is_open else _amount_in_one_form(unit, number, token["number"])
    low, high = (unit.factor * limit + unit.offset for limit in (low, high))
    return Value(unit.quantity, low, high, start, token.end(), kind, amount, bool(amount and token["unit"]))


def _parse(digits: str, text: str) -> tuple[float, float, bool] | None:
    """Value, step of the last digit, and whether a point may separate thousands; None for a version such as 2.1.3."""
    if digits[0].isalpha():
        return float(sum(NUMBER_WORDS[word] for word in re.split(r"[\s-]", digits.casefold()))), 1.0, False
    if len(digits) > 15:
        return None
    if _DECIMAL_COMMA.fullmatch(digits):
        digits = digits.replace(".", "")
    if _THOUSANDS.fullmatch(digits):
        digits = re.sub("[,'’٬]", "", digits)
    elif len(re.findall("[.,]", digits)) > 1:
        return None
    is_open = _OPEN.fullmatch(digits) is not None and not re.search(r"(?<![\d.,])(?:0\.\d|\d+\.\d(?!\d\d(?!\d)))", text)
    digits = digits.replace(",", ".")
    return float(digits), 10.0 ** -len(digits.partition(".")[2]), is_open


def _amount_in_one_form(unit: _Unit, number: float, digits: str) -> str:
    """The amount in the largest unit of its quantity in which it is at least 1."""
    precision = max(2, len(re.sub(r"\D", "", digits).lstrip("0")))
    result = ""
    for larger in _ladder(unit.quantity):
        amount = (unit.factor * number + unit.offset) / larger.factor
        ratio = unit.factor / larger.factor
        power = math.log10(ratio)
        # a ratio that only moves the decimal point, or a whole number, keeps the digits
        is_round = abs(power - round(power)) < 1e-9 or (ratio >= 1 and abs(ratio - round(ratio)) < 1e-9)
        if unit.offset or not is_round:
            amount = float(f"{amount:.{precision}g}")
        if result and abs(amount) < 1:
            break
        digits_shown = f"{amount:.10g}"
        if "e" not in digits_shown:
            result = f"{digits_shown} {larger.singular if digits_shown == '1' else larger.plural}"
    return result


def replacement(text: str, value: Value) -> str:
    """The wording of a value in the form that all wordings of its amount share."""
    wording = text[value.start : value.end]
    if not value.is_rewritten:
        return wording
    number = re.search(rf"[-+−]?{_DIGITS}|{_NUMBER_WORD}", wording, re.IGNORECASE)
    assert number is not None
    head = wording[: number.start()].removesuffix("minus ")
    amount, _, unit = value.amount.partition(" ")
    if wording[number.end() : number.end() + 1] == "-" and unit.isalpha():
        return f"{head}{amount}-{_SINGULAR.get(unit, unit)}"
    return f"{head}{amount}%" if unit == "%" else head + value.amount


def unread_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Positions of dates, times of a day and amounts of money; the model reads their digits."""
    if not any(map(str.isdigit, text)):
        return ()
    return tuple(match.span() for match in _unread().finditer(text))


@cache
def _amount() -> re.Pattern[str]:
    units = any_of(_units())
    number = rf"(?:(?<![.,\d]){_DIGITS}(?![\d.,]*\d)|(?<!\w)(?<!point\s){_NUMBER_WORD})"
    return re.compile(rf"(?P<number>{number})(?:\+?[\s-]?(?P<unit>{units})(?![\w/²³^]))?", re.IGNORECASE)


@cache
def _units() -> dict[str, _Unit]:
    units = {}
    for quantity, singular, plural, factor, offset, plausible, words in rows("units"):
        unit = _Unit(quantity, singular, plural, float(factor), float(offset), tuple(map(float, plausible.split())))
        for word in words.split(", "):
            units[word] = units[word.replace("/", " per ").strip()] = unit
    return units


def _unit_of(word: str) -> _Unit | None:
    """The unit of a wording; None for "v", because only V is the volt."""
    word = " ".join(word.split())
    return _units().get(word) or _units().get(word.casefold()) or _units().get(word.casefold().replace("-", " "))


@cache
def _ladder(quantity: str) -> list[_Unit]:
    """The units in which amounts are written, the smallest first."""
    return [unit for unit in dict.fromkeys(_units().values()) if unit.quantity == quantity and unit.singular]


@cache
def _unread() -> re.Pattern[str]:
    """Dates, times of a day and amounts of money."""
    month, money = rf"{any_of(word_list('month'))}\.?", any_of(word_list("currency"))
    day = r"\d{1,2}(?:st|nd|rd|th|\.)?"
    dates = "|".join(
        (
            r"\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d\d)",
            rf"{day}[\s-](?:(?:of|de)\s)?{month}(?:[\s,-]+(?:de\s)?\d{{2,4}})?",
            rf"{month},?\s(?:de\s)?\d{{4}}|{month}\s{day}(?:,?\s\d{{4}})?",
        )
    )
    times = r"\d{1,2}[:.]\d\d(?::\d\d)?\s?[ap]\.?m\b|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}\s?[ap]\.?m\b"
    large = r"(?:k|m|bn|thousand|million|billion)"
    amounts = rf"{money}\s?{_DIGITS}(?:\s?{large})?|{_DIGITS}\s?(?:{large}\s)?{money}"
    years = r"(?:19|20)\d\d[/–-]\d\d(?:\d\d)?|\d{1,2}/(?:19|20)\d\d"
    return re.compile(rf"(?<![\w.,/-])(?:{dates}|{times}|{amounts}|{years})(?![\w/-]|[.,]\d)", re.IGNORECASE)

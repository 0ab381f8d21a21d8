"""Amounts of money: a currency and a number. The wordings are in ``softirr/meaning/lexicon/currencies.tsv``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from softirr.meaning.lexicon.words import any_of, rows
from softirr.meaning.measures.plain_numbers import NUMBER_WORDING, number_value
from softirr.meaning.measures.typed_values import Part, TypedValue, typed

__all__ = ["money"]

_APART = 100.0
"""Distance of two families of currencies: "$" means the dollars of any country."""


@cache
def _currencies() -> dict[str, tuple[float, float, str]]:
    """Lowest and highest number of the currencies that a wording may mean, and how amounts of them are written."""
    families = list(dict.fromkeys(family for family, *_ in rows("currencies")))
    result = {}
    for place, (family, code, written, wordings) in enumerate(rows("currencies")):
        start = _APART * families.index(family)
        low, high = (start + place, start + place) if code else (start, start + _APART - 1)
        result.update({word.casefold(): (low, high, written) for word in wordings.split(", ")})
    return result


@cache
def _amount() -> re.Pattern[str]:
    name = any_of(_currencies())
    number, end = rf"{NUMBER_WORDING}(?![\d.,]*\d)", r"(?![^\W\d_])"
    large = r"(?P<large>\s?(?:k|m|mn|mio|bn|thousand|million|billion)(?!\w))?"
    return re.compile(
        rf"(?<![\w.,])(?<![^\W\d]/)(?:(?P<before>{name})\s?(?P<after_name>{number}){large}"
        rf"|(?P<before_name>{number}){large.replace('large', 'large_too')}\s?(?P<after>{name}){end})",
        re.IGNORECASE,
    )


def money(text: str) -> Iterator[TypedValue]:
    """Amounts of money, in the order of the text.

    Parameters
    ----------
    text : str
        Normalized.

    Yields
    ------
    TypedValue
        The currency and the amount; of millions only the currency.

    Examples
    --------
    >>> [(value.quantity, value.written) for value in money("paid €5")]
    [('currency', None), ('money', '5 EUR')]
    """
    for match in _amount().finditer(text) if _may_have_some(text) else ():
        name, number = match["before"] or match["after"], match["after_name"] or match["before_name"]
        low, high, written = _currencies()[" ".join(name.casefold().split())]
        value = number_value(number, text)
        parts, amount = [Part("currency", low, high)], None
        if value is not None and not (match["large"] or match["large_too"]):
            parts.append(Part("money", value.low, value.high))
            amount = None if value.is_open else f"{value.value:.10g} {written}"
        yield from typed(parts, *match.span(), amount)


@cache
def _hint() -> re.Pattern[str]:
    return re.compile(any_of(_currencies()), re.IGNORECASE)


def _may_have_some(text: str) -> bool:
    return any(mark.isdigit() for mark in text) and _hint().search(text) is not None

"""Values that are read in a text: what they are values of, what their wording allows, and how they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["AS_WRITTEN", "BOUND", "LETTER", "NUMBER", "Part", "TypedValue", "typed"]

NUMBER = "number"
"""The type of numbers without a unit."""
BOUND = "bound"
"""The type of "over" and "under" before a number."""
LETTER = "letter"
"""The type of letters after a number: stage 3A."""
AS_WRITTEN = " as written"
"""Ends the type of the digits of "1.500", which may mean 1.5 or 1,500: two of them are compared with each other."""


@dataclass(frozen=True)
class TypedValue:
    """One value in a text.

    Attributes
    ----------
    quantity : str
        What it is a value of: length, temperature, weekday, ...
    low, high : float
        The values that the wording allows: "5 cm" means 4.5 to 5.5 cm.
    start, end : int
        Where it is in the text.
    written : str or None
        The wording that replaces it; None where it stays.
    amount : str
        Number and unit of one amount, the same for all of its wordings; empty for ranges and other values.
    """

    quantity: str
    low: float
    high: float
    start: int
    end: int
    written: str | None = None
    amount: str = ""


@dataclass(frozen=True)
class Part:
    """One of the values of a wording: what it is a value of, what the wording allows, and its amount."""

    quantity: str
    low: float
    high: float
    amount: str = ""


def typed(parts: Sequence[Part], start: int, end: int, written: str | None = None) -> Iterator[TypedValue]:
    """The values of one wording: the last one spans it, the others are before it and have no length.

    Parameters
    ----------
    parts : sequence of Part
    start, end : int
        Where the wording is in its text.
    written : str, optional
        The wording that replaces it.

    Yields
    ------
    TypedValue
    """
    for part in parts[:-1]:
        yield TypedValue(part.quantity, part.low, part.high, start, start, None, part.amount)
    for part in parts[-1:]:
        yield TypedValue(part.quantity, part.low, part.high, start, end, written, part.amount)

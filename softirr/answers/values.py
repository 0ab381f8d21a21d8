"""Values of cells: numbers, dates and truth values as texts, missing values, and names of items and raters."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from softirr.errors import InputError
from softirr.text import normalize, plain_number


def value_text(value: Any) -> str | None:
    """Return a number, a date or a truth value as a spreadsheet shows it; None if it is something else.

    Whole numbers have no decimals, and a date at midnight has no time.

    Examples
    --------
    >>> value_text(3.0), value_text(2.5), value_text(True), value_text("a")
    ('3', '2.5', 'TRUE', None)
    >>> value_text(datetime.datetime(2026, 1, 5)), value_text(datetime.datetime(2026, 1, 5, 10, 30))
    ('2026-01-05', '2026-01-05 10:30:00')
    """
    if hasattr(value, "item") and not hasattr(value, "isoformat"):  # a scalar of NumPy
        value = value.item()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        return None if math.isnan(value) else str(int(value)) if value == value // 1 else str(value)
    if isinstance(value, datetime.datetime):
        if value != value:  # NaT of pandas
            return None
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else None


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN, NaT, pandas.NA or a masked entry."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, Iterable):  # a text, or several
        return False
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA
        return True


def is_number(value: Any) -> bool:
    """Whether a cell is a number, or a text that is one."""
    return value is not None and plain_number(str(value)) is not None


def texts_of_cell(value: Any, location: str) -> tuple[str, ...] | None:
    """Return the texts of a cell (a text, or a list, tuple, set or array of texts), or None if it is missing.

    Raises
    ------
    InputError
        If a part is not a text; the message begins with `location`.
    """
    if is_missing(value):
        return None
    is_single = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    texts = (value,) if is_single else tuple(value)
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{location} has {text!r}, which is not a text.")
    return texts


def identifier(location: str, role: str, name: str) -> str:
    """Return the name of an item or rater in normal form, so that names that look the same are the same.

    Raises
    ------
    InputError
        If it contains a byte order mark, which two files that were pasted together leave.
    """
    if "\ufeff" in name:
        raise InputError(f"{location}: the {role} contains a byte order mark: remove it when you join files.")
    return normalize(name)

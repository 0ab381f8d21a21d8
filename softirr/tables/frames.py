"""Answers in data frames of pandas, polars and the like: long (a row per text) or wide (a column per rater).

Neither library is imported: a frame is whatever has ``columns`` and gives a column by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from softirr.errors import InputError
from softirr.tables.fields import ItemFields
from softirr.tables.table import AnnotationTable, Answer

__all__ = ["frame_table", "is_frame", "is_missing", "texts_of_cell"]


def is_frame(source: Any) -> bool:
    """Whether this is a data frame.

    Parameters
    ----------
    source : object

    Returns
    -------
    bool
    """
    return hasattr(source, "columns") and hasattr(source, "__getitem__")


def frame_table(
    frame: Any,
    *,
    item: str,
    rater: str,
    text: str,
    raters: Sequence[str] | None,
    casefold: bool,
    fields: Sequence[str] = (),
) -> AnnotationTable:
    """The table of a data frame.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars or another library with the same columns.
    item, rater, text, raters, casefold, fields
        As for :func:`softirr.read`.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        Names the column or the row that can't be used.
    """
    wanted = ItemFields(fields)
    if raters is None:
        return _long(frame, item, rater, text, casefold, wanted)
    names = (raters,) if isinstance(raters, str) else tuple(raters)
    if len(set(map(str, names))) < len(names):
        raise InputError("raters names a column twice.")
    items = [_name(value, f"Row {row}", item) for row, value in enumerate(_column(frame, item), start=1)]
    answers = [
        Answer(items[row - 1], str(name), found)
        for name in names
        for row, value in enumerate(_column(frame, name), start=1)
        if (found := _wide_cell(value, f"Row {row}, column {name!r},")) is not None
    ]
    _add_fields(frame, items, wanted)
    return AnnotationTable.from_answers(answers, items=items, casefold=casefold, fields=wanted.by_item())


def _add_fields(frame: Any, items: Sequence[str], wanted: ItemFields) -> None:
    """Read the fields of the items that the rows are about."""
    columns = [_column(frame, name) for name in wanted.names]
    for row, (item, *values) in enumerate(zip(items, *columns, strict=True), start=1):
        wanted.add(f"Row {row}", item, dict(zip(wanted.names, values, strict=True)))


def _long(frame: Any, item: str, rater: str, text: str, casefold: bool, wanted: ItemFields) -> AnnotationTable:
    texts: dict[tuple[str, str], list[str]] = {}
    items: list[str] = []
    columns = (_column(frame, name) for name in (item, rater, text))
    for row, (item_id, rater_id, value) in enumerate(zip(*columns, strict=True), start=1):
        place = f"Row {row}"
        key = _name(item_id, place, item), _name(rater_id, place, rater)
        found = texts_of_cell(value, f"{place}, column {text!r},")
        if found is None:
            raise InputError(
                f"{place}: the text is missing. Drop the row if the rater gave no answer, or fill it with '' if the answer is empty."
            )
        texts.setdefault(key, []).extend(found)
        items.append(key[0])
    _add_fields(frame, items, wanted)
    return AnnotationTable.from_answers(
        (Answer(*key, tuple(found)) for key, found in texts.items()), casefold=casefold, fields=wanted.by_item()
    )


def _column(frame: Any, name: str) -> list[Any]:
    columns = list(frame.columns)
    if columns.count(name) != 1:
        shown = ", ".join(map(str, columns))
        problem = "several columns" if name in columns else "no column"
        raise InputError(
            f"The data frame has {problem} {name!r}; it has {shown}. Name the columns with item=, rater= and text=, or item= and raters=[...]."
        )
    column = frame[name]
    return column.to_list() if hasattr(column, "to_list") else list(column)


def _name(value: Any, place: str, column: str) -> str:
    """Name of an item or rater: 1.0, which a column of numbers with gaps has, is 1."""
    if is_missing(value):
        raise InputError(f"{place}: {column} is missing.")
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    name = str(value).strip()
    if not name:
        raise InputError(f"{place}: {column} is missing.")
    return name


def _wide_cell(value: Any, place: str) -> tuple[str, ...] | None:
    found = texts_of_cell(value, place)
    return None if found is None or (isinstance(value, str) and not value.strip()) else found


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NaT or pandas.NA.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    if value is None:
        return True
    if isinstance(value, Iterable):  # a text, or several
        return False
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA can't say
        return True


def texts_of_cell(value: Any, place: str) -> tuple[str, ...] | None:
    """The texts of a cell: a text, or a list, tuple, set or array of texts; None where it is missing.

    Parameters
    ----------
    value : object
    place : str
        Where the cell stands, for the message.

    Returns
    -------
    tuple of str, or None

    Raises
    ------
    InputError
        Begins with `place`.
    """
    if is_missing(value):
        return None
    parts = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    for part in parts:
        if not isinstance(part, str):
            raise InputError(f"{place} holds {part!r}, which is not a text.")
    return parts

"""Answers in data frames of pandas, polars and the like: long (a row per text) or wide (a column per rater).

Neither library is imported: a frame is whatever has ``columns`` and gives a column by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from softirr.errors import InputError
from softirr.tables.rows import Rows

__all__ = ["frame_rows", "is_frame"]


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


def frame_rows(frame: Any) -> Rows:
    """The rows of a data frame; a column that stands in the frame twice is left to the reader to refuse.

    Parameters
    ----------
    frame : data frame

    Returns
    -------
    Rows
    """
    columns = tuple(map(str, frame.columns))
    return Rows("The data frame", "frame", columns, _rows(frame))


def _rows(frame: Any) -> Iterator[tuple[int, list[Any]]]:
    names = list(frame.columns)
    once = {name for name in names if names.count(name) == 1}
    columns = [_values(frame[name]) if name in once else [None] * len(frame) for name in names]
    for number, cells in enumerate(zip(*columns, strict=True), start=1):
        yield number, list(cells)


def _values(column: Any) -> list[Any]:
    if hasattr(column, "to_list"):
        return list(column.to_list())
    if hasattr(column, "to_pylist"):
        return list(column.to_pylist())
    raise InputError("This data frame gives its columns in an unknown form: use pandas, polars or pyarrow.")

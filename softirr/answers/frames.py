"""Answers in data frames of pandas, polars and the like: long (a row per text) or wide (a column per rater).

Neither library is imported: a frame is whatever has ``columns`` and gives a column by its name. The index of pandas
counts as columns: each named level is one, and an index without a name has the items of a wide table that has no column
of items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.layout import Layout, is_role
from softirr.answers.rows import Rows
from softirr.answers.values import is_mixed
from softirr.errors import InputError


def is_frame(source: Any) -> bool:
    """Whether this is a data frame."""
    return _is_lazy(source) or (hasattr(source, "columns") and hasattr(source, "__getitem__"))


def _is_lazy(source: Any) -> bool:
    """Whether this is a query that gives a data frame once it is run: a lazy frame of polars, or a frame of dask."""
    return any(callable(getattr(source, name, None)) for name in ("collect", "compute"))


def frame_rows(frame: Any, layout: Layout) -> tuple[Rows, Layout]:
    """The rows of a data frame; a repeated column is left to the reader to refuse.

    Parameters
    ----------
    layout : Layout
        Columns as the user names them.

    Returns
    -------
    Rows
        With the levels of an index in front.
    Layout
        The same, with the items and the raters of the index if the table was pivoted.

    Raises
    ------
    InputError
        If the frame is lazy or gives its columns in an unknown form.

    Examples
    --------
    >>> import pandas
    >>> long = pandas.DataFrame({"item": [1, 1], "rater": ["ann", "bob"], "text": ["fever", "rash"]})
    >>> rows, layout = frame_rows(long.pivot(index="item", columns="rater", values="text"), Layout())
    >>> rows.columns, layout.item, layout.raters
    (('item', 'ann', 'bob'), 'item', ('ann', 'bob'))
    """
    if _is_lazy(frame):
        raise InputError(
            f"The {type(frame).__name__} has not been computed yet: give what its collect() or compute() returns."
        )
    names = tuple(map(str, _names(frame)))
    levels = _index_levels(frame, names, layout)
    columns = (*levels, *names)
    if not layout.names_columns and len(levels) == 1 and is_role("item", *levels) and _has_rater_columns(frame):
        layout = replace(layout, item=next(iter(levels)), raters=names)
    elif layout.raters and layout.item is None and len(levels) == 1 and "item" not in map(str.casefold, names):
        layout = replace(layout, item=next(iter(levels)))
    cells = [*levels.values(), *_columns(frame)]
    mixed = frozenset(number for number, values in enumerate(cells) if is_mixed(values))
    rows = ((number, list(row)) for number, row in enumerate(zip(*cells, strict=True), start=1))
    return Rows("The data frame", "frame", columns, rows, mixed=mixed, blank="missing"), layout


def _index_levels(frame: Any, names: Sequence[str], layout: Layout) -> dict[str, list[Any]]:
    """Name and values of each level of the index that the reader may need."""
    index = getattr(frame, "index", None)
    if index is None or callable(index) or not hasattr(index, "get_level_values"):
        return {}
    levels = {
        str(name): list(index.get_level_values(number).to_list())
        for number, name in enumerate(index.names)
        if name is not None and str(name) not in names
    }
    if not levels and layout.raters and layout.item is None and "item" not in map(str.casefold, names):
        return {"item": list(index.to_list())}
    return levels


def _has_rater_columns(frame: Any) -> bool:
    """Whether the columns of a pivoted frame are raters by the name of their axis."""
    name = getattr(frame.columns, "name", None)
    return name is not None and is_role("rater", str(name))


def _names(frame: Any) -> list[Any]:
    """Names of the columns; ``columns`` of pyarrow are the columns themselves."""
    return list(getattr(frame, "column_names", frame.columns))


def _columns(frame: Any) -> list[list[Any]]:
    """Return the cells of each column; none if its name is repeated."""
    names = _names(frame)
    counts = Counter(names)
    return [_values(frame[name]) if counts[name] == 1 else [None] * len(frame) for name in names]


def _values(column: Any) -> list[Any]:
    if isinstance(column, list):
        return column
    if hasattr(column, "to_list"):
        return list(column.to_list())
    if hasattr(column, "to_pylist"):
        return list(column.to_pylist())
    raise InputError("This data frame gives its columns in an unknown form: use pandas, polars or pyarrow.")

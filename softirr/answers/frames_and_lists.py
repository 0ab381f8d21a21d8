"""Answers in Python objects: lists of several raters, and data frames of pandas, polars and the like.

A frame is long (a row per text) or wide (a column per rater). No library of frames is imported: a frame is whatever has
``columns`` and gives a column by its name. The index of pandas counts as columns: each named level is one, and an index
without a name has the items of a wide table that has no column of items.
"""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from softirr.answers.answer import RawField, RawInput
from softirr.answers.kinds import AUTO
from softirr.answers.layout import is_role
from softirr.answers.prepare import prepare
from softirr.answers.read_options import ReadOptions
from softirr.answers.rows import Rows, is_missing, texts_of_cell
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.numbers import plural
from softirr.text import listed

_NOT_OF_LISTS = (
    *("item", "rater", "text", "raters", "weight", "header"),
    *("format", "control", "predictions_as_raters", "encoding", "sheet", "regions"),
)
"""Options of reading that only files, tables and exports have."""


def is_frame(source: Any) -> bool:
    """Whether this is a data frame."""
    return _is_lazy(source) or (hasattr(source, "columns") and hasattr(source, "__getitem__"))


def _is_lazy(source: Any) -> bool:
    """Whether this is a query that gives a data frame once it is run: a lazy frame of polars, or a frame of dask."""
    return any(callable(getattr(source, name, None)) for name in ("collect", "compute"))


def frame_rows(frame: Any, options: ReadOptions) -> tuple[Rows, ReadOptions]:
    """The rows of a data frame; a repeated column is left to the reader to refuse.

    Parameters
    ----------
    options : ReadOptions
        Columns as the user names them.

    Returns
    -------
    Rows
        With the levels of an index in front.
    ReadOptions
        The same, with the items and the raters of the index if the table was pivoted.

    Raises
    ------
    InputError
        If the frame is lazy or gives its columns in an unknown form.

    Examples
    --------
    >>> import pandas
    >>> long = pandas.DataFrame({"item": [1, 1], "rater": ["ann", "bob"], "text": ["fever", "rash"]})
    >>> rows, options = frame_rows(long.pivot(index="item", columns="rater", values="text"), ReadOptions())
    >>> rows.columns, options.item, options.raters
    (('item', 'ann', 'bob'), 'item', ('ann', 'bob'))
    """
    if _is_lazy(frame):
        raise InputError(
            f"The {type(frame).__name__} has not been computed yet: give what its collect() or compute() returns."
        )
    names = tuple(map(str, _names(frame)))
    lacks_item = bool(options.raters) and options.item is None and "item" not in map(str.casefold, names)
    levels = _index_levels(frame, names, lacks_item=lacks_item)
    columns = (*levels, *names)
    if len(levels) == 1:
        (item,) = levels
        axis = getattr(frame.columns, "name", None)  # of a pivoted frame
        if not options.names_columns and is_role("item", item) and axis is not None and is_role("rater", str(axis)):
            options = replace(options, item=item, raters=names)
        elif lacks_item:
            options = replace(options, item=item)
    cells: list[Any] = [
        _as_list(frame[name]) if names.count(str(name)) == 1 else [None] * len(frame) for name in _names(frame)
    ]
    if None in cells:
        raise InputError("This data frame gives its columns in an unknown form: use pandas, polars or pyarrow.")
    rows = enumerate(zip(*levels.values(), *cells, strict=True), start=1)
    return Rows("The data frame", "frame", columns, rows, blank="missing", reader_options=("header",)), options


def _index_levels(frame: Any, names: Sequence[str], *, lacks_item: bool) -> dict[str, list[Any]]:
    """Name and values of each level of the index that the reader may need."""
    index = getattr(frame, "index", None)
    if index is None or callable(index) or not hasattr(index, "get_level_values"):
        return {}
    levels = {
        str(name): list(index.get_level_values(number).to_list())
        for number, name in enumerate(index.names)
        if name is not None and str(name) not in names
    }
    return {"item": list(index.to_list())} if not levels and lacks_item else levels


def _names(frame: Any) -> list[Any]:
    """Names of the columns; ``columns`` of pyarrow are the columns themselves."""
    return list(getattr(frame, "column_names", frame.columns))


def _as_list(column: Any) -> list[Any] | None:
    """Return a list, or a column of pandas, polars or pyarrow as one."""
    convert = getattr(column, "to_list", None) or getattr(column, "to_pylist", None)
    return column if isinstance(column, list) else None if convert is None else list(convert())


def answer_list(name: str, values: Any) -> list[Any]:
    """Return a rater's answers, item by item.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : list, tuple, array, column of a data frame, or other iterable with an order
        The answers, as for :func:`entries_table`.

    Raises
    ------
    InputError
        If it is not such a list.
    """
    wrong = ""
    if isinstance(values, Mapping):
        wrong = "give its values as a list, in the order of the items"
    elif isinstance(values, Set) and not isinstance(values, KeysView):
        wrong = "a set has no order, so give a list with one answer per item"
    elif is_frame(values):
        wrong = "give one of its columns, or the whole table to softirr.agreement"
    elif isinstance(values, str | bytes | bytearray) or not isinstance(values, Iterable):
        wrong = "it must be a list with one answer per item"
    if wrong:
        raise InputError(f"{name} is of type {type(values).__name__}: {wrong}.")
    try:
        return list(values) if (column := _as_list(values)) is None else column
    except TypeError:  # an array without dimensions
        raise InputError(f"{name} is a single value: it must be a list with one answer per item.") from None


def lists_table(lists: Mapping[str, Any], options: ReadOptions | None = None) -> AnnotationTable:
    """The table of several raters' answers to the same items; its items are numbered from 0.

    Parameters
    ----------
    lists : mapping of str to list
        Answers by rater, as for :func:`answer_list`.
    options : ReadOptions, optional
        How the answers are read, without what only files and tables have.

    Returns
    -------
    AnnotationTable
        Its warnings count the texts that mean, or may mean, that an answer is missing.

    Raises
    ------
    InputError
        If the lists have different lengths, are columns of data frames with different row labels, or an option does
        not apply.

    Examples
    --------
    >>> lists_table({"a": ["fever", None], "b": ["cough", "rash"]}).texts
    ('cough', 'fever', 'rash')
    >>> lists_table({"a": ["fever", "N/A"], "b": ["cough", "rash"]}).texts
    ('cough', 'fever', 'rash')
    """
    answers = {name: answer_list(name, values) for name, values in lists.items()}
    (first, *later_raters) = lists
    for rater in later_raters:
        if len(answers[rater]) != len(answers[first]):
            raise InputError(
                f"{first} has {plural(len(answers[first]), 'answer')} and {rater} has {len(answers[rater])}: each item "
                "needs one of each, None where it is missing."
            )
        indexes: list[Any] = [getattr(lists[name], "index", None) for name in (first, rater)]  # of columns of pandas
        if all(hasattr(index, "equals") for index in indexes) and not indexes[0].equals(indexes[1]):
            raise InputError(
                f"{first} and {rater} are columns whose rows have different labels: take both from one data frame, "
                f"or give {first}.to_list() and {rater}.to_list() to compare them row by row."
            )
    entries = (
        (f"{name}[{number}]", str(number), name, value)
        for name, values in answers.items()
        for number, value in enumerate(values)
    )
    return entries_table(entries, options or ReadOptions())


def entries_table(entries: Iterable[tuple[str, str, str, Any]], options: ReadOptions) -> AnnotationTable:
    """The table of answers, each with its location for messages, item, rater and texts; several of a rater are a set.

    Each answer is a text, or a list, tuple or set of texts. By default, None, NaN, ``pandas.NA`` and masked entries are
    missing, and "" is an empty answer.

    Raises
    ------
    InputError
        If an answer is not a text, or an option does not apply.
    """
    default = ReadOptions()
    unused = [name for name in _NOT_OF_LISTS if getattr(options, name) != getattr(default, name)]
    if unused:
        raise InputError(f"Lists of answers have no {listed(unused)}: give a data frame or a file.")
    if isinstance(options.kind, Mapping):
        if len(options.kind) != 1:
            raise InputError("Lists of answers are one field: give one kind.")
        options = replace(options, kind=next(iter(options.kind.values())))
    raw = RawField(repeats="set")
    locations: list[str] = []
    for location, item, rater, value in entries:
        texts = texts_of_cell(value, location, has_values=options.kind not in (None, AUTO))
        if options.empty is None and is_missing(value):
            raw.add_item(item)
        else:
            raw.add(item, rater, texts, len(locations))
        locations.append(location)
    return prepare(raw, options, RawInput("list", {"": raw}, location=locations.__getitem__))

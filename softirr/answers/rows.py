"""Rows of a table whose columns have no roles yet, and the values of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from softirr.answers.kinds import value_text
from softirr.answers.request import NoValue, Records
from softirr.errors import InputError, option
from softirr.text import is_blank, normalize, plain_number

__all__ = [
    "AboveFooter",
    "Rows",
    "below_title",
    "identifier",
    "is_missing",
    "is_mixed",
    "is_number",
    "numbered_columns",
    "pooled",
    "refuse_numbers_as_header",
    "row_name",
    "texts_of_cell",
]

_LONGEST_TITLE = 5
"""Rows of a title above a table, at most."""


@dataclass(frozen=True)
class Rows:
    """A table whose columns have no roles yet.

    Attributes
    ----------
    name : str
        Of the input, for messages.
    format : str
        Such as ``csv``.
    columns : tuple of str
        The header.
    rows : iterable of (int, sequence)
        Number and cells of each row; a row may be shorter than the header.
    unit : str
        What the numbers count: line or row.
    delimiter : str or None
        What separates the cells of a text file.
    notes : tuple of str
        What the reader could not tell for sure.
    mixed : frozenset of int
        Columns with both texts and numbers, where the input distinguishes them.
    blank : {"empty", "null missing", "missing"}
        What a blank cell is in a table with the columns item, rater and text: an empty answer, an empty answer unless
        it is null, or a missing answer.
    is_joined : bool
        The rows come from several sheets.
    has_values : bool
        Numbers and dates are answers, as in fields of other kinds than text.
    """

    name: str
    format: str
    columns: tuple[str, ...]
    rows: Iterable[tuple[int, Sequence[Any]]]
    unit: str = "row"
    delimiter: str | None = None
    notes: tuple[str, ...] = ()
    mixed: frozenset[int] = frozenset()
    blank: str = "empty"
    is_joined: bool = False
    has_values: bool = False

    def peek(self, n: int) -> tuple[list[tuple[int, Sequence[Any]]], Rows]:
        """The first rows, and the table with all rows again."""
        rows = iter(self.rows)
        first = list(islice(rows, n))
        return first, replace(self, rows=chain(first, rows))

    def records(self) -> Records:
        """Each row as an object with the names of the columns."""
        width = len(self.columns)
        for number, cells in self.rows:
            yield number, dict(zip(self.columns, [*cells, *[None] * (width - len(cells))], strict=True))

    def place(self, number: int) -> str:
        """Where a row is."""
        return f"Row {number}" if self.format == "frame" else f"{self.name}, {self.unit} {number}"


def pooled(
    cells: Sequence[Any], at: tuple[int, ...], table: Rows, number: int
) -> str | tuple[str, ...] | NoValue | None:
    """The texts of one or several cells as one answer; None if all are empty, and no value if one has none.

    Parameters
    ----------
    cells : sequence
        Of a row.
    at : tuple of int
        Columns.
    number : int
        Of the row.
    """
    if len(at) == 1:
        return _texts(cells[at[0]] if at[0] < len(cells) else None, table, number, at[0])
    given = [_texts(cells[i] if i < len(cells) else None, table, number, i) for i in at]
    several: list[str] = []
    for texts in given:
        if isinstance(texts, NoValue):
            return texts
        several += (texts,) if isinstance(texts, str) else texts or ()
    return None if all(texts is None for texts in given) else tuple(several)


def _texts(value: Any, table: Rows, number: int, column: int) -> str | tuple[str, ...] | NoValue | None:
    if type(value) is str:
        return None if is_blank(value) else value
    if isinstance(value, NoValue):
        return value
    if table.has_values and (text := value_text(value)) is not None:
        return text
    return texts_of_cell(value, f"{table.place(number)}, column {table.columns[column]!r},")


def row_name(
    cells: Sequence[Any], at: tuple[int, ...], table: Rows, number: int, role: str, standard: bool = False
) -> str:
    """Name of an item or rater in a row.

    Parameters
    ----------
    cells : sequence
        Of a row.
    at : tuple of int
        Columns.
    number : int
        Of the row.
    role : str
        item or rater.
    standard : bool
        The column has that name.

    Raises
    ------
    InputError
        If it is missing.
    """
    parts = []
    for i in at:
        value = cells[i]
        if type(value) is str:
            name = value.strip()
        elif isinstance(value, NoValue):
            raise InputError(
                f"{table.place(number)}: the cell {value.place}, which names the {role}, has no value ({value.reason})."
            )
        elif is_missing(value):
            name = ""
        else:
            # 1.0, which a column of numbers with gaps has, is 1
            whole = isinstance(value, float | np.floating) and float(value).is_integer()
            name = str(int(value) if whole else value).strip()
        if is_blank(name.replace("\ufeff", "-")):  # `identifier` says what a byte order mark is
            what = f"the {role}" if standard and table.delimiter else f"{table.columns[i]}"
            fill = (
                ". If it is the same as in the row above, fill the cell"
                if role == "item" and not table.delimiter
                else ""
            )
            raise InputError(f"{table.place(number)}: {what} is missing{fill}.")
        if table.delimiter and name.count('"') % 2:
            raise InputError(f"{table.place(number)}: the item or the rater contains a quote: a separator is missing.")
        parts.append(identifier(table.place(number), role, name))
    return parts[0] if len(parts) == 1 else " / ".join(parts)


def identifier(place: str, role: str, given: str) -> str:
    """Name of an item or rater in its normal form (:func:`softirr.text.normalize`).

    What looks the same has to be the same.

    A byte order mark inside a file is a trace of two files pasted together.

    Parameters
    ----------
    place : str
        For messages.
    role : str
        item or rater.

    Raises
    ------
    InputError
        If it contains a byte order mark.
    """
    if "\ufeff" in given:
        raise InputError(f"{place}: the {role} contains a byte order mark: remove it when you join files.")
    return normalize(given)


def is_mixed(values: Iterable[Any]) -> bool:
    """Whether a column has both texts and numbers.

    Parameters
    ----------
    values : iterable
        Its cells.

    Examples
    --------
    >>> is_mixed(["1", None, 1.0]), is_mixed(["1", "01"]), is_mixed([1, 2.0, float("nan")]), is_mixed(["1", float("nan")])
    (True, False, False, False)
    """
    kinds = {
        isinstance(value, str) for value in values if not is_missing(value) and not isinstance(value, list | tuple)
    }
    return len(kinds) > 1


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN, NaT, pandas.NA or a masked entry."""
    if value is None or value is np.ma.masked:
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
    place : str
        For messages.

    Raises
    ------
    InputError
        Begins with `place`.
    """
    if is_missing(value):
        return None
    one = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    parts = (value,) if one else tuple(value)
    for part in parts:
        if not isinstance(part, str):
            raise InputError(f"{place} has {part!r}, which is not a text.")
    return parts


def below_title(rows: Records, n: int = 20) -> tuple[list[tuple[int, list[Any]]], Iterator[tuple[int, list[Any]]]]:
    """Rows from the header on: a title above the table, in one cell, is left out.

    Parameters
    ----------
    n : int
        Rows that the header is looked for in.

    Returns
    -------
    tuple of (list, iterator)
        The first rows, which begin with the header and are as wide as the widest of them, and the other rows.
    """
    first = list(islice(rows, n))
    width = max((len(cells) for _, cells in first), default=0)
    first = [(number, [*cells, *[None] * (width - len(cells))]) for number, cells in first]
    filled = [sum(not (cell is None or cell == "") for cell in cells) for _, cells in first]
    at = 0
    while at + 1 < len(first) and filled[at] == 1 and max(filled) > 2:
        at += 1
    return first[max(at, _title_rows(first, filled)) :], rows


def numbered_columns(n: int) -> tuple[str, ...]:
    """Return the names of the columns of a table without a header: 1, 2, 3."""
    return tuple(str(number) for number in range(1, n + 1))


def refuse_numbers_as_header(name: str, header: Sequence[Any], rows: Sequence[tuple[int, Sequence[Any]]]) -> None:
    """Refuse a table whose first row has only numbers, like its other rows: it has no header.

    Raises
    ------
    InputError
        With the option that reads it.
    """
    if len(header) > 1 and rows and all(map(is_number, header)) and all(any(map(is_number, row)) for _, row in rows):
        raise InputError(
            f"{name} seems to have no header, because its first row has only numbers: if they are ratings, say "
            f"{option('header', 'none')}, which names the columns 1, 2, 3."
        )


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, or a text that is one."""
    return cell is not None and not isinstance(cell, NoValue) and plain_number(str(cell)) is not None


def _title_rows(rows: Sequence[tuple[int, Sequence[Any]]], filled: Sequence[int]) -> int:
    """Number of rows above a blank row that begin in the first cell and have fewer cells than the row below it."""
    for at in range(min(len(rows) - 1, _LONGEST_TITLE)):
        if rows[at][1][0] in (None, ""):
            break
        if rows[at + 1][0] > rows[at][0] + 1 and max(filled[: at + 1]) < filled[at + 1]:
            return at + 1
    return 0


class AboveFooter:
    """Rows of a table without what is written below it, such as a source: rows of one cell, after a blank row.

    Parameters
    ----------
    rows : iterable of (int, sequence)
        Number and cells of each row; blank rows are not among them.
    width : int
        Columns of the table: a table of two columns has no footer.

    Attributes
    ----------
    left_out : list of str
        Texts of the footer, once all rows are read.
    """

    def __init__(self, rows: Iterable[tuple[int, Sequence[Any]]], width: int) -> None:
        self._rows, self._width = rows, width
        self.left_out: list[str] = []

    def __iter__(self) -> Iterator[tuple[int, Sequence[Any]]]:
        held: list[tuple[int, Sequence[Any]]] = []
        last = None
        for number, cells in self._rows:
            is_note = self._width > 2 and _is_note(cells)
            if is_note and (held or (last is not None and number > last + 1)):
                held.append((number, cells))
            else:
                yield from held
                held = []
                yield number, cells
            last = number
        self.left_out = [str(cells[0]) for _, cells in held]


def _is_note(cells: Sequence[Any]) -> bool:
    """Whether only the first cell of a row is filled, with more than one word."""
    first = cells[0] if cells else None
    return isinstance(first, str) and len(first.split()) > 1 and all(cell in (None, "") for cell in cells[1:])

"""Rows of a table before its columns have roles, below the header, and the values of their cells."""

from __future__ import annotations

import datetime
import math
import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

import numpy as np

from softirr.answers.read_options import ReadOptions
from softirr.errors import InputError, option
from softirr.text import is_blank, normalize, plain_number

Records = Iterator[tuple[int, Any]]
"""Line, or number, and content of each record of a file."""
NumberedRow = tuple[int, Sequence[Any]]
"""Line or number of a row, and its cells."""
OPTIONS_OF_FORM = ("header", "encoding", "sheet")
"""Options that only some forms of input have."""
_SEARCHED = 20
"""Number of rows that show whether the first one is a header."""
_ERRORS = ("#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#SPILL!", "#CALC!")
"""Errors of spreadsheets, which cannot be names."""
_ROWS_BETWEEN_CHECKS = 10_000
_MEMORY_RESERVE = 16 << 20
"""Bytes that have to be free while rows are read."""


@dataclass(frozen=True)
class Rows:
    """A table before its columns have roles.

    Attributes
    ----------
    name : str
        Name of the input, for messages.
    format : str
        Such as ``csv``.
    columns : tuple of str
        The header.
    rows : iterable of (int, sequence)
        Number and cells of each row; a row may be shorter than the header.
    unit : {"line", "row"}
        Unit of the numbers.
    delimiter : str or None
        Separator of the cells of a text file.
    notes : tuple of str
        Sentences about what is not certain.
    blank : {"empty", "null missing", "missing"}
        Meaning of a blank cell in a table with the columns item, rater and text: an empty answer, an empty answer
        unless it is null, or a missing answer.
    has_values : bool
        Whether numbers and dates are answers, as in fields that are not texts.
    reader_options : tuple of str
        Which of the options of `OPTIONS_OF_FORM` its reader has.
    """

    name: str
    format: str
    columns: tuple[str, ...]
    rows: Iterable[NumberedRow]
    unit: str = "row"
    delimiter: str | None = None
    notes: tuple[str, ...] = ()
    blank: str = "empty"
    has_values: bool = False
    reader_options: tuple[str, ...] = OPTIONS_OF_FORM

    def __iter__(self) -> Iterator[Row]:
        """Yield rows; MemoryError before the memory is full, as the last megabyte takes a failed system call a row."""
        for count, (number, cells) in enumerate(self.rows):
            if count % _ROWS_BETWEEN_CHECKS == 0:
                try:
                    mmap.mmap(-1, _MEMORY_RESERVE).close()
                except OSError:
                    raise MemoryError from None
            yield Row(self, number, cells)

    def peek(self, n: int) -> tuple[list[NumberedRow], Rows]:
        """Return the first rows, and the table with all rows."""
        rows = iter(self.rows)
        first = list(islice(rows, n))
        return first, replace(self, rows=chain(first, rows))

    def records(self) -> Records:
        """Yield each row as an object with the names of the columns."""
        for row in self:
            yield row.number, dict(zip_longest(self.columns, row.cells))

    def location(self, number: int) -> str:
        """Return the place of a row, for messages."""
        return f"Row {number}" if self.format == "frame" else f"{self.name}, {self.unit} {number}"


class Row(NamedTuple):
    """A row of a table."""

    table: Rows
    number: int
    cells: Sequence[Any]

    @property
    def location(self) -> str:
        """Place of the row, for messages."""
        return self.table.location(self.number)

    def texts(self, columns: Sequence[int]) -> tuple[str, ...] | None:
        """Return the texts of some cells as one answer; None if all are blank."""
        texts_of_columns = [self._texts_at(column) for column in columns]
        if all(texts is None for texts in texts_of_columns):
            return None
        return tuple(text for texts in texts_of_columns for text in texts or ())

    def _texts_at(self, column: int) -> tuple[str, ...] | None:
        value = self.cells[column] if column < len(self.cells) else None
        if type(value) is str:  # without the location, as most cells are texts
            return None if is_blank(value) else (value,)
        location = f"{self.location}, column {self.table.columns[column]!r},"
        return texts_of_cell(value, location, has_values=self.table.has_values)

    def name(self, columns: Sequence[int], role: str, *, is_standard: bool = False) -> str:
        """Return the name of the item or rater of the row.

        Parameters
        ----------
        columns : sequence of int
            Columns that name it; the names of several are joined.
        role : {"item", "rater"}
        is_standard : bool
            Whether the column has the name of the role.

        Raises
        ------
        InputError
            If it is missing or damaged.
        """
        return " / ".join(self._name_at(column, role, is_standard) for column in columns)

    def _name_at(self, column: int, role: str, is_standard: bool) -> str:
        value, is_text_file = self.cells[column], self.table.delimiter is not None
        text = value if isinstance(value, str) else "" if is_missing(value) else value_text(value) or str(value)
        name = text.strip()
        if is_blank(name.replace("\ufeff", "-")):  # `identifier` refuses a byte order mark
            column_name = f"the {role}" if is_standard and is_text_file else self.table.columns[column]
            is_fillable = role == "item" and not is_text_file
            fill = ". If it is the same as in the row above, fill the cell" if is_fillable else ""
            raise InputError(f"{self.location}: {column_name} is missing{fill}.")
        if name.upper() in _ERRORS:
            raise InputError(f"{self.location}: the cell of the {role} has the error {name}, and no value.")
        if is_text_file and name.count('"') % 2:
            raise InputError(f"{self.location}: the item or the rater contains a quote: a separator is missing.")
        return identifier(self.location, role, name)


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


def texts_of_cell(value: Any, location: str, *, has_values: bool) -> tuple[str, ...] | None:
    """Return the texts of a cell (a text, or a list, tuple, set or array of texts), or None if it is empty.

    Parameters
    ----------
    has_values : bool
        Whether numbers and dates are answers, as in fields that are not texts.

    Raises
    ------
    InputError
        If a part is not a text; the message begins with `location`.
    """
    if isinstance(value, str):
        return None if is_blank(value) else (value,)
    if is_missing(value):
        return None
    if has_values and (value_as_text := value_text(value)) is not None:
        return (value_as_text,)
    is_single = isinstance(value, bytes | Mapping) or not isinstance(value, Iterable)
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


def with_header(
    rows: Iterator[tuple[int, list[Any]]], name: str, options: ReadOptions
) -> tuple[tuple[str, ...], Iterator[tuple[int, list[Any]]]]:
    """Return the names of the columns, and the rows below them; without a header, the columns have numbers.

    Parameters
    ----------
    rows : iterator of (int, list)
        Number and cells of each row that is not blank.
    name : str
        Name of the input, for messages.

    Raises
    ------
    InputError
        If the table is empty, or its first row is not a header.
    """
    first = list(islice(rows, _SEARCHED))
    if not first:
        raise InputError(f"{name} is empty.")
    header = first[0][1]
    if options.header == "none":
        return tuple(str(number) for number in range(1, len(header) + 1)), chain(first, rows)
    have_numbers = all(map(is_number, header)) and all(any(map(is_number, row)) for _, row in first)
    if not options.names_columns and len(header) > 1 and len(first) > 1 and have_numbers:
        raise InputError(
            f"{name} seems to have no header, because its first row has only numbers: if they are ratings, say "
            f"{option('header', 'none')}, which names the columns 1, 2, 3."
        )
    return tuple((cell or "").strip() for cell in header), chain(first[1:], rows)

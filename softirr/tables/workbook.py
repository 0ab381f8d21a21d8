"""Excel workbooks and Parquet files, by openpyxl and pyarrow, which are imported only when they are needed."""

from __future__ import annotations

import datetime
import importlib
import zipfile
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from softirr.errors import InputError
from softirr.tables.rows import Rows
from softirr.tables.source import Source

__all__ = ["is_parquet", "is_workbook", "needed", "parquet_rows", "workbook_rows"]

_SMALL = 5_000_000
_AHEAD = 20
_ERRORS = {"#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!"}


def needed(module: str, package: str, what: str) -> Any:
    """A library that only some formats need.

    Parameters
    ----------
    module : str
        To import.
    package : str
        To install.
    what : str
        What needs it, for the message.

    Returns
    -------
    module

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"{what} needs {package}: pip install softirr[tables], or pip install {package}.") from None


def is_parquet(start: bytes) -> bool:
    """Whether a file begins like a Parquet file.

    Parameters
    ----------
    start : bytes

    Returns
    -------
    bool
    """
    return start.startswith(b"PAR1")


def is_workbook(source: Source) -> bool:
    """Whether a ZIP archive is an Excel workbook.

    Parameters
    ----------
    source : Source

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If it is damaged.
    """
    try:
        with zipfile.ZipFile(source.seekable()) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, EOFError):
        raise InputError(f"{source.name} is a damaged ZIP archive or Excel workbook: save it again.") from None


def parquet_rows(source: Source) -> Rows:
    """The rows of a Parquet file, read in batches.

    Parameters
    ----------
    source : Source

    Returns
    -------
    Rows

    Raises
    ------
    InputError
        If it is damaged, or pyarrow is not installed.
    """
    needed("pyarrow", "pyarrow", "A Parquet file")
    parquet = importlib.import_module("pyarrow.parquet")
    arrow = importlib.import_module("pyarrow")
    try:
        file = parquet.ParquetFile(source.seekable())
        columns = tuple(file.schema_arrow.names)
    except (arrow.ArrowException, OSError, ValueError):
        raise InputError(f"{source.name} is a damaged Parquet file.") from None

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=8192):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, cells
        except (arrow.ArrowException, OSError) as error:
            raise InputError(f"{source.name} is a damaged Parquet file ({type(error).__name__}).") from None

    return Rows(source.name, "parquet", columns, rows())


def workbook_rows(source: Source, sheet: str | None = None) -> Rows:
    """The rows of a sheet of an Excel workbook.

    Dates and numbers become texts as a person would write them, empty rows are left out, and a header over two rows with merged cells is put
    together.

    Parameters
    ----------
    source : Source
    sheet : str, optional
        The first visible sheet with a table if not given.

    Returns
    -------
    Rows

    Raises
    ------
    InputError
        If it is damaged, has no such sheet, or openpyxl is not installed.
    """
    openpyxl = needed("openpyxl", "openpyxl", "An Excel workbook")
    file = source.seekable()
    small = source.length <= _SMALL  # only then are merged cells told
    try:
        book = openpyxl.load_workbook(file, read_only=not small, data_only=True)
        found = _sheet(book, source.name, sheet)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - openpyxl has no exception of its own for damaged files
        raise InputError(f"{source.name} is a damaged Excel workbook ({type(error).__name__}).") from None
    others = [other.title for other in book.worksheets if other is not found and other.sheet_state == "visible"]
    notes: tuple[str, ...] = ()
    if others and sheet is None:
        notes = (f"The sheet {found.title!r} was read; --sheet chooses another of {', '.join(map(repr, others))}.",)
    rows = _numbered(found, source.name)
    header, rest = _header(rows, found if small else None, source.name)
    return Rows(source.name, "xlsx", header, rest, notes=notes)


def _sheet(book: Any, name: str, wanted: str | None) -> Any:
    titles = [sheet.title for sheet in book.worksheets]
    if wanted is not None:
        if wanted not in titles:
            raise InputError(f"{name} has no sheet {wanted!r}; it has {', '.join(titles)}.")
        return book[wanted]
    for sheet in book.worksheets:
        if sheet.sheet_state == "visible" and any(
            sum(cell not in (None, "") for cell in row) > 1 for row in islice(sheet.iter_rows(values_only=True), 200)
        ):
            return sheet
    raise InputError(f"{name} has no sheet with a table.")


def _numbered(sheet: Any, name: str) -> Iterator[tuple[int, list[str | None]]]:
    """Number and texts of each row that is not blank."""
    try:
        for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
            cells = [_text(value) for value in row]
            if any(cell for cell in cells):
                yield number, cells
    except Exception as error:  # noqa: BLE001 - as above
        raise InputError(f"{name} is a damaged Excel workbook ({type(error).__name__}).") from None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None or not value.strip() or value in _ERRORS else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ")
    return str(value)


def _header(
    rows: Iterator[tuple[int, list[str | None]]], sheet: Any, name: str
) -> tuple[tuple[str, ...], Iterator[tuple[int, list[str | None]]]]:
    """The header, below a title if there is one, and the rows after it; a header over two rows is put together."""
    first = list(islice(rows, _AHEAD))
    if not first:
        raise InputError(f"{name} is empty.")
    widest = max(sum(cell is not None for cell in cells) for _, cells in first)
    at = 0
    while widest > 2 and at + 1 < len(first) and sum(cell is not None for cell in first[at][1]) == 1:
        at += 1  # a title above the table
    number, cells = first[at]
    merged = [] if sheet is None else [area for area in sheet.merged_cells.ranges if area.min_row == number]
    if any(area.max_col > area.min_col for area in merged) and at + 1 < len(first):
        above, below = list(cells), first[at + 1][1]
        for area in merged:
            for column in range(area.min_col - 1, min(area.max_col, len(above))):
                above[column] = cells[area.min_col - 1]
        names = [lower or upper for upper, lower in zip(above, below, strict=True)]
        if len(set(names)) < len(names):
            names = [" ".join(filter(None, pair)) for pair in zip(above, below, strict=True)]
        cells, at = names, at + 1
    while (
        cells
        and cells[-1] is None
        and all(len(row) < len(cells) or row[len(cells) - 1] is None for _, row in first[at:])
    ):
        cells = cells[:-1]
    return tuple((cell or "").strip() for cell in cells), chain(first[at + 1 :], rows)

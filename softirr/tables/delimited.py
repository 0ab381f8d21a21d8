"""Text files with a row for each line: CSV and TSV, as people and spreadsheets write them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from softirr.errors import InputError
from softirr.tables.layout import INCEPTION
from softirr.tables.rows import Rows
from softirr.tables.source import Source, first_line, long_fields

__all__ = ["delimited_rows"]

_DELIMITERS = ",;\t|"
_STANDARD = {"item", "rater", "text"}
_SNIFFED = 20


def delimited_rows(source: Source, *, delimiter: str | None = None) -> Rows:
    """The rows of a CSV or TSV file.

    Parameters
    ----------
    source : Source
    delimiter : str, optional
        What separates the cells; told by the first lines if not given.

    Returns
    -------
    Rows

    Raises
    ------
    InputError
        If it is no such file. Reading the rows raises it with the line.
    """
    start = source.check_text()
    found = delimiter or _delimiter(start, whole=source.is_short)
    if found is None:
        raise InputError(
            f"{source.name} is none of: Label Studio JSON export, JSONL, CSV with the header item,rater,text, or another table with "
            "several columns."
        )
    rows = _rows(source, found)
    number, header = next(rows)
    columns = tuple(cell.strip() for cell in header)
    _check_header(source.name, number, columns)
    checked = _checked(source.name, columns, header, rows)
    if [column.casefold() for column in columns[: len(INCEPTION)]] == list(INCEPTION):
        checked = ((number, [None if cell == "null" else cell for cell in row]) for number, row in checked)
    return Rows(
        source.name,
        "tsv" if found == "\t" else "csv",
        columns,
        _without_import_ids(checked),
        unit="line",
        delimiter=found,
    )


def _rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank."""
    lines = _Lines(source.lines())
    with long_fields():
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                quotes, lines.quotes = lines.quotes, 0
                if not any(row) or not any(cell.strip() for cell in row):
                    continue
                if [cell.casefold() for cell in row] == ["sep=", ""]:  # Excel's own first line
                    continue
                if quotes % 2 and any(cell.endswith('"') for cell in row):
                    raise InputError(
                        f"{source.name}, line {reader.line_num}: a quote ends an answer that no quote begins."
                    )
                yield reader.line_num, row
        except csv.Error as error:
            raise InputError(f"{source.name}, line {reader.line_num}: not valid CSV ({error}).") from None


def _checked(
    name: str, columns: Sequence[str], header: list[str], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str | None]]]:
    for number, row in rows:
        if len(row) > len(columns):
            raise InputError(
                f"{name}, line {number}: {len(row)} cells where the header has {len(columns)}: put quotes around a text that holds the "
                "separator."
            )
        if row == header:
            raise InputError(f"{name}, line {number}: the header stands there again: paste files together without it.")
        yield number, list(row)


def _without_import_ids(rows: Iterator[tuple[int, list[str | None]]]) -> Iterator[tuple[int, list[str | None]]]:
    """Rows without the two further header rows of Qualtrics: the questions' texts, and import ids."""
    first = list(islice(rows, 2))
    if len(first) == 2 and any(str(cell).startswith('{"ImportId"') for cell in first[1][1]):
        first = []
    yield from chain(first, rows)


def _check_header(name: str, number: int, columns: Sequence[str]) -> None:
    names = [column.casefold() for column in columns]
    for key in ("item", "rater", "text"):
        if names.count(key) > 1:
            raise InputError(f"{name}, line {number}: the header names {key} twice.")


class _Lines:
    """Lines of a CSV file; counts the quotes in them, which the csv module does not tell of cells without quotes around them."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.quotes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.quotes += line.count('"')
        return line


def _delimiter(start: str, *, whole: bool) -> str | None:
    """What separates the columns: of the known header, else what gives several columns and rows of the same width."""
    line = first_line(start)
    if line.casefold().startswith("sep=") and len(line) == 5:
        return line[4]
    for mark in _DELIMITERS:
        if {cell.strip().casefold() for cell in _cells(line, mark)} >= _STANDARD:
            return mark
    best, widest = None, 1
    for mark in _DELIMITERS:
        rows = list(_first_rows(start, mark, whole=whole))
        width = len(rows[0]) if rows else 0
        named = sum(bool(cell.strip()) for cell in rows[0]) if rows else 0
        fitting = sum(width / 2 < len(row) <= width for row in rows[1:])
        if width > widest and named > 1 and 2 * fitting > len(rows) - 1 > 0:
            best, widest = mark, width
    return best


def _cells(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error:
        return []


def _first_rows(start: str, mark: str, *, whole: bool) -> Iterator[list[str]]:
    lines = list(io.StringIO(start, newline=""))
    with long_fields():
        reader = csv.reader(lines if whole else lines[:-1], delimiter=mark)
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield row
                if reader.line_num > _SNIFFED:
                    return
        except csv.Error:
            return

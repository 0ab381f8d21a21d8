"""Text files with a row for each line: CSV and TSV, as people and spreadsheets write them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from softirr.answers.registry import Format, Ways
from softirr.answers.request import Request
from softirr.answers.rows import Rows, below_title, numbered_columns, refuse_numbers_as_header
from softirr.answers.source import Source, first_line, long_fields
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["FORMATS"]

_DELIMITERS = ",;\t|"
_STANDARD = {"item", "rater", "text"}
_SNIFFED = 20


_AROUND = " \t\ufeff"
"""Around a name in a header, in files that were joined."""


def _read(source: Source, request: Request, delimiter: str | None = None) -> Rows:
    """The rows of a CSV or TSV file; the first lines show what separates the cells."""
    start = source.check_text()
    if not start.strip() and source.is_short:
        raise InputError(f"{source.name} is empty.")
    mark = delimiter or _delimiter(start, is_whole=source.is_short)
    if mark is None:
        raise InputError(
            f"{source.name} is none of: Label Studio JSON export, JSONL, CSV with the header item,rater,text, or "
            "another table "
            "with several columns."
        )
    has_header = request.options.header != "none"
    if has_header:
        first, later_rows = below_title(_rows(source, mark))
        number, header = first[0]
        columns = tuple(cell.strip() for cell in header if cell is not None)
        if not request.options.layout.names_columns:
            refuse_numbers_as_header(source.name, columns, first[1:])
        _check_header(source.name, number, columns)
    else:
        later_rows = _rows(source, mark)
        number, row = next(later_rows)
        columns = numbered_columns(len(row))
        first = [(0, list(columns)), (number, row)]
    rows = _checked(source.name, columns, first, later_rows, has_header=has_header)
    return Rows(source.name, "tsv" if mark == "\t" else "csv", columns, rows, unit="line", delimiter=mark)


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
                    raise InputError(f"{source.name}, line {reader.line_num}: a closing quote has no opening quote.")
                yield reader.line_num, row
        except csv.Error as error:
            raise InputError(f"{source.name}, line {reader.line_num}: not valid CSV ({error}).") from None


def _checked(
    name: str,
    columns: Sequence[str],
    first: Sequence[tuple[int, Sequence[Any]]],
    later_rows: Iterator[tuple[int, list[Any]]],
    *,
    has_header: bool,
) -> Iterator[tuple[int, list[Any]]]:
    """The rows after the header; a wider row is refused."""
    rows = ((number, [cell for cell in row if cell is not None]) for number, row in first[1:])
    for number, row in chain(rows, later_rows):
        if len(row) > len(columns):
            raise InputError(
                f"{name}, line {number}: {plural(len(row), 'cell')} where the header has {len(columns)}: put quotes "
                "around a text that contains the separator."
            )
        if (
            has_header
            and len(row) == len(columns)
            and all(cell.strip(_AROUND) == name for cell, name in zip(row, columns, strict=True))
        ):
            raise InputError(f"{name}, line {number}: the header is repeated: remove it when you join files.")
        yield number, row


def _check_header(name: str, number: int, columns: Sequence[str]) -> None:
    names = [column.casefold() for column in columns]
    for key in ("item", "rater", "text"):
        if names.count(key) > 1:
            raise InputError(f"{name}, line {number}: the header names {key} twice.")


class _Lines:
    """Lines of a CSV file; counts their quotes, because the csv module ignores quotes in unquoted cells."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.quotes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.quotes += line.count('"')
        return line


def _delimiter(start: str, *, is_whole: bool) -> str | None:
    """What separates the columns: of the known header, else what gives several columns and rows of the same width."""
    line = first_line(start)
    if line.casefold().startswith("sep=") and len(line) == 5:
        return line[4]
    for mark in _DELIMITERS:
        if {cell.strip().casefold() for cell in _cells(line, mark)} >= _STANDARD:
            return mark
    rows = {mark: [(0, row) for row in _first_rows(start, mark, is_whole=is_whole)] for mark in _DELIMITERS}
    return _widest(rows) or _widest({mark: below_title(iter(rows_of_mark))[0] for mark, rows_of_mark in rows.items()})


def _widest(rows_by_mark: Mapping[str, Sequence[tuple[int, Sequence[str | None]]]]) -> str | None:
    """The separator of the rows with the most columns, if most rows are about as wide as the header."""
    best, widest = None, 1
    for mark, rows in rows_by_mark.items():
        header = [cell for cell in rows[0][1] if cell is not None] if rows else []
        width, n_named = len(header), sum(bool(cell.strip()) for cell in header)
        sizes = [len(row) - row.count(None) for _, row in rows[1:]]
        fitting = sum(width / 2 < size <= width for size in sizes)
        if width > widest and n_named > 1 and 2 * fitting > len(sizes) > 0:
            best, widest = mark, width
    return best


def _cells(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error:
        return []


def _first_rows(start: str, mark: str, *, is_whole: bool) -> Iterator[list[str]]:
    lines = list(io.StringIO(start, newline=""))
    with long_fields():
        reader = csv.reader(lines if is_whole or len(lines) < 3 else lines[:-1], delimiter=mark)
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield row
                if reader.line_num > _SNIFFED:
                    return
        except csv.Error:
            return


def _is_text(source: Source) -> bool:
    return source.check_text().lstrip()[:1] not in ("[", "{")


FORMATS = (
    Format("csv", file=Ways(_is_text, _read), is_general=True),
    Format("tsv", file=Ways(lambda source: False, lambda source, request: _read(source, request, "\t"))),
)

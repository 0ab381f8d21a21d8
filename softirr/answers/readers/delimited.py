"""Text files with a row for each line: CSV and TSV, as people and spreadsheets write them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import Any

from softirr.answers.registry import Format, Request, Ways
from softirr.answers.rows import Rows, with_header
from softirr.answers.source import Source, csv_rows, first_line
from softirr.errors import InputError
from softirr.numbers import plural

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
            "another table with several columns."
        )
    columns, body = with_header(_rows(source, mark), source.name, request.options)
    rows = _checked(source.name, columns, body, has_header=request.options.header != "none")
    return Rows(source.name, "tsv" if mark == "\t" else "csv", columns, rows, unit="line", delimiter=mark)


def _rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank.

    The csv module ignores quotes in unquoted cells, so they are counted.
    """
    n_quotes = 0

    def lines() -> Iterator[str]:
        nonlocal n_quotes
        for line in source.lines():
            n_quotes += line.count('"')
            yield line

    for number, row in csv_rows(lines(), delimiter, source.name):
        is_odd, n_quotes = n_quotes % 2, 0
        if [cell.casefold() for cell in row] == ["sep=", ""]:  # Excel's own first line
            continue
        if is_odd and any(cell.endswith('"') for cell in row):
            raise InputError(f"{source.name}, line {number}: a closing quote has no opening quote.")
        yield number, row


def _checked(
    name: str, columns: Sequence[str], rows: Iterator[tuple[int, list[Any]]], *, has_header: bool
) -> Iterator[tuple[int, list[Any]]]:
    """The rows after the header; a wider row is refused."""
    header = list(columns) if has_header else None
    for number, row in rows:
        if len(row) > len(columns):
            raise InputError(
                f"{name}, line {number}: {plural(len(row), 'cell')} where the header has {len(columns)}: put quotes "
                "around a text that contains the separator."
            )
        if [cell.strip(_AROUND) for cell in row] == header:
            raise InputError(f"{name}, line {number}: the header is repeated: remove it when you join files.")
        yield number, row


def _delimiter(start: str, *, is_whole: bool) -> str | None:
    """What separates the columns: of the known header, else what gives several columns and rows of the same width."""
    line = first_line(start)
    if line.casefold().startswith("sep=") and len(line) == 5:
        return line[4]
    for mark in _DELIMITERS:
        if {cell.strip().casefold() for cell in next(_first_rows(line, mark, is_whole=True), [])} >= _STANDARD:
            return mark
    best, widest = None, 1
    for mark in _DELIMITERS:
        header, *later_rows = [*_first_rows(start, mark, is_whole=is_whole)] or [[]]
        width, n_named = len(header), sum(bool(cell.strip()) for cell in header)
        fitting = sum(width / 2 < len(row) <= width for row in later_rows)
        if width > widest and n_named > 1 and 2 * fitting > len(later_rows) > 0:
            best, widest = mark, width
    return best


def _first_rows(start: str, mark: str, *, is_whole: bool) -> Iterator[list[str]]:
    lines = list(io.StringIO(start, newline=""))
    with contextlib.suppress(InputError):
        for line, row in csv_rows(lines if is_whole or len(lines) < 3 else lines[:-1], mark, "", strict=False):
            yield row
            if line > _SNIFFED:
                return


FORMATS = (
    Format("csv", file=Ways(lambda source: source.check_text().lstrip()[:1] not in ("[", "{"), _read), is_general=True),
    Format("tsv", file=Ways(lambda source: False, lambda source, request: _read(source, request, "\t"))),
)

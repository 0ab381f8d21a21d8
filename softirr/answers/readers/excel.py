"""Excel workbooks, read by openpyxl, which is imported only here."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import IO, Any

from softirr.answers.archives import names_inside
from softirr.answers.books import Book, Cell, book_content, table_below_title
from softirr.answers.layout import listed
from softirr.answers.raw import RawInput
from softirr.answers.registry import Format, Ways
from softirr.answers.request import NoValue, Request
from softirr.answers.rows import Rows
from softirr.answers.source import Source, needed, refused
from softirr.answers.values import value_text
from softirr.errors import InputError

__all__ = ["FORMATS", "NO_RESULT"]

NO_RESULT = "formula without a stored result"

_SMALL = 5_000_000
_LARGEST = 4 << 30
_MOST_ROWS, _MOST_CELLS = 1_048_576, 100_000_000
"""Rows that Excel has, and cells that are read: some ten minutes."""
_ERRORS = frozenset([
    "#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#SPILL!", "#CALC!", "#FIELD!", "#BLOCKED!",
    "#CONNECT!", "#UNKNOWN!", "#BUSY!", "#EXTERNAL!", "#PYTHON!", "#GETTING_DATA",
])  # fmt: skip
_TAG = 200
_FORMULA, _MERGED = re.compile(rb"<(?:\w+:)?f[\s/>]"), re.compile(rb"<(?:\w+:)?mergeCell[\s/>]")
_HIDDEN = re.compile(rb"<(?:\w+:)?row\s[^>]{0,150}\bhidden=\"(?:1|true)\"")


def _is_workbook(source: Source) -> bool:
    names = names_inside(source)
    if names is None:
        raise InputError(f"{source.name} is a damaged ZIP archive or Excel workbook: save it again.")
    return "xl/workbook.xml" in names


def _read(source: Source, request: Request) -> Rows | RawInput:
    """Return the rows of the chosen sheet, or the answers of a workbook with a sheet for each rater."""
    openpyxl = needed("openpyxl", "openpyxl", "An Excel workbook")
    file = source.seekable()
    with refused(_damaged(source.name)):  # openpyxl raises any exception for damaged files
        sheet_properties = _SheetProperties.of(file, source.name)
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the size in the file may be wrong, or include a million empty rows
        visible = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
        tables = [title for title in visible if _has_table(book[title])]
        formulas = openpyxl.load_workbook(file, read_only=True, data_only=False) if sheet_properties.formulas else None
        small = source.length <= _SMALL  # only then are merged cells looked at
        book_with_merged_cells = openpyxl.load_workbook(file) if small and sheet_properties.merged else None

    def rows(title: str) -> Rows:
        if formulas is not None:
            formulas[title].reset_dimensions()
        merged = [] if book_with_merged_cells is None else list(book_with_merged_cells[title].merged_cells.ranges)
        formula_rows = None if formulas is None else formulas[title]
        header, body = table_below_title(
            _numbered(book[title], formula_rows, source.name), merged, source.name, request.options
        )
        first = list(islice(body, 1))
        notes = ["The workbook has hidden or filtered rows, which are read, too."] if sheet_properties.hidden else []
        notes += [note for number, _ in first for note in _across(merged, number)]
        return Rows(source.name, "xlsx", header, chain(first, body), notes=tuple(notes))

    titles = [sheet.title for sheet in book.worksheets]
    return book_content(Book(source.name, "xlsx", titles, visible, tables, rows), request)


def _across(merged: Sequence[Any], number: int) -> Iterator[str]:
    """A note on cells merged over several columns, from a row on; a heading begins in the first column."""
    areas = [str(area.coord) for area in merged if area.min_row >= number and area.max_col > area.min_col > 1]
    if areas:
        yield (
            f"Cells that are merged over several columns have a value in the first of them only: {listed(areas)}. If "
            "all columns have this value, separate the cells."
        )


def _has_table(sheet: Any) -> bool:
    return sheet.sheet_state == "visible" and any(
        sum(cell not in (None, "") for cell in row) > 1 for row in islice(sheet.iter_rows(values_only=True), 200)
    )


def _damaged(name: str) -> str:
    return f"{name} is a damaged Excel workbook ({{error}}): open it in Excel and save it again."


@dataclass(frozen=True)
class _SheetProperties:
    """Whether any sheet has formulas, merged cells, or hidden rows."""

    formulas: bool
    merged: bool
    hidden: bool

    @classmethod
    def of(cls, file: IO[bytes], name: str) -> _SheetProperties:
        """Look through the sheets of a workbook, piece by piece."""
        marks = (_FORMULA, _MERGED, _HIDDEN)
        has_mark = [False] * len(marks)
        with zipfile.ZipFile(file) as archive:
            sheets = [info for info in archive.infolist() if info.filename.startswith("xl/worksheets/")]
            if sum(info.file_size for info in archive.infolist()) > _LARGEST:
                raise InputError(
                    f"{name} takes more than {_LARGEST >> 30} GiB unpacked: save the table as CSV in UTF-8."
                )
            for info in sheets:
                if info.is_dir():
                    continue
                end = b""
                with archive.open(info) as sheet_file:
                    while piece := sheet_file.read(1 << 20):
                        text = end + piece
                        has_mark = [
                            is_found or mark.search(text) is not None
                            for is_found, mark in zip(has_mark, marks, strict=True)
                        ]
                        end = text[-_TAG:]
        file.seek(0)
        return cls(*has_mark)


def _numbered(sheet: Any, formulas: Any, name: str) -> Iterator[tuple[int, list[Cell]]]:
    """Number and texts of each row that is not blank."""
    values = sheet.iter_rows(values_only=True)
    formula_rows = repeat(()) if formulas is None else formulas.iter_rows(values_only=True)
    n_cells = 0
    with refused(_damaged(name)):
        for number, (row, formula) in enumerate(zip(values, formula_rows, strict=formulas is not None), start=1):
            n_cells += len(row)
            if number > _MOST_ROWS or n_cells > _MOST_CELLS:
                raise InputError(
                    f"{name} has cells in row {number:,}, far from the others or more than {_MOST_CELLS:,} in all: "
                    "delete "
                    "the stray cells, or save the table as CSV in UTF-8."
                )
            cells = [_text(value, number, column) for column, value in enumerate(row)]
            for column, value in enumerate(formula[: len(cells)]):
                if row[column] is None and value is not None:
                    cells[column] = _no_value(number, column, NO_RESULT)
            if any(cell is not None for cell in cells):
                yield number, cells


def _text(value: Any, number: int, column: int) -> Cell:
    if value is None or isinstance(value, str):
        if value in _ERRORS:
            return _no_value(number, column, f"error {value}")
        return None if value is None or not value.strip() else value
    return value_text(value) or str(value)


def _no_value(number: int, column: int, reason: str) -> NoValue:
    letters, remaining = "", column + 1
    while remaining:
        remaining, letter = divmod(remaining - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return NoValue(f"{letters}{number}", reason)


FORMATS = (Format("xlsx", file=Ways(_is_workbook, _read)),)

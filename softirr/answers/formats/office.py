"""OpenDocument spreadsheets, and workbooks of old Excel (XLS, XLSB), read by calamine, which is imported only here."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import Any

from softirr.answers.archives import DAMAGE
from softirr.answers.books import Book, Cell, book_content, table_below_title, text_of_value
from softirr.answers.gathered import Request, Tables
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows
from softirr.answers.source import Source, needed, refused
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["FORMATS"]

_OLD = b"\xd0\xcf\x11\xe0"
_ERROR = re.compile(rb'calcext:value-type="error"')
_MOST_BYTES = 1 << 30


def _is_ods(source: Source) -> bool:
    return source.is_zip and b"opendocument.spreadsheet" in source.start[:200]


def _is_old_excel(source: Source) -> bool:
    return source.start.startswith(_OLD) or (source.is_zip and b"xl/workbook.bin" in source.seekable().read()[-65536:])


def _read_ods(source: Source, request: Request) -> Rows | Tables:
    with refused(_damaged(source.name), *DAMAGE, OSError, KeyError), zipfile.ZipFile(source.seekable()) as archive:
        content = archive.getinfo("content.xml")
        if content.file_size > _MOST_BYTES:
            raise InputError(f"{source.name} takes more than 1 GiB unpacked: save the table as CSV in UTF-8.")
        errors = len(_ERROR.findall(archive.read(content)))
    if errors:
        raise InputError(
            f"{source.name} has {plural(errors, 'cell')} with an error such as #N/A: correct them, or save the table "
            "as XLSX, where they are missing answers."
        )
    return _read(source, request, "ods", "empty")


def _read_old_excel(source: Source, request: Request) -> Rows | Tables:
    return _read(source, request, "xls", "missing")  # cells with an error are blank here


def _damaged(name: str) -> str:
    return f"{name} is a damaged or protected workbook: open it, and save it again without a password."


def _read(source: Source, request: Request, format: str, blank: str) -> Rows | Tables:
    calamine = needed("python_calamine", "python-calamine", "A workbook of OpenDocument or old Excel")
    with refused(_damaged(source.name)):  # calamine has an exception of its own for each format
        book = calamine.CalamineWorkbook.from_filelike(source.seekable())
        visible = [
            one.name
            for one in book.sheets_metadata
            if one.visible == calamine.SheetVisibleEnum.Visible and one.typ == calamine.SheetTypeEnum.WorkSheet
        ]
        sheets = {title: book.get_sheet_by_name(title).to_python(skip_empty_area=False) for title in visible}

    def rows(title: str) -> Rows:
        header, rest = table_below_title(_numbered(sheets[title]), (), source.name)
        return Rows(source.name, format, header, rest, blank=blank)

    tables = [
        title for title, table in sheets.items() if any(sum(cell != "" for cell in row) > 1 for row in table[:200])
    ]
    return book_content(Book(source.name, format, visible, visible, tables, rows), request)


def _numbered(table: list[list[Any]]) -> Iterator[tuple[int, list[Cell]]]:
    for number, row in enumerate(table, start=1):
        cells: list[Cell] = [None if (text := text_of_value(value)).strip() == "" else text for value in row]
        if any(cell is not None for cell in cells):
            yield number, cells


FORMATS = (Format("ods", file=Ways(_is_ods, _read_ods)), Format("xls", file=Ways(_is_old_excel, _read_old_excel)))

"""The answers that every format has, and how files are written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import openpyxl

from tests.answers.plain_rows import text_file

ANSWERS: dict[tuple[str, str], str] = {
    ("1", "ann"): "high blood pressure",
    ("1", "bob"): "hypertension",
    ("1", "cy"): "high blood pressure",
    ("2", "ann"): "fever",
    ("2", "bob"): "high fever",
    ("3", "ann"): "pain, left knee",
    ("3", "bob"): "pain in the left knee",
    ("3", "cy"): 'a "stiff" knee',
    ("4", "bob"): "cough",
    ("4", "cy"): "dry cough",
    ("5", "ann"): "rash",
    ("5", "cy"): "naïve Rötung",
}
"""Item 2 was not shown to cy, item 4 not to ann, and item 5 not to bob."""
ITEMS = ("1", "2", "3", "4", "5")
RATERS = ("ann", "bob", "cy")
Rows = Sequence[tuple[str, str, str]]
ROWS: Rows = [(item, rater, text) for (item, rater), text in ANSWERS.items()]
"""Item, rater and text of each answer."""


def wide(rows: Rows = ROWS) -> list[list[str]]:
    texts = {(item, rater): text for item, rater, text in rows}
    items = dict.fromkeys(item for item, _, _ in rows)
    return [["id", *RATERS]] + [[item, *(texts.get((item, rater), "") for rater in RATERS)] for item in items]


def text_table(table: list[list[Any]], path: Path, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(table)
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def json_lines(entries: list[Any], path: Path) -> Path:
    return text_file(path, "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries))


def workbook(table: Any, path: Any) -> Any:
    return sheets(path, Sheet=table)


def sheets(path: Any, **tables: Any) -> Any:
    """A workbook with a sheet for each table; `path` may be a file in memory."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, table in tables.items():
        sheet = book.create_sheet(title)
        for row in table:
            sheet.append([cell if cell != "" else None for cell in row])
            for cell in sheet[sheet.max_row]:
                if isinstance(cell.value, str):
                    cell.data_type = "s"  # also a text that begins like a formula
    book.save(path)
    return path


def by_item(rows: Rows) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for item in dict.fromkeys(item for item, _, _ in rows):
        yield item, [(rater, text) for of, rater, text in rows if of == item]

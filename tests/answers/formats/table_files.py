"""Tables in text, JSON and workbooks, in rows or with a column for each rater."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.answers.formats.common import RATERS, json_lines, rows, text_table, wide, workbook


def long_csv(folder: Path) -> Path:
    return text_table([["item", "rater", "text"], *map(list, rows())], folder / "long.csv")


def long_other_names(folder: Path) -> Path:
    table = [["case", "nurse", "seconds", "remark"], *([item, rater, 7, text] for item, rater, text in rows())]
    return text_table(table, folder / "other.csv", ";", "utf-8-sig")


def wide_csv(folder: Path) -> Path:
    return text_table(wide(), folder / "wide.csv")


def wide_tsv(folder: Path) -> Path:
    return text_table(wide(), folder / "wide.tsv", "\t", "utf-16")


def wide_xlsx(folder: Path) -> Path:
    return workbook([["Answers of the ward"], [], *wide(), ["", "", ""], []], folder / "wide.xlsx")


def wide_parquet(folder: Path) -> Path:
    table = wide()
    columns = {name: [row[i] or None for row in table[1:]] for i, name in enumerate(table[0])}
    pq.write_table(pa.table(columns), folder / "wide.parquet")
    return folder / "wide.parquet"


def jsonl(folder: Path) -> Path:
    return json_lines(
        [{"item": item, "rater": rater, "texts": [text]} for item, rater, text in rows()], folder / "a.jsonl"
    )


def json_list(folder: Path) -> Path:
    path = folder / "a.json"
    path.write_text(
        json.dumps([{"task_id": int(i), "annotator": r, "answer": t} for i, r, t in rows()]), encoding="utf-8"
    )
    return path


def model_log(folder: Path) -> Path:
    """A log of language models: a row for each call, an item for each prompt, answers below other keys."""
    entries = [
        {"prompt": f"Case {item}: what is it?", "model": rater, "usage": {"tokens": 5}, "response": text}
        for item, rater, text in rows()
    ]
    return json_lines(entries, folder / "log.jsonl")


def wide_ods(folder: Path) -> Path:
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book = OpenDocumentSpreadsheet()
    sheet = Table(name="Answers")
    for cells in [["Answers of the ward"], *wide()]:
        row = TableRow()
        for text in cells:
            cell = TableCell(valuetype="string") if text else TableCell()
            if text:
                cell.addElement(P(text=text))
            row.addElement(cell)
        sheet.addElement(row)
    book.spreadsheet.addElement(sheet)
    book.save(folder / "wide.ods")
    return folder / "wide.ods"


def long_table() -> list[list[Any]]:
    return [["case", "nurse", "seconds", "remark"], *([item, rater, 7, text] for item, rater, text in rows())]


def long_xls(folder: Path) -> Path:
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Answers")
    for number, row in enumerate(long_table()):
        for column, value in enumerate(row):
            sheet.write(number, column, value)
    book.save(folder / "long.xls")
    return folder / "long.xls"


def folder_of_raters(folder: Path) -> Path:
    """A table for each rater, named after the rater; of several kinds."""
    root = folder / "raters"
    root.mkdir()
    own = {rater: [[item, text] for item, who, text in rows() if who == rater] for rater in RATERS}
    text_table([["case", "finding"], *own["ann"]], root / "ann.csv", ";")
    workbook([["case", "finding"], *own["bob"]], root / "bob.xlsx")
    json_lines([{"case": item, "finding": text} for item, text in own["cy"]], root / "cy.jsonl")
    return root

"""Tables in text, JSON and workbooks, in rows or with a column for each rater."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.answers.formats.common import RATERS, ROWS, Rows, json_lines, text_table, wide, workbook
from tests.answers.plain_rows import json_file


def long_csv(folder: Path, answers: Rows = ROWS) -> Path:
    return text_table([["item", "rater", "text"], *map(list, answers)], folder / "long.csv")


def long_other_names(folder: Path, answers: Rows = ROWS) -> Path:
    table = [["case", "nurse", "seconds", "remark"], *([item, rater, 7, text] for item, rater, text in answers)]
    return text_table(table, folder / "other.csv", ";", "utf-8-sig")


def wide_csv(folder: Path, answers: Rows = ROWS) -> Path:
    return text_table(wide(answers), folder / "wide.csv")


def wide_tsv(folder: Path, answers: Rows = ROWS) -> Path:
    return text_table(wide(answers), folder / "wide.tsv", "\t", "utf-16")


def wide_xlsx(folder: Path, answers: Rows = ROWS) -> Path:
    return workbook([[], *wide(answers), ["", "", ""], []], folder / "wide.xlsx")


def wide_parquet(folder: Path, answers: Rows = ROWS) -> Path:
    table = wide(answers)
    columns = {name: [row[i] or None for row in table[1:]] for i, name in enumerate(table[0])}
    pq.write_table(pa.table(columns), folder / "wide.parquet")
    return folder / "wide.parquet"


def jsonl(folder: Path, answers: Rows = ROWS) -> Path:
    return json_lines(
        [{"item": item, "rater": rater, "texts": [text]} for item, rater, text in answers], folder / "a.jsonl"
    )


def json_list(folder: Path, answers: Rows = ROWS) -> Path:
    return json_file(folder / "a.json", [{"task_id": int(i), "annotator": r, "answer": t} for i, r, t in answers])


def folder_of_raters(folder: Path, answers: Rows = ROWS) -> Path:
    """A table for each rater, named after the rater; of several kinds."""
    root = folder / "raters"
    root.mkdir(exist_ok=True)
    rows_of_rater = {rater: [[item, text] for item, who, text in answers if who == rater] for rater in RATERS}
    text_table([["case", "finding"], *rows_of_rater["ann"]], root / "ann.csv", ";")
    workbook([["case", "finding"], *rows_of_rater["bob"]], root / "bob.xlsx")
    json_lines([{"case": item, "finding": text} for item, text in rows_of_rater["cy"]], root / "cy.jsonl")
    return root

"""Tables as people make them by hand: titles, merged cells, columns in another order, no header."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import softirr
from tests.answers.formats.common import sheets
from tests.answers.plain_rows import refusal, rows

WIDE = {"item": "id", "raters": ["ann", "bob"]}


def workbook(path: Path, **tables: list[list[Any]]) -> openpyxl.Workbook:
    return openpyxl.load_workbook(sheets(path, **tables))


def test_a_title_above_a_table_is_refused() -> None:
    assert "is none of" in refusal("Answers of 2025\nid,ann,bob\n1,x,y\n2,x,z\n", **WIDE)


def test_a_row_wider_than_the_header_is_refused() -> None:
    assert "line 4: 4 cells where the header has 3" in refusal("id,ann,bob\n1,x,y\n2,x,y\n3,x,y,z\n", **WIDE)


def test_files_of_raters_are_read_by_the_names_of_the_columns(tmp_path: Path) -> None:
    ann, bob = [["case", "finding"], ["1", "fever"]], [["finding", "case"], ["rash", "1"]]
    expected = {("1", "ann", ("fever",)), ("1", "bob", ("rash",))}
    folder = tmp_path / "raters"
    folder.mkdir()
    for name, cells in (("ann", ann), ("bob", bob)):
        (folder / f"{name}.csv").write_text("".join(",".join(row) + "\n" for row in cells), encoding="utf-8")
    assert rows(softirr.read(folder)) == expected
    (folder / "cy.csv").write_text("nr,finding\n1,itch\n", encoding="utf-8")
    assert "cy.csv has the columns nr, finding, and another table case, finding" in refusal(folder)


def test_merged_cells_are_refused_on_the_sheet_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    content = [["item", "rater", "text"], [1, "ann", "x"], [None, "bob", "y"], [2, "ann", "z"], [None, "bob", "z"]]
    book = workbook(path, a=content, b=content)
    book["a"].merge_cells("A2:A3")
    book["a"].merge_cells("A4:A5")
    book.save(path)
    assert "sheet 'a': these cells are merged, so that only the first of each has a value: A2:A3, A4:A5." in refusal(
        path, sheet="a"
    )
    assert "case" not in refusal(path, sheet="b") and "row 3: item is missing" in refusal(path, sheet="b")


@pytest.mark.parametrize(("empty", "expected"), [(None, {"bob"}), ("none", {"ann", "bob"}), ("missing", set())])
def test_null_in_json_is_missing_and_an_empty_text_is_an_answer(empty: str | None, expected: set[str]) -> None:
    content = [{"item": 1, "rater": rater, "text": text} for rater, text in (("ann", None), ("bob", ""))]
    assert set(softirr.read(io.StringIO(json.dumps(content)), empty=empty).raters) == expected


RATINGS = [["1", "2", "1"], ["2", "2", ""], ["3", "1", "3"]]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_rating_table_without_a_header(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"ratings.{suffix}"
    if suffix == "csv":
        path.write_text("".join(",".join(row) + "\n" for row in RATINGS), encoding="utf-8")
    else:
        sheets(path, ratings=RATINGS)
    assert "seems to have no header" in refusal(path) and 'header="none"' in refusal(path)
    table = softirr.read(path, header="none", kind="ordinal")
    expected = {(str(n), str(k), (cell,)) for n, row in enumerate(RATINGS, 1) for k, cell in enumerate(row, 1) if cell}
    assert rows(table) == expected
    assert "because the table has no header" in table.warnings[0]
    named_table = softirr.read(path, header="none", item="1", raters={"ann": "2", "bob": "3"}, kind="ordinal")
    assert rows(named_table) == {
        ("1", "ann", ("2",)), ("1", "bob", ("1",)), ("2", "ann", ("2",)), ("3", "ann", ("1",)), ("3", "bob", ("3",)),
    }  # fmt: skip


def test_columns_of_texts_without_a_header_have_to_be_named() -> None:
    content = "1,ann,fever\n1,bob,rash\n"
    assert "has the columns 1, 2, 3. Name them" in refusal(content, header="none")
    table = softirr.read(io.StringIO(content), header="none", item="1", rater="2", text="3")
    assert rows(table) == {("1", "ann", ("fever",)), ("1", "bob", ("rash",))}


def test_numbers_as_names_of_columns_are_a_header_if_they_are_named() -> None:
    table = softirr.read(io.StringIO("0,1,2\n7,1,2\n8,2,2\n"), item="0", raters=["1", "2"], kind="ordinal")
    assert table.items == ("7", "8") and table.raters == ("1", "2")

"""Cells of a workbook without a value are missing and named, and cells far from the table cost nothing."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import softirr
from softirr.answers.readers import csv_excel_parquet as workbook
from softirr.answers.table import Excluded
from tests import Cli
from tests.answers.plain_rows import answers, refusal

ERRORS = ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!")
TEXTS = ("fever", "cough", "rash")
CELL = st.one_of(st.none(), st.sampled_from(TEXTS), st.sampled_from(ERRORS), st.just("=A1"))


def saved(path: Path, rows: list[list[Any]], **far: Any) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for coordinate, value in far.items():
        sheet[coordinate] = value
    book.save(path)
    return path


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6))
def test_cells_without_a_value_are_never_answers(tmp_path: Path, cells: list[tuple[str | None, str | None]]) -> None:
    rows: list[list[Any]] = [["item", "rater", "text"], ["0", "ann", "fever"], ["0", "bob", "fever"]]
    rows += [
        [str(n), rater, cell] for n, row in enumerate(cells, 1) for rater, cell in zip(("ann", "bob"), row, strict=True)
    ]
    table = softirr.read(saved(tmp_path / "a.xlsx", rows))
    expected = {
        (item, rater): () if text is None else (text,)
        for item, rater, text in rows[1:]
        if text not in ERRORS and text != "=A1"
    }
    assert answers(table) == expected  # an empty cell of item,rater,text is an empty answer
    assert {(left_out.item, left_out.rater) for left_out in table.excluded} == {(i, r) for i, r, _ in rows[1:]} - set(
        expected
    )


class TestExamples:
    ROWS: tuple[list[Any], ...] = (
        ["case", "ann", "bob"],
        [1, "fever", "fever"],
        [2, "=B2", "=UPPER(B2)"],
        [3, "#N/A", "#N/A"],
        [4, "rash", "cough"],
    )

    def test_they_are_named_in_the_report(self, tmp_path: Path, cli: Cli) -> None:
        path = saved(tmp_path / "a.xlsx", list(self.ROWS))
        report = cli("score", path, "--item", "case", "--raters", "ann,bob", "--measure", "exact", "--json")
        assert report["coefficients"]["observed_agreement"]["value"] == 0.5
        (warning,) = [warning for warning in report["warnings"] if "missing answer" in warning]
        assert warning.startswith("4 texts count as missing answers and are not compared: ann 2 (#N/A), bob 2 (#N/A).")
        assert {"item": "3", "rater": "ann", "reason": "missing, written as #N/A"} in report["excluded"]

    def test_a_formula_with_a_result_is_that_result(self, tmp_path: Path) -> None:
        import zipfile

        path = saved(tmp_path / "a.xlsx", list(self.ROWS))
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        name = "xl/worksheets/sheet1.xml"
        stored = (
            files[name]
            .replace(b"<f>B2</f><v />", b"<f>B2</f><v>7</v>")
            .replace(b"<f>B2</f><v></v>", b"<f>B2</f><v>7</v>")
        )
        assert stored != files[name]
        with zipfile.ZipFile(path, "w") as archive:
            for file_name, content in (files | {name: stored}).items():
                archive.writestr(file_name, content)
        table = softirr.read(path, item="case", raters=["ann", "bob"])
        assert answers(table)["2", "ann"] == ("7",)
        assert Excluded("2", "bob", f"missing, written as {workbook.NO_RESULT}") in table.excluded

    def test_an_item_without_a_value_is_refused_with_its_cell(self, tmp_path: Path) -> None:
        path = saved(tmp_path / "a.xlsx", [*self.ROWS, ["#REF!", "x", "y"]])
        assert "row 6: the cell of the item has the error #REF!, and no value" in refusal(
            path, item="case", raters=["ann", "bob"]
        )

    def test_errors_that_a_spreadsheet_wrote_as_csv(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("item,rater,text\n1,ann,#REF!\n1,bob,#REF!\n2,ann,fever\n2,bob,fever\n")
        assert set(answers(softirr.read(tmp_path / "a.csv"))) == {("2", "ann"), ("2", "bob")}


class TestFarCells:
    """A cell in the last column, far below a table: all cells between would take gigabytes."""

    @pytest.mark.parametrize("rows", [[], [["case", "ann", "bob"], [1, "x", "x"]]], ids=["alone", "below a table"])
    def test_is_refused_at_once(self, rows: list[list[Any]], tmp_path: Path) -> None:
        path = saved(tmp_path / "a.xlsx", rows, XFD40000="x")
        tracemalloc.start()
        assert re.search(
            r"no sheet with a table|row 40000: case is missing",
            refusal(path, **({"item": "case", "raters": ["ann", "bob"]} if rows else {})),
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 50_000_000, "bytes; gigabytes if every cell between is made"

    def test_a_column_far_to_the_right_changes_nothing(self, tmp_path: Path) -> None:
        path = saved(tmp_path / "a.xlsx", [["case", "ann", "bob"], [1, "x", "x"], [2, "x", "y"]], XFD2="aside")
        assert answers(softirr.read(path, item="case", raters=["ann", "bob"]))["2", "bob"] == ("y",)

    def test_too_many_cells(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(workbook, "_MOST_CELLS", 20)
        path = saved(tmp_path / "a.xlsx", [["case", "ann", "bob"], *([n, "x", "x"] for n in range(20))])
        assert "more than 20 in all" in refusal(path, item="case", raters=["ann", "bob"])

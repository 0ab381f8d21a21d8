"""Workbooks with several sheets: a sheet for each rater, parts of one table, and sheets that hold something else."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

import softirr
from softirr.cli.main import main
from tests.answers.formats.common import sheets
from tests.answers.plain_rows import refusal, rows

CASES = (("1", "fever"), ("2", "rash"), ("3", "cough"))


@pytest.mark.parametrize("header", [("case", "finding"), ("item", "text"), ("Number", "What is it")])
def test_a_sheet_for_each_rater(header: tuple[str, ...], tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.xlsx",
        ann=[header, *CASES],
        bob=[header, ("1", "high fever"), ("2", "rash")],
        Legend=[("x", "y", "z"), ("1", "2", "3")],
    )
    table = softirr.read(path)
    assert rows(table) == {(i, "ann", (t,)) for i, t in CASES} | {
        ("1", "bob", ("high fever",)),
        ("2", "bob", ("rash",)),
    }
    assert table.warnings[0].startswith("Each sheet has the answers of one rater: ann, bob.")
    assert table.warnings[1] == "These sheets have other columns and were not read: Legend."


def test_columns_that_are_named(tmp_path: Path) -> None:
    header = ("no", "site", "remark")
    path = sheets(tmp_path / "a.xlsx", ann=[header, ("1", "Bern", "fever")], bob=[header, ("1", "Bern", "fevers")])
    assert rows(softirr.read(path, item="no", text="remark")) == {("1", "ann", ("fever",)), ("1", "bob", ("fevers",))}
    assert softirr.read(path, item="no", text="remark", rater="site", sheet="ann").raters == ("Bern",)


def test_sheets_with_raters_are_parts_of_one_table_if_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = ("item", "rater", "text")
    path = sheets(
        tmp_path / "a.xlsx",
        Bern=[header, ("1", "ann", "x"), ("1", "bob", "y")],
        Basel=[header, ("2", "ann", "x"), ("2", "bob", "x")],
    )
    for command in (["inspect"], ["score", "--measure", "exact"]):
        assert main([*command, str(path)]) == 0
        assert (
            "Note: Only the sheet 'Bern' was read. Of the same columns: Basel. --sheet '*' reads all"
            in capsys.readouterr().out
        )
    assert softirr.read(path, sheet="*").items == ("1", "2")
    assert softirr.read(path, sheet="Basel").items == ("2",)


def test_every_sheet_of_different_columns_is_refused(tmp_path: Path) -> None:
    path = sheets(tmp_path / "a.xlsx", ann=[("item", "text"), ("1", "x")], notes=[("a", "b", "c"), ("1", "2", "3")])
    assert "the sheets notes have different columns from 'ann'" in refusal(path, sheet="*")


CODES = [("Code", "Definition"), ("fever", "hot"), ("rash", "red")]


def test_a_list_of_codes_before_the_raters_sheets_is_not_the_table(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.xlsx", Codes=CODES, ann=[("case", "finding"), *CASES], bob=[("case", "finding"), *CASES]
    )
    table = softirr.read(path)
    assert table.raters == ("ann", "bob")
    assert table.warnings[1] == "These sheets have other columns and were not read: Codes."


def test_a_list_of_codes_before_the_table(tmp_path: Path) -> None:
    long = [("item", "rater", "text"), ("1", "ann", "x"), ("1", "bob", "y")]
    table = softirr.read(sheets(tmp_path / "a.xlsx", Codes=CODES, Data=long))
    assert table.raters == ("ann", "bob")
    assert table.warnings == ("The sheet 'Data' was read; sheet= chooses another of 'Codes'.",)
    wide = [("nr", "ann", "bob"), ("1", "x", "y")]
    assert softirr.read(
        sheets(tmp_path / "a.xlsx", Codes=CODES, Data=wide), item="nr", raters=["ann", "bob"]
    ).items == ("1",)
    assert "sheet 'Codes' has the columns Code, Definition" in refusal(
        sheets(tmp_path / "a.xlsx", Codes=CODES, Data=[("a", "b", "c"), ("1", "x", "y")])
    )


def test_rater_sheets_may_have_extra_columns(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.xlsx",
        ann=[("case", "finding", "notes"), ("1", "fever", "unsure")],
        bob=[("Case", "Finding"), ("1", "high fever")],
        Codes=CODES,
    )
    table = softirr.read(path, item="case", text="finding")
    assert rows(table) == {("1", "ann", ("fever",)), ("1", "bob", ("high fever",))}
    assert table.warnings[1] == "These sheets have other columns and were not read: Codes."


def test_titles_and_headings_in_either_case(tmp_path: Path) -> None:
    """A title above a table of two columns, with a blank row between them."""
    path = sheets(
        tmp_path / "a.xlsx",
        ann=[("Coder: Ann",), (), ("case", "finding"), *CASES],
        bob=[("Coder: Bob", "round 2"), (), ("Finding", "Case", "sure"), ("high fever", "1", "yes")],
    )
    table = softirr.read(path, item="case", text="finding")
    assert ("1", "bob", ("high fever",)) in rows(table) and ("1", "ann", ("fever",)) in rows(table)
    path = sheets(tmp_path / "a.xlsx", ann=[("case", "finding"), *CASES], bob=[("Case", "Finding"), *CASES])
    assert list(softirr.read_texts(path)) == ["finding"]


def test_cells_merged_over_the_columns_of_raters_are_named(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.xlsx", all=[("id", "ann", "bob"), ("1", "fever", None), ("Ward 3", None, None), ("2", "x", "y")]
    )
    opened = openpyxl.load_workbook(path)
    opened.active.merge_cells("B2:C2")
    opened.active.merge_cells("A3:C3")
    opened.save(path)
    (note, *_) = softirr.read(path, item="id", raters=["ann", "bob"]).warnings
    assert note.startswith("Cells that are merged over several columns have a value in the first of them only: B2:C2.")

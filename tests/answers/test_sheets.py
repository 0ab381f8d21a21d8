"""Workbooks with several sheets: the only one with a table is read, and of several the user chooses one."""

from __future__ import annotations

from pathlib import Path

import softirr
from tests.answers.formats.common import sheets
from tests.answers.plain_rows import refusal, rows

LONG = [("item", "rater", "text"), ("1", "ann", "x"), ("1", "bob", "y")]


def test_the_user_chooses_one_of_several_sheets(tmp_path: Path) -> None:
    path = sheets(tmp_path / "a.xlsx", Bern=LONG, Basel=[LONG[0], ("2", "ann", "x"), ("2", "bob", "x")])
    message = refusal(path)
    assert "has tables on several sheets (Bern, Basel): choose one with sheet=" in message
    assert "save each as a file in one folder" in message
    assert softirr.read(path, sheet="Basel").items == ("2",)
    assert softirr.read(path, sheet="Bern").warnings == ()


def test_one_sheet_needs_no_choice(tmp_path: Path) -> None:
    table = softirr.read(sheets(tmp_path / "a.xlsx", all=LONG))
    assert rows(table) == {("1", "ann", ("x",)), ("1", "bob", ("y",))} and table.warnings == ()


def test_a_sheet_without_a_table_is_named(tmp_path: Path) -> None:
    path = sheets(tmp_path / "a.xlsx", About=[("Made by Ann",)], Data=LONG)
    assert softirr.read(path).warnings == ("The sheet 'Data' was read; sheet= chooses another of 'About'.",)
    assert "no sheet 'Plan'; it has About, Data" in refusal(path, sheet="Plan")
    assert "no sheet with a table" in refusal(sheets(tmp_path / "b.xlsx", About=[("Made by Ann",)]))

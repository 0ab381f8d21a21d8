"""Tables as people make them by hand: titles, merged cells, hidden rows, sheets with columns in another order."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyreadstat
import pytest

import softirr
from tests.answers.formats.common import sheets
from tests.answers.formats.table_files import wide_ods
from tests.answers.plain_rows import refusal, rows

WIDE = {"item": "id", "raters": ["ann", "bob"]}


def workbook(path: Path, **tables: list[list[Any]]) -> openpyxl.Workbook:
    return openpyxl.load_workbook(sheets(path, **tables))


@pytest.mark.parametrize("title", ["Answers of 2025\n", "Answers of 2025\n\n", "Answers of 2025,,\n,,\n"])
def test_a_title_above_a_csv_table_is_left_out(title: str) -> None:
    table = softirr.read(io.StringIO(title + "id,ann,bob\n1,x,y\n2,x,z\n"), **WIDE)
    assert rows(table) == {("1", "ann", ("x",)), ("1", "bob", ("y",)), ("2", "ann", ("x",)), ("2", "bob", ("z",))}


def test_a_row_wider_than_the_header_is_refused_below_a_title_too() -> None:
    assert "line 5: 4 cells where the header has 3" in refusal("Title\nid,ann,bob\n1,x,y\n2,x,y\n3,x,y,z\n", **WIDE)


def test_sheets_and_files_of_raters_are_read_by_the_names_of_the_columns(tmp_path: Path) -> None:
    ann, bob = [["case", "finding"], ["1", "fever"]], [["finding", "case"], ["rash", "1"]]
    expected = {("1", "ann", ("fever",)), ("1", "bob", ("rash",))}
    workbook(tmp_path / "a.xlsx", ann=ann, bob=bob)
    assert rows(softirr.read(tmp_path / "a.xlsx")) == expected
    folder = tmp_path / "raters"
    folder.mkdir()
    for name, cells in (("ann", ann), ("bob", bob)):
        (folder / f"{name}.csv").write_text("".join(",".join(row) + "\n" for row in cells), encoding="utf-8")
    assert rows(softirr.read(folder)) == expected
    (folder / "cy.csv").write_text("nr,finding\n1,itch\n", encoding="utf-8")
    assert "cy.csv has the columns nr, finding, and another table case, finding" in refusal(folder)


def test_cells_that_are_merged_downward_have_their_value_in_each_row(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    content = [["item", "rater", "text"], [1, "ann", "x"], [None, "bob", "y"], [2, "ann", "z"], [None, "bob", "z"]]
    book = workbook(path, a=content)
    book["a"].merge_cells("A2:A3")
    book["a"].merge_cells("A4:A5")
    book.save(path)
    assert rows(softirr.read(path)) == {
        ("1", "ann", ("x",)), ("1", "bob", ("y",)), ("2", "ann", ("z",)), ("2", "bob", ("z",)),
    }  # fmt: skip


def test_hidden_rows_are_read_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = workbook(path, a=[["item", "rater", "text"], [1, "ann", "x"], [1, "bob", "y"]])
    assert not softirr.read(path).warnings
    book["a"].row_dimensions[3].hidden = True
    book.save(path)
    assert softirr.read(path).warnings == ("The workbook has hidden or filtered rows, which are read, too.",)


def test_rounds_on_several_sheets_are_joined_with_a_note(tmp_path: Path) -> None:
    head = ["item", "rater", "text"]
    workbook(tmp_path / "a.xlsx", one=[head, [1, "ann", "x"]], two=[["rater", "text", "item"], ["ann", "y", 1]])
    table = softirr.read(tmp_path / "a.xlsx", sheet="*")
    assert rows(table) == {("1", "ann", ("x", "y"))}
    assert table.warnings[0].startswith(
        "1 row repeats a rater and an item. The rows of a rater and an item count as a set"
    )


@pytest.mark.parametrize(("empty", "expected"), [(None, {"bob"}), ("none", {"ann", "bob"}), ("missing", set())])
def test_null_in_json_is_missing_and_an_empty_text_is_an_answer(empty: str | None, expected: set[str]) -> None:
    content = [{"item": 1, "rater": rater, "text": text} for rater, text in (("ann", None), ("bob", ""))]
    assert set(softirr.read(io.StringIO(json.dumps(content)), empty=empty).raters) == expected


def test_labels_and_missing_values_of_spss(tmp_path: Path) -> None:
    """Values with a label are its text.

    Those without one are numbers, with a note; missing ones are missing answers.
    """
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": ["ann", "bob"] * 2, "text": [1, 2, 7, -9]})
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(
        frame, path, variable_value_labels={"text": {1: "fever", 2: "rash"}}, missing_ranges={"text": [-9]}
    )
    for source in (path, shutil.copy(path, tmp_path / "no suffix")):
        table = softirr.read(source)
        assert rows(table) == {("1", "ann", ("fever",)), ("1", "bob", ("rash",)), ("2", "ann", ("7",))}
        assert "Some values have no label and are read as numbers: text." in table.warnings


def test_a_portable_file_of_spss(tmp_path: Path) -> None:
    frame = pd.DataFrame({"ITEM": ["1", "1"], "RATER": ["ann", "bob"], "TEXT": ["fever", None], "N": [1.0, 2.5]})
    pyreadstat.write_por(frame, tmp_path / "a.por")
    table = softirr.read(shutil.copy(tmp_path / "a.por", tmp_path / "no suffix"))
    assert rows(table) == {("1", "ann", ("fever",))}
    (tmp_path / "tagged.csv").write_text("item,rater,text\n1,ann,SPSSPORT\n1,bob,fever\n")
    assert rows(softirr.read(tmp_path / "tagged.csv")) == {("1", "ann", ("SPSSPORT",)), ("1", "bob", ("fever",))}
    numbers = softirr.read(tmp_path / "a.por", item="ITEM", rater="RATER", text="N")
    assert rows(numbers) == {("1", "ann", ("1",)), ("1", "bob", ("2.5",))}


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"0" * 456 + b"SPSSPORTA8/", "is a damaged portable file of SPSS"),
        (b"$FL2@(#) SPSS DATA FILE" + b"\0" * 200, "is a damaged file of SPSS"),
        (b"<stata_dta><header>" + b"\0" * 200, "is a damaged file of Stata"),
        (bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011") + b"\0" * 99, "of SAS"),
        (gzip.compress(b"X\n\0\0\0\3"), "is a damaged file of R, or has no data frame"),
        (gzip.compress(b"item,rater,text\n"), "is compressed (gzip)"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "is a damaged or protected workbook"),
    ],
)
def test_an_unreadable_binary_file_gets_its_own_reason(start: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(start)
    assert words in refusal(tmp_path / "a")


def test_cells_of_opendocument_with_an_error_are_refused(tmp_path: Path) -> None:
    path = wide_ods(tmp_path)
    damaged = tmp_path / "errors.ods"
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(damaged, "w") as after:
        for info in before.infolist():
            content = before.read(info)
            if info.filename == "content.xml":
                content = content.replace(
                    b'office:value-type="string"', b'office:value-type="string" calcext:value-type="error"', 1
                )
            after.writestr(info, content)
    assert "has 1 cell with an error" in refusal(damaged, **WIDE)


def test_parts_of_a_question_of_surveymonkey_are_named(tmp_path: Path) -> None:
    content = "Respondent ID,Which side?,,Why?\n,Left,Right,Response\n7,a,b,c\n8,d,e,f\n"
    table = softirr.read(io.StringIO(content), rater="Respondent ID", items=["Which side? / *", "Why?"])
    assert table.items == ("Which side? / Left", "Which side? / Right", "Why?")
    assert ("Which side? / Right", "8", ("e",)) in rows(table)


REDCAP = "record_id,redcap_repeat_instrument,reader,finding___fever,finding___rash,site\n"


def test_checkboxes_of_redcap_are_sets_and_rows_of_other_instruments_are_left_out() -> None:
    content = REDCAP + "1,,,0,0,Bern\n1,reading,ann,1,1,\n1,reading,bob,1,0,\n2,reading,ann,0,1,\n2,reading,bob,0,0,\n"
    options = {"item": "record_id", "rater": "reader", "text": "finding"}
    table = softirr.read(io.StringIO(content), **options)
    given = {("1", "ann", ("fever", "rash")), ("1", "bob", ("fever",)), ("2", "ann", ("rash",))}
    assert rows(table) == given
    assert any("Rows without reader" in warning for warning in table.warnings)
    assert rows(softirr.read(io.StringIO(content), empty="none", **options)) == given | {("2", "bob", ())}
    assert "line 2: reader is missing" in refusal(REDCAP + "1,,,1,0,Bern\n", **options)
    short = "record_id,redcap_repeat_instrument,reader,finding\n1\n1,reading,ann,fever\n1,reading,bob,rash\n"
    assert rows(softirr.read(io.StringIO(short), **options)) == {("1", "ann", ("fever",)), ("1", "bob", ("rash",))}


def test_labels_of_checkboxes_of_redcap() -> None:
    content = (
        "case,who,Finding (choice=High fever),Finding (choice=Rash)\n1,ann,Checked,Unchecked\n1,bob,Checked,Checked\n"
    )
    table = softirr.read(io.StringIO(content), item="case", rater="who", text="Finding")
    assert rows(table) == {("1", "ann", ("High fever",)), ("1", "bob", ("High fever", "Rash"))}


def test_ids_of_redcap_that_name_the_rater() -> None:
    content = "record_id,redcap_repeat_instrument,finding\n1-ann,,fever\n1-bob,,high fever\n2-ann,,rash\n2-bob,,itch\n"
    table = softirr.read(io.StringIO(content), text="finding")
    given = {("1", "ann", ("fever",)), ("1", "bob", ("high fever",)), ("2", "ann", ("rash",)), ("2", "bob", ("itch",))}
    assert rows(table) == given
    assert any("Ids such as 1-ann name the item and the rater" in warning for warning in table.warnings)
    assert re.search(r"name the field of the answers with text=; it has .*finding", refusal(content))
    later = "".join(f"{n}-ann,,rash\n{n}-bob,,itch\n" for n in range(3, 40)) + "total,,\n"
    assert "the id 'total' names no rater, as '1-ann' does" in refusal(content + later, text="finding")
    apart = "record_id,redcap_repeat_instrument,finding\nA-one,,fever\nB-two,,rash\n"
    assert "has no column" in refusal(apart, text="finding")


def test_double_data_entry_of_redcap() -> None:
    content = "record_id,finding\n1--1,fever\n1--2,high fever\n2--1,rash\n2--2,rash\n"
    table = softirr.read(io.StringIO(content), text="finding")
    assert rows(table) == {
        ("1", "entry 1", ("fever",)), ("1", "entry 2", ("high fever",)), ("2", "entry 1", ("rash",)), ("2", "entry 2", ("rash",)),
    }  # fmt: skip

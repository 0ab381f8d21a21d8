"""Folders with a table for each rater, and exports of annotation tools, as people keep them."""

from __future__ import annotations

from pathlib import Path

import softirr
from tests.answers.formats.common import text_table
from tests.answers.plain_rows import refusal

ANN = [["case", "answer"], ["1", "fever"], ["2", "rash"]]
BOB = [["case", "answer"], ["1", "high fever"], ["2", "rash"]]


def folder(root: Path, **tables: list[list[str]]) -> Path:
    for name, table in tables.items():
        path = root / "raters" / f"{name.replace('__', '/')}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        text_table(table, path)
    return root / "raters"


def test_code_lists_instructions_and_lock_files_are_not_raters(tmp_path: Path) -> None:
    path = folder(tmp_path, ann=ANN, bob=BOB, codes=[["code", "definition"], ["fever", "hot"]])
    (path / "README.txt").write_text("Each file has the codes of a rater.", encoding="utf-8")
    (path / "~$ann.xlsx").write_bytes(b"\x05ann")
    tables = softirr.read_texts(path)
    assert list(tables) == ["answer"] and tables["answer"].raters == ("ann", "bob")
    assert tables["answer"].warnings == (
        "Each file has the answers of one rater: ann, bob.",
        "These files have other columns and were not read: codes.",
    )


def test_an_answer_over_several_lines_may_begin_one_with_the_name_of_its_rater(tmp_path: Path) -> None:
    """The rows of a file of one rater do not name the rater, so such a line is not a row that a quote swallowed."""
    text = "fever, says\nann, the coder"
    path = folder(tmp_path, ann=[ANN[0], ["1", text], ["2", "rash"]], bob=BOB)
    assert softirr.read(path).texts_of(0) == ("fever, says ann, the coder",)


def test_the_column_of_the_rater_is_not_among_those_of_a_file(tmp_path: Path) -> None:
    path = folder(tmp_path, ann=ANN, bob=BOB)
    assert "has no column 'nr'; it has case, answer. Name" in refusal(path, item="nr", text="answer")


def test_a_folder_for_each_rater(tmp_path: Path) -> None:
    path = folder(tmp_path, ann__codes=ANN, bob__codes=BOB)
    table = softirr.read(path)
    assert table.raters == ("ann", "bob")
    assert table.warnings == ("Each folder has the answers of one rater: ann, bob.",)
    folder(tmp_path, bob__more=BOB)
    assert "without a file for each rater" in refusal(path)


def test_rows_of_one_item_in_the_file_of_a_rater_have_a_note(tmp_path: Path) -> None:
    path = folder(tmp_path, ann=[*ANN, ["1", "chills"]], bob=BOB)
    assert any(note.startswith("1 row repeats a rater and an item.") for note in softirr.read(path).warnings)
    assert not any("repeats" in note for note in softirr.read(path, repeats="set").warnings)

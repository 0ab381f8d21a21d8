"""Files that softirr does not read: each is refused with what it is and what would be needed."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from softirr.answers.source import foreign_start
from tests.answers.formats.common import text_table
from tests.answers.plain_rows import refusal, text_file

REFUSED: dict[str, tuple[bytes, str]] = {
    "gzip": (gzip.compress(b"item,rater,text\n"), "is compressed (gzip): unpack it first"),
    "sqlite": (b"SQLite format 3\0" + b"\0" * 99, "is a database: export its table as CSV"),
    "pdf": (b"%PDF-1.7\n\0", "is a PDF: copy its table"),
    "rtf": (rb"{\rtf1\ansi fever}", "is a text document (RTF): copy its table"),
    "png": (b"\x89PNG\r\n\x1a\n\0", "is a picture"),
    "feather": (b"ARROW1\0\0", "is an Arrow or Feather file: save the table as Parquet or CSV"),
    "pickle": (b"\x80\x05\x95\0", "a pickle of Python, which can run programs"),
    "html": (b"\n<table><tr><td>fever</td></tr></table>", "is a web page: copy its table"),
    "xml": (b'<?xml version="1.0"?><a/>', "is XML: read its table with pandas.read_xml"),
    "spss": (b"$FL2@(#) SPSS DATA FILE" + b"\0" * 200, "read it with pandas.read_spss"),
    "stata": (b"<stata_dta><header>" + b"\0" * 200, "read it with pandas.read_stata"),
    "xls": (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "an old Excel workbook (XLS) or a workbook with a password"),
    "hdf5": (b"\x89HDF\r\n\x1a\n", "read it with pandas.read_hdf"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_foreign_file_is_named(name: str, tmp_path: Path) -> None:
    content, what = REFUSED[name]
    (tmp_path / "answers").write_bytes(content)
    assert what in refusal(tmp_path / "answers")


def test_start_of_a_table_is_not_foreign() -> None:
    assert foreign_start(b"item,rater,text\n") is None


def test_archive_without_tables_lists_its_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("photos/1.jpg", b"\0")
    assert "without a file for each rater (CSV, XLSX, JSONL and the like): it has 1.jpg" in refusal(tmp_path / "a.zip")


def test_folder_lists_its_files(tmp_path: Path) -> None:
    assert "it is empty" in refusal(tmp_path)
    (tmp_path / "ann.docx").write_bytes(b"")
    assert "it has ann.docx" in refusal(tmp_path)


def test_spans_of_doccano_are_refused(tmp_path: Path) -> None:
    path = text_file(tmp_path / "export.json", json.dumps({"id": 1, "text": "Case", "label": [[0, 4, "X"]]}) + "\n")
    path.write_text(path.read_text() * 2)
    assert "a label is no text: only exports of texts" in refusal(path)


def test_doccano_file_for_all_annotators_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("all.jsonl", '{"id": 1, "text": "Case", "label": ["fever"]}\n' * 2)
    assert "whose annotators share their annotations: give the folder" in refusal(tmp_path / "a.zip")


def test_folder_with_a_single_table_names_it(tmp_path: Path) -> None:
    text_table([["item", "rater", "text"], ["1", "ann", "fever"]], tmp_path / "records.csv")
    assert "has one table, records.csv, and no file for each rater: give this file itself" in refusal(tmp_path)

"""What Excel and its relatives do to a table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import softirr
from tests.answers.formats import FORMATS, options
from tests.answers.formats.common import text_table, workbook
from tests.answers.plain_rows import read, refusal, rows


class TestSpreadsheets:
    """What Excel and its relatives do to a table."""

    TABLE = (("id", "ann", "bob"), ("1", "naïve", "näive"), ("2", "cough", "dry; cough"))

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_delimiters_and_encodings(self, delimiter: str, encoding: str, tmp_path: Path) -> None:
        path = text_table([list(row) for row in self.TABLE], tmp_path / "a.csv", delimiter, encoding)
        assert rows(softirr.read(path, item="id", raters="ann,bob")) == {
            ("1", "ann", ("naïve",)),
            ("1", "bob", ("näive",)),
            ("2", "ann", ("cough",)),
            ("2", "bob", ("dry; cough",)),
        }

    def test_other_encodings_are_named(self, tmp_path: Path) -> None:
        path = text_table([list(row) for row in self.TABLE], tmp_path / "a.csv", ",", "cp1252")
        assert re.search(r"not UTF-8 text: line 2 .*encoding=", refusal(path, item="id", raters="ann,bob"))
        assert "naïve" in softirr.read(path, item="id", raters="ann,bob", encoding="cp1252").texts
        assert "no encoding 'klingon'" in refusal(path, encoding="klingon")
        unmarked = text_table([list(row) for row in self.TABLE], tmp_path / "b.csv", ",", "utf-16-le")
        assert "is not text: it contains zero bytes" in refusal(unmarked, item="id", raters="ann,bob")
        assert "naïve" in softirr.read(unmarked, item="id", raters="ann,bob", encoding="utf-16-le").texts

    def test_empty_rows_and_excels_own_first_line(self) -> None:
        text = "sep=;\r\nid;ann;bob\r\n1;x;y\r\n;;\r\n2;x;x\r\n;;\r\n\r\n"
        assert read(text, item="id", raters="ann,bob").items == ("1", "2")

    def test_numbers_and_dates_of_a_workbook_are_texts(self, tmp_path: Path) -> None:
        import datetime

        table = [
            ["id", "ann", "bob"],
            [1, datetime.datetime(2026, 1, 5), "5 January"],
            [2, 1.0, 1.5],
            [3, True, "#N/A"],
        ]
        path = workbook(table, tmp_path / "a.xlsx")
        assert rows(softirr.read(path, item="id", raters="ann,bob")) == {
            ("1", "ann", ("2026-01-05",)),
            ("1", "bob", ("5 January",)),
            ("2", "ann", ("1",)),
            ("2", "bob", ("1.5",)),
            ("3", "ann", ("TRUE",)),
        }

    @pytest.mark.parametrize("module", ["openpyxl", "pyarrow"])
    def test_a_library_that_is_missing_is_named(
        self, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = {"openpyxl": "wide XLSX", "pyarrow": "wide Parquet"}[module]
        path = FORMATS[name](tmp_path)
        monkeypatch.setitem(__import__("sys").modules, module, None)
        assert re.search(
            rf"needs {module}: pip install softirr\[tables\], or pip install {module}\.$",
            refusal(path, **options(name)),
        )

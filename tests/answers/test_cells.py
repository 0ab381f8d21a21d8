"""CSV files for people: a spreadsheet runs none of the texts, and reading the file back restores each exactly."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import softirr
from softirr.answers.sheets import cell_text, plain_cell, read_sheet
from softirr.audit import draw_sheet

START = st.sampled_from(["", "'", "''", "=", "+", "-", "@", "\t", "\r", "\n"])


@given(START, START, st.text(max_size=8))
def test_every_text_comes_back(first, second, end_of_text):
    text = first + second + end_of_text
    cell = plain_cell(text)
    assert cell_text(cell) == text
    assert cell[:1] not in tuple("=+-@\t\r\n")


@pytest.mark.parametrize("value", [1, -0.5, "fever", "'quoted'", "a=b", ""])
def test_everything_else_stays(value):
    assert plain_cell(value) == value


def test_the_sheet_of_an_audit_runs_nothing_and_is_read_back(tmp_path):
    texts = ["=cmd|' /C calc'!A0", "-pain", "'=quoted", "@home", "+fever", "plain"]
    table = softirr.AnnotationTable.from_answers(
        softirr.Answer(str(i), rater, (texts[(i + shift) % len(texts)],))
        for i in range(6)
        for shift, rater in enumerate("ab")
    )
    sheet = draw_sheet(table, softirr.measure("indel"), judgments=12).to_csv()
    cells = [cell for row in csv.reader(io.StringIO(sheet)) for cell in row]
    assert any(cell.startswith("'=cmd") for cell in cells)
    assert not any(cell[:1] in tuple("=+-@\t\r") for cell in cells if cell)
    (tmp_path / "sheet.csv").write_text(sheet)
    sheet = read_sheet(tmp_path / "sheet.csv")
    assert {text for pair in sheet.texts.values() for text in pair} <= set(texts)

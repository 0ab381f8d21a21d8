"""Tables as CSV and Markdown: the marks of Wullschleger et al. 2026, and nothing that a format takes for its own."""

from __future__ import annotations

import csv
import io

import pytest

from lab.results_table import Cell, Table

TABLE = Table(
    name="marks",
    title="MAE of κ_F & π",
    note="2 |A ∩ B| / (|A| + |B|), 95% of σ; a~b^c\\d – Δ",
    columns=("Measure", "All", "a_b", "Δ"),
    rows=(
        (
            Cell("x|y <b> & 100%", bold=True),
            Cell(0.12345, bold=True),
            Cell(0.5, star=True),
            Cell(-0.00004, sign=True),
        ),
        ("indel", None, 1_234, Cell(0.25, bold=True, star=True, sign=True)),
    ),
)


@pytest.mark.parametrize(
    ("value", "digits", "sign", "expected"),
    [(0.0005, 3, False, "0.001"), (-0.0001, 3, True, "0.000"), (0.25, 2, True, "+0.25"), (1234.5, 1, False, "1,234.5")],
)
def test_decimals(value: float, digits: int, sign: bool, expected: str) -> None:
    assert Cell(value, digits=digits, sign=sign).text() == expected


def test_csv_has_plain_values_and_marks() -> None:
    rows = list(csv.DictReader(io.StringIO(TABLE.csv())))
    assert rows[0]["Measure"] == "x|y <b> & 100%"
    assert rows[0]["Measure mark"] == "bold"
    assert float(rows[0]["All"]) == 0.12345
    assert rows[0]["a_b mark"] == "star"
    assert rows[1]["All"] == ""
    assert rows[1]["a_b"] == "1234"
    assert rows[1]["Δ mark"] == "bold star"


def test_markdown_marks_as_the_paper_does() -> None:
    lines = TABLE.markdown().splitlines()
    assert lines[:3] == [f"### {TABLE.title}", "", TABLE.note]
    assert lines[5] == "|---|---:|---:|---:|"
    assert lines[6] == "| **x\\|y <b> & 100%** | **0.123** | 0.500\\* | 0.000 |"
    assert lines[7] == "| indel | – | 1,234 | **+0.250**\\* |"

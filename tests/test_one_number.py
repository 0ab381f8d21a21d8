"""Every surface shows the same value and the same interval of a coefficient: JSON, text, Python, page, paper.

And in the backend report, panel, terminal.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.audit import apply, draw_sheet, read_sheet
from softirr.numbers import in_terminal
from softirr.numbers import interval as page_interval
from softirr.numbers import number as page_number
from softirr.report.charts import Row, forest_chart, interval_chart
from softirr.report.comparison import Comparison
from softirr.report.fields import field_row
from softirr.report.methods import methods_paragraph
from softirr.report.page.render import report_page
from softirr.report.terminal_report import field_lines, report_html, report_lines
from softirr.report.view import view
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.comparisons.groups import Difference

WORDS = ("fever", "high fever", "pyrexia", "cough", "dry cough", "rash", "itch", "itching")


def write_table(path: Path) -> Path:
    rows = [f"{i},{who},{WORDS[(i * 3 + (who == 'ben') * (i % 4)) % 8]}" for i in range(40) for who in ("ann", "ben")]
    path.write_text("\n".join(["item,rater,text", *rows]) + "\n", encoding="utf-8")
    return path


def judged_sheet(table: softirr.AnnotationTable, path: Path, n: int) -> Path:
    lines = draw_sheet(table, "indel", judgments=n, cache=None, progress=None).to_csv().splitlines()
    marks = [
        "same" if "fever" in line.replace("pyrexia", "fever") and line.count("fever") > 1 else "different"
        for line in lines[1:]
    ]
    path.write_text("\n".join([lines[0], *(line + mark for line, mark in zip(lines[1:], marks, strict=True))]) + "\n")
    return path


@pytest.fixture(params=[0, 25], ids=["no judgments", "25 judgments"])
def report(request: pytest.FixtureRequest, tmp_path: Path) -> softirr.AgreementReport:
    table = softirr.read(write_table(tmp_path / "answers.csv"))
    if not request.param:
        return softirr.agreement(table, "indel")
    return apply(table, "indel", [read_sheet(judged_sheet(table, tmp_path / "sheet.csv", request.param))])


def test_text_and_methods_have_the_coefficient(report: softirr.AgreementReport) -> None:
    """``tests/test_every_number.py`` compares the other surfaces."""
    alpha, text, methods = report.coefficients["krippendorff_alpha"], str(report), methods_paragraph(report.to_dict())
    assert f"agreement {alpha.value:z.2f} ({alpha.ci95[0]:z.2f} to {alpha.ci95[1]:z.2f}), target 0.667." in text
    assert f"Agreement was {page_number(alpha.value)} " in methods
    assert page_interval(alpha.ci95) in methods


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        ("exact", "computed exactly, from all pairs of answers."),
        ("permutation", "estimated by permutation (standard error "),
        ("sample", "estimated from a sample of pairs of answers to different items"),
    ],
)
def test_methods_describe_chance(chance: Any, words: str, tmp_path: Path) -> None:
    table = softirr.read(write_table(tmp_path / "answers.csv"))
    sheets = [judged_sheet(table, tmp_path / "sheet.csv", 10)]
    by_measure = softirr.agreement(table, "indel", chance=chance)
    audited = softirr.agreement(table, "indel", chance=chance, judgments=sheets)
    assert f"Agreement by chance was {words}" in methods_paragraph(by_measure.to_dict())
    assert "Agreement by chance was corrected by the judgments (standard error " in methods_paragraph(audited.to_dict())


def test_two_raters_have_the_coefficients_of_their_table(report: softirr.AgreementReport) -> None:
    (pair,) = report.rater_pairs
    assert pair.expected_agreement == pytest.approx(report.expected_agreement.cohen, abs=1e-12)
    estimates = [(pair.observed_agreement, pair.cohen_kappa)] + [
        (rater.agreement, rater.cohen_kappa) for rater in report.raters
    ]
    for observed_and_kappa in estimates:
        for estimate, name in zip(observed_and_kappa, ("observed_agreement", "cohen_kappa"), strict=True):
            table_coefficient = report.coefficients[name]
            assert estimate.judgments == table_coefficient.judgments and estimate.details.by_measure == pytest.approx(
                table_coefficient.details.by_measure, abs=1e-12
            )
            assert [estimate.value, *estimate.ci95] == pytest.approx(
                [table_coefficient.value, *table_coefficient.ci95], abs=1e-12
            )


def test_several_raters_share_the_evidence(tmp_path: Path) -> None:
    """The mean over pairs is the coefficient, and judgments that lower it lower each pair and rater."""
    rows = [f"{i},{who},{WORDS[(i * 3 + n * (i % 4)) % 8]}" for i in range(40) for n, who in enumerate(("a", "b", "c"))]
    path = tmp_path / "three.csv"
    path.write_text("\n".join(["item,rater,text", *rows]) + "\n", encoding="utf-8")
    table = softirr.read(path)
    sheet = read_sheet(judged_sheet(table, tmp_path / "sheet.csv", 40))
    report_before, audited_report = softirr.agreement(table, "indel"), apply(table, "indel", [sheet])
    for report in (report_before, audited_report):
        mean = sum(pair.cohen_kappa.value for pair in report.rater_pairs) / 3
        assert mean == pytest.approx(report.coefficients["cohen_kappa"].value, abs=0.01)
        observed = sum(pair.observed_agreement.value for pair in report.rater_pairs) / 3
        assert observed == pytest.approx(report.coefficients["observed_agreement"].value, abs=0.01)
    for first, second in zip(report_before.rater_pairs, audited_report.rater_pairs, strict=True):
        assert second.observed_agreement.value < first.observed_agreement.value
        assert second.cohen_kappa.judgments == audited_report.audit.judgments and second.sigma.value is None
    for pair in audited_report.rater_pairs:
        low, high = pair.cohen_kappa.ci95
        table_ci95 = audited_report.coefficients["cohen_kappa"].ci95
        assert low <= pair.cohen_kappa.value <= high and high - low > 0.8 * (table_ci95[1] - table_ci95[0])


def test_the_next_step_is_the_same_everywhere(report: softirr.AgreementReport) -> None:
    report_view = view(report.to_dict())
    assert report_view.next_step is not None
    assert f"Next: {report_view.next_step.sentence}" in str(report).splitlines()
    assert report_view.next_step.sentence in html.unescape(re.sub(r"<[^>]+>", "", report_page(report_view)))


def test_a_comparison_shows_the_coefficient_of_its_tables(tmp_path: Path) -> None:
    table = softirr.read(write_table(tmp_path / "answers.csv"))
    sheet = read_sheet(judged_sheet(table, tmp_path / "sheet.csv", 25))
    for judgments in ([], [sheet]):
        compared = softirr.compare(table, measures=["indel", "exact"], coefficient="cohen_kappa", judgments=judgments)
        for group in compared.groups:
            kappa = softirr.agreement(table, group.label, judgments=judgments).coefficients["cohen_kappa"]
            assert (group.coefficient.value, group.coefficient.ci95) == (kappa.value, kappa.ci95)


_CASES = json.loads((Path(__file__).parent / "plugin" / "node" / "numbers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("value", "expected_text"), _CASES)
def test_numbers_are_written_as_in_the_browser(value: float, expected_text: str) -> None:
    assert page_number(value) == expected_text
    assert page_number(value, sign=True).lstrip("+") == expected_text


def _readable(page: str) -> str:
    """Text of a page, and the text for readers who do not see its charts."""
    page = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.findall(r'aria-label="([^"]*)"', page)) + re.sub(r"<[^>]*>", " ", page)


@pytest.mark.parametrize(("value", "expected_text"), _CASES[:3])
def test_every_surface_writes_minus_and_zero_alike(value: float, expected_text: str, tmp_path: Path) -> None:
    """A hyphen in a terminal, from where numbers are copied, and the minus sign elsewhere."""
    table = softirr.read(write_table(tmp_path / "answers.csv"))
    report = softirr.agreement(table, "indel").to_dict()
    for coefficient in report["coefficients"].values():
        coefficient |= {"value": value, "ci95": [value, value]}
    for rater in report["raters"]:
        rater |= {"agreement": value, "agreement_ci95": [value, value]}
    report["headline"]["without"] = [{"rater": "ann", "value": value + 1}]
    what_if = {"attribute": "side", "coefficient": "krippendorff_alpha", "value": value, "instead_of": 0.5}
    report["reasons"] |= {"what_if": [what_if]}
    row = Row("bob − ann", value, (value, value), is_difference=True)
    screens = {
        "page": _readable(report_page(view(report))),
        "notebook": _readable(report_html(report)),
        "forest chart": _readable(forest_chart([row], "kappa").svg()),
        "interval chart": _readable(interval_chart(value, (value, value), "kappa").svg()),
        "methods": methods_paragraph(report),
    }
    difference = Difference("ann", "bob", Coefficient(value, 0.1, (value, value)), None, None, 9)
    comparison = Comparison("cohen_kappa", (), (difference,), "indel")
    terminals = {
        "report": "\n".join(report_lines(report)),
        "table of fields": "\n".join(
            field_lines(report | {"fields": [field_row(name, report) for name in ("a", "b")]})
        ),
        "comparison": str(comparison),
    }
    for name, text in screens.items():
        assert re.search(rf"(?<![\d−]){expected_text}", text), name
        assert not re.search(r"(?<![\w-])-\d\.\d|[-−+]0\.0+(?!\d)", text), name
    for name, text in terminals.items():
        assert re.search(rf"(?<![\d-]){in_terminal(expected_text)}", text), name
        assert not re.search(r"−\d|[-+]0\.0+(?!\d)", text), name

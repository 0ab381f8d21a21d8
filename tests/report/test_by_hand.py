"""Input from a notebook: a plain string, a missing value, a path in place of a table."""

import pytest

import softirr
from softirr.report.terminal_report import report_lines


def test_a_string_is_one_text():
    assert softirr.Answer("1", "a", "fever") == softirr.Answer("1", "a", ("fever",))
    assert softirr.Answer("1", "a", ["x", "y"]).texts == ("x", "y")


@pytest.mark.parametrize("texts", [float("nan"), None, 5, ("fever", float("nan")), ("fever", None)])
def test_values_other_than_texts_are_refused(texts):
    with pytest.raises(softirr.InputError, match="which is not a text"):
        softirr.Answer("1", "a", texts)


def test_a_report_shows_itself_shortly():
    answers = [softirr.Answer(str(i), rater, f"text {i}") for i in range(500) for rater in "ab"]
    report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "exact")
    assert repr(report) == "<AgreementReport: 500 items, 2 raters, measure exact, Krippendorff's alpha 1.00>"


def test_no_number_of_the_terminal_is_minus_zero():
    answers = [
        softirr.Answer(str(i), rater, "xy"[(i + (rater == "b") * (i < 2)) % 2]) for i in range(4) for rater in "ab"
    ]
    report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "exact").to_dict()
    report["coefficients"]["cohen_kappa"] |= {"value": -0.0001, "ci95": [-0.0002, 0.1]}
    (line,) = [line for line in report_lines(report) if line.startswith("Cohen's kappa")]
    assert line.split()[2:] == ["0.00", "0.00", "to", "0.10"]

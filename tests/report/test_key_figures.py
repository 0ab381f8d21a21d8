"""The headline: one coefficient by one rule, and its value without each rater."""

import pytest

import softirr
from softirr.answers.table import AnnotationTable, Answer
from softirr.report.key_figures import headline

TEXTS = {
    "1": {"a": "fever", "b": "fever", "c": "rash"},
    "2": {"a": "cough", "b": "cough", "c": "cough"},
    "3": {"a": "nausea", "b": "nausea"},
    "4": {"a": "rash", "b": "rash", "c": "fever"},
    "5": {"a": "pain", "c": "pain"},
}


def table(left_out: str = "") -> AnnotationTable:
    rows = [Answer(i, r, (text,)) for i, texts in TEXTS.items() for r, text in texts.items() if r != left_out]
    return AnnotationTable.from_answers(rows, items=TEXTS)


def test_alpha_is_the_headline() -> None:
    report = softirr.agreement(table(), "exact").to_dict()
    name, coefficient = headline(report)  # type: ignore[misc]
    assert name == report["headline"]["coefficient"] == "krippendorff_alpha"
    assert coefficient["value"] == report["coefficients"]["krippendorff_alpha"]["value"]


@pytest.mark.parametrize("measure", ["exact", "indel"])
def test_without_a_rater_is_alpha_of_the_table_without_that_rater(measure: str) -> None:
    """Item 5 has nobody left but one rater without a or c, and does not count then; chance is that of the rest, too."""
    without = softirr.agreement(table(), measure).to_dict()["headline"]["without"]
    assert {entry["rater"] for entry in without} == set("abc")
    for entry in without:
        expected = softirr.agreement(table(entry["rater"]), measure).coefficients["krippendorff_alpha"].value
        assert entry["value"] == pytest.approx(expected, abs=1e-12), entry["rater"]
    assert without == sorted(without, key=lambda entry: -entry["value"])


def test_a_rater_without_whom_nothing_can_be_compared_is_not_in_the_list() -> None:
    """Only one item has two answers without b: alpha is not defined."""
    rows = [Answer("1", r, (t,)) for r, t in zip("abc", ("x", "x", "y"), strict=True)]
    rows += [Answer(i, r, (t,)) for i, r, t in (("2", "a", "x"), ("2", "b", "z"), ("3", "b", "y"), ("3", "c", "y"))]
    without = softirr.agreement(AnnotationTable.from_answers(rows), "exact").to_dict()["headline"]["without"]
    assert {entry["rater"] for entry in without} == {"a", "c"}


def test_two_raters_have_nobody_to_leave_out() -> None:
    assert softirr.agreement(table("c"), "exact").to_dict()["headline"]["without"] == []


def test_nothing_to_compare_has_no_headline() -> None:
    single_answer = AnnotationTable.from_answers([Answer("1", "a", ("x",))])
    assert softirr.agreement(single_answer, "exact").to_dict()["headline"] is None

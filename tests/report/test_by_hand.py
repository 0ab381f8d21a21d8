"""Input from a notebook: a plain string, a missing value, a path in place of a table."""

import pytest

import softirr


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

"""Codes of answers: coverage, agreement on concepts, codes of matches and suggestions, CSV."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import softirr
from softirr.meaning.measures import measure
from softirr.meaning.measures.terminology import with_terminology
from softirr.meaning.terminology.coder import Coder
from softirr.meaning.terminology.index import TerminologyIndex, build_index
from softirr.report import code_agreement as module
from softirr.report.code_agreement import code_agreement
from softirr.report.codes import HEADER, codes_csv
from tests.meaning.terminology.test_index import terminology

ROWS = [
    *(("1", "ann", "heart attack"), ("1", "bob", "myocardial infarction")),
    *(("2", "ann", "cough"), ("2", "bob", "dry cough")),
    *(("3", "ann", "fever"), ("3", "bob", "cough")),
    *(("4", "ann", "malaise"), ("4", "bob", "fever")),
    *(("5", "ann", "dry cough"), ("5", "bob", "dry coughs")),
]


@pytest.fixture(scope="module")
def index() -> TerminologyIndex:
    return build_index(
        terminology(
            ("Finding",),
            ("Myocardial infarction", "heart attack"),
            ("Cough",),
            ("Dry cough",),
            ("Fever",),
            parents={1: (0,), 2: (0,), 3: (2,), 4: (0,)},
        )
    )


def table(*rows: tuple[str, str, object]) -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)  # type: ignore[arg-type]


def test_agreement_on_concepts_is_that_of_the_coded_matrix(index: TerminologyIndex) -> None:
    report = code_agreement(table(*ROWS), Coder([index]))
    # item 4 has an answer without a code, so it is compared with nothing
    coded = [[1, 1], [2, 3], [4, 2], [-1, 4], [3, 3]]
    expected = softirr.matrix_agreement(coded)
    for name, value in report.coefficients.items():
        assert value == expected.coefficients[name], name
    assert (report.texts, report.known_texts, report.given, report.known_given, report.answers) == (7, 6, 10, 9, 9)
    assert report.to_dict()["coverage_of_answers"] == 0.9


def test_closeness_is_the_share_of_common_ancestors(index: TerminologyIndex) -> None:
    report = code_agreement(table(*ROWS), Coder([index]))
    # cough {cough, finding}, dry cough {dry cough, cough, finding}, fever {fever, finding}
    by_item = [1, 2 / 3, 1 / 3, 1]
    assert report.by_closeness["observed_agreement"].value == pytest.approx(np.mean(by_item))
    assert report.by_closeness["cohen_kappa"].value > report.coefficients["cohen_kappa"].value  # type: ignore[operator]


def test_sets_of_concepts_agree_by_the_optimal_assignment(index: TerminologyIndex) -> None:
    rows = [
        *(("1", "a", ("cough", "fever")), ("1", "b", ("dry cough", "fever", "heart attack"))),
        *(("2", "a", ()), ("2", "b", ())),
        *(("3", "a", ("cough",)), ("3", "b", ())),
    ]
    report = code_agreement(table(*rows), Coder([index]))
    assert report.coefficients["observed_agreement"].value == pytest.approx((2 / 5 + 1 + 0) / 3)
    assert report.by_closeness["observed_agreement"].value == pytest.approx((2 * (2 / 3 + 1) / 5 + 1 + 0) / 3)


def test_too_many_categories_leave_agreement_out(index: TerminologyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CATEGORIES", 2)
    report = code_agreement(table(*ROWS), Coder([index]))
    assert report.coefficients == {} and report.known_texts == 6


def test_an_ambiguous_text_stands_for_the_concept_that_is_most_frequent() -> None:
    coder = Coder([build_index(terminology(("cold",), ("cold", "low temperature")))])
    rows = [("1", "a", "cold"), ("1", "b", "low temperature"), ("2", "a", "low temperature"), ("2", "b", "cold")]
    assert code_agreement(table(*rows), coder).coefficients["observed_agreement"].value == 1


def test_matches_and_suggestions_carry_codes(index: TerminologyIndex) -> None:
    rows = [("1", "a", "heart attack"), ("1", "b", "heart attacks"), ("1", "c", "myocardial infarctation"), *ROWS[2:]]
    combined = with_terminology(measure("indel"), [index])
    item = softirr.agreement(table(*rows), combined).to_dict()["items"][0]
    (match,) = item["matches"]
    (code,) = match["codes"]
    assert (code["id"], code["name"]) == ("C1", "Myocardial infarction")
    assert code["score"] == pytest.approx((1.0 + 0.99) / 3), "two of three texts are known"
    assert match["sources"] == ["names", "terminology"]
    assert item["suggestion_codes"] == [{"text": item["suggestion"][0], "codes": match["codes"]}]


def test_without_terminologies_the_report_is_what_it_was() -> None:
    report = softirr.agreement(table(*ROWS), "indel").to_dict()
    assert "codes" not in report
    assert not {"codes", "sources"} & set(report["items"][0]["matches"][0])
    assert "suggestion_codes" not in report["items"][0]
    assert not report["provenance"]["terminologies"]


def test_the_text_report_says_what_is_known(index: TerminologyIndex) -> None:
    shown = str(softirr.agreement(table(*ROWS), with_terminology(measure("indel"), [index])))
    assert "Known to test: 6 of 7 texts." in shown
    assert "by closeness" in shown


def test_csv_has_a_row_for_each_concept(index: TerminologyIndex) -> None:
    given = table(("1", "ann", ("dry coughs", "=1+1")), ("2", "bob", "severe"), ("3", "bob", ()))
    rows = list(csv.reader(io.StringIO(codes_csv(given, Coder([index])))))
    assert rows == [
        list(HEADER),
        ["1", "ann", "'=1+1", "", "", "", "not known"],
        ["1", "ann", "dry coughs", "C3", "Dry cough", "0.99", "variant"],
        ["2", "bob", "severe", "", "", "", "not known"],
    ]

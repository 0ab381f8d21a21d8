"""Reports count the pairs that the measure scored, by use."""

from __future__ import annotations

import softirr

ROWS = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash"), ("3", "ann", "x")]


def test_report_counts_pairs_by_use() -> None:
    table = softirr.AnnotationTable.from_answers([softirr.Answer(*row) for row in ROWS])
    report = softirr.agreement(table, "indel")
    assert report.pairs_by_use["same items"] == 2
    assert report.pairs_by_use["chance"] >= 6, "four texts of different items have six pairs at least"
    assert report.to_dict()["provenance"]["pairs_by_use"] == report.pairs_by_use


def test_counts_of_two_reports_are_separate() -> None:
    table = softirr.AnnotationTable.from_answers([softirr.Answer(*row) for row in ROWS])
    first, second = (softirr.agreement(table, "indel").pairs_by_use for _ in range(2))
    assert first == second

"""Reports count the pairs that a model scores, by use."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

import softirr
from softirr.meaning.measures.cache import PairCache
from tests.meaning.measures.function_measures import FunctionMeasure

ROWS = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash"), ("3", "ann", "x")]
OPTIONS = softirr.AgreementOptions(what_if=True, meanings=True)


def counted(measure: FunctionMeasure, cache: PairCache | None = None) -> dict[str, int]:
    report = softirr.agreement(ROWS, measure, cache=cache, progress=None, options=OPTIONS)
    assert report.to_dict()["provenance"]["pairs_by_use"] == report.pairs_by_use
    return report.pairs_by_use


def test_each_pair_counts_once_under_its_first_use() -> None:
    measure = FunctionMeasure(lambda a, b: 0.5)
    counts = counted(measure)
    assert counts["same items"] == 2
    assert sum(counts.values()) == len({frozenset(pair) for pair in measure.asked}) == len(measure.asked)


def test_report_from_cache_has_the_same_counts() -> None:
    cache, measure = PairCache(), FunctionMeasure(lambda a, b: 0.5)
    first = counted(measure, cache)
    n_asked = len(measure.asked)
    assert counted(measure, cache) == first and len(measure.asked) == n_asked


def similar(a: str, b: str) -> float:
    return fuzz.ratio(a, b) / 100


MANY = [(str(n), rater, f"finding {n * k} of {n + k}") for n in range(80) for rater, k in (("ann", 3), ("bob", 5))]


def test_pairs_for_judges_are_part_of_the_sample_by_chance() -> None:
    report = softirr.agreement(MANY, FunctionMeasure(similar), progress=None, options=OPTIONS)
    assert report.expected_agreement.method == "sample"
    assert "evidence" not in report.pairs_by_use
    assert report.pairs_by_use["chance"] < 1_500


def test_random_pairs_do_not_depend_on_the_order_of_rows() -> None:
    first, second = (
        softirr.agreement(rows, FunctionMeasure(similar), progress=None, options=OPTIONS) for rows in (MANY, MANY[::-1])
    )
    assert first.pairs_by_use == second.pairs_by_use
    for name, coefficient in first.coefficients.items():
        assert second.coefficients[name].value == pytest.approx(coefficient.value, abs=1e-9)


def test_measures_without_model_count_nothing() -> None:
    assert softirr.agreement(ROWS, "indel").pairs_by_use == {}

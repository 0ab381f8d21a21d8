"""A report asks a model about each pair of texts once, and about no more pairs than it needs."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

import softirr
from softirr.meaning.measures.cache import MemoryCache
from tests.meaning.measures.function_measures import FunctionMeasure

ROWS = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash"), ("3", "ann", "x")]
OPTIONS = softirr.AgreementOptions(what_if=True, meanings=True)


def test_each_pair_is_asked_about_once() -> None:
    cache, measure = MemoryCache(), FunctionMeasure(lambda a, b: 0.5)
    first = softirr.agreement(ROWS, measure, cache=cache, progress=None, options=OPTIONS)
    n_asked = len(measure.asked)
    assert len({frozenset(pair) for pair in measure.asked}) == n_asked > 2
    second = softirr.agreement(ROWS, measure, cache=cache, progress=None, options=OPTIONS)
    assert second.coefficients == first.coefficients and len(measure.asked) == n_asked


def similar(a: str, b: str) -> float:
    return fuzz.ratio(a, b) / 100


MANY = [(str(n), rater, f"finding {n * k} of {n + k}") for n in range(80) for rater, k in (("ann", 3), ("bob", 5))]


def test_pairs_by_chance_are_a_sample_that_does_not_depend_on_the_order_of_rows() -> None:
    measures = FunctionMeasure(similar), FunctionMeasure(similar)
    first, second = (
        softirr.agreement(rows, measure, progress=None, options=OPTIONS)
        for rows, measure in zip((MANY, MANY[::-1]), measures, strict=True)
    )
    assert first.expected_agreement.method == "sample" and first.expected_agreement.pairs_scored < 1_500
    pairs_asked, pairs_in_reverse = ({frozenset(pair) for pair in measure.asked} for measure in measures)
    assert pairs_asked == pairs_in_reverse
    for name, coefficient in first.coefficients.items():
        assert second.coefficients[name].value == pytest.approx(coefficient.value, abs=1e-9)

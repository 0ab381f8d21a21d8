"""One coefficient alone, from the pairs that it needs."""

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import softirr
from softirr.answers.table import AnnotationTable, Answer
from softirr.meaning.measures import measure
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.policy.measure import under_policy
from softirr.report.inputs import AgreementOptions
from softirr.report.scoring import coefficient_estimate, scored
from softirr.report.what_if import chance_shift
from softirr.statistics.chance import method
from softirr.statistics.matching.answer_scorer import AnswerScorer
from tests.meaning.measures.function_measures import FunctionMeasure

TEXTS = ["fever", "headache", "severe headache", "rash", "cough", "mild cough", "fever", "itch", "rash", "rash"]


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 3.0, 1.0])])
@pytest.mark.parametrize("key", ["krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "observed_agreement"])
def test_a_coefficient_alone_is_the_one_of_the_report_from_fewer_pairs(key: str, weights: Any) -> None:
    table = AnnotationTable.from_answers(Answer(str(n // 2), "ab"[n % 2], text) for n, text in enumerate(TEXTS))
    table = replace(table, weights=weights)
    options = AgreementOptions(chance="permutation", permutations=1, seed=3)
    indel = measure("indel")
    full_measure, partial_measure = (FunctionMeasure(lambda a, b: indel.score([(a, b)])[0]) for _ in range(2))
    report_value = (
        scored(AnswerScorer(table, PairScorer(full_measure, table.texts)), options).by_measure.estimates[key].value
    )
    estimate = coefficient_estimate(AnswerScorer(table, PairScorer(partial_measure, table.texts)), key, options)
    assert estimate is not None and estimate.value == report_value is not None
    assert len(partial_measure.asked) < len(full_measure.asked) or key == "observed_agreement"


def test_effect_of_ignoring_samples_pairs_for_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    heads, severities = ["fever", "headache", "rash", "cough", "itch", "knee pain"], ["", "mild ", "severe "]
    table = AnnotationTable.from_answers(
        Answer(str(item), rater, severities[rng.integers(3)] + heads[item % 6]) for item in range(90) for rater in "ab"
    )
    calls: list[str] = []
    exact_chance = method.exact
    monkeypatch.setattr(
        method, "exact", lambda *arguments, **options: (calls.append("exact"), exact_chance(*arguments, **options))[1]
    )
    values = []
    for exact_limit, expected in ((1_000, 3), (5, 1)):  # the report, and what-if with and without severity
        monkeypatch.setattr(importlib.import_module("softirr.report.what_if"), "_EXACT_WHAT_IF", exact_limit)
        calls.clear()
        report = softirr.agreement(table, "exact", options=softirr.AgreementOptions(what_if=True))
        assert report.reasons is not None
        values.append({entry.attribute: entry.value for entry in report.reasons.what_if})
        assert len(calls) == expected
    assert values[0].keys() == values[1].keys() == {"severity"}
    assert values[1]["severity"] == pytest.approx(values[0]["severity"], abs=0.01)


@pytest.mark.parametrize(("share", "maximum_pairs"), [(0.05, 20), (0.5, 320)])
def test_effect_of_an_attribute_on_chance_is_estimated_from_few_pairs(share: float, maximum_pairs: int) -> None:
    rng = np.random.default_rng(1)
    heads = [
        f"{body_part} {finding}"
        for body_part in ("knee", "hip", "lung", "skin")
        for finding in ("pain", "rash", "cyst")
    ]
    table = AnnotationTable.from_answers(
        Answer(str(item), rater, ("severe " if rng.random() < share else "") + heads[item % 12])
        for item in range(400)
        for rater in "ab"
    )
    exact, without = (FunctionMeasure(lambda a, b: float(a == b)) for _ in range(2))
    without_severity = under_policy(without, softirr.Policy(ignore={"severity"}))

    def scorer_of(scored_measure: Any) -> AnswerScorer:
        return AnswerScorer(table, PairScorer(scored_measure, table.texts))

    shift = chance_shift(scorer_of(exact), scorer_of(without_severity), "severity", slope=0.5, seed=0)
    with_it, without_it = (
        softirr.agreement(table, "exact", policy=policy).expected_agreement.fleiss
        for policy in (softirr.Policy(), softirr.Policy(ignore={"severity"}))
    )
    assert with_it is not None and without_it is not None
    assert shift == pytest.approx(without_it - with_it, abs=3 * 0.005 / 0.5)
    assert 0 < len(exact.asked) <= maximum_pairs


def what_if_of(answers: list[tuple[str, str]]) -> Any:
    """The only what-if of a report on two answers to each item."""
    table = AnnotationTable.from_answers(
        Answer(str(item), rater, text)
        for item, texts in enumerate(answers)
        for rater, text in zip("ab", texts, strict=True)
    )
    report = softirr.agreement(table, "exact", options=softirr.AgreementOptions(what_if=True))
    assert report.reasons is not None
    (entry,) = report.reasons.what_if
    return entry


def test_difference_without_an_attribute_has_an_interval_of_item_draws() -> None:
    """Only items that differ in the attribute move the difference: one of many items is not certain, many are."""
    heads = ["fever", "headache", "rash", "cough", "itch"]
    same = [(heads[n % 5], heads[n % 5]) for n in range(30)]
    differing = [("mild " + heads[n % 5], "severe " + heads[n % 5]) for n in range(20)]
    unrelated = [(heads[n % 5], heads[(n + 1) % 5]) for n in range(10)]
    rare = what_if_of([*same, *differing[:1], *unrelated])
    frequent = what_if_of([*same, *differing, *unrelated])
    for entry in (rare, frequent):
        low, high = entry.difference_ci95
        assert low <= entry.value - entry.instead_of <= high
    assert rare.difference_ci95[0] < 0.02 and frequent.difference_ci95[0] > 0.1


def test_difference_that_is_cut_at_one_has_its_interval_cut_too() -> None:
    """All answers agree without the attribute: the coefficient is 1, and no higher with any draw of the items."""
    entry = what_if_of([("mild fever", "fever"), ("rash", "rash"), ("cough", "cough"), ("itch", "severe itch")] * 5)
    assert entry.value == 1.0
    low, high = entry.difference_ci95
    assert low <= entry.value - entry.instead_of <= high + 1e-12 <= 1 - entry.instead_of + 2e-12

"""Very long texts and very many raters: bounded work, and a note about omitted parts. Few items: possible intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.answers.frames_and_lists import lists_table
from softirr.meaning.measures import lexical
from softirr.report import assembly
from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.intervals import Interval
from softirr.statistics.coefficients.registry import definition
from softirr.statistics.matching import consensus


def _table(*rows: tuple[str, str, str]) -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(softirr.Answer(item, rater, (text,)) for item, rater, text in rows)


@pytest.mark.parametrize("name", ["levenshtein", "indel", "lcs"])
def test_edit_distance_truncates_long_texts_and_counts_them(name, monkeypatch):
    monkeypatch.setattr(lexical, "LONGEST", 10)
    table = _table(("1", "a", "0123456789 and more"), ("1", "b", "0123456789"), ("2", "a", "x"), ("2", "b", "y"))
    report = softirr.agreement(table, name)
    assert report.items[0].agreement == 1
    assert report.provenance.truncated_texts == 1


@pytest.mark.parametrize("name", ["levenshtein", "indel", "lcs"])
def test_work_is_done_in_parts_with_the_same_result(name, monkeypatch):
    texts = [f"text {i} {'x' * (i % 7)}" for i in range(30)]
    indices = np.arange(len(texts))
    in_one_block = lexical.make(name).block(texts, indices, indices)
    pairs = lexical.make(name).score([(a, b) for a in texts for b in texts[:3]])
    calls = []
    monkeypatch.setattr(lexical, "_CELLS_AT_ONCE", 2_000)
    cdist = lexical.process.cdist
    monkeypatch.setattr(
        lexical.process,
        "cdist",
        lambda rows, *arguments, **options: calls.append(rows) or cdist(rows, *arguments, **options),
    )
    np.testing.assert_array_equal(lexical.make(name).block(texts, indices, indices), in_one_block)
    assert len(calls) > 5
    np.testing.assert_array_equal(lexical.make(name).score([(a, b) for a in texts for b in texts[:3]]), pairs)


def test_very_many_raters_count_but_are_not_listed_pair_by_pair(monkeypatch):
    rng = np.random.default_rng(0)
    rows = [(str(i), f"r{r}", f"text {rng.integers(4)}") for i in range(3) for r in range(8)]
    report_before = softirr.agreement(_table(*rows), "indel")
    monkeypatch.setattr(registry, "MOST_RATER_PAIRS", 10)
    monkeypatch.setattr(assembly, "MOST_RATER_PAIRS", 10)
    monkeypatch.setattr(assembly, "MOST_PAIRS_OF_ITEM", 10)
    monkeypatch.setattr(assembly, "MANY", 5)
    monkeypatch.setattr(consensus, "MANY", 5)
    report_after = softirr.agreement(_table(*rows), "indel")
    assert report_after.coefficients == report_before.coefficients
    assert report_after.raters == report_before.raters
    assert [item.agreement for item in report_after.items] == [item.agreement for item in report_before.items]
    assert (report_after.rater_pairs, [item.pairs for item in report_after.items]) == ((), [(), (), ()])
    warnings = " ".join(report_after.warnings)
    assert "28 pairs of raters" in warnings
    assert "more than 10 pairs of answers: 3" in warnings
    assert "more than 5 texts: 3" in warnings


ANSWERS = st.lists(st.sampled_from(["fever", "fevers", "rash", "", None]), min_size=6, max_size=6)


def has_possible_interval(coefficient: Interval | None, lowest: float, highest: float = 1.0) -> bool:
    if coefficient is None or coefficient.value is None:
        return True
    low, high = coefficient.ci95 or (coefficient.value, coefficient.value)
    return min(lowest, coefficient.value) <= low <= coefficient.value <= high <= highest


@settings(max_examples=25, deadline=None, derandomize=True)
@given(answers=st.tuples(ANSWERS, ANSWERS, ANSWERS), chance=st.sampled_from(["exact", "sample", "permutation"]))
def test_intervals_contain_the_value_and_are_possible(answers: Any, chance: Any) -> None:
    table = lists_table(dict(zip("abc", answers, strict=True)))
    options = softirr.AgreementOptions(chance=chance, reasons=False)
    report = softirr.agreement(table, "indel", options=options)
    for name, coefficient in report.coefficients.items():
        floor = definition(name).floor
        assert has_possible_interval(coefficient, floor), name
        assert coefficient.details is None or has_possible_interval(coefficient.details.items_only, floor), name
    for rater in report.raters:
        assert has_possible_interval(rater.agreement, 0) and has_possible_interval(rater.cohen_kappa, -1)
        assert has_possible_interval(rater.others, 0) and has_possible_interval(rater.difference, -1)
    for name in ("observed_agreement", "cohen_kappa"):
        comparison = softirr.compare([table, table], "indel", options, coefficient=name, items="other")
        limit = 1 - definition(name).floor
        assert all(has_possible_interval(row.difference, -limit, limit) for row in comparison.differences), name

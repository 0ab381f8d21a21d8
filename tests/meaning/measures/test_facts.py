"""Facts that models overlook are read before any of them: they decide pairs, and rewrite values to one form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softirr
from softirr.meaning.measures import measure
from softirr.meaning.measures.fact_comparisons import Facts, any_differ, comparisons
from softirr.meaning.measures.facts import VERSION, facts_of
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy
from softirr.text import normalize
from tests.meaning.measures.contract import check
from tests.meaning.measures.function_measures import FunctionMeasure

PAIRS = (Path(__file__).parent / "fact_pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]
"""Two texts, the expected result and the reason. The result is the deciding facts, `equal` or `open`."""


def deciding(first_text: str, second_text: str) -> set[str]:
    compared = comparisons([facts_of(normalize(text)) for text in (first_text, second_text)])
    return {entry.fact for entry in compared if any_differ([entry], np.array([0]), np.array([1])).any()}


@pytest.mark.parametrize("line", PAIRS)
def test_facts_of_two_texts_decide_as_expected(line: str) -> None:
    first_text, second_text, expected, reason = line.split("\t")
    facts = set() if expected in ("equal", "open") else set(expected.split())
    assert facts <= deciding(first_text, second_text) == deciding(second_text, first_text), reason
    assert bool(facts) == bool(deciding(first_text, second_text)), reason
    assert not deciding(first_text, first_text)
    if expected == "equal":
        assert normalize(facts_of(first_text).rewritten_text) == normalize(facts_of(second_text).rewritten_text), reason


@pytest.mark.parametrize("text", ["won 5 games", "rub 2 drops", "pain 3 out 10", "set 2020 goals"])
def test_english_words_are_not_currencies_or_months(text: str) -> None:
    assert facts_of(text).rewritten_text == text
    assert not facts_of(text).unread


@pytest.mark.parametrize("through", ["score", "scorer", "decisions"])
def test_a_decided_pair_is_0_and_the_model_is_not_asked(through: str) -> None:
    raw = FunctionMeasure(lambda a, b: 0.9)
    with_facts_read: Any = raw.with_stage(Facts())
    pairs = [("5 mg", "7 mg"), ("5 mg aspirin", "0.005 g ASA")]
    if through == "decisions":
        with_facts_read = with_facts_read.with_stage(Decisions({}))
    if through == "scorer":
        scorer = PairScorer(with_facts_read, [text for pair in pairs for text in pair])
        p = scorer.score(np.array([0, 2]), np.array([1, 3]))
    else:
        p = with_facts_read.score(pairs)
    assert p.tolist() == [0.0, 0.9]
    assert [tuple(sorted(pair)) for pair in raw.asked if pair[0] != pair[1]] == [("5 mg ASA", "5 mg aspirin")]


def test_every_measure_with_a_model_reads_them_and_letters_do_not() -> None:
    nli = measure("nli")
    assert nli.name == "nli" and nli.provenance().facts == VERSION
    bare = measure("nli", facts=False)
    assert bare.provenance().facts is None
    assert measure("indel").provenance().facts is None
    assert under_policy(nli, Policy(ignore=frozenset({"severity"}))).provenance().facts == VERSION
    p = nli.score([("38.5 °C", "38.5 °F"), ("no fever but cough", "no cough but fever"), ("5 mg", "0.005 g")])
    assert p.tolist() == [0.0, 0.0, 1.0]
    assert bare.score([("no fever but cough", "no cough but fever")])[0] > 0.9


def test_the_contract_is_kept() -> None:
    with_facts_read: Any = measure("jaccard").with_stage(Facts())
    p = check(with_facts_read, ["5 mg aspirin", "0.005 g aspirin", "7 mg aspirin", "no fever", "fever", "rash"])
    assert p[0, 1] == 1.0 and p[0, 2] == p[3, 4] == pytest.approx(with_facts_read.unrelated)


def test_ignored_attributes_are_not_facts() -> None:
    nli = softirr.measure("nli", policy={"ignore": {"time", "certainty"}})
    assert nli.score([("fever for 3 days", "fever for 5 days"), ("fever?", "fever")]).tolist() == [1.0, 1.0]
    scorer = PairScorer(nli, ["fever for 3 days", "fever for 5 days"])
    assert scorer.score(np.array([0]), np.array([1])).tolist() == [1.0]


def test_reports_name_the_version_of_the_facts() -> None:
    answers = [softirr.Answer(str(k), who, text) for k in range(3) for who, text in (("ann", "5 mg"), ("ben", "7 mg"))]
    report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "nli")
    assert report.to_dict()["provenance"]["facts"] == VERSION

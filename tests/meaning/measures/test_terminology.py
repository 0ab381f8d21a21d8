"""Measures with terminologies: a terminology decides the pairs that it knows, and the measure the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softirr
from softirr.errors import InputError
from softirr.meaning.measures import measure
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.known_pairs import (
    MOST_NAMES,
    Decisions,
    Terminologies,
    sources_of,
    with_terminology,
)
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy
from softirr.meaning.terminology.concepts import Terminology
from tests.meaning.measures.contract import check
from tests.meaning.measures.function_measures import DirectedFunction, FunctionMeasure
from tests.meaning.terminology.terms import KNEE, terminology

HEART = terminology(
    ("Heart disease", "cardiac disease"),
    ("Myocardial infarction", "heart attack"),
    ("Cough",),
    ("MI", "mitral insufficiency"),
    ("MI", "myocardial ischemia"),
    parents={1: (0,)},
)
OTHER = terminology(("tussis", "coughing fit"), ("pruritus", "itch"))
TEXTS = (
    "heart attack", "Myocardial infarction", "cardiac disease", "cough", "MI", "mitral insufficiency", "severe cough",
    "left cough", "right cough", "chest pressure", "heart attacc", "tussis", "itching", "no cough", "coughing fit",
)  # fmt: skip


def slow_measure() -> DirectedFunction:
    """By letters, of lists of pairs only."""
    return DirectedFunction(lambda a, b: len(set(a) & set(b)) / len(set(b)))


def indel(**options: object) -> Measure:
    return with_terminology(measure("indel"), [HEART, OTHER], **options)  # type: ignore[arg-type]


def test_more_terminologies_are_added_to_those_of_a_measure() -> None:
    terms = with_terminology(with_terminology(measure("exact"), [HEART]), [OTHER])
    assert terms.score([("heart attack", "Myocardial infarction"), ("tussis", "coughing fit")]).tolist() == [1, 1]


def test_terminology_decides_texts_that_it_knows() -> None:
    terms = indel()
    pairs = [("heart attack", "Myocardial infarction"), ("heart attack", "cardiac disease"), ("cough", "heart attack")]
    assert terms.both(pairs).tolist() == [[1, 1], [1, 0], [0, 0]]
    assert terms.score(pairs).tolist() == [1, 0, 0]
    assert set(sources_of(terms, pairs)) == {"terminology"}


def directions(first: str, second: str, *terminologies: Terminology) -> list[float]:
    """Both directions by the terminologies; a half if they leave the pair to the measure."""
    return with_terminology(FunctionMeasure(lambda *_: 0.5), terminologies).both([(first, second)])[0].tolist()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("knee pain", "gonalgia", [1, 1]),
        ("knee pain", "pain", [1, 0]),
        ("medial knee pain", "pain", [1, 0]),
        ("pain", "medial knee pain", [0, 1]),
        ("knee pain", "hip pain", [0, 0]),
        ("cold", "low temperature", [1, 1]),
        ("common cold", "low temperature", [0, 0]),
        ("knee pain", "fracture", [0.5, 0.5]),
    ],
)
def test_concepts_give_both_directions(first: str, second: str, expected: list[float]) -> None:
    assert directions(first, second, KNEE) == expected
    assert directions(second, first, KNEE) == expected[::-1]


def test_ambiguous_name_above_and_below_is_left_to_the_measure() -> None:
    ambiguous = terminology(("a", "x"), ("b",), ("c", "x"), parents={0: (1,), 1: (2,)})
    assert directions("x", "b", ambiguous) == directions("b", "x", ambiguous) == [0.5, 0.5]


def test_concepts_of_different_terminologies_are_not_compared() -> None:
    terminologies = terminology(("fever",), ("chill",)), terminology(("pyrexia",), ("cough",), ("Fever", "heat"))
    assert directions("chill", "pyrexia", *terminologies) == [0.5, 0.5]
    assert directions("pyrexia", "cough", *terminologies) == [0, 0]
    assert directions("fever", "heat", *terminologies) == [1, 1]


def test_one_known_text_is_compared_by_all_its_names() -> None:
    slow = slow_measure()
    terms = with_terminology(slow, [HEART])
    pairs = [("heart attack", "infarction of the myocard")]
    assert sources_of(terms, pairs) == ("names",)
    score, named_score = slow.score(pairs)[0], slow.score([("Myocardial infarction", pairs[0][1])])[0]
    slow.asked.clear()
    assert terms.score(pairs)[0] == max(score, named_score) > score
    assert {frozenset(pair) for pair in slow.asked} == {
        frozenset(pairs[0]),
        frozenset({"Myocardial infarction", pairs[0][1]}),
    }


def test_names_are_bounded() -> None:
    long_terminology = terminology(tuple(f"name number {i}" for i in range(50)))
    slow = slow_measure()
    with_terminology(slow, [long_terminology]).score([("name number 3", "x")])
    assert MOST_NAMES <= len(slow.asked) <= MOST_NAMES + 1


def test_two_unknown_texts_are_the_measure_s() -> None:
    terms, raw = indel(), measure("indel")
    pairs = [("chest pressure", "chest pressures")]
    assert terms.score(pairs) == raw.score(pairs)
    assert sources_of(terms, pairs) == ("measure",)


def test_the_contract_is_kept() -> None:
    check(indel(), TEXTS, atol=1e-12)


def test_the_raw_measure_s_scores_are_cached_for_every_terminology() -> None:
    cache, first, second = PairCache(), slow_measure(), slow_measure()
    pairs = (np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3]))
    texts = ["heart attack", "chest pressure", "oppression", "cardiac disease"]
    known_scores = PairScorer(with_terminology(first, [HEART]), texts, cache=cache).score(*pairs)
    assert first.asked
    second_scores = PairScorer(with_terminology(second, [OTHER, HEART]), texts, cache=cache).score(*pairs)
    assert second.asked == [], "a terminology more needs no model run"
    np.testing.assert_array_equal(known_scores, second_scores)
    third = slow_measure()
    PairScorer(third, texts, cache=cache).score(np.array([1]), np.array([2]))
    assert third.asked == [], "nor does the measure without terminologies"


def test_decisions_win_over_terminologies() -> None:
    terms = indel()
    decided = terms.with_stage(Decisions({("cough", "heart attack"): True}))
    pairs = [("heart attack", "cough"), ("heart attack", "cardiac disease"), ("cough", "cough")]
    assert decided.score(pairs).tolist() == [1, 0, 1]
    assert sources_of(decided, pairs) == ("decision", "terminology", "identical")
    assert decided.stage(Terminologies) is terms.stage(Terminologies)


@pytest.mark.parametrize("more_general", ["strict", "graded", "lenient"])
def test_the_contract_is_kept_under_a_policy(more_general: str) -> None:
    terms = under_policy(indel(), Policy("test", ignore={"side"}, more_general=more_general))  # type: ignore[arg-type]
    p = check(terms, TEXTS, atol=1e-12)
    assert p[TEXTS.index("heart attack"), TEXTS.index("cardiac disease")] == (more_general == "lenient")
    assert sources_of(terms, [("left cough", "right cough")]) == ("identical",)


def test_the_measure_terminology_alone(tmp_path: Path) -> None:
    source = tmp_path / "terms.tsv"
    source.write_text("id\tname\tsynonym\nA\tfever\tpyrexia\n")
    terms = measure(f"terminology:{source}")
    assert terms.name == f"terminology:{source}"
    assert terms.score([("Fever", "Pyrexia"), ("rash", "rash"), ("rash", "rashes")]).tolist() == [1, 1, 0]
    for path in ([source], source, str(source)):
        named_measure = softirr.measure("indel", terminology=path, policy={"ignore": {"severity"}})
        assert named_measure.score([("fever", "severe Pyrexia")]).tolist() == [1]
    used_terminologies = terms.provenance().terminologies
    assert [(entry.concepts, entry.names, len(entry.sha256)) for entry in used_terminologies] == [(1, 2, 64)]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("terminology", {}, "needs a path"),
        ("terminology:/nowhere.obo", {}, r"/nowhere\.obo does not exist"),
        ("terminology:/nowhere.obo", {"device": "cpu"}, "does not take these options: device"),
        ("indel", {"terminology": ["/nowhere.obo"]}, r"/nowhere\.obo does not exist"),
    ],
)
def test_unusable_terminologies_are_refused(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        softirr.measure(name, **options)


def test_agreement_takes_such_a_measure() -> None:
    rows = [("1", "a", "heart attack"), ("1", "b", "myocardial infarction"), ("2", "a", "cough"), ("2", "b", "rash")]
    table = softirr.AnnotationTable.from_answers(rows)
    report = softirr.agreement(table, indel())
    assert report.items[0].agreement == 1.0
    assert report.measure == "indel with test, test"

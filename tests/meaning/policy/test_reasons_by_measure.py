"""Reasons of pairs under measures that give them chosen values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from softirr.meaning.measures import measure
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.reasons import is_misspelling, known_words, parts_of
from tests.meaning.measures.function_measures import FunctionMeasure


class Invented(FunctionMeasure):
    """A measure of pairs of texts, in any order."""

    def __init__(self, value: Callable[[frozenset[str]], float], name: str = "invented") -> None:
        super().__init__(lambda a, b: value(frozenset({a, b})), name)


class Directed(Invented):
    """A measure that also has directions: a longer text implies a shorter one."""

    has_directions = True

    def values(self, pairs: Any) -> Any:
        return np.array([[0.9 * (len(a) > len(b)), 0.9 * (len(b) > len(a))] for a, b in pairs]).reshape(-1, 2)


def one(a: str, b: str, measure: Invented, **options: Any) -> Any:
    (reason,) = explain([(a, b)], measure, **options)
    return reason


@pytest.mark.parametrize(("score", "kind"), [(0.5, "severity"), (0.49, "unrelated")])
def test_an_attribute_is_the_reason_from_the_threshold_on(score: float, kind: str) -> None:
    measure = Invented(lambda pair: score if pair == {"pain", "ache"} else 0.1)
    assert one("mild pain", "severe ache", measure).kind == kind


def test_attribute_that_does_not_change_the_score_is_not_a_reason() -> None:
    constant = Invented(lambda _: 0.8)
    assert one("mild pain", "severe ache", constant).kind == "unrelated"
    assert one("mild left pain", "severe right ache", constant).kind == "unrelated"


def test_all_attributes_together_are_the_reason_where_none_is_alone() -> None:
    measure = Invented(lambda pair: 0.5 if pair == {"pain", "ache"} else 0.1)
    assert one("mild left pain", "severe right ache", measure).kinds == ("side", "severity")
    low = Invented(lambda pair: 0.4 if pair == {"pain", "ache"} else 0.1)
    assert one("mild left pain", "severe right ache", low).kind == "unrelated"


def test_the_attribute_that_raises_equivalence_most_is_the_reason() -> None:
    value = {("mild pain", "severe ache"): 0.6, ("left pain", "right ache"): 0.7, ("pain", "ache"): 0.8}
    values = {frozenset(pair): p for pair, p in value.items()}
    measure = Invented(lambda pair: values.get(pair, 0.1))
    assert one("mild left pain", "severe right ache", measure).kinds == ("severity",)
    assert one("left pain", "right ache", measure).kinds == ("side",)


def test_single_attributes_are_tried_only_if_the_texts_match_without_all() -> None:
    scored_pairs: list[frozenset[str]] = []

    def value(pair: frozenset[str]) -> float:
        scored_pairs.append(pair)
        return 0.1

    assert one("mild left pain", "severe right ache", Invented(value)).kind == "unrelated"
    assert set(scored_pairs) == {frozenset(("mild left pain", "severe right ache")), frozenset(("pain", "ache"))}


def test_missing_sentences_need_no_pair_that_the_agreement_does_not_need() -> None:
    first = "Fever rose at night. A dry cough began. The rash itches. He slept well. Nothing else."
    second = "At night fever rose high. The cough is dry. No rash was seen. He ate little. All is said."
    scored_pairs: list[frozenset[str]] = []

    def value(pair: frozenset[str]) -> float:
        scored_pairs.append(pair)
        return 0.9 if len(set.union(*({*text.split()} for text in pair))) <= 6 else 0.1

    by_sentence = Invented(value).with_stage(Sentences())
    by_sentence.score([(first, second)])
    needed = set(scored_pairs)
    scored_pairs.clear()
    reason = one(first, second, by_sentence, directions=np.array([[0.2, 0.2]]))
    assert reason.kind == "one rater only" and scored_pairs and set(scored_pairs) <= needed


@pytest.mark.parametrize(("text", "entry"), [("лихорадка, cough", "лихорадка"), ("fièvre, toux 3", "fièvre")])
def test_lists_are_read_in_other_languages(text: str, entry: str) -> None:
    measure = Invented(lambda pair: 0.9 if pair == {entry, "chills"} else 0.1, "nli")
    assert one(text, "chills", measure).kind == "list"


@pytest.mark.parametrize(
    ("same_score", "other_score", "kind"), [(0.5, 0.4, "list"), (0.4, 0.1, "unrelated"), (0.9, 0.5, "unrelated")]
)
def test_a_list_has_parts_that_match_and_parts_that_do_not(same_score: float, other_score: float, kind: str) -> None:
    measure = Invented(lambda pair: same_score if pair == {"fever", "chills"} else other_score)
    assert one("fever, cough", "chills", measure, directions=np.full((1, 2), 0.1)).kind == kind


def test_directions_without_the_attribute_decide_the_more_general_text() -> None:
    """Where both texts name an attribute differently, they are scored_pairs without it."""
    pair = ("left tic", "right spasm of a")
    directed, undirected = Directed(lambda _: 0.1), Invented(lambda _: 0.1)
    unclear = {"directions": np.array([[0.5, 0.5]])}
    assert one(*pair, directed, **unclear).kinds == ("more general", "side")
    assert one(*pair, undirected).kind == "unrelated"


@pytest.mark.parametrize(
    ("forward", "backward", "general"), [(0.5, 0.49, "b"), (0.49, 0.5, "a"), (0.5, 0.5, None), (0.4, 0.4, None)]
)
def test_direction_counts_from_one_half(forward: float, backward: float, general: str | None) -> None:
    reason = one(
        "tic", "spasm", Invented(lambda _: 0.1),
        directions=np.array([[forward, backward]]),
    )  # fmt: skip
    texts = {"a": ("tic", "spasm"), "b": ("spasm", "tic")}
    if general is None:
        assert reason.kind == "unrelated"
    else:
        assert (reason.kind, reason.left_wording, reason.right_wording) == ("more general", *texts[general])


def test_parts_of_a_list_have_a_letter() -> None:
    assert parts_of("dry cough, 38.5; rash 2 and 3").listed == ("dry cough", "rash 2")
    assert parts_of("1, 2").listed == ("1, 2",)


def test_a_word_is_known_from_three_texts_on() -> None:
    assert known_words(["ileum", "the ileum", "ilium", "ilium ilium ilium"]) == frozenset()
    assert known_words(["ileum", "the ileum", "ileum of a"]) == {"ileum"}


def test_word_in_several_answers_is_not_a_misspelling() -> None:
    assert is_misspelling("arthritis", "arteritis")
    words = known_words(["arteritis", "temporal arteritis", "arteritis of the aorta"])
    assert not is_misspelling("arthritis", "arteritis", words)
    assert explain([("arthritis", "arteritis")], measure("exact"), project_words=words)[0].kind == "look-alike"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("حمى, سعال", "ألم"),
        ("مرحبا / سلام", "سعال"),
        ("حمى + ألم", "صداع"),
        ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>"),
    ],
)
def test_texts_that_the_measure_cannot_read_are_not_lists(a: str, b: str) -> None:
    (reason,) = explain([(a, b)], measure("nli"))
    assert reason.kind != "list"


def test_a_list_is_a_list_for_the_bundled_model() -> None:
    assert {entry.kind for entry in explain([("fever/cough", "cough"), ("fever, rash", "rash")], measure("nli"))} == {
        "list"
    }


@pytest.mark.parametrize(("denied", "kind"), [(0.001, "contradiction"), (0.2, "more general")])
def test_negation_of_any_language_is_not_the_more_specific_text(denied: float, kind: str) -> None:
    """A model denies both directions; a measure of letters knows nothing of them."""
    directions = np.full((1, 2), denied)
    assert one("kein Fieber", "Fieber", Directed(lambda _: denied), directions=directions).kind == kind
    assert one("kein Fieber", "Fieber", Invented(lambda _: denied), directions=directions).kind == "more general"


def test_decision_on_other_texts_is_not_a_reason() -> None:
    """It is about whole texts, so that the score without the attribute would not have it either."""
    decided = measure("indel").with_stage(Decisions({("cough", "fever"): True}))
    assert one("severe fever", "cough", decided).kind == "unrelated"

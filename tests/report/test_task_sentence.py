"""The sentence about a task: who differs, in what, within 100 characters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softirr.report.task_sentence import LONGEST_SENTENCE, meanings_of, task_sentence

NAMES = {"1": "Ann", "2": "Ben", "3": "Cem"}


def match(equivalence: float = 1.0, /, **texts: str) -> dict[str, Any]:
    text_by_rater = {rater[1:]: text for rater, text in texts.items()}
    raters = list(text_by_rater)
    pairs = [{"raters": [a, b], "equivalence": equivalence} for i, a in enumerate(raters) for b in raters[i + 1 :]]
    return {"texts": text_by_rater, "equivalence": equivalence, "pairs": pairs}


def field(*matches: dict[str, Any], raters: str = "123", **more: Any) -> dict[str, Any]:
    return {"raters": list(raters), "empty": [], "matches": list(matches), "unmatched": {}, "reasons": []} | more


def reason(raters: str, *texts: str, kind: str = "side") -> dict[str, Any]:
    return {"raters": list(raters), "texts": list(texts), "kind": kind, "words": "", "equivalence": 0.1}


FEVER = match(r1="fever", r2="fever", r3="high temperature")


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (field(FEVER), "All 3 annotators say the same."),
        (field(match(r1="fever", r2="fever"), raters="12"), "Ann and Ben say the same."),
        (field(raters="12", empty=["1", "2"]), "Ann and Ben found nothing to write."),
        (field(FEVER, unmatched={"3": ["rash"]}), "Only Cem has “rash”."),
        (field(FEVER, unmatched={"3": ["rash"], "1": ["cough"]}), "Only Cem has “rash”; only Ann has “cough”."),
        (field(match(r1="fever", r2="fever")), "Cem lacks “fever”."),
        (field(match(r1="fever", r2="fever"), empty=["3"]), "Cem wrote nothing."),
        (
            field(
                match(r1="left arm", r2="left arm"),
                unmatched={"3": ["right arm"]},
                reasons=[reason("13", "left arm", "right arm")],
            ),
            "Cem has “right arm” instead of “left arm”.",
        ),
        (
            field(
                unmatched={"1": ["left arm"], "2": ["right arm"]},
                raters="12",
                reasons=[reason("12", "left arm", "right arm")],
            ),
            "Ann has “left arm”, Ben has “right arm”.",
        ),
        (field(raters="1"), ""),
    ],
)  # fmt: skip
def test_sentence_names_raters_and_texts_that_differ(task: dict[str, Any], sentence: str) -> None:
    assert task_sentence(task, NAMES) == sentence


def test_decision_of_a_reviewer_changes_the_sentence() -> None:
    apart = field(unmatched={"1": ["fever"], "2": ["pyrexia"]}, raters="12")
    assert task_sentence(apart, NAMES) == "Only Ann has “fever”; only Ben has “pyrexia”."
    decided = apart | {"decisions": [{"verdict": "same", "texts": ["fever", "pyrexia"]}]}
    assert task_sentence(decided, NAMES) == "Ann and Ben say the same."
    assert meanings_of(decided) == [{"1": "fever", "2": "pyrexia"}]


def test_long_answers_are_shortened_before_names_are_dropped() -> None:
    long = "a dry cough that lasted for three weeks and then went away without any treatment"
    sentence = task_sentence(field(FEVER, unmatched={"3": [long]}), NAMES)
    assert sentence.startswith("Only Cem has “a dry cough") and sentence.endswith("…”.")
    names = {rater: f"{name} of the second reading group in the east wing" for rater, name in NAMES.items()}
    task = field(match(r1="left arm", r2="left arm"), unmatched={"3": ["right arm"]})
    assert len(task_sentence(task, names)) <= LONGEST_SENTENCE


TEXT = st.text(min_size=1, max_size=120)


@given(st.lists(st.tuples(st.sampled_from("123"), TEXT), max_size=8), st.dictionaries(st.sampled_from("123"), TEXT))
def test_sentence_never_exceeds_its_limit(unmatched_texts: list[tuple[str, str]], names: dict[str, str]) -> None:
    unmatched: dict[str, list[str]] = {}
    for rater, text in unmatched_texts:
        unmatched.setdefault(rater, []).append(text)
    sentence = task_sentence(field(unmatched=unmatched), names)
    assert 0 < len(sentence) <= LONGEST_SENTENCE

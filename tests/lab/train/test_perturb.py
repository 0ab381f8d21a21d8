"""Changed wordings: what keeps the meaning and what turns it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.train import perturb, wordings
from lab.train.words import read_groups
from softirr.meaning.lexicon import opposites

TEXTS = st.text(max_size=40)


def every(change, text, n=200):
    return {change(Random(seed), text) for seed in range(n)}


@pytest.mark.parametrize(
    "change", [perturb.vary, perturb.swap, perturb.opposite, perturb.contrast, perturb.renumber, perturb.typo]
)
@given(text=TEXTS, seed=st.integers(0, 100))
def test_any_text_is_taken_and_the_seed_decides(change, text, seed):
    first = change(Random(seed), text)
    assert first is None or isinstance(first, str)
    assert first == change(Random(seed), text)


def test_opposites_turn_one_word():
    assert every(perturb.opposite, "hyperkalemia") == {"hypokalemia"}
    assert every(perturb.opposite, "pain in the left arm") == {"pain in the right arm"}
    assert {"weight loss", "weight gain"} & every(perturb.opposite, "weight gain") == {"weight loss"}
    assert every(perturb.opposite, "kidney") == {None}


@pytest.mark.parametrize("first, second", opposites("contrast"))
def test_every_opposite_works_both_ways(first, second):
    assert f"{second} x" in every(perturb.opposite, f"{first} x", 60)
    assert f"{first} x" in every(perturb.opposite, f"{second} x", 60)


def test_contrasts_stay_in_their_kind():
    changed = every(perturb.contrast, "kidney stone", 400)
    assert "liver stone" in changed and "kidney stone" not in changed
    assert all(text != "kidney stone" for text in changed)
    other_organs = "nephritis gastritis pancreatitis arthritis dermatitis colitis cystitis encephalitis myocarditis"
    allowed = {f"hepatitis {x}" for x in "acde"} | {f"{x} b" for x in other_organs.split()}
    assert every(perturb.contrast, "hepatitis B") <= allowed


def test_numbers_change_their_value():
    assert "grade 2 burn" not in every(perturb.renumber, "grade 2 burn")
    assert every(perturb.renumber, "burn") == {None}
    assert all("type I " not in text for text in every(perturb.renumber, "type I diabetes"))
    assert {"factor IX deficiency", "factor VII deficiency"} < every(perturb.renumber, "factor VIII deficiency")
    assert perturb.rewrite_number(Random(0), "type 2 diabetes") == "type II diabetes"
    assert perturb.rewrite_number(Random(0), "grade IV glioma") == "grade 4 glioma"


def test_likeness_to_initials_counts_words_first():
    assert wordings.likeness_to_initials("obstructive sleep apnea", "OSA") == (3, 3)
    assert wordings.likeness_to_initials("osteosarcoma of the arm", "OSA") == (2, 3)
    assert wordings.likeness_to_initials("otitis", "OSA") == (1, 2)


def test_swaps_come_from_one_group():
    allowed = {group[0]: set(group[1:]) for group in read_groups("swaps")}
    for text in every(perturb.swap, "kidney") - {None}:
        assert text in allowed["kidney"]
    assert None in every(perturb.swap, "xyzzy")


def test_spelling_order_and_marks():
    assert perturb.respell(Random(0), "anaemia") == "anemia"
    assert perturb.respell(Random(0), "ischaemic oesophagitis") == "ischemic esophagitis"
    assert perturb.respell(Random(0), "hematuria") == "haematuria"
    assert perturb.respell(Random(0), "skin colour change in labour") == "skin color change in labor"
    for same in ("raised", "colorectal", "laboratory", "parameter", "literature"):
        assert perturb.respell(Random(0), same) is None
    assert perturb.invert(Random(1), "acute renal failure") in {"renal failure, acute", "failure, acute renal"}
    assert perturb.invert(Random(0), "diabetes, gestational") == "gestational diabetes"
    assert perturb.invert(Random(0), "stroke after surgery") is None
    assert perturb.of_form(Random(0), "cancer of the kidney") == "kidney cancer"
    assert perturb.pluralise(Random(0), "kidney stone") == "kidney stones"
    assert perturb.pluralise(Random(0), "nephritis") is None
    assert perturb.shorten(Random(0), "blood pressure") == "BP"


def test_a_typo_leaves_short_words_and_the_first_letters_alone():
    assert perturb.typo(Random(0), "left arm") is None
    for text in every(perturb.typo, "pneumonia") - {None}:
        assert text.startswith("pne") and text != "pneumonia"


def test_initials():
    assert wordings.initials("chronic obstructive pulmonary disease") == "COPD"
    assert wordings.initials("cancer of the lung") is None
    assert all(wordings.false_initials(Random(seed), "COPD") != "COPD" for seed in range(100))
    assert wordings.false_initials(Random(0), "AAA") != "AAA"

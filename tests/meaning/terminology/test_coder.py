"""What texts mean by terminologies, and how two of them are related."""

from __future__ import annotations

import pytest

from softirr.meaning.policy.simplified import simplifications
from softirr.meaning.terminology.coder import Coder, Known
from softirr.meaning.terminology.index import build_index
from tests.meaning.terminology.test_index import terminology

KNEE = terminology(
    ("Pain",),
    ("Knee pain", "gonalgia"),
    ("Left knee swelling",),
    ("Fracture",),
    ("Hip pain",),
    ("Cold", "common cold"),
    ("Cold", "low temperature"),
    parents={1: (0,), 4: (0,)},
)


@pytest.fixture(scope="module")
def coder() -> Coder:
    return Coder([build_index(KNEE)], simplifications)


def verdict(coder: Coder, a: str, b: str) -> tuple[float, float] | None:
    one, other = coder.know([a, b])
    assert one is not None and other is not None
    turned = coder.compare(other, one)
    directions = coder.compare(one, other)
    assert turned == (None if directions is None else directions[::-1]), (
        "the order of the texts only turns the directions"
    )
    return directions


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("knee pain", "gonalgia", (1.0, 1.0)),
        ("knee pains", "pain", (1.0, 0.0)),
        ("knee pain", "hip pain", (0.0, 0.0)),
        ("severe left knee pain", "knee pain", (1.0, 0.0)),
        ("severe left knee pain", "severe left gonalgia", (1.0, 1.0)),
        ("pain in the left knee", "left-sided knee pain", (1.0, 1.0)),
        ("left knee pain", "right knee pain", (0.0, 0.0)),
        ("left knee pain", "severe knee pain", (0.0, 0.0)),
        ("left knee pain", "pain", (1.0, 0.0)),
        ("knee pain", "severe pain", None),
        ("severe knee pain", "marked knee pain", None),
        ("possible knee pain", "knee pain", None),
        ("left knee pain", "fracture", (0.0, 0.0)),
        ("cold", "low temperature", (1.0, 1.0)),
        ("common cold", "low temperature", (0.0, 0.0)),
    ],
)
def test_what_two_known_texts_say_of_each_other(
    a: str, b: str, expected: tuple[float, float] | None, coder: Coder
) -> None:
    assert verdict(coder, a, b) == expected


def test_a_whole_text_is_looked_up_before_its_head(coder: Coder) -> None:
    (known,) = coder.know(["left knee swelling"])
    assert known is not None and known.attributes == ()
    assert coder.know(["severe left knee swelling"])[0].attributes == (("severity", "severe"),)  # type: ignore[union-attr]


def test_a_negated_text_has_no_code(coder: Coder) -> None:
    assert coder.know(["no knee pain", "mother had knee pain"]) == [None, None]


def test_as_few_attributes_as_possible_are_taken_off() -> None:
    coder = Coder([build_index(terminology(("Knee pain",), ("Severe knee pain",)))], simplifications)
    assert coder.know(["severe left knee pain"]) == [Known((1,), "name", (("side", "left"),))]


def test_a_cause_that_names_have_is_not_taken_off() -> None:
    names = ("Insomnia",), ("Hypersomnia due to other mental disorder",), ("Drug-induced fever",)
    coder = Coder([build_index(terminology(*names))], simplifications)
    assert coder.know(["insomnia due to other mental disorder", "drug-induced insomnia"]) == [None, None]
    (known,) = coder.know(["insomnia due to noise"])
    assert known is not None and known.attributes == (("cause", "due to noise"),)


def test_names_are_bounded_and_taken_in_turn() -> None:
    many = terminology(("a0", "shared", *(f"a{i}" for i in range(1, 20))), ("b0", "shared"))
    coder = Coder([build_index(many)])
    (known,) = coder.know(["shared"])
    assert known is not None
    assert coder.names(known, 4) == ["a0", "b0", "shared", "a1"]


def test_concepts_of_two_terminologies_are_not_compared() -> None:
    coder = Coder([build_index(terminology(("fever",))), build_index(terminology(("pyrexia",), ("cough",)))])
    fever, pyrexia, cough = coder.know(["fever", "pyrexia", "coughs"])
    assert fever is not None and pyrexia is not None and cough is not None
    assert coder.compare(fever, pyrexia) is None
    assert coder.compare(pyrexia, cough) == (0.0, 0.0)


def test_a_text_that_two_terminologies_know_has_concepts_of_both() -> None:
    coder = Coder([build_index(terminology(("fever",))), build_index(terminology(("x",), ("Fever",)))])
    (known,) = coder.know(["fever"])
    assert known is not None and len(known.concepts) == 2 and known.terminologies == {0, 1}

"""Kinds of disagreement over a project: what counts as one, which texts stand behind it, who leans which way."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ml_backend.report.people import tendency_words
from ml_backend.scoring.disagreements import disagreements
from softirr.provenance import Provenance
from softirr.report.agreement import item_agreement
from softirr.tables.table import AnnotationTable, Answer

ENTAILS = {
    ("pneumonia", "chest infection"): 0.9,
    ("chest infection", "pneumonia"): 0.1,
    ("heart attack", "myocardial infarction"): 0.95,
    ("myocardial infarction", "heart attack"): 0.95,
    ("migraine", "headache"): 0.9,
    ("headache", "migraine"): 0.2,
    ("asthma", "bronchitis"): 0.4,
    ("bronchitis", "asthma"): 0.4,
}


class Table:
    """A directional measure that knows a table of entailments; everything else is 0."""

    name = "table"

    def provenance(self) -> Provenance:
        return Provenance("table")

    def entail_both(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return np.array([[self._one(a, b), self._one(b, a)] for a, b in pairs], dtype=np.float64).reshape(-1, 2)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Sequence[tuple[str, str]]) -> Any:
        both = self.entail_both(pairs)
        return np.sqrt(both[:, 0] * both[:, 1])

    @staticmethod
    def _one(a: str, b: str) -> float:
        return 1.0 if a == b else ENTAILS.get((a, b), 0.0)


def found(answers: dict[str, dict[str, Sequence[str]]], measure: Any = None) -> dict[str, Any]:
    rows = [Answer(item, rater, tuple(texts)) for item, given in answers.items() for rater, texts in given.items()]
    measure = measure or Table()
    items = item_agreement(AnnotationTable.from_answers(rows), measure)
    return disagreements(items, measure)


def kinds(result: dict[str, Any]) -> dict[str, int]:
    return {kind["kind"]: kind["n"] for kind in result["kinds"] if kind["n"]}


def test_equivalent_texts_are_no_disagreement() -> None:
    assert (
        kinds(found({"1": {"a": ["heart attack"], "b": ["myocardial infarction"]}, "2": {"a": ["x"], "b": ["x"]}}))
        == {}
    )


def test_each_kind_is_told_apart() -> None:
    result = found(
        {
            "1": {"a": ["chest infection"], "b": ["pneumonia"]},
            "2": {"a": ["hypertension"], "b": ["hypotension"]},
            "3": {"a": ["asthma"], "b": ["bronchitis"]},
            "4": {"a": ["fracture"], "b": ["rash"]},
        }
    )
    assert kinds(result) == {"generalisation": 1, "lexical": 1, "equality": 1, "unrelated": 1}
    assert result["directional"]


def test_more_general_text_stands_first_whoever_wrote_it() -> None:
    result = found(
        {"1": {"a": ["pneumonia"], "b": ["chest infection"]}, "2": {"a": ["chest infection"], "b": ["pneumonia"]}}
    )
    (kind,) = [kind for kind in result["kinds"] if kind["kind"] == "generalisation"]
    assert kind["pairs"] == [{"texts": ["chest infection", "pneumonia"], "n": 2, "tasks": ["1", "2"]}]
    assert result["tendency"] == {"a": {"general": 1, "specific": 1}, "b": {"general": 1, "specific": 1}}


def test_frequent_pairs_come_first_and_name_their_tasks_once() -> None:
    answers = {str(n): {"a": ["headache"], "b": ["migraine"]} for n in range(3)}
    answers |= {"9": {"a": ["chest infection"], "b": ["pneumonia"]}}
    (kind,) = [kind for kind in found(answers)["kinds"] if kind["kind"] == "generalisation"]
    assert [(pair["texts"], pair["n"]) for pair in kind["pairs"]] == [
        (["headache", "migraine"], 3),
        (["chest infection", "pneumonia"], 1),
    ]
    assert kind["pairs"][0]["tasks"] == ["0", "1", "2"]


def test_three_raters_are_compared_two_by_two() -> None:
    result = found({"1": {"a": ["headache"], "b": ["migraine"], "c": ["migraine"]}})
    assert kinds(result) == {"generalisation": 2}
    assert result["tendency"]["a"] == {"general": 2, "specific": 0}


def test_texts_left_over_on_both_sides_are_put_together() -> None:
    result = found({"1": {"a": ["x", "y", "headache"], "b": ["x", "y"], "c": ["x", "y", "migraine"]}})
    assert kinds(result) == {"generalisation": 1}


def test_a_text_that_nobody_answers_is_no_disagreement_of_two_texts() -> None:
    assert kinds(found({"1": {"a": ["x", "rash"], "b": ["x"]}})) == {}


def test_measures_without_directions_know_no_generalisation() -> None:
    from softirr import measure

    result = found({"1": {"a": ["fever"], "b": ["rash"]}}, measure("indel"))
    assert not result["directional"] and kinds(result) == {"unrelated": 1}
    assert result["tendency"] == {}


def test_nothing_in_nothing_out() -> None:
    assert kinds(found({"1": {"a": [], "b": []}})) == {}


@pytest.mark.parametrize(
    "general, specific, words",
    [
        (0, 0, "no differences"),
        (4, 0, "neither"),
        (5, 0, "more general"),
        (0, 9, "more specific"),
        (10, 8, "neither"),
        (1001, 1000, "neither"),
        (1100, 1000, "more general"),
    ],
)
def test_a_tendency_needs_a_clear_majority(general: int, specific: int, words: str) -> None:
    """Sign test, one-sided, at 5 %: 5 of 5 has a chance of 1/32."""
    assert tendency_words(general, specific) == words

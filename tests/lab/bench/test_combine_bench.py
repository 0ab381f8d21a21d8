"""How both directions become one equivalence: what is true of drawn pairs, and that a perfect measure has no error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softirr.lab.bench.combine import COMBINATIONS, Answers, errors_of, main, of_items
from softirr.lab.training.annotators import Item

ITEMS = [
    Item("1", (("fever", frozenset("a")), ("pyrexia", frozenset("a")), ("cough", frozenset("b")))),
    Item("2", (("rash", frozenset("c")), ("itch", frozenset("d")), ("exanthem", frozenset("c")))),
]
MEANING = {text: meaning for item in ITEMS for text, meaning in item.answers}


class Perfect:
    """Knows what the texts of the items mean."""

    name = "perfect"

    def entail_both(self, pairs: Any) -> Any:
        return np.array([[float(MEANING[a] == MEANING[b])] * 2 for a, b in pairs]).reshape(-1, 2)

    def entail(self, pairs: Any) -> Any:
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Any) -> Any:
        return self.entail(pairs)

    def provenance(self) -> Any:
        raise NotImplementedError


def test_pairs_of_an_item_and_what_is_true_of_them() -> None:
    for answers in of_items("crowd", ITEMS, 2):
        assert len(answers.texts) == 100
        assert answers.same().tolist() == [float(MEANING[a] == MEANING[b]) for a, b in answers.texts]
        assert 0 < answers.truth() < 1
    whole = Answers((("fever", "pyrexia"), ("rash", "itch")), ((frozenset("a"),) * 2, (frozenset("c"), frozenset("d"))))
    assert whole.truth() == pytest.approx((0.5 - 0.25) / 0.75)


def test_a_perfect_measure_is_off_by_chance_alone() -> None:
    (answers,) = of_items("crowd", ITEMS, 1)
    found = errors_of(Perfect(), answers, COMBINATIONS, None)
    assert found.tolist() == [found[0]] * len(COMBINATIONS)
    assert found[0] < 0.05


def test_a_measure_without_directions_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", "x", "--training", "y", "--measure", "indel"]) == 2
    assert "has no directions to combine" in capsys.readouterr().err

"""The order of an entailment model's outputs: resolved right or refused, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from softirr.errors import InputError
from softirr.meaning.measures.labels import PINNED, PROBES, LabelOrder, given_order, letter_of, resolve

WORDS = {"e": "entailment", "n": "neutral", "c": "contradiction", "o": "not_entailment"}
ORDERS = list(permutations("enc"))


class Fake:
    """A model with outputs in this label order and `errors` wrong answers of each twelve."""

    def __init__(self, order: Sequence[str], errors: int = 0) -> None:
        self.order, self.errors = list(order), errors
        self.truth = dict(zip(PROBES, "e" * 12 + "c" * 12 + "n" * 12, strict=True))

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        logits = np.zeros((len(pairs), len(self.order)), dtype=np.float32)
        for row, pair in enumerate(pairs):
            letter = self.truth[pair]
            if row % 12 < self.errors:
                letter = {"e": "n", "n": "e", "c": "n"}[letter]
            logits[row, self.order.index(letter if letter in self.order else "o")] = 3.0
        return logits


def constant(n: int):
    return lambda pairs: np.tile(np.arange(n, dtype=np.float32), (len(pairs), 1))


def unnamed(n: int) -> dict[int, str]:
    return {i: f"LABEL_{i}" for i in range(n)}


@pytest.mark.parametrize("order", ORDERS)
def test_named_outputs_in_every_order(order: tuple[str, ...]) -> None:
    names = {i: WORDS[letter] for i, letter in enumerate(order)}
    for spelling in (str.upper, str.title, str.lower):
        label_order = resolve(3, {i: spelling(name) for i, name in names.items()}, None, Fake(order), "m")
        assert label_order == LabelOrder(order, "names")
        assert label_order.entailment == order.index("e")


@pytest.mark.parametrize("errors", [0, 2])
@pytest.mark.parametrize("order", [*ORDERS, ("e", "o"), ("o", "e")])
def test_order_of_unnamed_outputs_follows_their_behavior(order: tuple[str, ...], errors: int) -> None:
    assert resolve(len(order), unnamed(len(order)), None, Fake(order, errors), "m") == LabelOrder(order, "behavior")


@pytest.mark.parametrize("order", [*ORDERS, ("e", "o"), ("o", "e")])
def test_names_that_behavior_contradicts_are_refused(order: tuple[str, ...]) -> None:
    claims = permutations("enc") if len(order) == 3 else permutations("eo")
    for claim in claims:
        names = {i: WORDS[letter] for i, letter in enumerate(claim)}
        if claim.index("e") == order.index("e"):
            assert resolve(len(order), names, None, Fake(order), "m").entailment == order.index("e")
        else:
            with pytest.raises(InputError, match="behind its name"):
                resolve(len(order), names, None, Fake(order), "m")


@pytest.mark.parametrize("n", [2, 3])
def test_model_with_an_unclear_label_order_is_refused(n: int) -> None:
    with pytest.raises(InputError, match="say so behind its name"):
        resolve(n, unnamed(n), None, constant(n), "m")
    with pytest.raises(InputError, match="say so behind its name"):
        resolve(3, unnamed(3), None, Fake(("e", "n", "c"), errors=5), "m")
    with pytest.raises(InputError, match="single output"):
        resolve(1, unnamed(1), None, constant(1), "m")


def test_names_decide_when_behavior_is_unclear() -> None:
    names = {0: "contradiction", 1: "entailment", 2: "neutral"}
    assert resolve(3, names, None, constant(3), "m") == LabelOrder(("c", "e", "n"), "names")


def test_hub_models_of_the_paper_are_pinned() -> None:
    for hub, order in PINNED.items():
        letters = tuple(order.split(","))
        assert sorted(letters) == ["c", "e", "n"]
        assert resolve(3, unnamed(3), hub.upper(), constant(3), "m") == LabelOrder(letters, "pinned")
        # a folder is not known by its name: a copy may have been trained on
        with pytest.raises(InputError):
            resolve(3, unnamed(3), None, constant(3), hub)
    assert str(resolve(3, {}, "pritamdeka/PubMedBERT-MNLI-MedNLI", constant(3), "m")).startswith(
        "contradiction, entailment, neutral"
    )
    assert "moritzlaurer/mdeberta-v3-base-xnli-multilingual-nli-2mil7" in PINNED


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("ENTAILMENT", "e"), ("entailed", "e"), ("not_entailment", "o"), ("non-entailment", "o"), ("NOT ENTAILED", "o"),
        ("Contradiction", "c"), ("contradictory", "c"), ("neutral", "n"), ("LABEL_1", "?"), ("", "?"),
    ],
)  # fmt: skip
def test_names_of_labels(name: str, letter: str) -> None:
    assert letter_of(name) == letter


def test_given_orders() -> None:
    assert given_order("c, n,e", 3) == LabelOrder(("c", "n", "e"), "given")
    assert given_order(["not_entailment", "entailment"], 2).entailment == 1
    for wrong, n in (("c,n,e", 2), ("e,e,n", 3), ("c,n,o", 3), ("", 3)):
        with pytest.raises(InputError, match="does not fit the model"):
            given_order(wrong, n)

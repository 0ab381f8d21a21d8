"""Every fast way gives what a plain float32 transformers forward gives, pair by pair."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from softirr.errors import InputError
from softirr.inference.classifier import ClassifierOptions, PairClassifier, pick_device
from softirr.inference.forward import PackedBert
from tests.inference.tiny import make_model, plain_probabilities, some_texts

TEXTS = [*some_texts(38), "", "No FEVER, 3.5 cm; naïve"]
RNG = np.random.default_rng(3)
LEFT, RIGHT = RNG.integers(0, len(TEXTS), 150), RNG.integers(0, len(TEXTS), 150)
PAIRS = [(TEXTS[i], TEXTS[j]) for i, j in zip(LEFT.tolist(), RIGHT.tolist(), strict=True)]


@cache
def plain(folder: Path) -> np.ndarray:
    return plain_probabilities(folder, PAIRS)


def softmax(logits: np.ndarray) -> np.ndarray:
    return torch.from_numpy(logits).double().softmax(-1).numpy()


@pytest.mark.parametrize(("precision", "bound"), [("float32", 1e-5), ("bfloat16", 1e-2), ("auto", 1e-2)])
def test_probabilities_equal_a_plain_forward(any_model: Path, precision: str, bound: float) -> None:
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision=precision, threads=2))
    outputs = classifier.run(TEXTS, LEFT, RIGHT)
    expected = plain(any_model)
    assert expected.std(axis=0).max() > 0.01, "a model whose answers are all alike would show nothing"
    assert np.abs(softmax(outputs.logits) - expected).max() < bound
    assert not outputs.truncated.any()


def test_bert_like_models_run_packed(any_model: Path) -> None:
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision="float32"))
    packed = isinstance(classifier._forward, PackedBert)
    assert packed == (classifier.config.model_type in ("bert", "roberta", "xlm-roberta"))


def test_order_batch_size_duplicates_and_threads_change_nothing(any_model: Path) -> None:
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision="float32", threads=2))
    expected = softmax(classifier.run(TEXTS, LEFT, RIGHT).logits)
    order = RNG.permutation(len(LEFT))
    again = np.concatenate([order, order[:40]])
    assert np.allclose(softmax(classifier.run(TEXTS, LEFT[again], RIGHT[again]).logits), expected[again], atol=2e-6)
    for budget, threads in ((1, 1), (70, 2), (5000, 1)):
        other = PairClassifier(
            any_model, ClassifierOptions(device="cpu", precision="float32", token_budget=budget, threads=threads)
        )
        assert np.allclose(softmax(other.run(TEXTS, LEFT, RIGHT).logits), expected, atol=2e-6)


def test_too_long_pairs_lose_tokens_of_the_longer_text_first(any_model: Path) -> None:
    texts = [" ".join(some_texts(9, seed=5)), "fever", " ".join(some_texts(5, seed=6))]
    left, right = np.array([0, 1, 0, 2, 1]), np.array([1, 0, 2, 0, 1])
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision="float32", max_length=31))
    outputs = classifier.run(texts, left, right)
    pairs = [(texts[i], texts[j]) for i, j in zip(left, right, strict=True)]
    assert np.abs(softmax(outputs.logits) - plain_probabilities(any_model, pairs, max_length=31)).max() < 1e-5
    assert outputs.truncated.tolist() == [True, True, True, True, False]


def test_out_of_memory_halves_the_budget_and_goes_on(bert_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (1, 2):
        classifier = PairClassifier(bert_model, ClassifierOptions(device="cpu", precision="float32", threads=threads))
        expected = classifier.run(TEXTS, LEFT, RIGHT).logits
        forward = classifier._forward

        def small(batch: object, forward: object = forward) -> torch.Tensor:
            if len(batch.ids) > 100:  # type: ignore[attr-defined]
                raise torch.OutOfMemoryError
            return forward(batch)  # type: ignore[operator]

        monkeypatch.setattr(classifier, "_forward", small)
        assert np.allclose(classifier.run(TEXTS, LEFT, RIGHT).logits, expected, atol=1e-5)
        assert classifier.token_budget <= 200


def test_progress_counts_up_to_all(bert_model: Path) -> None:
    classifier = PairClassifier(bert_model, ClassifierOptions(device="cpu", token_budget=100))
    seen: list[tuple[int, int]] = []
    classifier.run(TEXTS, LEFT, RIGHT, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (150, 150) and len(seen) > 5
    assert classifier.run(TEXTS, LEFT[:0], RIGHT[:0]).logits.shape == (0, 3)


def test_unusable_models_are_refused_in_words(tmp_path: Path, bert_model: Path) -> None:
    from transformers import BertConfig, BertModel

    with pytest.raises(InputError, match="no sequence classifier"):
        PairClassifier(tmp_path, ClassifierOptions())
    make_model(tmp_path / "base", "bert")
    config = BertConfig.from_pretrained(tmp_path / "base")
    BertModel(config).save_pretrained(tmp_path / "base")
    with pytest.raises(InputError, match="its head would be made up"):
        PairClassifier(tmp_path / "base", ClassifierOptions())
    for options, message in (
        (ClassifierOptions(precision="float8"), "no precision"),
        (ClassifierOptions(device="abacus"), "no device"),
        (ClassifierOptions(max_length=4), "no room for two texts"),
    ):
        with pytest.raises(InputError, match=message):
            PairClassifier(bert_model, options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_said() -> None:
    with pytest.raises(InputError, match="not on this machine"):
        pick_device("cuda")

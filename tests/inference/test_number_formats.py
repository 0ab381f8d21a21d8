"""Number formats of the classifier are refused if their errors on the check pairs are too large."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from softirr.errors import InputError
from softirr.inference import formats
from softirr.inference.classifier import PairClassifier
from softirr.inference.formats import int8_is_fast
from softirr.inference.forward import PackedBert
from softirr.inference.models import ClassifierOptions
from softirr.inference.tokens import Packed
from tests.inference.classifier_pairs import LEFT, RIGHT, RNG, TEXTS, kappa, plain, softmax


@pytest.fixture
def has_int8() -> None:
    if not int8_is_fast():
        pytest.skip("this processor has no fast 8-bit products")


@pytest.mark.slow
@pytest.mark.usefixtures("has_int8")
def test_int8_is_within_a_hundredth_or_refused(any_model: Path) -> None:
    options = ClassifierOptions(device="cpu", precision="int8", threads=1)
    if not PackedBert.fits(_load(any_model)):
        with pytest.raises(InputError, match="int8 is for BERT, RoBERTa and XLM-R"):
            PairClassifier(any_model, options)
        return
    refused = ""
    try:
        classifier = PairClassifier(any_model, options)
    except InputError as error:
        refused = str(error)
    if refused:
        # the random weights of the small RoBERTa are at the bound: another processor may round to the other side of it
        assert "moves this model's probabilities by 0.01" in refused and "roberta" in str(any_model)
        return
    p = softmax(classifier.run(TEXTS, LEFT, RIGHT).logits)
    assert 1e-6 < np.abs(p - plain(any_model)).max() < 1e-2
    assert abs(kappa(p) - kappa(plain(any_model))) < 2e-3
    # each row is rounded separately: other rows of the batch do not matter
    order = RNG.permutation(len(LEFT))
    classifier.token_budget = 90
    assert np.allclose(softmax(classifier.run(TEXTS, LEFT[order], RIGHT[order]).logits), p[order], atol=2e-6)


def _load(folder: Path) -> object:
    from transformers import AutoModelForSequenceClassification

    return AutoModelForSequenceClassification.from_pretrained(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("has_int8")
def test_formats_that_move_the_check_pairs_too_far_are_not_used(
    bert_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _load(bert_model)
    with torch.no_grad():
        model.classifier.weight.mul_(30)  # type: ignore[attr-defined]
    sensitive = shutil.copytree(bert_model, tmp_path / "sensitive")
    model.save_pretrained(sensitive)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="int8 moves this model's probabilities by 0"):
        PairClassifier(sensitive, ClassifierOptions(device="cpu", precision="int8"))
    assert PairClassifier(sensitive, ClassifierOptions(device="cpu")).precision != "int8"
    monkeypatch.setattr(formats, "_AUTO_BOUND", 1e-9)
    classifier = PairClassifier(sensitive, ClassifierOptions(device="cpu"))
    assert classifier.precision == "float32"
    assert np.abs(softmax(classifier.run(TEXTS, LEFT, RIGHT).logits) - plain(sensitive)).max() < 1e-4


def test_float16_is_refused_on_a_processor(bert_model: Path) -> None:
    with pytest.raises(InputError, match="float16 is for GPUs"):
        PairClassifier(bert_model, ClassifierOptions(device="cpu", precision="float16"))


@pytest.mark.parametrize(
    ("moved", "precision"),
    [
        pytest.param([0.012] + [0.001] * 99, "bfloat16", id="one pair near 0.5"),
        pytest.param([0.003] * 100, "float32", id="every pair a little"),
        pytest.param([0.03] + [0.0] * 99, "float32", id="one pair very far"),
    ],
)
def test_auto_picks_a_format_by_its_error_over_all_check_pairs(
    bert_model: Path, monkeypatch: pytest.MonkeyPatch, moved: list[float], precision: str
) -> None:
    """Probabilities of 0.5 that move by so much."""
    exact = torch.zeros(100, 2)
    away = torch.tensor(moved)
    values = torch.stack([torch.log(0.5 + away), torch.log(0.5 - away)], dim=1)
    monkeypatch.setattr(formats, "_fast_formats", lambda *_: ["bfloat16"])
    monkeypatch.setattr(formats, "PaddedForward", lambda *_: lambda batch: exact[: len(batch.lengths)])
    monkeypatch.setattr(formats, "_forward", lambda *_: lambda batch: values[: len(batch.lengths)])
    assert PairClassifier(bert_model, ClassifierOptions(device="cpu")).precision == precision


@pytest.mark.usefixtures("has_int8")
def test_int8_is_refused_by_the_first_check_pairs_where_these_move_too_far(
    bert_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = PairClassifier(bert_model, ClassifierOptions(device="cpu", precision="float32"))
    pairs: list[int] = []
    original_call = PackedBert.__call__

    def counted(self: PackedBert, batch: Packed) -> torch.Tensor:
        pairs.append(len(batch.lengths))
        return original_call(self, batch)

    monkeypatch.setattr(PackedBert, "__call__", counted)
    tokens, model = classifier.tokens, _load(bert_model)
    with torch.inference_mode():
        exact = torch.cat([formats.PaddedForward(model)(batch) for batch in formats._check_batches(tokens, 10)])
        for bound, batch_sizes in ((0.0, [6]), (1.0, [6, 55])):
            pairs.clear()
            try:
                formats._int8_forward(model, tokens, exact, bound)
            except InputError:
                assert bound == 0
            assert pairs == batch_sizes

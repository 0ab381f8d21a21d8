"""Every fast way gives what a plain float32 transformers forward gives, pair by pair."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from softirr.errors import InputError
from softirr.inference import classifier as classifier_module
from softirr.inference.classifier import PairClassifier
from softirr.inference.forward import Forward, PackedBert, _softmax
from softirr.inference.loading import pick_device
from softirr.inference.models import ClassifierOptions
from softirr.inference.tokens import Packed
from tests.inference.classifier_pairs import LEFT, RIGHT, RNG, TEXTS, kappa, plain, softmax
from tests.inference.tiny import plain_probabilities, some_texts


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "bound"), [("float32", 1e-5), ("bfloat16", 1e-2), ("auto", 1e-2)])
def test_probabilities_equal_a_plain_forward(any_model: Path, precision: str, bound: float) -> None:
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision=precision, threads=2))
    outputs = classifier.run(TEXTS, LEFT, RIGHT)
    expected = plain(any_model)
    assert expected.std(axis=0).max() > 0.01, "a model whose answers are all alike would show nothing"
    assert np.abs(softmax(outputs.logits) - expected).max() < bound
    assert abs(kappa(softmax(outputs.logits)) - kappa(expected)) < min(bound, 2e-3)
    assert not outputs.truncated.any()


@pytest.mark.parametrize("size", [1.0, 30.0, 200.0])
def test_the_quick_softmax_is_a_softmax(size: float) -> None:
    scores = torch.from_numpy(np.random.default_rng(0).normal(0, size, (6, 11, 13))).float()
    expected = scores.double().softmax(-1)
    assert torch.allclose(_softmax(scores.clone()).double(), expected, atol=1e-6)
    assert _softmax(scores[:0]).shape == (0, 11, 13)


def test_bert_like_models_run_packed(any_model: Path) -> None:
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision="float32"))
    packed = isinstance(classifier._forward, PackedBert)
    assert packed == (classifier.config.model_type in ("bert", "roberta", "xlm-roberta"))


def test_pairs_are_put_together_from_texts_tokenized_once(any_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision="float32"))
    encoded = []
    encode_pair = classifier.tokens.encode_pair

    def recorded(a: str, b: str) -> object:
        encoded.append((a, b))
        return encode_pair(a, b)

    monkeypatch.setattr(classifier.tokens, "encode_pair", recorded)
    classifier.run(["fever", "acute renal failure", "no"], np.array([0, 1, 2]), np.array([1, 2, 0]))
    assert not encoded


@pytest.mark.slow
def test_order_batch_size_duplicates_and_threads_change_nothing(any_model: Path) -> None:
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision="float32", threads=2))
    expected = softmax(classifier.run(TEXTS, LEFT, RIGHT).logits)
    order = RNG.permutation(len(LEFT))
    repeated = np.concatenate([order, order[:40]])
    assert np.allclose(
        softmax(classifier.run(TEXTS, LEFT[repeated], RIGHT[repeated]).logits), expected[repeated], atol=2e-6
    )
    for budget, threads in ((1, 1), (70, 2), (5000, 1)):
        other_classifier = PairClassifier(
            any_model, ClassifierOptions(device="cpu", precision="float32", token_budget=budget, threads=threads)
        )
        assert np.allclose(softmax(other_classifier.run(TEXTS, LEFT, RIGHT).logits), expected, atol=2e-6)


def test_a_model_takes_the_lasting_number_of_threads(bert_model: Path) -> None:
    options = ClassifierOptions(device="cpu", precision="float32")
    initial = torch.get_num_threads()
    with ThreadPoolExecutor(1) as other_thread, ThreadPoolExecutor(1) as later_thread:
        try:
            torch.set_num_threads(2)
            with classifier_module.THREADS.changed():
                torch.set_num_threads(1)  # as every job does, for later threads too
                opened = other_thread.submit(PairClassifier, bert_model, options).result()
            assert opened._threads == 2
            assert torch.get_num_threads() == later_thread.submit(torch.get_num_threads).result() == 2
        finally:
            torch.set_num_threads(initial)


@pytest.mark.parametrize("is_small", [True, False])
def test_a_job_takes_the_threads_that_it_was_given(
    bert_model: Path, monkeypatch: pytest.MonkeyPatch, is_small: bool
) -> None:
    """Except for a few pairs of a small model, which take one."""
    if not is_small:
        monkeypatch.setattr(classifier_module, "_SMALL_MODEL", 0)
    initial = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        for threads, pairs, expected in ((1, 150, {1}), (2, 150, {1}), (2, 3, {1} if is_small else {2})):
            classifier = PairClassifier(
                bert_model, ClassifierOptions(device="cpu", precision="float32", threads=threads)
            )
            forward, thread_counts = classifier._forward, set[int]()

            def watched(
                batch: Packed, forward: Forward = forward, thread_counts: set[int] = thread_counts
            ) -> torch.Tensor:
                thread_counts.add(torch.get_num_threads())
                return forward(batch)

            classifier._forward = watched  # type: ignore[assignment]
            classifier.run(TEXTS, LEFT[:pairs], RIGHT[:pairs])
            assert thread_counts == expected  # several threads take a batch each, so each runs it alone
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(initial)


def test_the_last_batches_of_several_threads_are_small(bert_model: Path) -> None:
    lengths = np.full(1_000, 18)
    order = np.arange(len(lengths))
    single_thread, shared = (
        PairClassifier(
            bert_model, ClassifierOptions(device="cpu", precision="float32", threads=threads, token_budget=768)
        )._batches(lengths, order)
        for threads in (1, 2)
    )
    for batches in (single_thread, shared):
        assert np.concatenate(batches).tolist() == order.tolist()
    assert {len(batch) for batch in single_thread[:-1]} == {768 // 18}
    assert len(shared[0]) == 768 // 18 and len(shared[-1]) <= 192 // 18
    # two threads that take the next batch when they are free end at nearly the same time
    ends = [0, 0]
    for batch in shared:
        ends[int(np.argmin(ends))] += int(lengths[batch].sum())
    assert max(ends) - min(ends) <= 192


@pytest.mark.slow
def test_too_long_pairs_lose_tokens_of_the_longer_text_first(any_model: Path) -> None:
    texts = [" ".join(some_texts(9, seed=5)), "fever", " ".join(some_texts(5, seed=6))]
    left_texts, right_texts = np.array([0, 1, 0, 2, 1]), np.array([1, 0, 2, 0, 1])
    classifier = PairClassifier(any_model, ClassifierOptions(device="cpu", precision="float32", max_length=31))
    outputs = classifier.run(texts, left_texts, right_texts)
    pairs = [(texts[i], texts[j]) for i, j in zip(left_texts, right_texts, strict=True)]
    assert np.abs(softmax(outputs.logits) - plain_probabilities(any_model, pairs, max_length=31)).max() < 1e-5
    assert outputs.truncated.tolist() == [True, True, True, True, False]


def test_out_of_memory_halves_the_budget_and_continues(bert_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_no_pairs_have_no_logits(bert_model: Path) -> None:
    classifier = PairClassifier(bert_model, ClassifierOptions(device="cpu"))
    assert classifier.run(TEXTS, LEFT[:0], RIGHT[:0]).logits.shape == (0, 3)


def test_unusable_models_are_refused_in_words(tmp_path: Path, bert_model: Path) -> None:
    with pytest.raises(InputError, match=r"has no config\.json of a model"):
        PairClassifier(tmp_path, ClassifierOptions())
    for options, message in (
        (ClassifierOptions(precision="float8"), "no precision"),
        (ClassifierOptions(device="abacus"), "no device"),
        (ClassifierOptions(max_length=4), "no room for two texts"),
    ):
        with pytest.raises(InputError, match=message):
            PairClassifier(bert_model, options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_missing_gpu_is_refused() -> None:
    with pytest.raises(InputError, match="not on this machine"):
        pick_device("cuda")


def test_of_a_text_that_is_far_too_long_only_the_beginning_is_tokenized():
    from softirr.inference.tokens import PairTokens

    class Tokenizer:
        """One token a word; the tokens between two texts are 1."""

        model_max_length = 20
        truncation_side = "right"
        characters = 0

        def __call__(self, texts, second=None, **options):
            if isinstance(texts, list):
                self.characters += sum(map(len, texts))
                return {"input_ids": [self._ids(text) for text in texts]}
            ids = self._ids(texts)
            return {"input_ids": ids if second is None else [*ids, 1, *self._ids(second)]}

        def _ids(self, text):
            return [2 + len(word) for word in text.split()]

    tokenizer = Tokenizer()
    tokens = PairTokens(tokenizer, 20)
    assert tokens.assembled
    long, words = "ab " * 100_000, "x" * 1_000 + " y"
    table = tokens.table([long, words, "a b"])
    assert tokenizer.characters < 10_000
    assert table.lengths.tolist()[1:] == [2, 2]
    _, cut = table.pair_lengths(np.array([0, 1]), np.array([2, 2]))
    assert cut.tolist() == [True, False]

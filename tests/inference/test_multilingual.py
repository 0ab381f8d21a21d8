"""The second bundled model: int8 rows of words, texts of all scripts, and which pairs it scores."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import softirr
from softirr.inference.bert import is_own_bert, load_own_bert
from softirr.inference.classifier import Outputs
from softirr.inference.forward import PackedBert
from softirr.inference.loading import CLASSIFIER, load
from softirr.inference.models import ClassifierOptions, FoundModel, bundled
from softirr.inference.tokens import PairTokens
from softirr.meaning.measures.engines import ByLanguage, OpenedLater
from softirr.meaning.measures.languages import BOUND, EnglishTest
from softirr.meaning.measures.suitability import scripts_of

TEXTS = (
    "kein Fieber", "Fieber", "没有发烧", "发烧", "심근경색", "احتشاء عضلة القلب", "दिल का दौरा", "инфаркт миокарда",
    "kalp krizi", "𠮷野家 🫠", "መጋቢት", "ⴰⵎⴰⵣⵉⵖ", "fever of 39,5 °C", "x" * 300,
)  # fmt: skip
_WORDS = "bert.embeddings.word_embeddings"


@pytest.fixture(scope="module")
def folder() -> Path:
    model = bundled("multilingual")
    assert model is not None and is_own_bert(model.folder)
    return model.folder


def test_logits_are_those_of_transformers_on_expanded_rows(folder: Path, tmp_path: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    scale = weights.pop(f"{_WORDS}.scale")
    assert weights[f"{_WORDS}.weight"].dtype == torch.int8
    weights[f"{_WORDS}.weight"] = weights[f"{_WORDS}.weight"].float() * scale
    save_file(
        {name: value.float().contiguous() for name, value in weights.items()},
        tmp_path / "model.safetensors",
        metadata={"format": "pt"},
    )
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    tokenizer, reference_model = load(tmp_path, CLASSIFIER, torch.float32)
    own_tokenizer, model = load_own_bert(folder, torch.float32)
    left_texts, right_texts = np.triu_indices(len(TEXTS), 1)
    batch = PairTokens(own_tokenizer, 128).table(TEXTS).pack(left_texts, right_texts)
    same = PairTokens(tokenizer, 128).table(TEXTS).pack(left_texts, right_texts)
    assert np.array_equal(batch.ids, same.ids) and np.array_equal(batch.types, same.types)
    with torch.inference_mode():
        assert torch.allclose(PackedBert(model)(batch), PackedBert(reference_model)(batch), atol=1e-4)


def test_the_stated_hash_is_that_of_the_weights(folder: Path) -> None:
    assert (
        FoundModel("", folder).stated_hash() == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    )


def test_characters_outside_the_vocabulary_get_distinct_tokens(folder: Path) -> None:
    tokenizer, model = load_own_bert(folder, torch.float32)
    table = PairTokens(tokenizer, 128)
    ids = tokenizer(["ⴰⵎⴰⵣ", "ⴰⵎⴰⵥ", "🫠", "🫡"], add_special_tokens=False)["input_ids"]
    unknown = tokenizer._tokenizer.token_to_id("<unk>")
    assert len(set(map(tuple, ids))) == 4 and all(unknown not in row for row in ids)
    assert table.assembled and model.config.num_labels == 2


def test_digits_of_all_scripts_are_pieces(folder: Path) -> None:
    tokenizer, _ = load_own_bert(folder, torch.float32)
    (three,), (four,) = (tokenizer([d], add_special_tokens=False)["input_ids"] for d in ("٣ أيام", "٤ أيام"))
    assert three != four


class Recorder:
    """An engine that returns its own number and records the pairs it was given."""

    n_labels, precision, max_length, device_name, batch = 2, "float32", 128, "cpu", 0

    def __init__(self, number: float) -> None:
        self.number, self.id2label, self.closed = number, {0: "no", 1: "yes"}, False
        self.pairs: list[tuple[str, str]] = []

    def run(self, texts: Any, left_texts: Any, right_texts: Any) -> Outputs:
        self.pairs += [(texts[i], texts[j]) for i, j in zip(left_texts, right_texts, strict=True)]
        return Outputs(
            np.full((len(left_texts), 2), self.number, dtype=np.float32), np.zeros(len(left_texts), dtype=bool)
        )

    def close(self) -> None:
        self.closed = True


def test_pair_goes_to_the_same_engine_in_any_batch(folder: Path) -> None:
    first, second, opened = Recorder(1), Recorder(2), []
    opened_later = OpenedLater(lambda _: opened.append(1) or second, ClassifierOptions())
    engine = ByLanguage(first, opened_later, EnglishTest(folder / "english.npz").score, BOUND)
    texts = ["chest pain", "fever", "Brustschmerzen", "kein Fieber", "发烧", "38.5"]
    left_texts, right_texts = np.triu_indices(len(texts), 1)
    english = engine.run(texts[:2], np.array([0]), np.array([1])).logits
    assert english.tolist() == [[1, 1]] and not opened
    together = engine.run(texts, left_texts, right_texts).logits[:, 0]
    assert len(opened) == 1
    logits = [
        engine.run(texts, np.array([i]), np.array([j])).logits[0, 0]
        for i, j in zip(left_texts, right_texts, strict=True)
    ]
    assert together.tolist() == logits
    assert ("Brustschmerzen", "kein Fieber") in second.pairs and ("fever", "发烧") in second.pairs
    assert ("chest pain", "fever") not in second.pairs and ("fever", "38.5") not in second.pairs
    engine.close()
    assert first.closed and second.closed


def test_english_texts_remain_with_the_english_model(root: Path, folder: Path) -> None:
    score = EnglishTest(folder / "english.npz").score
    with open(root / "tests" / "lab" / "train" / "challenge.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert np.mean([score(row["first"]) + score(row["second"]) < BOUND for row in rows]) < 0.06


@pytest.mark.slow
def test_meaning_in_fourteen_languages(root: Path, folder: Path) -> None:
    with open(root / "tests" / "lab" / "train" / "languages_challenge.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    same = np.array([row["gold"] == "equivalent" for row in rows])
    measure = softirr.measure("nli", precision="float32")
    p = measure.score([(row["first"], row["second"]) for row in rows])
    assert np.mean(p[~same] >= 0.5) <= 0.15 and np.mean(p[same] >= 0.5) >= 0.5
    higher = np.mean([(value > p[~same]).mean() for value in p[same]])
    assert higher >= 0.85 and len({row["language"] for row in rows}) == 14
    assert measure.provenance().model == "bundled nli, bundled multilingual"
    record = json.loads((folder / "measured.json").read_text(encoding="utf-8"))
    assert abs(record["all"]["auroc"] - higher) < 0.01


@pytest.mark.slow
def test_why_two_scripts_are_not_compared(root: Path, folder: Path) -> None:
    texts: dict[str, list[str]] = defaultdict(list)
    with open(root / "tests" / "lab" / "train" / "languages_challenge.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            texts[row["language"]].append(row["first"])
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for language, second_language in product(texts, texts):
        second_texts = texts[second_language][1:] + texts[second_language][:1]
        for pair in zip(texts[language], second_texts, strict=True):
            has_common_script = scripts_of(pair[0]) & scripts_of(pair[1])
            pairs["language" if language == second_language else "script" if has_common_script else "nothing"].append(
                pair
            )
    measure = softirr.measure(f"nli:{folder}", precision="float32")
    p = {in_common: measure.score(Random(0).sample(some, 250)) for in_common, some in pairs.items()}
    mean = {in_common: round(float(values.mean()), 2) for in_common, values in p.items()}
    called_same = {in_common: round(float(np.mean(values > 0.5)), 2) for in_common, values in p.items()}
    assert mean == pytest.approx({"language": 0.08, "script": 0.28, "nothing": 0.69}, abs=0.02)
    assert called_same == pytest.approx({"language": 0.06, "script": 0.26, "nothing": 0.78}, abs=0.02)


NEGATIONS = [
    ("Fieber", "kein Fieber"), ("发烧", "没有发烧"), ("fièvre", "pas de fièvre"), ("熱がある", "熱がない"), ("ateş var", "ateş yok"),
    ("발열 있음", "발열 없음"), ("يوجد ألم", "لا يوجد ألم"), ("बुखार है", "बुखार नहीं है"),
    ("есть боль", "нет боли"), ("hay dolor", "no hay dolor"),
]  # fmt: skip


def test_a_negation_is_never_the_same() -> None:
    p = softirr.measure("nli", precision="float32").score(NEGATIONS)
    assert [pair for pair, value in zip(NEGATIONS, p, strict=True) if value >= 0.5] == []

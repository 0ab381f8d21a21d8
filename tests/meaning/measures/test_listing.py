"""``softirr measures``: every measure, whether it is here, how large and how fast it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from softirr.inference import models
from softirr.inference.models import KNOWN_MODELS
from softirr.meaning.measures import SPEEDS, catalogue, families
from softirr.meaning.measures.labels import PINNED
from tests.inference.tiny import make_model


def test_every_measure_and_every_known_model_is_listed_once() -> None:
    names = [entry.name for entry in catalogue()]
    assert len(names) == len(set(names))
    assert {name.partition(":")[0] for name in names} == set(families())
    for model in KNOWN_MODELS:
        listed = [entry for entry in catalogue() if entry.model == model.hub]
        assert len(listed) == (2 if model.family == "llm" else 1)
        assert all(entry.revision == model.revision and entry.size == f"{model.size} parameters" for entry in listed)
        assert (model.hub.lower() in PINNED) == (model.family == "nli")


def test_speed_is_one_word_that_is_explained() -> None:
    assert {entry.speed for entry in catalogue()} == set(SPEEDS) == {"instant", "fast", "slow", "very slow"}
    assert all(entry.speed == "instant" for entry in catalogue() if not entry.needs_model)


def test_listing_marks_the_models_on_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert not any(entry.installed for entry in catalogue() if entry.revision)
    model = KNOWN_MODELS[0]
    (tmp_path / f"models--{model.hub.replace('/', '--')}" / "snapshots" / model.revision).mkdir(parents=True)
    assert [entry.name for entry in catalogue() if entry.revision and entry.installed] == [f"nli:{model.short}"]


def test_the_bundled_model_is_listed_with_its_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(models, "resources", SimpleNamespace(files=lambda _: tmp_path))
    entry = next(entry for entry in catalogue() if entry.name == "nli")
    assert not entry.installed and entry.size is None
    make_model(tmp_path / "models" / "nli", "bert", labels={0: "neutral", 1: "contradiction", 2: "entailment"})
    entry = next(entry for entry in catalogue() if entry.name == "nli")
    assert entry.installed and entry.model == "bundled nli"
    assert entry.size is not None and entry.size.endswith(" MB")


def test_a_model_without_pytorch_is_refused_with_the_small_download() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import softirr\n"
        "print(softirr.measure('indel').score([('fever', 'fever')]))\n"
        "softirr.measure('nli')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == "[1.]\n"
    assert "InputError: The measure nli needs PyTorch, which is not installed" in ended.stderr
    assert "--index-url https://download.pytorch.org/whl/cpu" in ended.stderr

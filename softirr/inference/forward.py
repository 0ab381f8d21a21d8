"""Forward passes from packed pair inputs to logits: any transformers classifier with padding, BERT-like ones without.

:class:`PackedBert` computes the same as the transformers model (both are compared when it is made) with less work: no
padding, one product for query, key and value, and in the last layer only the first token, which the classifier reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from softirr.inference.bert import embed
from softirr.inference.tokens import Packed

_SAFE = 60.0
"""Largest absolute score: exp(60) times a thousand tokens, and exp(-60), are well within float32."""


Activation = Callable[[Tensor], Tensor]
Forward = Callable[[Packed], Tensor]
"""Logits of packed inputs, shape (pairs, labels), float32, on the model's device."""


def to_device(array: np.ndarray, device: torch.device) -> Tensor:
    """The array as a tensor on the device; to a GPU through pinned memory, without waiting for the copy.

    Parameters
    ----------
    array : ndarray, any shape
    """
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


class PaddedForward:
    """Any transformers sequence classifier; the batch is padded to its longest pair and masked."""

    def __init__(self, model: Any) -> None:
        self._model, self._pad_id = model, int(model.config.pad_token_id or 0)
        self._device = next(iter(model.parameters())).device
        # models without token types (RoBERTa has one type, ModernBERT takes none) must not be given any
        self._types = int(getattr(model.config, "type_vocab_size", 0) or 0) > 1

    def __call__(self, batch: Packed) -> Tensor:
        """Logits, shape (pairs, labels)."""
        longest = int(batch.lengths.max())
        shape = (len(batch.lengths), longest)
        rows = np.repeat(np.arange(shape[0]), batch.lengths)
        ids, mask = np.full(shape, self._pad_id, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        ids[rows, batch.positions] = batch.ids
        mask[rows, batch.positions] = 1
        inputs = {"input_ids": to_device(ids, self._device), "attention_mask": to_device(mask, self._device)}
        if self._types:
            types = np.zeros(shape, dtype=np.int64)
            types[rows, batch.positions] = batch.types
            inputs["token_type_ids"] = to_device(types, self._device)
        return self._model(**inputs).logits.float()


class Linear:
    """f(x Wᵀ + b) in the number format of the weights, W of shape (outputs, inputs); others compute the product."""

    def __init__(self, weight: Tensor, bias: Tensor, activation: Activation | None = None) -> None:
        self._weight, self._bias, self._activation = weight, bias, activation

    def __call__(self, x: Tensor) -> Tensor:
        """The layer's output, shape (rows, outputs)."""
        y = self.product(x)
        return y if self._activation is None else self._activation(y)

    def product(self, x: Tensor) -> Tensor:
        """The output before the activation."""
        return F.linear(x, self._weight, self._bias)


class PackedBert:
    """BERT, RoBERTa and XLM-RoBERTa classifiers over concatenated tokens, without padding.

    Parameters
    ----------
    model
        The transformers classifier, on its device, in its number format, in evaluation mode.
    linear
        Makes the large linear layers of weight and bias; :class:`Linear` by default.
    """

    def __init__(self, model: Any, linear: type[Linear] = Linear) -> None:
        config = model.config
        base = model.bert if config.model_type == "bert" else model.roberta
        embeddings = base.embeddings
        self._device = embeddings.word_embeddings.weight.device
        self._heads, self._width = config.num_attention_heads, config.hidden_size
        self._eps = config.layer_norm_eps
        self._words, self._positions = embeddings.word_embeddings, embeddings.position_embeddings.weight
        self._types = embeddings.token_type_embeddings.weight
        self._norm = (embeddings.LayerNorm.weight, embeddings.LayerNorm.bias)
        self._offset = 0 if config.model_type == "bert" else config.pad_token_id + 1
        self._layers = [_Layer(layer, linear, _activation(config.hidden_act)) for layer in base.encoder.layer]
        last = base.encoder.layer[-1].attention.self
        shape = (self._heads, self._width // self._heads, self._width)
        self._query = (last.query.weight, last.query.bias)
        self._key, self._value = last.key.weight.view(shape), last.value.weight.view(shape)
        self._value_bias = last.value.bias
        if config.model_type == "bert":
            self._dense, self._out = base.pooler.dense, model.classifier
        else:
            self._dense, self._out = model.classifier.dense, model.classifier.out_proj
        self._varlen: Any = _varlen_attention() if self._device.type == "cuda" else None

    @staticmethod
    def fits(model: Any) -> bool:
        """Whether the model is of a kind that this forward pass knows."""
        names = {"bert": "BertForSequenceClassification", "roberta": "RobertaForSequenceClassification"}
        names["xlm-roberta"] = "XLMRobertaForSequenceClassification"
        config = model.config
        return (
            type(model).__name__ == names.get(config.model_type)
            and getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
            and not getattr(config, "is_decoder", False)
        )

    def __call__(self, batch: Packed) -> Tensor:
        """Logits, shape (pairs, labels)."""
        device = self._device
        groups = _runs(batch.lengths)
        ids, types, positions, starts = (
            to_device(array, device) for array in (batch.ids, batch.types, batch.positions + self._offset, batch.starts)
        )
        x = embed(self._words, ids)
        x = x + F.embedding(positions, self._positions) + F.embedding(types, self._types)
        x = F.layer_norm(x, (self._width,), *self._norm, self._eps)
        attend = self._attention(batch, groups)
        for layer in self._layers[:-1]:
            x = self._rest(layer, attend(layer.qkv(x)), x)
        first = x[starts]
        x = self._rest(self._layers[-1], self._last_attention(x, first, groups), first)
        x = torch.tanh(F.linear(x, self._dense.weight, self._dense.bias))
        return F.linear(x, self._out.weight, self._out.bias).float()

    def _rest(self, layer: _Layer, attended: Tensor, x: Tensor) -> Tensor:
        """The part of a layer after its attention."""
        # sums in the number format of x; adding numbers of two formats would be several times slower
        x = F.layer_norm(layer.out(attended).to(x.dtype).add_(x), (self._width,), *layer.norm1, self._eps)
        return F.layer_norm(layer.down(layer.up(x)).to(x.dtype).add_(x), (self._width,), *layer.norm2, self._eps)

    def _attention(self, batch: Packed, groups: list[tuple[int, int]]) -> Callable[[Tensor], Tensor]:
        """Self-attention of concatenated tokens, from query, key and value side by side, shape (tokens, 3 width)."""
        if self._varlen is not None:
            ends = np.concatenate([[0], np.cumsum(batch.lengths)]).astype(np.int32)
            borders, longest = to_device(ends, self._device), int(batch.lengths.max())

            def packed(qkv: Tensor) -> Tensor:
                q, k, v = qkv.view(len(qkv), 3, self._heads, -1).unbind(1)
                attended: Tensor = self._varlen(q, k, v, borders, borders, longest, longest)
                return attended.reshape(len(qkv), self._width)

            return packed

        def grouped(qkv: Tensor) -> Tensor:
            out = qkv.new_empty(len(qkv), self._width)
            start, depth = 0, self._width // self._heads
            for count, length in groups:
                rows = slice(start, start + count * length)
                start += count * length
                # (3, count * heads, length, depth); batched products beat the fused kernel at these lengths
                q, k, v = (
                    qkv[rows]
                    .view(count, length, 3, self._heads, depth)
                    .permute(2, 0, 3, 1, 4)
                    .reshape(3, -1, length, depth)
                )
                result = torch.bmm(_softmax(torch.bmm(q, k.transpose(1, 2)).mul_(depth**-0.5)), v)
                out[rows].view(count, length, self._heads, depth).copy_(
                    result.view(count, self._heads, length, depth).transpose(1, 2)
                )
            return out

        return grouped

    def _last_attention(self, x: Tensor, first: Tensor, groups: list[tuple[int, int]]) -> Tensor:
        """Attention of the first tokens alone, shape (pairs, width).

        The key product is applied to the query (its bias adds a constant to a query's scores, which softmax ignores)
        and the value product to the weighted mean, so that both are computed once per pair instead of once per token.
        """
        depth = self._width // self._heads
        query = F.linear(first, *self._query).view(-1, self._heads, depth).transpose(0, 1)
        query = torch.bmm(query, self._key).transpose(0, 1).mul(depth**-0.5)  # (pairs, heads, width)
        means = torch.empty_like(query)
        token, pair = 0, 0
        for count, length in groups:
            tokens = x[token : token + count * length].view(count, length, self._width)
            scores = torch.bmm(query[pair : pair + count], tokens.transpose(1, 2))
            means[pair : pair + count] = torch.bmm(_softmax(scores), tokens)
            token, pair = token + count * length, pair + count
        values = torch.bmm(means.transpose(0, 1), self._value.transpose(1, 2)).transpose(0, 1)
        return values.reshape(len(first), self._width) + self._value_bias


def _softmax(scores: Tensor) -> Tensor:
    """Softmax over the last dimension; overwrites the scores.

    On a processor torch's softmax takes ten times as long as the exponentials on such short rows. This one does not
    subtract the largest score of each row; the result is the same while every exponential is within the range of
    float32.
    """
    if scores.device.type != "cpu" or not len(scores):
        return torch.softmax(scores, dim=-1)
    lowest, highest = torch.aminmax(scores)
    if not (float(highest) < _SAFE and float(lowest) > -_SAFE):
        return torch.softmax(scores, dim=-1)
    weights = scores.exp_()
    return weights.div_(weights.sum(dim=-1, keepdim=True))


def _activation(name: str) -> Activation:
    if name == "gelu":
        return F.gelu
    from transformers.activations import ACT2FN

    activation: Activation = ACT2FN[name]
    return activation


class _Layer:
    """One encoder layer; query, key and value in one product, the activation with the product before it."""

    def __init__(self, layer: Any, linear: type[Linear], activation: Activation) -> None:
        attention, output = layer.attention.self, layer.attention.output
        products = (attention.query, attention.key, attention.value)
        self.qkv = linear(
            torch.cat([product.weight for product in products]), torch.cat([product.bias for product in products]), None
        )
        self.out = linear(output.dense.weight, output.dense.bias, None)
        self.norm1 = (output.LayerNorm.weight, output.LayerNorm.bias)
        self.up = linear(layer.intermediate.dense.weight, layer.intermediate.dense.bias, activation)
        self.down = linear(layer.output.dense.weight, layer.output.dense.bias, None)
        self.norm2 = (layer.output.LayerNorm.weight, layer.output.LayerNorm.bias)


def _runs(lengths: np.ndarray) -> list[tuple[int, int]]:
    """Neighboring pairs of the same length as (count, length)."""
    edges = np.flatnonzero(np.diff(lengths)) + 1
    starts = np.concatenate([[0], edges])
    counts = np.diff(np.concatenate([starts, [len(lengths)]]))
    return list(zip(counts.tolist(), lengths[starts].tolist(), strict=True))


def _varlen_attention() -> Any:
    """Attention over packed sequences of different lengths; None if PyTorch lacks it."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return None
    return varlen_attn

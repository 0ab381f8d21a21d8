"""The forward pass of a training step of BERT-like classifiers without padding, with gradients.

A batch of short texts is a fifth padding, and the classifier reads only the first token of the last layer. Both are
left out: the tokens of a batch stand in one row after the other, attention is computed for pairs of one length
together, and the last layer for the first tokens alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lab.train.batches import Batch
from lab.train.embedding_rows import TouchedRows
from softirr.inference.forward import PackedBert

__all__ = ["PackedTraining"]


class PackedTraining:
    """Logits of a batch, as the transformers model in training mode gives them without dropout.

    Parameters
    ----------
    model
        A classifier that :meth:`fits`.
    """

    def __init__(self, model: Any) -> None:
        config = model.config
        self._base = model.bert
        self._classifier = model.classifier
        self._heads, self._width, self._eps = config.num_attention_heads, config.hidden_size, config.layer_norm_eps

    @staticmethod
    def fits(model: Any) -> bool:
        """Whether this pass gives what the model gives: a BERT classifier without dropout.

        Parameters
        ----------
        model
            Of transformers.
        """
        config = model.config
        plain = config.hidden_dropout_prob == 0 == config.attention_probs_dropout_prob and config.hidden_act == "gelu"
        return PackedBert.fits(model) and config.model_type == "bert" and plain and not config.classifier_dropout

    def __call__(self, batch: Batch, words: TouchedRows) -> tuple[Tensor, Tensor]:
        """Logits and labels of a batch, sorted by length.

        Parameters
        ----------
        words
            The embedding table, which knows already that the step reads the batch.

        Returns
        -------
        (Tensor, Tensor)
            Of shapes (pairs, 2) and (pairs,).
        """
        device = words.weight.device
        lengths = batch.mask.sum(axis=1)
        order = np.argsort(lengths, kind="stable")
        lengths, mask = lengths[order], batch.mask[order] == 1
        ids, types = (torch.from_numpy(x[order][mask]).long().to(device) for x in (batch.ids, batch.types))
        positions = torch.from_numpy(np.broadcast_to(np.arange(mask.shape[1]), mask.shape)[mask]).to(device)
        starts = torch.from_numpy(np.cumsum(lengths) - lengths).to(device)
        sizes, counts = np.unique(lengths, return_counts=True)
        groups = list(zip(counts.tolist(), sizes.tolist(), strict=True))
        e = self._base.embeddings
        x = words.embed(ids) + e.position_embeddings(positions) + e.token_type_embeddings(types)
        x = e.LayerNorm(x)
        *layers, last = self._base.encoder.layer
        for layer in layers:
            x = self._rest(layer, self._attention(layer, x, groups), x)
        first = x[starts]
        x = self._rest(last, self._attention_of_first(last, x, first, groups), first)
        pooled = torch.tanh(self._base.pooler.dense(x))
        logits: Tensor = self._classifier(pooled)
        return logits.float(), torch.from_numpy(batch.labels[order]).to(device)

    def _rest(self, layer: Any, attended: Tensor, x: Tensor) -> Tensor:
        """A layer after its attention."""
        out = layer.attention.output
        x = out.LayerNorm(out.dense(attended) + x)
        inner = F.gelu(layer.intermediate.dense(x))
        result: Tensor = layer.output.LayerNorm(layer.output.dense(inner) + x)
        return result

    def _attention(self, layer: Any, x: Tensor, groups: list[tuple[int, int]]) -> Tensor:
        """Self-attention of all tokens, shape (tokens, width)."""
        parts = layer.attention.self
        weight = torch.cat([parts.query.weight, parts.key.weight, parts.value.weight])
        bias = torch.cat([parts.query.bias, parts.key.bias, parts.value.bias])
        qkv = F.linear(x, weight, bias)
        depth, outputs, start = self._width // self._heads, [], 0
        for count, length in groups:
            rows = qkv[start : start + count * length].view(count, length, 3, self._heads, depth)
            q, k, v = rows.permute(2, 0, 3, 1, 4).unbind(0)
            shares = torch.softmax(q @ k.transpose(-1, -2) * depth**-0.5, dim=-1)
            outputs.append((shares.to(v.dtype) @ v).transpose(1, 2).reshape(-1, self._width))
            start += count * length
        return torch.cat(outputs)

    def _attention_of_first(self, layer: Any, x: Tensor, first: Tensor, groups: list[tuple[int, int]]) -> Tensor:
        """Attention of the first tokens alone, shape (pairs, width)."""
        parts = layer.attention.self
        query = parts.query(first)
        weight = torch.cat([parts.key.weight, parts.value.weight])
        kv = F.linear(x, weight, torch.cat([parts.key.bias, parts.value.bias]))
        depth, outputs, token, pair = self._width // self._heads, [], 0, 0
        for count, length in groups:
            k, v = kv[token : token + count * length].view(count, length, 2, self._heads, depth).permute(2, 0, 3, 1, 4)
            q = query[pair : pair + count].view(count, self._heads, 1, depth)
            shares = torch.softmax(q @ k.transpose(-1, -2) * depth**-0.5, dim=-1)
            outputs.append((shares.to(v.dtype) @ v).reshape(count, self._width))
            token, pair = token + count * length, pair + count
        return torch.cat(outputs)

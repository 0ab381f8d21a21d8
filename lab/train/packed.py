"""The forward pass of BERT classifiers without padding, with gradients, for teachers and students.

A fifth of a padded batch of short texts is padding, and the classifier reads only the first token of the last layer.
Both are left out: attention is computed for pairs of one length together, and the last layer for the first tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lab.train.batches import Batch

__all__ = ["packed_logits"]

Groups = list[tuple[int, int]]
"""Number and length of the pairs of each length."""


def packed_logits(model: Any, batch: Batch) -> tuple[Tensor, list[Tensor]]:
    """Logits of a batch, as the transformers model without dropout computes them, and the layers' outputs.

    Returns
    -------
    (Tensor, list of Tensor)
        Shape (pairs, 2), and the output of each layer except the last, shape (tokens, width).
    """
    embeddings = model.bert.embeddings
    device = embeddings.word_embeddings.weight.device
    ids, types, positions = (torch.from_numpy(x).to(device) for x in (batch.ids, batch.types, batch.positions))
    starts = torch.from_numpy(np.cumsum(batch.lengths) - batch.lengths).to(device)
    sizes, counts = np.unique(batch.lengths, return_counts=True)
    groups: Groups = list(zip(counts.tolist(), sizes.tolist(), strict=True))
    x = embeddings.word_embeddings(ids) + embeddings.position_embeddings(positions)
    x = embeddings.LayerNorm(x + embeddings.token_type_embeddings(types))
    *layers, last = model.bert.encoder.layer
    hidden = []
    for layer in layers:
        x = _after_attention(layer, _attention(layer, x, groups), x)
        hidden.append(x)
    first = x[starts]
    x = _after_attention(last, _attention_of_first(last, x, first, groups), first)
    pooled = torch.tanh(model.bert.pooler.dense(x))
    return model.classifier(pooled).float(), hidden


def _after_attention(layer: Any, attended: Tensor, x: Tensor) -> Tensor:
    out = layer.attention.output
    x = out.LayerNorm(out.dense(attended) + x)
    inner = F.gelu(layer.intermediate.dense(x))
    result: Tensor = layer.output.LayerNorm(layer.output.dense(inner) + x)
    return result


def _attention(layer: Any, x: Tensor, groups: Groups) -> Tensor:
    """Self-attention of all tokens, shape (tokens, width)."""
    attention = layer.attention.self
    n_heads, width = attention.num_attention_heads, x.shape[1]
    weight = torch.cat([attention.query.weight, attention.key.weight, attention.value.weight])
    qkv = F.linear(x, weight, torch.cat([attention.query.bias, attention.key.bias, attention.value.bias]))
    outputs, start = [], 0
    for count, length in groups:
        rows = qkv[start : start + count * length].view(count, length, 3, n_heads, width // n_heads)
        q, k, v = rows.permute(2, 0, 3, 1, 4).unbind(0)
        outputs.append(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, width))
        start += count * length
    return torch.cat(outputs)


def _attention_of_first(layer: Any, x: Tensor, first: Tensor, groups: Groups) -> Tensor:
    """Attention of the first token of each pair, shape (pairs, width)."""
    attention = layer.attention.self
    n_heads, width = attention.num_attention_heads, x.shape[1]
    query = attention.query(first)
    kv = F.linear(
        x,
        torch.cat([attention.key.weight, attention.value.weight]),
        torch.cat([attention.key.bias, attention.value.bias]),
    )
    outputs, token, pair = [], 0, 0
    for count, length in groups:
        rows = kv[token : token + count * length].view(count, length, 2, n_heads, width // n_heads)
        k, v = rows.permute(2, 0, 3, 1, 4).unbind(0)
        q = query[pair : pair + count].view(count, n_heads, 1, width // n_heads)
        outputs.append(F.scaled_dot_product_attention(q, k, v).reshape(count, width))
        token, pair = token + count * length, pair + count
    return torch.cat(outputs)

"""The forward pass without padding: the logits and gradients of the transformers model."""

from __future__ import annotations

import numpy as np
import torch

from lab.train.batches import Encoder
from lab.train.folder import load_start
from lab.train.packed import packed_logits

PAIRS = [
    ("kidney pain", "pain of the kidney"),
    ("no cyst", "any small cyst in the liver"),
    ("scar", "ulcer"),
    ("a", "b"),
]


def test_logits_and_gradients_are_those_of_the_padded_model(tiny):
    torch.manual_seed(0)
    model, tokenizer = load_start(tiny)
    rows, batch = next(Encoder(tokenizer, 32).batches(PAIRS, [1, 0, 1, 0], 4))
    padded = tokenizer(*zip(*(PAIRS[k] for k in rows), strict=True), padding=True, return_tensors="pt")
    assert padded["attention_mask"].sum() == len(batch.ids) < padded["attention_mask"].numel()
    logits = model.train()(**padded).logits
    torch.nn.functional.cross_entropy(logits, torch.from_numpy(batch.labels)).backward()
    padded_gradients = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    packed, hidden = packed_logits(model, batch)
    assert torch.allclose(packed, logits, atol=1e-5)
    assert [h.shape for h in hidden] == [(len(batch.ids), 32)] * 3
    torch.nn.functional.cross_entropy(packed, torch.from_numpy(batch.labels)).backward()
    for name, p in model.named_parameters():
        assert torch.allclose(p.grad, padded_gradients[name], atol=1e-5), name
    assert batch.labels.tolist() == [[1, 0, 1, 0][k] for k in rows] and np.all(np.diff(batch.lengths) >= 0)

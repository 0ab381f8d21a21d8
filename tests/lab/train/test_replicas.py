"""Several threads on their shares of a batch: the gradient of the whole."""

from __future__ import annotations

import pytest
import torch

from lab.train.batches import Encoder
from lab.train.embedding_rows import TouchedRows
from lab.train.packed import PackedTraining
from lab.train.replicas import Replicas
from tests.lab.train.conftest import grown

PAIRS = [
    (f"pain in the {a}", f"{b} pain at night" * (len(b) % 3 + 1)) for a in ("knee", "hip", "left ear") for b in "abc"
]


@pytest.mark.parametrize("threads", [2, 3, 20])
def test_the_gradients_are_those_of_one_pass_over_the_batch(tiny, threads):
    torch.manual_seed(0)
    model, tokenizer = grown(tiny, 2)
    weight = model.get_input_embeddings().weight
    words = TouchedRows(weight, weight.detach().clone(), 0.0)
    packed = PackedTraining(model)
    batch = Encoder(tokenizer, 32).batch(PAIRS, [k % 2 for k in range(len(PAIRS))])

    def loss(part):
        logits, labels = packed(part, words)
        return torch.nn.functional.cross_entropy(logits, labels)

    rows = words.read(torch.from_numpy(batch.ids[batch.mask == 1]).long())
    leaves = [*(p for p in model.parameters() if p.requires_grad), rows]
    wanted = torch.autograd.grad(loss(batch), leaves)
    before = torch.get_num_threads()
    Replicas(threads).backward(loss, batch, leaves)
    assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    for leaf, gradient in zip(leaves, wanted, strict=True):
        assert torch.allclose(leaf.grad, gradient, atol=1e-6)

"""The forward pass without padding: the logits and gradients of the transformers model."""

from __future__ import annotations

import numpy as np
import torch

from lab.train.batches import Encoder
from lab.train.embedding_rows import TouchedRows
from lab.train.folder import load_start
from lab.train.packed import PackedTraining
from tests.lab.train.conftest import grown

PAIRS = [
    ("kidney pain", "pain of the kidney"),
    ("no cyst", "any small cyst in the liver"),
    ("scar", "ulcer"),
    ("a", "b"),
]


def test_logits_and_gradients_are_those_of_the_padded_model(tiny):
    torch.manual_seed(0)
    model, tokenizer = grown(tiny, 3)
    model.train()
    batch = Encoder(tokenizer, 32).batch(PAIRS, [1, 0, 1, 0])
    assert batch.mask.sum() < batch.mask.size
    inputs = {"input_ids": batch.ids, "attention_mask": batch.mask, "token_type_ids": batch.types}
    logits = model(**{name: torch.from_numpy(x).long() for name, x in inputs.items()}).logits
    torch.nn.functional.cross_entropy(logits, torch.from_numpy(batch.labels)).backward()
    wanted = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()

    weight = model.get_input_embeddings().weight
    name = next(n for n, p in model.named_parameters() if p is weight)
    words = TouchedRows(weight, weight.detach().clone(), 0.0)
    assert PackedTraining.fits(model)
    words.read(torch.from_numpy(batch.ids[batch.mask == 1]).long())
    packed_logits, labels = PackedTraining(model)(batch, words)
    order = np.argsort(batch.mask.sum(axis=1), kind="stable")
    assert torch.allclose(packed_logits, logits[order], atol=1e-5)
    assert labels.tolist() == batch.labels[order].tolist()
    torch.nn.functional.cross_entropy(packed_logits, labels).backward()
    for other, p in model.named_parameters():
        if other != name:
            assert torch.allclose(p.grad, wanted[other], atol=1e-5), other
    places = torch.from_numpy(np.unique(batch.ids[batch.mask == 1])).long()
    assert torch.allclose(words.rows.grad, wanted[name][places], atol=1e-5)


def test_a_model_with_dropout_is_left_to_transformers(tiny):
    assert not PackedTraining.fits(load_start(str(tiny), dropout=0.1)[0])

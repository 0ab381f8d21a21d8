"""The table of which a step updates few rows: against AdamW and a moving average of the whole table."""

from __future__ import annotations

import pytest
import torch

from lab.train.embedding_rows import TouchedRows

RATE, DECAY = 0.1, 0.9


def steps(count: int, every_row: bool):
    """Ids of some batches of a table of six rows."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(count):
        yield torch.arange(6).reshape(2, 3) if every_row else torch.randint(0, 4, (2, 3), generator=generator)


def run(table: TouchedRows, batches, target: torch.Tensor) -> None:
    for ids in batches:
        table.read(ids)
        loss = ((table.embed(ids) - target[ids]) ** 2).sum()
        loss.backward()
        table.step(RATE, DECAY)


@pytest.fixture
def weight():
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(1))


def test_with_every_row_in_every_batch_it_is_adamw_and_the_plain_average(weight):
    target = torch.ones(6, 4)
    plain = torch.nn.Parameter(weight.clone())
    average = weight.clone()
    optimizer = torch.optim.AdamW([plain], lr=RATE, weight_decay=0.01)
    for ids in steps(12, every_row=True):
        optimizer.zero_grad()
        ((plain[ids] - target[ids]) ** 2).sum().backward()
        optimizer.step()
        average.lerp_(plain.detach(), 1 - DECAY)
    table = TouchedRows(weight.clone(), weight.clone(), 0.01)
    run(table, steps(12, every_row=True), target)
    table.settle()
    assert torch.allclose(table.weight, plain, atol=1e-5)
    assert torch.allclose(table.average, average, atol=1e-5)


def test_rows_that_are_not_read_stay_and_the_average_follows_exactly(weight):
    average, seen = weight.clone(), weight.clone()
    table = TouchedRows(seen, weight.clone(), 0.01)
    target = torch.ones(6, 4)
    for ids in steps(12, every_row=False):
        before = table.weight.clone()
        run(table, [ids], target)
        read = torch.zeros(6, dtype=torch.bool)
        read[ids.unique()] = True
        assert torch.equal(table.weight[~read], before[~read]) and not torch.equal(table.weight[read], before[read])
        average.lerp_(table.weight, 1 - DECAY)
    table.settle()
    assert torch.allclose(table.average, average, atol=1e-5)
    table.settle()
    assert torch.allclose(table.average, average, atol=1e-5)


def test_it_goes_on_from_its_state(weight):
    batches, target = list(steps(8, every_row=False)), torch.ones(6, 4)
    whole = TouchedRows(weight.clone(), weight.clone(), 0.01)
    run(whole, batches[:4], target)
    whole.settle()
    other = TouchedRows(whole.weight.clone(), torch.zeros(6, 4), 0.01)
    other.load({k: v.clone() if torch.is_tensor(v) else v for k, v in whole.state().items()}, whole.average.clone())
    for table in (whole, other):
        run(table, batches[4:], target)
        table.settle()
    assert torch.equal(whole.weight, other.weight) and torch.equal(whole.average, other.average)

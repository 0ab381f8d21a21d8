"""The gradients of a training step, from one thread for each core.

A step of a small model on short texts is a few thousand small products. Shared between two threads, each product makes
both wait; a thread that computes the whole pass for its half of the pairs waits once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from lab.train.batches import Batch

__all__ = ["Replicas"]


class Replicas:
    """Threads that read the same weights, each on its share of the pairs of a batch; their gradients are added.

    Parameters
    ----------
    threads
        Number of threads; torch uses as many outside of them.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    def backward(self, loss: Callable[[Batch], Tensor], batch: Batch, leaves: Sequence[Tensor]) -> None:
        """Set ``grad`` of the leaves to the gradient of the mean loss of the whole batch.

        Parameters
        ----------
        loss
            The mean loss of a batch; called by several threads at a time.
        leaves
            The tensors that are trained. The loss depends on each.
        """

        def of(share: Batch) -> tuple[Tensor, ...]:
            return torch.autograd.grad(loss(share) * (len(share.labels) / len(batch.labels)), leaves)

        total, *others = self._pool.map(of, _shares(batch, self._threads))
        # set_num_threads in a worker also changes what later calls outside of it use
        torch.set_num_threads(self._threads)
        for gradients in others:
            torch._foreach_add_(total, gradients)
        for leaf, gradient in zip(leaves, total, strict=True):
            leaf.grad = gradient


def _shares(batch: Batch, count: int) -> list[Batch]:
    """The batch in parts with equally many tokens, nearly: pairs are dealt out by length."""
    order = np.argsort(batch.mask.sum(axis=1), kind="stable")
    dealt = [order[k::count] for k in range(min(count, len(order)))]
    return [
        replace(batch, ids=batch.ids[k], types=batch.types[k], mask=batch.mask[k], labels=batch.labels[k])
        for k in dealt
    ]

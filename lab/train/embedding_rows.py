"""An embedding table in which each step of training updates only the rows that it reads.

Half of the parameters of a small model are in its embedding table. Of a batch of 64 pairs nearly all rows have no
gradient, yet optimizer, clipping and moving average of the whole table take a tenth of the step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["TouchedRows"]

_BETAS = (0.9, 0.999)
_TINY = 1e-8


class TouchedRows:
    """AdamW and the moving average of one table, both for the rows of each batch only.

    A row's moments and weight decay do not change while it is not read (lazy Adam). Its average stays exact: for an
    unchanged weight all decays since the last update are applied at once.

    Parameters
    ----------
    weight
        The table, changed in place.
    average
        Its moving average, changed in place; whole after :meth:`settle`.
    """

    def __init__(self, weight: Tensor, average: Tensor, weight_decay: float) -> None:
        self.weight, self.average, self._weight_decay = weight, average, weight_decay
        weight.requires_grad_(False)
        self._mean, self._square = torch.zeros_like(weight), torch.zeros_like(weight)
        self._steps = torch.zeros(len(weight), device=weight.device)
        self._seen = torch.zeros(len(weight), dtype=torch.float64, device=weight.device)
        self._log_decay = 0.0
        self._places: Tensor | None = None
        self.rows: Tensor | None = None

    def read(self, ids: Tensor) -> Tensor:
        """Begin a step that reads these ids.

        Returns
        -------
        Tensor
            The rows that occur, each once; their gradient is what :meth:`step` takes.
        """
        self._places = torch.unique(ids)
        self.rows = self.weight[self._places].requires_grad_()
        return self.rows

    def embed(self, ids: Tensor) -> Tensor:
        """The embeddings of these ids, shape (*ids, width); all must have been named to :meth:`read`."""
        assert self._places is not None and self.rows is not None
        return F.embedding(torch.searchsorted(self._places, ids), self.rows)

    def step(self, rate: float, decay: float) -> None:
        """Update the rows of the last batch from their gradient.

        Parameters
        ----------
        rate
            Learning rate of this step.
        decay
            Of the moving average, in this step.
        """
        places, rows = self._places, self.rows
        if places is None or rows is None or rows.grad is None:
            return
        with torch.no_grad():
            self._follow(places)
            gradient, old = rows.grad, rows.detach()
            steps = self._steps[places] + 1
            mean = torch.lerp(self._mean[places], gradient, 1 - _BETAS[0])
            square = torch.lerp(self._square[places], gradient * gradient, 1 - _BETAS[1])
            first, second = (1 - beta ** steps[:, None] for beta in _BETAS)
            change = (mean / first) / ((square / second).sqrt() + _TINY)
            self.weight[places] = old * (1 - rate * self._weight_decay) - rate * change
            self._mean[places], self._square[places], self._steps[places] = mean, square, steps
        self._log_decay += float(torch.log(torch.tensor(decay, dtype=torch.float64)))
        self._places = self.rows = None

    def settle(self) -> None:
        """Bring the average of every row up to date."""
        with torch.no_grad():
            self._follow(torch.arange(len(self.weight), device=self.weight.device))

    def _follow(self, places: Tensor) -> None:
        """Bring the average of these rows to where it is after the last step."""
        kept = torch.exp(self._log_decay - self._seen[places]).to(self.average.dtype)[:, None]
        weight = self.weight[places]
        self.average[places] = weight + kept * (self.average[places] - weight)
        self._seen[places] = self._log_decay

    def state(self) -> dict[str, Any]:
        """What a checkpoint contains besides the weights and their average."""
        return {
            "mean": self._mean,
            "square": self._square,
            "steps": self._steps,
            "seen": self._seen,
            "log_decay": self._log_decay,
        }

    def load(self, state: dict[str, Any], average: Tensor) -> None:
        """Continue from a checkpoint's state, with this average."""
        device = self.weight.device
        self._mean, self._square, self._steps, self._seen = (
            state[name].to(device) for name in ("mean", "square", "steps", "seen")
        )
        self._log_decay, self.average = float(state["log_decay"]), average

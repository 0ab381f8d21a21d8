"""Linear layers with 8-bit weights and activations, for processors.

Weights are rounded once, one scale an output; activations per token, one scale a row, so that what shares a batch with a pair never
changes its score (a scale for the whole batch would).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Int8Linear(nn.Module):
    """y = x Wᵀ + b with W as int8 (outputs, inputs) and x rounded to int8 row by row."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(dim=1).clamp_min(1e-12) / 127
        self.register_buffer("weight_int8", torch.round(weight / scale[:, None]).to(torch.int8).t().contiguous())
        self.register_buffer("scale", scale)
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach())

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output, float32, shape (..., outputs)."""
        rows = x.reshape(-1, x.shape[-1])
        row_scale = rows.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
        whole = torch._int_mm(torch.round(rows / row_scale).to(torch.int8), self.weight_int8)
        result = whole.to(torch.float32) * row_scale * self.scale
        if self.bias is not None:
            result = result + self.bias
        return result.view(*x.shape[:-1], -1)


def quantise(model: Any) -> Any:
    """Replaces the linear layers of the encoder, in place; the head, which costs nothing, keeps its precision."""
    base = getattr(model, model.base_model_prefix, model)
    for parent in list(base.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear:
                setattr(parent, name, Int8Linear(child))
    return model

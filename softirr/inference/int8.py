"""Linear layers with 8-bit weights and activations, for processors that multiply them fast (VNNI).

Weights are rounded once, with one scale per output. Activations have one scale per row, so that the rounding of a pair
does not depend on the other pairs of its batch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["Int8Linear", "int8_is_fast"]

_LEVELS = 127
_ZERO = 128
"""Zero point of activations, stored as 1 to 255 because oneDNN's fast kernels take unsigned numbers."""


def int8_is_fast() -> bool:
    """Whether this processor and this PyTorch have 8-bit products.

    Without them the same products are slower than float32.
    """
    name = "_is_avx512_vnni_supported" if hasattr(torch.cpu, "_is_avx512_vnni_supported") else "_is_vnni_supported"
    supported: Callable[[], bool] = getattr(torch.cpu, name, lambda: False)
    return supported() and hasattr(torch.ops.onednn, "qlinear_pointwise")


class Int8Linear:
    """f(x Wᵀ + b) with W as int8 and x rounded row by row to 8 bits; the result is float32.

    Parameters
    ----------
    weight : shape (outputs, inputs)
    bias : shape (outputs,)
    """

    def __init__(self, weight: Tensor, bias: Tensor, activation: Callable[[Tensor], Tensor] | None = None) -> None:
        self._activation = activation
        scale = weight.abs().amax(dim=1).clamp_min(1e-12) / _LEVELS
        rounded = torch.round(weight / scale[:, None]).to(torch.int8)
        self._weight = torch.ops.onednn.qlinear_prepack(rounded.contiguous(), None)
        self._scale, self._zeros = scale.float(), torch.zeros(len(scale), dtype=torch.int32)
        self._bias = bias.float()
        self._half = torch.tensor(_ZERO + 0.5)

    def __call__(self, x: Tensor) -> Tensor:
        """The layer's output, shape (rows, outputs)."""
        size = x.abs().amax(dim=1, keepdim=True).clamp_min_(1e-12)
        # cutting off behind zero point + 1/2 rounds to the nearest
        rounded = torch.addcmul(self._half, x, _LEVELS / size).to(torch.uint8)
        product = torch.ops.onednn.qlinear_pointwise(
            rounded, 1.0, _ZERO, self._weight, self._scale, self._zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        y = torch.addcmul(self._bias, product, size / _LEVELS, out=product)
        return y if self._activation is None else self._activation(y)

"""Linear layers in the number format of the weights, in bfloat16, and with 8-bit weights and activations.

8-bit layers are for processors that multiply 8-bit numbers fast (VNNI). Weights are rounded once, with one scale per
output. Activations have one scale per row, so that the rounding of a pair does not depend on the other pairs of its
batch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

Activation = Callable[[Tensor], Tensor]


class Linear:
    """f(x Wᵀ + b) in the number format of the weights, W of shape (outputs, inputs)."""

    def __init__(self, weight: Tensor, bias: Tensor, activation: Activation | None = None) -> None:
        self._weight, self._bias, self._activation = weight, bias, activation

    def __call__(self, x: Tensor) -> Tensor:
        """The layer's output, shape (rows, outputs)."""
        y = F.linear(x, self._weight, self._bias)
        return y if self._activation is None else self._activation(y)


class Bfloat16Linear:
    """f(x Wᵀ + b) in bfloat16 on a processor.

    What surrounds it (sums, normalization) stays in float32, where rounding would add up.

    If the processor has bfloat16 products, the weights are converted once to the layout of oneDNN's kernels, which
    PyTorch otherwise does in every product. On other processors oneDNN refuses this layout, and PyTorch computes the
    product without it.
    """

    def __init__(self, weight: Tensor, bias: Tensor, activation: Activation | None = None) -> None:
        self._weight, self._bias, self._activation = weight.to(torch.bfloat16), bias.to(torch.bfloat16), activation
        self._after = "gelu" if activation is F.gelu else "none"
        self._packed = torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
        if self._packed:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(self._weight.contiguous())

    def __call__(self, x: Tensor) -> Tensor:
        """The layer's output, shape (rows, outputs), bfloat16."""
        if not self._packed:
            y = F.linear(x.to(torch.bfloat16), self._weight, self._bias)
            return y if self._activation is None else self._activation(y)
        # oneDNN compiles a kernel of a megabyte for each number of rows, so products have few numbers of rows
        rows = x.new_zeros((_padded_rows(len(x)), x.shape[1]), dtype=torch.bfloat16)
        rows[: len(x)] = x
        y = torch.ops.mkldnn._linear_pointwise(rows, self._weight, self._bias, self._after, [], "none")[: len(x)]
        return y if self._activation is None or self._after == "gelu" else self._activation(y)


def _padded_rows(n: int) -> int:
    """The rows of a product: n rounded up to a multiple of 32, or to one of 16 sizes between two powers of two."""
    step = max(32, 1 << max(n.bit_length() - 5, 0))
    return -(-n // step) * step


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

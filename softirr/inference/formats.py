"""Number formats of a classifier: linear layers in bfloat16 and 8 bits, and the choice of a format.

The choice is the fastest format with probabilities close to float32 on check pairs. 8-bit layers are for processors
that multiply 8-bit numbers fast (VNNI). Weights are rounded once, with one scale per output. Activations have one scale
per row, so that the rounding of a pair does not depend on the other pairs of its batch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from softirr.errors import InputError
from softirr.inference.bert import BertForSequenceClassification
from softirr.inference.forward import Activation, Forward, Linear, PackedBert, PaddedForward
from softirr.inference.loading import fast_bfloat16
from softirr.inference.tokens import Packed, PairTokens

_TOLERANCE = {"float32": 1e-5, "bfloat16": 5e-2, "float16": 5e-2}
"""Largest difference of a probability between the packed and the padded pass in float32."""
_AUTO_BOUND = 0.003
"""Root mean square change of the check pairs' probabilities that ``auto`` accepts from a faster format.

Such errors differ from pair to pair, so a mean of 100 pairs moves by 0.0003. The largest change is not a good
criterion: a pair near 0.5 doubles it, with the same errors on all pairs.
"""
_INT8_BOUND, _INT8_AUTO_BOUND = 0.01, 0.0075
"""Largest change that is accepted from int8 when it is requested by name, and from ``auto``."""
_CHECK = (
    "heart attack",
    "myocardial infarction",
    "fever",
    "no fever at all",
    "chronic cough for three weeks",
    "x",
    "small pleural effusion on the left side, unchanged",
    "left-sided pleural effusion",
    "The committee agreed on the budget.",
    "Nobody agreed on anything, least of all on the budget.",
)
"""Check texts: when a model is loaded, each two of them are run in float32 and in a faster format."""
_CHECK_PARTS = 10
_LEVELS = 127
_ZERO = 128
"""Zero point of activations, stored as 1 to 255 because oneDNN's fast kernels take unsigned numbers."""


def choose_format(model: Any, precision: str, tokens: PairTokens) -> tuple[str, Forward]:
    """The number format of a model on its device, and its forward pass.

    Parameters
    ----------
    model : transformers model
        In float32.
    precision : str
        One of :data:`softirr.inference.models.PRECISIONS`.
    tokens : PairTokens
        The model's tokenizer.

    Raises
    ------
    InputError
        If int8 does not fit the model or the processor.
    """
    candidates = _fast_formats(model) if precision == "auto" else [precision]
    if isinstance(model, BertForSequenceClassification) and candidates in ([], ["float32"]):
        return "float32", PackedBert(model)  # tests compare it with transformers
    (check,) = _check_batches(tokens, 1)
    with torch.inference_mode():
        if isinstance(model, BertForSequenceClassification):
            exact = PackedBert(model)(check)
        else:
            padded = PaddedForward(model)
            # the padded pass needs the most memory, so it runs in parts; one batch keeps the kernels of the others few
            exact = torch.cat([padded(batch) for batch in _check_batches(tokens, _CHECK_PARTS)])
        for candidate in candidates:
            bound = _INT8_BOUND if precision == "int8" else _INT8_AUTO_BOUND
            try:
                if candidate == "int8":
                    forward = _int8_forward(model, tokens, exact, bound)
                else:
                    forward = _forward(model, candidate, check, exact)
            except InputError:
                if precision == "int8":
                    raise
                continue  # int8 refused: the next format
            changes = forward(check).softmax(-1) - exact.softmax(-1)
            if precision != "auto" or float(changes.square().mean().sqrt()) <= _AUTO_BOUND:
                return candidate, forward
        return "float32", _forward(model, "float32", check, exact)


def _fast_formats(model: Any) -> list[str]:
    """Formats that are faster here than float32, the fastest first."""
    if _device_of(model).type == "cuda":
        # float16 is as fast and eight times as exact, but overflows where bfloat16 does not
        return ["bfloat16", "float16"] if torch.cuda.is_bf16_supported() else ["float16"]
    if _device_of(model).type != "cpu":
        return []
    formats = ["int8"] if PackedBert.fits(model) and int8_is_fast() else []
    return [*formats, "bfloat16"] if fast_bfloat16() else formats


def _int8_forward(model: Any, tokens: PairTokens, exact: Tensor, bound: float) -> Forward:
    if _device_of(model).type != "cpu" or not PackedBert.fits(model) or not int8_is_fast():
        raise InputError(
            "The precision int8 is for BERT, RoBERTa and XLM-R on processors with 8-bit products; "
            "use auto, bfloat16 or float32."
        )
    quantized = PackedBert(model, Int8Linear)
    # most models are refused by the first pairs alone, which saves the time of the others
    for batch in (_check_batches(tokens, _CHECK_PARTS)[0], *_check_batches(tokens, 1)):
        moved = _moved(quantized(batch), exact[: len(batch.lengths)])
        if moved > bound:
            raise InputError(
                f"The precision int8 moves this model's probabilities by {moved:.3f} or more; use auto, bfloat16 or "
                "float32."
            )
    return quantized


def _forward(model: Any, precision: str, check: Packed, exact: Tensor) -> Forward:
    """The forward pass in a number format: packed if it reproduces the padded one, else padded."""
    if precision == "bfloat16" and _device_of(model).type == "cpu" and PackedBert.fits(model):
        return PackedBert(model, Bfloat16Linear)
    if precision != "float32":
        model = copy.deepcopy(model).to(getattr(torch, precision))
    if isinstance(model, BertForSequenceClassification):
        return PackedBert(model)
    if PackedBert.fits(model):
        # a variant of the architecture, or a device without the packed attention: the padded pass always works
        with suppress(RuntimeError, AttributeError, KeyError):
            packed = PackedBert(model)
            if _moved(packed(check), exact) <= _TOLERANCE[precision]:
                return packed
    return PaddedForward(model)


def _device_of(model: Any) -> torch.device:
    device: torch.device = next(iter(model.parameters())).device
    return device


def _check_batches(tokens: PairTokens, n_batches: int) -> list[Packed]:
    """Each two check texts once, the longest pairs first: most of the time of loading is spent on them."""
    table = tokens.table(_CHECK)
    first, second = np.tril_indices(len(_CHECK))
    lengths, _ = table.pair_lengths(first, second)
    order = np.argsort(-lengths, kind="stable")
    return [table.pack(first[batch], second[batch]) for batch in np.array_split(order, n_batches)]


def _moved(values: Tensor, exact: Tensor) -> float:
    """Largest difference of any probability."""
    return float((values.softmax(-1) - exact.softmax(-1)).abs().max())


class Bfloat16Linear(Linear):
    """f(x Wᵀ + b) in bfloat16 on a processor.

    What surrounds it (sums, normalization) stays in float32, where rounding would add up.

    If the processor has bfloat16 products, the weights are converted once to the layout of oneDNN's kernels, which
    PyTorch otherwise does in every product. On other processors oneDNN refuses this layout, and PyTorch computes the
    product without it.
    """

    def __init__(self, weight: Tensor, bias: Tensor, activation: Activation | None = None) -> None:
        super().__init__(weight.to(torch.bfloat16), bias.to(torch.bfloat16), activation)
        self._after = "none"
        self._packed = torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
        if self._packed:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(self._weight.contiguous())
            if activation is F.gelu:  # a part of the product
                self._after, self._activation = "gelu", None

    def product(self, x: Tensor) -> Tensor:
        """The output before other activations than GELU, bfloat16."""
        if not self._packed:
            return super().product(x.to(torch.bfloat16))
        # oneDNN compiles a kernel of a megabyte for each number of rows, so products have few numbers of rows
        rows = x.new_zeros((_padded_rows(len(x)), x.shape[1]), dtype=torch.bfloat16)
        rows[: len(x)] = x
        y: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._weight, self._bias, self._after, [], "none")
        return y[: len(x)]


def _padded_rows(n: int) -> int:
    """The rows of a product: n rounded up to a multiple of 32, or to one of 16 sizes between two powers of two."""
    step = max(32, 1 << max(n.bit_length() - 5, 0))
    return -(-n // step) * step


def int8_is_fast() -> bool:
    """Whether this processor and this PyTorch have 8-bit products.

    Without them the same products are slower than float32.
    """
    name = "_is_avx512_vnni_supported" if hasattr(torch.cpu, "_is_avx512_vnni_supported") else "_is_vnni_supported"
    supported: Callable[[], bool] = getattr(torch.cpu, name, lambda: False)
    return supported() and hasattr(torch.ops.onednn, "qlinear_pointwise")


class Int8Linear(Linear):
    """f(x Wᵀ + b) with W as int8 and x rounded row by row to 8 bits; the result is float32.

    Parameters
    ----------
    weight : shape (outputs, inputs)
    bias : shape (outputs,)
    """

    def __init__(self, weight: Tensor, bias: Tensor, activation: Activation | None = None) -> None:
        scale = weight.abs().amax(dim=1).clamp_min(1e-12) / _LEVELS
        rounded = torch.round(weight / scale[:, None]).to(torch.int8)
        super().__init__(torch.ops.onednn.qlinear_prepack(rounded.contiguous(), None), bias.float(), activation)
        self._scale, self._zeros = scale.float(), torch.zeros(len(scale), dtype=torch.int32)
        self._half = torch.tensor(_ZERO + 0.5)

    def product(self, x: Tensor) -> Tensor:
        """The output before the activation, float32."""
        size = x.abs().amax(dim=1, keepdim=True).clamp_min_(1e-12)
        # cutting off behind zero point + 1/2 rounds to the nearest
        rounded = torch.addcmul(self._half, x, _LEVELS / size).to(torch.uint8)
        product = torch.ops.onednn.qlinear_pointwise(
            rounded, 1.0, _ZERO, self._weight, self._scale, self._zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return torch.addcmul(self._bias, product, size / _LEVELS, out=product)

"""Choice of the device that runs a model, its fast number formats, and batches that fit into its memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import torch

from softirr.errors import InputError, SoftirrError


def pick_device(device: str) -> torch.device:
    """The torch device of a name.

    Parameters
    ----------
    device : str
        ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.

    Raises
    ------
    InputError
        If this machine lacks the device.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch_device = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"There is no device {device!r}; use auto, cpu, cuda or mps.") from error
    if torch_device.type == "cuda" and (torch_device.index or 0) >= torch.cuda.device_count():
        raise InputError(f"The device {device} is not on this machine.")
    if torch_device.type == "mps" and not torch.backends.mps.is_available():
        raise InputError(f"The device {device} is not on this machine.")
    return torch_device


def pick_precision(precision: str, device: torch.device, models: str) -> str:
    """The number format of a model that has no faster ones.

    Parameters
    ----------
    precision : str
        ``float32``, ``bfloat16`` or ``auto``: bfloat16 on a GPU, else float32.
    models : str
        Name of the models in messages.

    Raises
    ------
    InputError
        If the format is unknown.
    """
    if precision not in ("auto", "float32", "bfloat16"):
        raise InputError(f"{models} have no precision {precision!r}; use auto, float32 or bfloat16.")
    return {"auto": "bfloat16" if device.type == "cuda" else "float32"}.get(precision, precision)


class Batches:
    """Runs inputs in batches, the longest first, and in smaller ones from when memory runs out.

    Parameters
    ----------
    tokens : int
        Maximum number of tokens of a batch.
    scarce : str
        Message where a single input does not fit.
    """

    def __init__(self, tokens: int, scarce: str) -> None:
        self._tokens, self._scarce = tokens, scarce

    def run(self, lengths: Sequence[int], work: Callable[[list[int]], None]) -> None:
        """Call `work` with the numbers of the inputs of each batch; `lengths` are their tokens."""
        order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
        start = 0
        while start < len(order):
            batch = order[start : start + max(1, self._tokens // max(1, lengths[order[start]]))]
            try:
                work(batch)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                if len(batch) == 1:
                    raise SoftirrError(self._scarce) from error
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()
                self._tokens //= 2
                continue
            start += len(batch)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error reports that memory ran out."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 matrices faster than float32 ones."""
    if os.environ.get("SOFTIRR_CPU_BFLOAT16") in ("0", "1"):
        return os.environ["SOFTIRR_CPU_BFLOAT16"] == "1"
    names = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in names)

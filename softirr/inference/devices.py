"""The device that runs a model: which one, what it is fast at, and when its memory ran out."""

from __future__ import annotations

import os

import torch

from softirr.errors import InputError

__all__ = ["fast_bfloat16", "out_of_memory", "pick_device"]


def pick_device(device: str) -> torch.device:
    """The torch device of a name.

    Parameters
    ----------
    device : str
        ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.

    Returns
    -------
    torch.device

    Raises
    ------
    InputError
        If there is no such device here.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"There is no device {device!r}; use auto, cpu, cuda or mps.") from error
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise InputError(f"The device {device} is not on this machine.")
    if chosen.type == "mps" and not torch.backends.mps.is_available():
        raise InputError(f"The device {device} is not on this machine.")
    return chosen


def out_of_memory(error: BaseException) -> bool:
    """Whether an error reports that memory ran out.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    bool
    """
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 matrices faster than float32 ones.

    Returns
    -------
    bool
    """
    if os.environ.get("SOFTIRR_CPU_BFLOAT16") in ("0", "1"):
        return os.environ["SOFTIRR_CPU_BFLOAT16"] == "1"
    names = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in names)

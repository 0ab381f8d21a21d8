"""A model that is opened when the first pair needs it.

If the cache has all pairs of a run, neither torch nor weights nor tokenizer are loaded. The keys of pairs contain the
number format, which is chosen by trying the model, so the cache has that choice too.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from softirr.inference.classifier_options import PRECISIONS, ClassifierOptions
from softirr.meaning.measures.pair_cache import PairCache, text_hash

if TYPE_CHECKING:  # the other engines import torch
    from softirr.inference.engines import Engine

_DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
"""Where Linux has the driver of a GPU."""
_SWITCHES = ("SOFTIRR_CPU_BFLOAT16", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
"""Environment variables that change which instructions PyTorch uses."""
_PROCESSOR = ("model name", "flags", "Features", "CPU part")
"""Lines of /proc/cpuinfo."""


class OpenedLater:
    """An engine that opens its model when a pair needs it, or a property that the cache does not know.

    Parameters
    ----------
    open_engine
        Opens the model in a number format.
    precision
        Requested number format.
    """

    def __init__(self, open_engine: Callable[[str], Engine], precision: str) -> None:
        self._open_engine, self._requested = open_engine, precision
        self._engine: Engine | None = None
        self._recalled: tuple[str, int] | None = None
        self._lock = Lock()

    def opened(self) -> Engine:
        """The engine, in the recalled number format if there is one, so that all scores of a run have the same."""
        with self._lock:
            if self._engine is None:
                self._engine = self._open_engine(self._recalled[0] if self._recalled else self._requested)
            return self._engine

    def recall(self, cache: PairCache, model: str) -> None:
        """Take number format and length limit of a model on this processor from the cache, else leave them there.

        Parameters
        ----------
        cache
            The store of scored pairs.
        model
            Content of the model, and its options.
        """
        if self._recalled is not None:
            return
        key = f"format of {model} on {_machine()}"
        rows = [(text_hash(precision),) * 2 for precision in PRECISIONS]
        values, is_known = cache.get(key, rows)
        if self._engine is None and is_known.any():
            row = int(is_known.argmax())
            self._recalled = PRECISIONS[row], int(values[row, 0])
        else:
            self._recalled = self.precision, self.max_length
            cache.put(key, [rows[PRECISIONS.index(self.precision)]], np.full((1, 2), float(self.max_length)))

    @property
    def precision(self) -> str:
        """Number format of the weights."""
        return self._recalled[0] if self._recalled else self.opened().precision

    @property
    def max_length(self) -> int:
        """Most tokens of a pair."""
        return self._recalled[1] if self._recalled else self.opened().max_length

    @property
    def device_name(self) -> str:
        """Device that runs the model."""
        return "cpu" if self._recalled else self.opened().device_name

    def run(self, *pairs: Any) -> Any:
        """Logits of directed pairs."""
        return self.opened().run(*pairs)

    def close(self) -> None:
        """End worker processes."""
        if self._engine is not None:
            self._engine.close()


def runs_on_processor(options: ClassifierOptions) -> bool:
    """Whether a model with these options is certain to run on the processor of this machine."""
    has_gpu = sys.platform == "win32" or any(Path(driver).exists() for driver in _DRIVERS)
    return options.device == "cpu" or (options.device == "auto" and not has_gpu)


def _machine() -> str:
    """Versions and processor, on which the choice of a number format depends."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            processor = "".join(line for line in takewhile(str.strip, file) if line.startswith(_PROCESSOR))
    except OSError:
        processor = platform.processor()
    switches = [os.environ.get(name) for name in _SWITCHES]
    return f"{platform.machine()} {processor} {metadata.version('torch')} {switches}"

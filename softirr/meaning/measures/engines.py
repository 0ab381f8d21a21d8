"""Engines that run an entailment model.

A model is opened when the first pair needs it. If the cache has all pairs of a run, neither torch nor weights nor
tokenizer are loaded. The keys of pairs contain the number format, which is chosen by trying the model, so the cache has
that choice too. With the bundled models, each pair goes to one of two classifiers by its texts alone.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.inference.models import PRECISIONS, ClassifierOptions
from softirr.meaning.measures.cache import PairCache, text_hash

if TYPE_CHECKING:  # they import torch
    from softirr.inference.classifier import Outputs, PairClassifier
    from softirr.inference.ray_engine import RayEngine

    Engine = PairClassifier | RayEngine

_DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
"""Where Linux has the driver of a GPU."""
_SWITCHES = ("SOFTIRR_CPU_BFLOAT16", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
"""Environment variables that change which instructions PyTorch uses."""
_PROCESSOR = ("model name", "flags", "Features", "CPU part")
"""Lines of /proc/cpuinfo."""


def open_engine(folder: Path, options: ClassifierOptions) -> Engine:
    """Open the classifier in a folder on the engine of the options.

    Raises
    ------
    InputError
        If the engine is unknown, or Ray is not installed.
    """
    if options.engine == "ray":
        from softirr.inference.ray_engine import RayEngine

        return RayEngine(folder, options)
    if options.engine != "local":
        raise InputError(f"There is no engine {options.engine!r}; use local or ray.")
    from softirr.inference.classifier import PairClassifier

    return PairClassifier(folder, options)


class ByLanguage:
    """Sends a pair to a second engine if its two texts together score below a bound.

    A pair always goes to the same engine, whatever other pairs are scored with it, so that scores can be cached.

    Parameters
    ----------
    first
        The engine of the other pairs; both engines have the same outputs.
    second
        The engine of the pairs below the bound.
    score
        How well a text fits the first engine.
    bound
        Sum of the scores of both texts below which a pair needs the second engine.
    """

    def __init__(self, first: Any, second: Any, score: Callable[[str], float], bound: float) -> None:
        self._first, self._second, self._score, self._bound = first, second, score, bound

    def run(self, texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]) -> Outputs:
        """Logits of the directed pairs (texts[left_texts[k]], texts[right_texts[k]])."""
        scores = np.array([self._score(text) for text in texts], dtype=np.float64)
        needs_second = scores[left_texts] + scores[right_texts] < self._bound
        if needs_second.all() or not needs_second.any():
            engine = self._second if needs_second.any() else self._first
            outputs: Outputs = engine.run(texts, left_texts, right_texts)
            return outputs
        first, second = (
            engine.run(texts, left_texts[is_its], right_texts[is_its])
            for engine, is_its in ((self._first, ~needs_second), (self._second, needs_second))
        )
        order = np.argsort(np.argsort(needs_second, kind="stable"))
        logits = np.concatenate([first.logits, second.logits])[order]
        return replace(first, logits=logits, truncated=np.concatenate([first.truncated, second.truncated])[order])

    def close(self) -> None:
        """End worker processes."""
        self._first.close()
        self._second.close()


class OpenedLater:
    """An engine that opens its model when a pair needs it, or a property that the cache does not know.

    Parameters
    ----------
    open_engine
        Opens the model with options.
    options
        Requested options.
    """

    def __init__(self, open_engine: Callable[[ClassifierOptions], Engine], options: ClassifierOptions) -> None:
        self._open_engine, self._options = open_engine, options
        self._engine: Engine | None = None
        self._recalled: tuple[str, int, str] | None = None
        self._lock = Lock()

    def opened(self) -> Engine:
        """The engine, in the recalled number format if there is one, so that all scores of a run have the same."""
        with self._lock:
            if self._engine is None:
                precision = self._recalled[0] if self._recalled else self._options.precision
                self._engine = self._open_engine(replace(self._options, precision=precision))
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
        key, row = f"format of {model} on {_machine()}", [(text_hash("number and length"),) * 2]
        values, is_known = cache.get(key, row)
        if self._engine is None and is_known.any():
            self._recalled = PRECISIONS[int(values[0, 0])], int(values[0, 1]), "cpu"
        else:
            self._recalled = precision, max_length, _ = self.format()
            cache.put(key, row, np.array([[PRECISIONS.index(precision), max_length]], dtype=np.float64))

    def format(self) -> tuple[str, int, str]:
        """Number format of the weights, most tokens of a pair, and the device that runs the model."""
        if self._recalled is not None:
            return self._recalled
        engine = self.opened()
        return engine.precision, engine.max_length, engine.device_name

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

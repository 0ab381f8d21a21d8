"""Engines that run a classifier: in this process, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.inference.classifier import Outputs, PairClassifier
from softirr.inference.classifier_options import ClassifierOptions


class Engine(Protocol):
    """A loaded classifier, wherever it runs."""

    n_labels: int
    id2label: dict[int, str]
    precision: str
    max_length: int
    device_name: str

    def run(self, texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]) -> Outputs:
        """Logits of the directed pairs (texts[left_texts[k]], texts[right_texts[k]])."""
        ...

    @property
    def batch(self) -> int:
        """Number of directed pairs to request at once: enough to keep every thread, GPU or worker busy."""
        ...

    def close(self) -> None:
        """Ends worker processes."""
        ...


def open_engine(folder: Path, options: ClassifierOptions, *, engine: str, workers: int | None) -> Engine:
    """Open the classifier in a folder on the named engine.

    Parameters
    ----------
    folder : Path
        The model.
    engine : {"local", "ray"}
    workers : int or None
        Number of workers of the cluster; None is one for each GPU, else one for each processor.

    Raises
    ------
    InputError
        If the engine is unknown, or Ray is not installed.
    """
    if engine == "ray":
        from softirr.inference.ray_engine import RayEngine

        return RayEngine(folder, options, workers)
    if engine != "local":
        raise InputError(f"There is no engine {engine!r}; use local or ray.")
    return PairClassifier(folder, options)

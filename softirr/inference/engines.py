"""Engines that run a classifier: in this process, in one process per GPU, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from softirr.errors import InputError, SoftirrError
from softirr.inference.classifier import Outputs, PairClassifier
from softirr.inference.classifier_options import ClassifierOptions
from softirr.inference.sharded_engine import About, ShardedEngine, Share, Worker

__all__ = ["Engine", "ProcessEngine", "open_engine"]


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
        Most processes, one a GPU, or workers of the cluster; None is as many as there are.

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
    gpus = torch.cuda.device_count() if options.device in ("auto", "cuda") and torch.cuda.is_available() else 0
    if gpus > 1 and workers != 1:
        return ProcessEngine(folder, [replace(options, device=f"cuda:{i}") for i in range(min(gpus, workers or gpus))])
    return PairClassifier(folder, options)


_worker: Worker | SoftirrError
"""The classifier of a worker process, or why there is none; set once when the process starts."""


def _start(folder: Path, options: ClassifierOptions) -> None:
    global _worker
    try:
        _worker = Worker(folder, options)
    except SoftirrError as error:  # raised here it would end the process with a traceback
        _worker = error


def _about() -> About:
    if isinstance(_worker, SoftirrError):
        raise _worker
    return _worker.about()


def _run(texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]) -> Outputs:
    assert isinstance(_worker, Worker)
    return _worker.run(texts, left_texts, right_texts)


class ProcessEngine(ShardedEngine):
    """Engine with one process per device, so that tokenizing and packing of one GPU's pairs never delay another GPU."""

    def __init__(self, folder: Path, options: Sequence[ClassifierOptions]) -> None:
        context = get_context("spawn")
        self._pools = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_start, initargs=(folder, option))
            for option in options
        ]
        try:
            super().__init__([future.result() for future in [pool.submit(_about) for pool in self._pools]])
        except BrokenProcessPool as error:
            self.close()
            raise InputError(f"The worker processes could not load the model in {folder}.") from error
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> int:
        """Number of processes."""
        return len(self._pools)

    def close(self) -> None:
        """Ends the processes."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)

    def _map(self, shares: Iterator[Share]) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        running: dict[Future[Outputs], tuple[ProcessPoolExecutor, Share]] = {}

        def hand_out(pool: ProcessPoolExecutor) -> None:
            share = next(shares, None)
            if share is not None:
                running[pool.submit(_run, share.texts, share.left_texts, share.right_texts)] = (pool, share)

        for pool in [*self._pools, *self._pools]:  # one share at work and one waiting in each process
            hand_out(pool)
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                pool, share = running.pop(future)
                try:
                    outputs = future.result()
                except BrokenProcessPool as error:
                    raise SoftirrError(
                        "A worker process ended, perhaps for lack of memory. "
                        "Run again: all pairs scored so far are kept."
                    ) from error
                hand_out(pool)
                yield share.where, outputs

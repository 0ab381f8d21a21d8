"""Engines that run a classifier: in this process, in one process per GPU, or on a Ray cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from softirr.errors import InputError, SoftirrError
from softirr.inference.classifier import ClassifierOptions, Outputs, PairClassifier
from softirr.provenance import Progress

__all__ = ["About", "Engine", "ProcessEngine", "ShardedEngine", "Share", "Worker", "open_engine"]

_SHARE = 16_384
"""Directed pairs of one task (an even number): enough to sort by length, few enough to spread evenly."""


class Engine(Protocol):
    """A loaded classifier, wherever it runs."""

    n_labels: int
    id2label: dict[int, str]
    precision: str
    max_length: int
    device_name: str

    def run(
        self,
        texts: Sequence[str],
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        *,
        progress: Progress | None = None,
    ) -> Outputs:
        """Logits of the directed pairs (texts[left[k]], texts[right[k]])."""
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
    options : ClassifierOptions
    engine : {"local", "ray"}
    workers : int or None
        Most processes, one a GPU, or workers of the cluster; None is as many as there are.

    Returns
    -------
    Engine

    Raises
    ------
    InputError
        If there is no such engine, or Ray is not installed.
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


@dataclass(frozen=True)
class About:
    """Properties of a worker's classifier."""

    n_labels: int
    id2label: dict[int, str]
    precision: str
    max_length: int
    device_name: str


class Worker:
    """A classifier in a process of its own."""

    def __init__(self, folder: Path, options: ClassifierOptions) -> None:
        self._classifier = PairClassifier(folder, options)

    def about(self) -> About:
        """Properties of this process's classifier."""
        c = self._classifier
        return About(c.n_labels, c.id2label, c.precision, c.max_length, c.device_name)

    def run(self, texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> Outputs:
        """Outputs of the comparisons."""
        return self._classifier.run(texts, left, right)


class ShardedEngine(ABC):
    """Engine that distributes shares of a job to idle workers, which all use one number format."""

    def __init__(self, abouts: Sequence[About]) -> None:
        first = abouts[0]
        self.n_labels, self.id2label, self.max_length = first.n_labels, first.id2label, first.max_length
        self.precision, self.device_name = first.precision, ""
        for about in abouts:
            self._admit(about)

    def _admit(self, about: About) -> None:
        """Register a worker, which gets shares from now on."""
        if about.precision != self.precision:
            raise InputError("The workers chose different number formats; name one with the option precision.")
        names = [*self.device_name.split(", "), about.device_name] if self.device_name else [about.device_name]
        self.device_name = ", ".join(dict.fromkeys(names))

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of workers."""

    @property
    def batch(self) -> int:
        """Directed pairs to request at once, enough to keep every worker busy."""
        return 4 * self.workers * _SHARE

    def run(
        self,
        texts: Sequence[str],
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        *,
        progress: Progress | None = None,
    ) -> Outputs:
        """Logits of the directed pairs; each share takes only the texts that it needs."""
        logits = np.zeros((len(left), self.n_labels), dtype=np.float32)
        truncated = np.zeros(len(left), dtype=bool)
        done = 0
        for where, outputs in self.stream(texts, left, right):
            logits[where], truncated[where] = outputs.logits, outputs.truncated
            done += len(where)
            if progress is not None:
                progress(done, len(left))
        return Outputs(logits, truncated)

    def stream(
        self, texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        """Outputs of parts of the job as they finish, each with its indices into the job.

        Indices 2k and 2k + 1 are in one part and in this order if their pairs have the same two texts.
        """
        return self._map(_shares(texts, left, right))

    @abstractmethod
    def _map(self, shares: Iterator[Share]) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        """Outputs of the shares with their indices, as they finish."""


@dataclass(frozen=True, eq=False)
class Share:
    """A share of the comparisons for one worker: their indices in the job, and the texts to compare."""

    where: NDArray[np.int64]
    texts: list[str]
    left: NDArray[np.int64]
    right: NDArray[np.int64]

    def __str__(self) -> str:
        """Description for messages, without texts because messages are logged."""
        return f"{len(self.where):,} comparisons of texts of up to {max(map(len, self.texts)):,} characters"


def _shares(texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> Iterator[Share]:
    # pairs of similar lengths together, the longest first: the last shares are quick, so all workers finish at about the same time
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    order = np.argsort(-(lengths[left] + lengths[right]), kind="stable")
    for start in range(0, len(order), _SHARE):
        where = order[start : start + _SHARE]
        used, local = np.unique(np.concatenate([left[where], right[where]]), return_inverse=True)
        yield Share(where, [texts[i] for i in used.tolist()], local[: len(where)], local[len(where) :])


_worker: Worker | SoftirrError
"""The classifier of a worker process, or why there is none (set once when the process starts, never in the main process)."""


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


def _run(texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> Outputs:
    assert isinstance(_worker, Worker)
    return _worker.run(texts, left, right)


class ProcessEngine(ShardedEngine):
    """Engine with one process per device, so that tokenizing and packing for one GPU never delay another."""

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
                running[pool.submit(_run, share.texts, share.left, share.right)] = (pool, share)

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
                        "A worker process has ended, perhaps for lack of memory; run again: what was scored before is kept."
                    ) from error
                hand_out(pool)
                yield share.where, outputs

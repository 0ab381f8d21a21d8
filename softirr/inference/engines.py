"""Where a classifier runs: in this process, in one process a GPU, or on a Ray cluster; the same classifier everywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from softirr.errors import InputError, SoftirrError
from softirr.inference.classifier import ClassifierOptions, Outputs, PairClassifier
from softirr.provenance import Progress

_SHARE = 16_384
"""Directed pairs of one task: enough to sort by length, few enough to spread evenly."""


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
    """The classifier of a folder on the engine of a name.

    Raises
    ------
    InputError
        If there is no such engine, or Ray is not installed.
    """
    if engine == "ray":
        return RayEngine(folder, options, workers)
    if engine != "local":
        raise InputError(f"There is no engine {engine!r}; use local or ray.")
    gpus = torch.cuda.device_count() if options.device in ("auto", "cuda") and torch.cuda.is_available() else 0
    if gpus > 1 and workers != 1:
        return ProcessEngine(folder, [replace(options, device=f"cuda:{i}") for i in range(min(gpus, workers or gpus))])
    return PairClassifier(folder, options)


@dataclass(frozen=True)
class _About:
    """What a worker tells about its classifier."""

    n_labels: int
    id2label: dict[int, str]
    precision: str
    max_length: int
    device_name: str


class _Worker:
    """A classifier in a process of its own."""

    def __init__(self, folder: Path, options: ClassifierOptions) -> None:
        self._classifier = PairClassifier(folder, options)

    def about(self) -> _About:
        c = self._classifier
        return _About(c.n_labels, c.id2label, c.precision, c.max_length, c.device_name)

    def run(self, texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> Outputs:
        return self._classifier.run(texts, left, right)


class _Sharded(ABC):
    """Shares of a job handed out to workers as they become free; one number format for all of them."""

    def __init__(self, abouts: Sequence[_About]) -> None:
        first = abouts[0]
        self.n_labels, self.id2label, self.max_length = first.n_labels, first.id2label, first.max_length
        self.precision = first.precision
        self.device_name = ", ".join(dict.fromkeys(about.device_name for about in abouts))
        if any(about.precision != first.precision for about in abouts):
            raise InputError("The workers chose different number formats; name one with the option precision.")

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
        for where, outputs in self._map(_shares(texts, left, right)):
            logits[where], truncated[where] = outputs.logits, outputs.truncated
            done += len(where)
            if progress is not None:
                progress(done, len(left))
        return Outputs(logits, truncated)

    @abstractmethod
    def _map(self, shares: Iterator[_Share]) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        """Outputs of the shares with the places they belong to, as they come."""


@dataclass(frozen=True, eq=False)
class _Share:
    where: NDArray[np.int64]
    texts: list[str]
    left: NDArray[np.int64]
    right: NDArray[np.int64]


def _shares(texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> Iterator[_Share]:
    # pairs of like lengths together, the longest first: the last shares are the quick ones, and workers end together
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    order = np.argsort(-(lengths[left] + lengths[right]), kind="stable")
    for start in range(0, len(order), _SHARE):
        where = order[start : start + _SHARE]
        used, local = np.unique(np.concatenate([left[where], right[where]]), return_inverse=True)
        yield _Share(where, [texts[i] for i in used.tolist()], local[: len(where)], local[len(where) :])


_worker: _Worker | SoftirrError
"""The classifier of a worker process, or why there is none (set once when the process starts, never in the main process)."""


def _start(folder: Path, options: ClassifierOptions) -> None:
    global _worker
    try:
        _worker = _Worker(folder, options)
    except SoftirrError as error:  # raised here it would end the process with a traceback
        _worker = error


def _about() -> _About:
    if isinstance(_worker, SoftirrError):
        raise _worker
    return _worker.about()


def _run(texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> Outputs:
    assert isinstance(_worker, _Worker)
    return _worker.run(texts, left, right)


class ProcessEngine(_Sharded):
    """One process a device, so that tokenising and packing for one GPU never holds up another."""

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

    def close(self) -> None:
        """Ends the processes."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)

    def _map(self, shares: Iterator[_Share]) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        running: dict[Future[Outputs], tuple[ProcessPoolExecutor, _Share]] = {}

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


class RayEngine(_Sharded):
    """Actors of a Ray cluster, each with the classifier; the model's folder has to be readable on every machine of it.

    Uses the cluster that ``ray.init`` finds (``RAY_ADDRESS``), else starts one on this machine.
    """

    def __init__(self, folder: Path, options: ClassifierOptions, workers: int | None) -> None:
        try:
            import ray
        except ImportError as error:
            raise InputError("The engine ray needs Ray; install softirr[ray].") from error
        self._ray = ray
        if not ray.is_initialized():
            ray.init(log_to_driver=False, ignore_reinit_error=True)
        resources = ray.cluster_resources()
        gpus = int(resources.get("GPU", 0)) if options.device != "cpu" else 0
        count = workers or gpus or max(1, int(resources.get("CPU", 1)) // (options.threads or 1))
        if gpus:
            demand, options = {"num_gpus": 1}, replace(options, device="cuda")
        else:
            demand, options = {"num_cpus": options.threads or 1}, replace(options, threads=options.threads or 1)
        remote: Any = ray.remote
        make: Callable[..., Any] = remote(**demand)(_Worker).remote
        self._actors = [make(folder, options) for _ in range(count)]
        try:
            super().__init__(ray.get([actor.about.remote() for actor in self._actors]))
        except ray.exceptions.RayError as error:
            self.close()
            raise InputError(f"The workers of the Ray cluster could not load the model in {folder}.") from error

    def close(self) -> None:
        """Ends the actors; the cluster stays."""
        for actor in self._actors:
            with suppress(ValueError):
                self._ray.kill(actor)

    def _map(self, shares: Iterator[_Share]) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        from ray.util import ActorPool

        pool = ActorPool(self._actors)
        places: list[NDArray[np.int64]] = []

        def ask(actor: Any, share: _Share) -> Any:
            return actor.run.remote(share.texts, share.left, share.right)

        for share in shares:
            places.append(share.where)
            pool.submit(ask, share)
        for where in places:
            yield where, pool.get_next()

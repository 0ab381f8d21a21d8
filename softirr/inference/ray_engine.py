"""A classifier on a Ray cluster: when a worker or machine is lost, only its current share is repeated."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from softirr.errors import InputError, SoftirrError
from softirr.inference.classifier import Outputs, PairClassifier
from softirr.inference.models import ClassifierOptions
from softirr.inference.tokens import Ints

_SHARE = 4_096
"""Most directed pairs of one task (an even number): enough to sort by length, few enough to spread and to lose."""
_SMALLEST_SHARE = 256
"""Directed pairs, of long texts some seconds of work, that are not worth a second task."""
_TRIES = 3
"""Workers that end during one share before the share counts as the cause."""
_STARTS = 3
"""Maximum number of consecutive workers that fail to load the model; then no further one is started."""
_PATIENCE = 600.0
"""Seconds to wait for a worker when there is none: a cluster may be starting a machine."""
_LOG = logging.getLogger("softirr")


def connect() -> Any:
    """Ray, connected to the cluster that ``ray.init`` finds (``RAY_ADDRESS``), else to one started on this machine.

    Returns
    -------
    module
        ``ray``.

    Raises
    ------
    InputError
        If Ray is not installed.
    """
    # Ray sends usage statistics unless they are disabled before it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise InputError("The engine ray needs Ray; install softirr[ray].") from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False, ignore_reinit_error=True, include_dashboard=False)
    return ray


@dataclass(frozen=True)
class About:
    """Properties of a worker's classifier."""

    n_labels: int
    id2label: dict[int, str]
    precision: str
    max_length: int
    device_name: str


class Worker(PairClassifier):
    """A classifier in a separate process."""

    def about(self) -> About:
        """Properties of this process's classifier."""
        return About(self.n_labels, self.id2label, self.precision, self.max_length, self.device_name)


class RayEngine:
    """Actors of a Ray cluster, each with the classifier; the model's folder has to be readable on every machine of it.

    Uses the cluster that ``ray.init`` finds (``RAY_ADDRESS``), else starts one on this machine. A lost worker is
    replaced if the cluster has room, and its share goes to the next free worker.

    Parameters
    ----------
    folder : Path
        The model.
    options : ClassifierOptions
        How each worker runs it, and the number of workers.

    Raises
    ------
    InputError
        If Ray is not installed, or no worker can load the model.
    """

    def __init__(self, folder: Path, options: ClassifierOptions) -> None:
        self._ray: Any = connect()
        resources = self._ray.cluster_resources()
        gpus = int(resources.get("GPU", 0)) if options.device != "cpu" else 0
        threads = options.threads or 1
        self.workers = options.workers or gpus or max(1, int(resources.get("CPU", 1)) // threads)
        self._folder = folder
        demand: dict[str, Any] = {"num_gpus": 1} if gpus else {"num_cpus": threads}
        self._options = replace(options, device="cuda") if gpus else replace(options, threads=threads)
        self._make = self._ray.remote(**demand, scheduling_strategy="SPREAD")(Worker).remote
        self._starting: dict[Any, Any] = {}
        """Starting actors, by the reference of their `About` that is ready once the model is loaded."""
        self._actors: list[Any] = []
        self._failed_starts = 0
        self._devices: dict[str, None] = {}
        try:
            for _ in range(self.workers):
                self._start()
            end = time.monotonic() + _PATIENCE
            while not self._actors:
                self._admit(self._wait(list(self._starting), end))
        except BaseException:
            self.close()
            raise

    @property
    def device_name(self) -> str:
        """The different devices of the workers."""
        return ", ".join(self._devices)

    @property
    def batch(self) -> int:
        """Directed pairs to request at once, enough to keep every worker busy."""
        return 4 * self.workers * _SHARE

    def run(self, texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Outputs:
        """Logits of the directed pairs; each share takes only the texts that it needs."""
        logits = np.zeros((len(left_texts), self.n_labels), dtype=np.float32)
        truncated = np.zeros(len(left_texts), dtype=bool)
        # two for each worker, so that none waits long for the last one of another
        size = min(_SHARE, max(_SMALLEST_SHARE, len(left_texts) // (4 * self.workers) * 2))
        for where, outputs in self._map(_shares(texts, left_texts, right_texts, size)):
            logits[where], truncated[where] = outputs.logits, outputs.truncated
        return Outputs(logits, truncated)

    def close(self) -> None:
        """Stop the actors; the cluster keeps running."""
        for actor in [*self._starting.values(), *self._actors]:
            self._end(actor)
        self._starting.clear()
        self._actors.clear()

    def _start(self) -> None:
        actor = self._make(self._folder, self._options)
        self._starting[actor.about.remote()] = actor

    def _end(self, actor: Any) -> None:
        with suppress(ValueError, self._ray.exceptions.RayError):  # it has ended already
            self._ray.kill(actor)

    def _admit(self, reference: Any) -> None:
        """Give shares to a worker that has loaded the model; if it failed, start another one. All use one format."""
        actor = self._starting.pop(reference)
        try:
            properties: About = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._end(actor)
            self._failed_starts += 1
            if self._failed_starts < _STARTS:
                self._start()
            elif not self._actors and not self._starting:
                raise InputError(
                    f"The workers of the Ray cluster could not load the model in {self._folder}: "
                    "the folder and softirr must be on every machine of the cluster."
                ) from error
            else:
                _LOG.warning("A worker of the Ray cluster could not load the model; the others do its work.")
            return
        self._failed_starts = 0
        self._actors.append(actor)
        if not self._devices:
            self.n_labels, self.id2label = properties.n_labels, properties.id2label
            self.precision, self.max_length = properties.precision, properties.max_length
        if properties.precision != self.precision:
            raise InputError("The workers chose different number formats; name one with the option precision.")
        self._devices[properties.device_name] = None

    def _wait(self, references: list[Any], end: float | None) -> Any:
        """A ready reference; a SoftirrError where there are none to wait for, or after the time limit."""
        if references:
            timeout = None if end is None else max(0.0, end - time.monotonic())
            ready, _ = self._ray.wait(references, num_returns=1, timeout=timeout)
            if ready:
                return ready[0]
        raise SoftirrError(
            "The Ray cluster has no worker any more; start machines and run again: what was scored before is kept."
        )

    def _map(self, shares: Iterator[Share]) -> Iterator[tuple[Ints, Outputs]]:
        """Outputs of the shares with their indices, as they finish; a worker runs one share at a time."""
        running: dict[Any, tuple[Any, Share]] = {}
        lost: deque[Share] = deque()
        given_up: list[Share] = []
        try:
            while True:
                busy = [actor for actor, _ in running.values()]
                for actor in [actor for actor in self._actors if actor not in busy]:
                    share = lost.popleft() if lost else next(shares, None)
                    if share is not None:
                        reference = actor.run.remote(share.texts, share.left_texts, share.right_texts)
                        running[reference] = actor, share
                if not running and not lost:
                    break
                end = None if self._actors else time.monotonic() + _PATIENCE
                reference = self._wait([*running, *self._starting], end)
                if reference in self._starting:
                    self._admit(reference)
                    continue
                actor, share = running.pop(reference)
                outputs = self._result(actor, reference)
                if outputs is not None:
                    yield share.where, outputs
                else:
                    share.tries += 1
                    (given_up if share.tries >= _TRIES else lost).append(share)
        finally:
            # Where the caller stops early, cancel the shares that are left.
            for reference in running:
                self._ray.cancel(reference)
        if given_up:
            others_note = f", and so did {len(given_up) - 1} other such parts" if len(given_up) > 1 else ""
            raise SoftirrError(
                f"{given_up[0]} ended {_TRIES} workers of the Ray cluster, one after the other, "
                f"perhaps for lack of memory{others_note}. Pairs that were scored before are kept."
            )

    def _result(self, actor: Any, reference: Any) -> Outputs | None:
        """Result of a share; None if its worker was lost, which is then replaced."""
        try:
            outputs: Outputs = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:  # the worker is alive and reports its error
            if isinstance(error.cause, SoftirrError):
                raise error.cause from None
            raise SoftirrError(f"A worker of the Ray cluster failed: {type(error.cause).__name__}.") from error
        except self._ray.exceptions.RayError:
            _LOG.warning("A worker of the Ray cluster was lost; its work is done by another one.")
            self._actors.remove(actor)
            self._end(actor)
            self._start()
            return None
        return outputs


@dataclass(eq=False)
class Share:
    """A worker's share of the comparisons: indices in the job, the texts to compare, and number of workers it ended."""

    where: Ints
    texts: list[str]
    left_texts: Ints
    right_texts: Ints
    tries: int = 0

    def __str__(self) -> str:
        """Description for messages, without texts because messages are logged."""
        return f"{len(self.where):,} comparisons of texts of up to {max(map(len, self.texts)):,} characters"


def _shares(texts: Sequence[str], left_texts: Ints, right_texts: Ints, size: int) -> Iterator[Share]:
    # Pairs of similar lengths go together, the longest first: the last shares are quick, so all workers finish at
    # about the same time.
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    order = np.argsort(-(lengths[left_texts] + lengths[right_texts]), kind="stable")
    for start in range(0, len(order), size):
        where = order[start : start + size]
        text_numbers, local = np.unique(np.concatenate([left_texts[where], right_texts[where]]), return_inverse=True)
        yield Share(where, [texts[i] for i in text_numbers.tolist()], local[: len(where)], local[len(where) :])

"""A classifier on a Ray cluster: when a worker or machine is lost, only its current share is repeated."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError, SoftirrError
from softirr.inference.classifier import Outputs
from softirr.inference.models import ClassifierOptions
from softirr.inference.sharded_engine import About, ShardedEngine, Share, Worker

_TRIES = 3
"""Workers that end during one share before the share counts as the cause."""
_GRACE = 5.0
"""Seconds to wait for the results of a lost worker."""
_STARTS = 3
"""Most consecutive workers that fail to load the model; then no further one is started."""
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


class RayEngine(ShardedEngine):
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
        self._count = options.workers or gpus or max(1, int(resources.get("CPU", 1)) // threads)
        self._folder = folder
        demand: dict[str, Any]
        if gpus:
            demand, self._options = {"num_gpus": 1}, replace(options, device="cuda")
        else:
            demand, self._options = {"num_cpus": threads}, replace(options, threads=threads)
        self._make = self._ray.remote(**demand, scheduling_strategy="SPREAD")(Worker).remote
        self._starting: dict[Any, Any] = {}
        """Starting actors, by the reference of their `About` that is ready once the model is loaded."""
        self._ready: list[_Actor] = []
        self._failed_starts = 0
        try:
            for _ in range(self._count):
                self._start()
            super().__init__(self._first())
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> int:
        """Number of requested workers; fewer are at work while one is being replaced."""
        return self._count

    def close(self) -> None:
        """Stop the actors; the cluster keeps running."""
        for actor in [*self._starting.values(), *(ready_actor.handle for ready_actor in self._ready)]:
            self._end(actor)
        self._starting.clear()
        self._ready.clear()

    # --- workers ------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        actor = self._make(self._folder, self._options)
        self._starting[actor.about.remote()] = actor

    def _end(self, actor: Any) -> None:
        try:
            self._ray.kill(actor)
        except (ValueError, self._ray.exceptions.RayError):
            pass  # it has ended already

    def _first(self) -> About:
        """`About` of the first worker that has loaded the model."""
        end = time.monotonic() + _PATIENCE
        while True:
            references = self._wait(list(self._starting), end)
            for reference in references:
                properties = self._started(reference)
                if properties is not None:
                    return properties

    def _started(self, reference: Any) -> About | None:
        """Register a worker that has loaded the model; where it failed, start another one and return None."""
        actor = self._starting.pop(reference)
        try:
            properties: About = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._end(actor)
            self._failed_starts += 1
            if self._failed_starts < _STARTS:
                self._start()
            elif not self._ready and not self._starting:
                raise InputError(
                    f"The workers of the Ray cluster could not load the model in {self._folder}: "
                    "the folder and softirr must be on every machine of the cluster."
                ) from error
            else:
                _LOG.warning("A worker of the Ray cluster could not load the model; the others do its work.")
            return None
        self._failed_starts = 0
        self._ready.append(_Actor(actor))
        return properties

    def _lost(self, actor: _Actor) -> None:
        """Replaces a worker."""
        _LOG.warning("A worker of the Ray cluster was lost; its work is done by another one.")
        self._ready.remove(actor)
        self._end(actor.handle)
        self._start()

    def _wait(self, references: list[Any], end: float) -> list[Any]:
        """Ready references; a SoftirrError where there are none to wait for, or after the time limit."""
        if references:
            ready, _ = self._ray.wait(references, num_returns=1, timeout=max(0.0, end - time.monotonic()))
            if ready:
                return list(ready)
        raise SoftirrError(
            "The Ray cluster has no worker any more; start machines and run again: what was scored before is kept."
        )

    # --- work ---------------------------------------------------------------------------------------------------------

    def _map(self, shares: Iterator[Share]) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        suspects: deque[_Task] = deque()
        given_up: list[_Task] = []
        source = (_Task(share) for share in shares)
        try:
            while True:
                for actor in self._ready:
                    while (task := _next_task(actor, suspects, source)) is not None:
                        reference = actor.handle.run.remote(
                            task.share.texts, task.share.left_texts, task.share.right_texts
                        )
                        actor.running[reference] = task
                if not suspects and not any(actor.running for actor in self._ready):
                    break
                at_work = [reference for actor in self._ready for reference in actor.running]
                end = time.monotonic() + (_PATIENCE if not self._ready else float("inf"))
                for reference in self._wait_any([*at_work, *self._starting], end):
                    if reference in self._starting:
                        properties = self._started(reference)
                        if properties is not None:
                            self._admit(properties)
                        continue
                    owner = next((actor for actor in self._ready if reference in actor.running), None)
                    if owner is None:
                        continue  # of a worker that was lost a moment ago
                    yield from self._results(owner, reference, suspects, given_up)
        finally:
            # Where the caller stops early, cancel the tasks that are left.
            for actor in self._ready:
                for reference in actor.running:
                    self._ray.cancel(reference)
                actor.running.clear()
        if given_up:
            others_note = f", and so did {len(given_up) - 1} other such parts" if len(given_up) > 1 else ""
            raise SoftirrError(
                f"{given_up[0].share} ended {_TRIES} workers of the Ray cluster, one after the other, "
                f"perhaps for lack of memory{others_note}. Pairs that were scored before are kept."
            )

    def _wait_any(self, references: list[Any], end: float) -> list[Any]:
        """As `_wait`, without a time limit while workers are at work."""
        if end == float("inf"):
            ready, _ = self._ray.wait(references, num_returns=1)
            return list(ready)
        return self._wait(references, end)

    def _results(
        self, actor: _Actor, reference: Any, suspects: deque[_Task], given_up: list[_Task]
    ) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        """Result of a task. Of a lost worker, return the finished results and queue the other tasks again."""
        try:
            outputs: Outputs = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:  # the worker is alive and reports its error
            cause = error.cause
            if isinstance(cause, SoftirrError):
                raise cause from None
            raise SoftirrError(f"A worker of the Ray cluster failed: {type(cause).__name__}.") from error
        except self._ray.exceptions.RayError:
            assigned = deque(actor.running.items())
            actor.running.clear()
            self._lost(actor)
            # Tasks run in the order in which they were assigned: the first one without a result was at work, or it
            # was done and its result was lost with the worker. Of two, each runs alone from now on.
            while assigned and (done := self._done(assigned[0][0])) is not None:
                yield assigned.popleft()[1].share.where, done
            for _, task in assigned:
                task.must_run_alone = True
                task.tries += len(assigned) == 1
                (given_up if task.tries >= _TRIES else suspects).append(task)
        else:
            yield actor.running.pop(reference).share.where, outputs

    def _done(self, reference: Any) -> Outputs | None:
        """The result of a task of a lost worker, if available."""
        try:
            outputs: Outputs = self._ray.get(reference, timeout=_GRACE)
        except self._ray.exceptions.RayError:
            return None
        return outputs


@dataclass(eq=False)
class _Task:
    share: Share
    must_run_alone: bool = False
    """Whether a worker ended during the task. Its next worker then runs no other task at the same time."""
    tries: int = 0
    """Workers that ended while they had no other task."""


@dataclass(eq=False)
class _Actor:
    handle: Any
    running: dict[Any, _Task] = field(default_factory=dict)
    """Tasks in the order in which they were given."""


def _next_task(actor: _Actor, suspects: deque[_Task], source: Iterator[_Task]) -> _Task | None:
    """The next task of a worker, which runs one task while another one waits; None if it has both."""
    if not actor.running:
        return suspects.popleft() if suspects else next(source, None)
    full = len(actor.running) > 1 or any(task.must_run_alone for task in actor.running.values())
    return None if full else next(source, None)

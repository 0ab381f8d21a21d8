"""Independent jobs on a Ray cluster: results as they come; jobs of lost workers or machines run again."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

from softirr.errors import InputError, SoftirrError

__all__ = ["connect", "map_jobs"]

_TRIES = 3
"""Workers that are lost during one job before the job counts as the cause."""
_PATIENCE = 600.0
"""Seconds to wait for a processor when the cluster has none: it may be starting a machine."""
_POLL = 5.0
"""Seconds between two looks at a cluster that reports nothing."""

Job = TypeVar("Job")
Result = TypeVar("Result")


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


def map_jobs(
    function: Callable[[Job], Result], jobs: Iterable[Job], *, name: Callable[[Job], str] = str
) -> Iterator[tuple[Job, Result]]:
    """Each job with its result, in the order in which results come.

    Every job takes one processor of the cluster. A job is done again when its worker or machine is lost, so it must
    give the same each time.

    Parameters
    ----------
    function : callable
        Called with a job. It is sent to each worker once; softirr has to be installed on every machine of the cluster.
    jobs : iterable
        Taken as processors become free.
    name : callable, optional
        Name of a job in errors.

    Raises
    ------
    InputError
        If Ray is not installed.
    SoftirrError
        If a job raises an error; if a job ends three workers, after all others are done; or if the cluster has no
        processor for ten minutes.
    """
    ray = connect()
    wrapped_function = [ray.put(function)]  # inside a list a reference is passed as such
    remote = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(_run).remote
    source = ((job, 0) for job in jobs)
    waiting: deque[tuple[Job, int]] = deque()
    running: dict[Any, tuple[Job, int]] = {}
    given_up: list[Job] = []
    try:
        while True:
            room = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))  # one at work, one waiting
            while len(running) < room:
                task = waiting.popleft() if waiting else next(source, None)
                if task is None:
                    break
                running[remote(wrapped_function, task[0])] = task
            if not running:
                break
            reference = _wait(ray, list(running))
            job, lost = running.pop(reference)
            try:
                result: Result = ray.get(reference)
            except ray.exceptions.RayTaskError as error:  # the worker is alive and reports its error
                if isinstance(error.cause, SoftirrError):
                    raise error.cause from None
                raise SoftirrError(f"{name(job)} failed on the Ray cluster: {type(error.cause).__name__}.") from error
            except ray.exceptions.RayError:
                if lost + 1 < _TRIES:
                    waiting.append((job, lost + 1))
                else:
                    given_up.append(job)
                continue
            yield job, result
    finally:
        for reference in running:  # the caller stops early
            ray.cancel(reference, force=True)
    if given_up:
        raise _error_of_failed_jobs(name(given_up[0]), len(given_up))


def _error_of_failed_jobs(first_name: str, n_jobs: int) -> SoftirrError:
    """The error about jobs that ended several workers each."""
    others_note = f", and so did {n_jobs - 1} others" if n_jobs > 1 else ""
    return SoftirrError(
        f"{first_name} ended {_TRIES} workers of the Ray cluster, one after the other, "
        f"perhaps for lack of memory{others_note}. All other jobs are done."
    )


def _wait(ray: Any, references: list[Any]) -> Any:
    """A reference that is ready."""
    end = None
    while True:
        ready, _ = ray.wait(references, num_returns=1, timeout=_POLL)
        if ready:
            return ready[0]
        if ray.cluster_resources().get("CPU", 0) >= 1:
            end = None
        elif end is None:
            end = time.monotonic() + _PATIENCE
        elif time.monotonic() > end:
            raise SoftirrError("The Ray cluster has no processor any more; start machines and run again.")


def _run(wrapped_function: list[Any], job: Any) -> Any:
    """Done by a worker."""
    return _function(wrapped_function[0])(job)


@lru_cache(maxsize=1)
def _function(reference: Any) -> Callable[[Any], Any]:
    """The function, fetched once by each worker, so that its caches serve the next jobs."""
    import ray

    function: Callable[[Any], Any] = ray.get(reference)
    return function

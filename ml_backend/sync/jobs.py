"""Work outside of requests: a huey queue carries wake-ups, and the store keeps the pending work.

A job is "bring project P up to date". It can be lost or carried out twice without harm: the store keeps requested and
unfinished work, and `resume` puts it on the queue again.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from ml_backend.labelstudio.client import Client
from ml_backend.logs import where_only
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import Settings
from ml_backend.store.integrity import store_trouble
from ml_backend.store.store import LEASE_EVERY, Store
from ml_backend.sync.job_queue import Queue
from ml_backend.sync.project_sync import ProjectSync, SyncResult
from ml_backend.sync.waiting import Stopped
from softirr.errors import SoftirrError

log = logging.getLogger(__name__)

REPORT_EVERY = 0.5
LONGEST_PAUSE = 300.0


class LeaseLost(Stopped):
    """Another process works on the project now."""


class Wakeups:
    """Requests updates of projects and wakes the process that runs them.

    Attributes
    ----------
    queue : Queue
    task : callable
        The registered huey task ``sync(project)``.
    """

    def __init__(self, store: Store, queue: Queue, run: Callable[[int], None] | None = None):
        self.store = store
        self.queue = queue

        def sync(project: int) -> None:
            if run is not None:
                run(project)

        self.task = queue.task(name="sync")(sync)

    def want(self, project: int, reason: str, *, full: bool = False) -> None:
        """Request a run; several requests before it starts are one run."""
        if self.store.want(project, full=full):
            self.store.open_job(project, reason)
            self.again(project)

    def again(self, project: int) -> bool:
        """Queue a project with an unserved wake-up; False if the queue failed."""
        try:
            self.task(project)
        except Exception as error:  # noqa: BLE001 - whatever the queue's trouble: the timer finds the note
            log.warning("the queue did not take a wake-up (%s); the timer will", type(error).__name__)
            return False
        return True


class Runner:
    """Runs jobs in the scorer process.

    Parameters
    ----------
    make_client : callable
        Returns a `Client`, as ``make_client(on_error=..., wait=...)``.
    stop : threading.Event
        Set when the process is to end.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        scorer: Scorer,
        make_client: Callable[..., Client],
        *,
        stop: threading.Event | None = None,
    ):
        self.store, self.settings, self.scorer = store, settings, scorer
        self._make_client = make_client
        self.stop = stop or threading.Event()
        self._failures: dict[int, int] = {}
        self._not_before: dict[int, float] = {}

    def due(self, project: int) -> bool:
        """False while a project pauses after a failure."""
        return time.monotonic() >= self._not_before.get(project, 0.0)

    def run(self, project: int) -> None:
        """Serve the project's wake-ups until there are none; an error is stored in the job, not raised."""
        while not self.stop.is_set() and self.due(project):
            row = self.store.project_by_id(project)
            if row is None or project not in self.store.wanted():  # served already, or disconnected
                return
            if row["wanted_at"] is not None:
                self.stop.wait(
                    max(
                        0.0,
                        min(
                            self.settings.debounce_seconds,
                            row["wanted_at"] + self.settings.debounce_seconds - time.time(),
                        ),
                    )
                )
            if not self._run_once(project, row["number"]):
                return

    def _run_once(self, project: int, number: int) -> bool:
        """One run under the lease; False if another process has it, or the run failed."""
        owner = f"{self.store.own_name()}:{threading.get_ident()}"
        if not self.store.take_lease(project, owner):
            return False
        _wanted, full = self.store.take_wanted(project)
        job = self.store.open_job(project, "resumed")
        try:
            self.store.close_stale_jobs(project, job)
            self.run_job(project, number, job, owner, full=full)
        except LeaseLost:
            self.store.update_job(job, state="failed", finished_at=time.time(), message="Another process took over.")
            return False
        except Stopped:
            self.store.update_job(job, state="queued", message="Stopped; goes on at the next start.")
            self.store.want(project, full=full)
            return False
        except Exception as error:  # noqa: BLE001 - one project's trouble must not end the process that serves all
            self._failed(project, job, error, full)
            return False
        finally:
            self._give_back(project, owner)
        self._failures.pop(project, None)
        return True

    def run_now(self, project: int, number: int, *, full: bool, patience: float = 3600.0) -> SyncResult:
        """Run for the command line: wait for the lease, and raise errors.

        Raises
        ------
        SoftirrError
        """
        owner = f"{self.store.own_name()}:{threading.get_ident()}"
        end = time.monotonic() + patience
        while not self.store.take_lease(project, owner):
            if time.monotonic() > end:
                raise SoftirrError("Another process has been working on this project for too long.")
            self.stop.wait(0.5)
        self.store.take_wanted(project)
        job = self.store.open_job(project, "softirr-ls sync")
        try:
            self.store.close_stale_jobs(project, job)
            return self.run_job(project, number, job, owner, full=full)
        except BaseException as error:
            known = str(error) if isinstance(error, SoftirrError) else store_trouble(error)
            message = known or f"Broken off: {type(error).__name__}."
            with contextlib.suppress(SQLAlchemyError):  # a store that fails can't note that it failed
                self.store.update_job(job, state="failed", finished_at=time.time(), message=message)
            raise
        finally:
            self._give_back(project, owner)

    def run_job(self, project: int, number: int, job: int, owner: str, *, full: bool) -> SyncResult:
        """Run one job, with the lease held by `owner`.

        Raises
        ------
        SoftirrError, Stopped
        """
        self.store.update_job(job, state="running", started_at=time.time(), message="", finished_at=None)
        with _Lease(self.store, project, owner) as lease:
            progress = _Progress(self.store, job)

            def check() -> None:
                if lease.lost.is_set():
                    raise LeaseLost
                if self.stop.is_set():
                    raise Stopped

            def wait(seconds: float) -> None:
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    check()
                    time.sleep(min(0.2, max(0.0, end - time.monotonic())))

            with self._make_client(on_error=self._note_error, wait=wait) as client:
                result = ProjectSync(self.store, client, self.settings, self.scorer, report=progress, check=check).run(
                    number, full=full
                )
        progress.flush()
        self.store.count(jobs_done=1, pairs_scored=progress.pairs, seconds_running=progress.seconds)
        self.store.update_job(job, state="done", finished_at=time.time(), phase="", message="", result=result.to_dict())
        return result

    def _give_back(self, project: int, owner: str) -> None:
        try:
            self.store.drop_lease(project, owner)
        except Exception as error:  # noqa: BLE001 - what the run was worth must not be lost for that
            reason = store_trouble(error)
            level = (
                logging.WARNING if reason is None else logging.DEBUG
            )  # the store's trouble is said where the job fails
            log.log(
                level, "the lease could not be given back (%s); it runs out by itself", reason or type(error).__name__
            )

    def _note_error(self, kind: str) -> None:
        self.store.count(**{f"label_studio_errors:{kind}": 1})

    def _failed(self, project: int, job: int, error: Exception, full: bool) -> None:
        trouble = store_trouble(error)
        if isinstance(error, SoftirrError) or trouble is not None:
            message = trouble or str(error)
            log.error("project key %d: %s", project, message)
        else:  # the message of a foreign exception may quote an answer
            message = f"Unexpected error: {type(error).__name__}."
            log.error("project key %d: %s", project, message, exc_info=where_only(error))
        failures = self._failures[project] = self._failures.get(project, 0) + 1
        self._not_before[project] = time.monotonic() + min(LONGEST_PAUSE, 2.0**failures)
        try:
            self.store.count(jobs_failed=1)
            self.store.update_job(job, state="failed", finished_at=time.time(), message=message)
            self.store.want(project, full=full)
        except Exception as second:  # noqa: BLE001 - the store itself fails (disk full): the timer tries again
            if trouble is None:
                log.error("project key %d: %s", project, store_trouble(second) or type(second).__name__)


class _Lease:
    """Extends the lease while a job runs."""

    def __init__(self, store: Store, project: int, owner: str):
        self._store, self._project, self._owner = store, project, owner
        self.lost = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def __enter__(self) -> "_Lease":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._over.wait(LEASE_EVERY):
            try:
                if not self._store.keep_lease(self._project, self._owner):
                    self.lost.set()
            except Exception as error:  # noqa: BLE001 - tried again in a moment; the lease lasts longer
                log.warning("the lease could not be renewed (%s)", type(error).__name__)


class _Progress:
    """Writes progress into the job's row at a limited rate."""

    def __init__(self, store: Store, job: int):
        self._store, self._job = store, job
        self._started = time.monotonic()
        self._last = 0.0
        self._phase = ""
        self._values: dict[str, Any] = {}
        self.pairs = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def __call__(self, phase: str, done: int, total: int | None, pairs: int) -> None:
        self.pairs = max(self.pairs, pairs)
        self._values = {"phase": phase, "done": done, "total": total, "pairs": self.pairs}
        if phase != self._phase:
            self._phase = phase
            self._values["phase_at"] = time.time()
        elif time.monotonic() - self._last < REPORT_EVERY:
            return
        self.flush()

    def flush(self) -> None:
        if self._values:
            self._last = time.monotonic()
            self._store.update_job(self._job, **self._values)
            self._values = {}

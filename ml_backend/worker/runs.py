"""The worker: takes the projects that are due and runs their updates."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from ml_backend.logs import where_only
from ml_backend.scoring.measures import Stopped
from ml_backend.services import Services
from ml_backend.store.store import NO_RUN, Row, Store, is_connected
from ml_backend.store.trouble import store_trouble
from ml_backend.worker.project_run import ProjectRun
from ml_backend.worker.update import ProjectUpdate
from softirr.errors import SoftirrError

log = logging.getLogger(__name__)

TICK = 0.2
HEARTBEAT_EVERY = 10.0
SILENT_AFTER = 60.0
MODELS_UNUSED = 300.0
"""Seconds after which an unused model leaves memory; loading it again takes some seconds."""
REPORT_EVERY = 0.5
LOOK_AT_HOLD_EVERY = 1.0
LONGEST_PAUSE = 300.0


class Worker:
    """Updates projects, a few at the same time.

    Parameters
    ----------
    stop : threading.Event
        Set when the process is to end.
    """

    def __init__(self, services: Services, *, stop: threading.Event | None = None):
        self.store, self.settings, self.scorer = services.store, services.settings, services.scorer
        self._make_client = services.client
        self.stop = stop or threading.Event()
        self._running: dict[int, Future[None]] = {}
        self._beat_at = -HEARTBEAT_EVERY

    # --- what is due --------------------------------------------------------------------------------------------------

    def serve(self, is_ours: Callable[[], bool]) -> None:
        """Run the projects that are due until `stop` is set, or until the worker's lock is lost.

        Parameters
        ----------
        is_ours : callable
            Whether this process still has the worker's lock.
        """
        self.close_broken_runs()
        with ThreadPoolExecutor(self.settings.job_workers, thread_name_prefix="update") as pool:
            while not self.stop.is_set():
                try:
                    if is_ours():
                        self.tick(pool)
                    else:
                        log.warning("another process has the worker's lock now")
                        self.stop.set()
                except Exception as error:  # noqa: BLE001 - the worker must outlive a database that is down
                    reason = store_trouble(error) or type(error).__name__
                    log.warning("the worker could not look for projects that are due: %s", reason)
                    self.stop.wait(1.0)
                self.stop.wait(TICK)

    def tick(self, pool: ThreadPoolExecutor) -> None:
        """Start the projects that are due, if threads are free."""
        if time.monotonic() - self._beat_at >= HEARTBEAT_EVERY:
            self.store.note("alive:worker", {"at": time.time()})
            self._beat_at = time.monotonic()
            if self.scorer.release(MODELS_UNUSED):
                log.info("removed unused models from memory")
        self._running = {project: future for project, future in self._running.items() if not future.done()}
        for project in self.store.due(time.time()):
            if project not in self._running and len(self._running) < self.settings.job_workers:
                self._running[project] = pool.submit(self.run, project)

    def close_broken_runs(self) -> None:
        """Note that the runs of a killed process ended, and have their projects updated."""
        for project, state in self.store.runs().items():
            if state["state"] == "running":
                ended = {"state": "failed", "finished_at": time.time(), "message": "Interrupted; the next run goes on."}
                self.store.note(f"run:{project}", {**state, **ended})
                self.store.want(project)

    # --- one run ------------------------------------------------------------------------------------------------------

    def run(self, project: int) -> None:
        """Update a project that is due; an error is stored in its state and logged, not raised."""
        try:
            self._run(project)
        except Stopped:
            pass
        except Exception as error:
            is_known = isinstance(error, SoftirrError) or store_trouble(error) is not None
            log.error("project key %d: %s", project, _message(error), exc_info=None if is_known else where_only(error))

    def run_now(self, project: int, *, full: bool) -> dict[str, Any]:
        """Update a project for the command line; returns the result as `wait_for_run` does.

        Raises
        ------
        SoftirrError
        """
        try:
            return self._run(project, full=full)
        except Stopped:
            raise SoftirrError("Another command is working on this project.") from None

    def _run(self, project: int, *, full: bool = False) -> dict[str, Any]:
        """Update a project; raises `Stopped` if that is impossible now."""
        row = self.store.project_by_id(project)
        if row is None:
            raise Stopped
        progress = _Progress(self.store, row)
        if not self.store.begin_run(project, progress.state):
            raise Stopped
        try:
            result = self._update(row, progress, full=full)
        except Stopped:
            progress.end(state="queued", message="Stopped; goes on at the next start.")
            self.store.want(project, full=full)
            raise
        except BaseException as error:
            self._fail(project, progress, error)
            raise
        progress.end(state="done", message="", result=result, failures=0, phase="")
        self._plan_next(project)
        return result

    def _update(self, row: Row, progress: _Progress, *, full: bool) -> dict[str, Any]:
        looked_at = time.monotonic()

        def check() -> None:
            nonlocal looked_at
            if self.stop.is_set():
                raise Stopped
            if time.monotonic() - looked_at > LOOK_AT_HOLD_EVERY:
                looked_at = time.monotonic()
                if self.store.is_held(row["id"]):
                    raise Stopped

        def wait(seconds: float) -> None:
            end = time.monotonic() + seconds
            while (remaining := end - time.monotonic()) > 0:
                check()
                self.stop.wait(min(TICK, remaining))

        with self._make_client(wait=wait) as client:
            run = ProjectRun(self.store, client, self.settings, row["number"], progress, check)
            return ProjectUpdate(run, self.scorer).run(full=full).to_dict()

    def _plan_next(self, project: int) -> None:
        """Set when the project is due again: regularly if connected, and when its coefficients may be computed."""
        row = self.store.project_by_id(project)
        if row is None or not is_connected(row["connection"]):
            return
        now = time.time()
        due = now + self.settings.reconcile_seconds
        if row["summary_stale"]:
            due = min(due, max(now, row["summary_due"] or 0.0))
        self.store.update_project(project, not_before=None)
        self.store.want(project, due_at=due)

    def _fail(self, project: int, progress: _Progress, error: BaseException) -> None:
        """Store a failure in a sentence, and have the project updated after a pause that grows."""
        failures = progress.state["failures"] + 1
        try:
            progress.end(state="failed", message=_message(error), failures=failures)
            self.store.update_project(project, not_before=time.time() + min(LONGEST_PAUSE, 2.0**failures))
            self.store.want(project)
        except SQLAlchemyError as second:  # the store itself fails (disk full): the next look tries again
            log.error("project key %d: %s", project, _message(second))


def _message(error: BaseException) -> str:
    """Return a sentence about an error; the message of a foreign exception may quote an answer."""
    if isinstance(error, SoftirrError):
        return store_trouble(error) or str(error)
    unknown = f"Unexpected error: {type(error).__name__}." if isinstance(error, Exception) else "Interrupted."
    return store_trouble(error) or unknown


def wait_for_run(store: Store, project: int, *, full: bool) -> dict[str, Any]:
    """Have the worker in another process update a project, and wait for the result (`UpdateResult.to_dict`).

    Raises
    ------
    SoftirrError
        If the update fails.
    """
    number = (store.run_of(project) or NO_RUN)["number"]  # before `want`: the worker may begin and end at once
    store.update_project(project, not_before=None)
    store.want(project, full=full)
    while True:
        time.sleep(TICK)
        run = store.run_of(project) or NO_RUN
        if run["number"] > number and run["state"] == "done":
            return run["result"]
        if run["number"] > number and run["state"] == "failed":
            raise SoftirrError(run["message"])
        if time.time() - (store.noted("alive:worker") or {"at": 0.0})["at"] > SILENT_AFTER:
            raise SoftirrError("The worker process of softirr-ls serve does not answer: look at its log.")


class _Progress:
    """Stores the state of a run at a limited rate."""

    def __init__(self, store: Store, project: Row):
        self._store, self._project = store, project["id"]
        self._reported_at = 0.0
        last_run, now = store.run_of(self._project) or NO_RUN, time.time()
        self.state = {
            **NO_RUN,
            "number": last_run["number"] + 1,
            "state": "running",
            "failures": last_run["failures"],
            "requested_at": now if project["due_at"] is None else min(now, project["due_at"]),
            "started_at": now,
        }

    def __call__(self, phase: str, done: int, total: int | None) -> None:
        is_new = phase != self.state["phase"]
        self.state |= {"phase": phase, "done": done, "total": total}
        if is_new or time.monotonic() - self._reported_at >= REPORT_EVERY:
            self._reported_at = time.monotonic()
            self._store.note(f"run:{self._project}", self.state)

    def end(self, **values: Any) -> None:
        """Store how the run ended."""
        self.state |= {"finished_at": time.time(), **values}
        self._store.note(f"run:{self._project}", self.state)

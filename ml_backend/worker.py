"""The scorer process: ``python -m ml_backend.worker``. It alone loads models; web workers never do."""

import logging
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from huey.consumer import Consumer

from ml_backend.logs import set_up_logging
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.store.integrity import store_trouble
from ml_backend.store.permissions import keep_private
from ml_backend.store.store import Row, is_connected
from ml_backend.sync.job_queue import make_queue
from ml_backend.sync.jobs import Runner, Wakeups
from softirr.terminal import guarded

log = logging.getLogger("ml_backend.worker")  # __name__ is __main__ here

TICK = 2.0
HEARTBEAT_EVERY = 10.0
MODELS_KEPT = 300.0  # seconds for which an unused model stays in memory; loading it again takes some seconds
PREPARED_EVERY = 300.0  # seconds between two preparations of one project
KERNELS_KEPT = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
"""PyTorch keeps 1024 compiled kernels and never gives back their memory; with 32, scoring takes the same time."""


def main() -> None:
    """Serve the queue until SIGTERM or SIGINT."""
    os.environ.setdefault(*KERNELS_KEPT)
    settings = Settings.from_environment()
    set_up_logging(settings.log_level, settings.log_format)
    if _take_interrupts():
        log.info("stopped before the scorer process was ready")
        return
    keep_private(settings.data)
    services = Services(settings)
    store = services.store
    store.migrate()
    log.debug("mark of life: %s", store.own_name())
    stop = threading.Event()
    runner = Runner(store, settings, services.scorer, services.client, stop=stop)
    wakeups = Wakeups(store, make_queue(settings), runner.run)
    consumer = Consumer(
        wakeups.queue,
        workers=settings.job_workers,
        periodic=False,
        initial_delay=0.05,
        max_delay=0.2,
        check_worker_health=True,
    )
    timer = threading.Thread(target=_tick, args=(wakeups, runner, settings, stop), name="timer", daemon=True)
    timer.start()
    watcher = threading.Thread(target=_follow, args=(consumer, stop), name="watcher", daemon=True)
    watcher.start()
    log.info("scorer process ready (%d workers)", settings.job_workers)
    try:
        consumer.run()
    finally:
        stop.set()
        services.scorer.close()
        store.close()


def _take_interrupts() -> bool:
    """Take SIGINT as it comes from now on; whether one came while `serve` held it back for the imports."""
    if os.name == "nt":
        return False
    came = signal.SIGINT in signal.sigpending()
    if came:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # which forgets it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return came


class _WithoutQueue:
    """Runs projects in this process while the queue does not bring them."""

    def __init__(self, runner: Runner, workers: int):
        self._runner = runner
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="without-queue")
        self._running: set[int] = set()
        self._lock = threading.Lock()

    def run(self, project: int) -> None:
        """Have the project brought up to date soon, unless that is under way already."""
        with self._lock:
            if project in self._running:
                return
            self._running.add(project)
        self._pool.submit(self._run, project)

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown()

    def _run(self, project: int) -> None:
        try:
            self._runner.run(project)
        except Exception as error:  # noqa: BLE001 - the store is away: the timer asks again
            log.warning("a run without the queue failed: %s", store_trouble(error) or type(error).__name__)
        finally:
            with self._lock:
                self._running.discard(project)


def _tick(wakeups: Wakeups, runner: Runner, settings: Settings, stop: threading.Event) -> None:
    """Wake what is due: unserved wake-ups (a killed process, a lost message) and the regular look at each project."""
    here = _WithoutQueue(runner, settings.job_workers)
    try:
        _look_around(wakeups, runner, settings, stop, here)
    finally:
        here.close()


def _look_around(
    wakeups: Wakeups, runner: Runner, settings: Settings, stop: threading.Event, here: _WithoutQueue
) -> None:
    asked: dict[int, float] = {}
    beat = -HEARTBEAT_EVERY
    unfinished = set(wakeups.store.wanted())  # what the process before us left behind
    while not stop.is_set():
        try:
            if time.monotonic() - beat >= HEARTBEAT_EVERY:
                wakeups.store.note_heartbeat("scorer", {"queue": wakeups.queue.trouble})
                beat = time.monotonic()
            if runner.scorer.release(MODELS_KEPT):
                log.info("gave the memory of idle models back")
            now = time.time()
            every = wakeups.store.projects()
            for row in every:
                project = row["id"]
                if not runner.due(project):
                    continue
                served = row["lease_owner"] is not None and (row["lease_until"] or 0.0) > now
                if served and not wakeups.store.lease_is_dead(row["lease_owner"]):
                    continue
                late = row["wanted_at"] is not None and row["wanted_at"] < now - 2 * TICK
                unserved = late or project in unfinished
                regular = _is_followed(row) and (
                    now - (row["checked_at"] or 0) > settings.reconcile_seconds
                    or (row["summary_stale"] and now > (row["summary_due"] or 0))
                )
                if (unserved or regular) and now - asked.get(project, 0.0) > 4 * TICK:
                    asked[project] = now
                    unfinished.discard(project)
                    if regular:
                        wakeups.want(project, "regular check")
                    if unserved and (not wakeups.again(project) or wakeups.queue.read_trouble):
                        here.run(project)
        except Exception as error:  # noqa: BLE001 - the timer must outlive a database that is down for a moment
            log.warning("the timer could not look at the projects: %s", store_trouble(error) or type(error).__name__)
        stop.wait(TICK)


def _is_followed(row: Row) -> bool:
    """Only connected projects are checked regularly: ``sync`` alone updates a project once."""
    return is_connected(row["connection"])


def _follow(consumer: Consumer, stop: threading.Event) -> None:
    """Break jobs off when the consumer is to stop, and stop when the parent process is gone."""
    parent = os.getppid()
    watch_parent = os.environ.get("SOFTIRR_WATCH_PARENT") == "1"
    while not stop.is_set():
        if consumer.stop_flag.is_set():
            stop.set()
        elif watch_parent and os.getppid() != parent:
            log.warning("the parent process is gone, stopping")
            stop.set()
            consumer.stop_flag.set()
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(guarded(main, program="softirr-ls: the scorer process", fault=1))

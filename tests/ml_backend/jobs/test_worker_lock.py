"""The lock of the worker, and commands that wait for its run."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import httpx
import pytest

from ml_backend.store.lock import WorkerLock, alone
from ml_backend.store.store import Store
from ml_backend.worker.runs import Worker, wait_for_run
from softirr.errors import SoftirrError
from tests.ml_backend.bench import Bench

HOLDER = """
import sys, time
from ml_backend.store.store import NO_RUN, Store
from ml_backend.store.lock import WorkerLock
lock = WorkerLock(Store(sys.argv[1]))
print(lock.acquire(), flush=True)
time.sleep(60)
"""


class TestLock:
    def test_one_worker_has_the_lock(self, store: Store) -> None:
        """Two locks of one process stand for two processes: neither kind of lock is reentrant across them."""
        first, second = WorkerLock(store), WorkerLock(store)
        assert first.acquire() and first.is_held()
        assert not second.acquire()
        first.release()
        assert second.acquire()
        second.release()

    def test_the_lock_of_a_killed_process_is_free(self, store: Store) -> None:
        process = subprocess.Popen([sys.executable, "-c", HOLDER, store.url], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None and process.stdout.readline().strip() == "True"
            lock = WorkerLock(store)
            assert not lock.acquire()
        finally:
            process.kill()
            process.wait()
        end = time.monotonic() + 10
        while not lock.acquire():
            assert time.monotonic() < end
            time.sleep(0.1)
        lock.release()

    def test_a_lost_lock_ends_the_worker(self, bench: Bench, worker: Worker, project: int) -> None:
        bench.store.want(project)
        worker.serve(lambda: False)
        assert worker.stop.is_set()
        assert bench.fake.calls == []

    def test_a_command_waits_for_the_run_and_no_run_begins_meanwhile(
        self, bench: Bench, project: int, worker: Worker
    ) -> None:
        lock = WorkerLock(bench.store)
        assert lock.acquire()
        order: list[str] = []
        reads, may_go_on = threading.Event(), threading.Event()

        def slow(request: httpx.Request) -> None:
            reads.set()
            may_go_on.wait(10)
            order.append("run")

        bench.fake.before = slow  # type: ignore[assignment]
        bench.store.want(project)
        run = threading.Thread(target=worker.run, args=(project,))
        run.start()
        assert reads.wait(10)

        def command() -> None:
            with alone(bench.store, project):
                order.append("command")
                bench.store.want(project)
                worker.run(project)
                assert bench.store.due(time.time()) == []

        commanding = threading.Thread(target=command)
        commanding.start()
        end = time.monotonic() + 10
        while not bench.store.is_held(project):
            assert time.monotonic() < end
            time.sleep(0.01)
        may_go_on.set()
        commanding.join(30)
        run.join(30)
        lock.release()
        assert order[-1] == "command" and order.count("command") == 1
        assert bench.store.due(time.time()) == [project], "afterwards it is due"

    def test_the_command_line_waits_for_the_worker(self, bench: Bench, project: int, worker: Worker) -> None:
        serving = threading.Thread(target=worker.serve, args=(lambda: True,))
        bench.store.note("alive:worker", {"at": time.time()})
        serving.start()
        try:
            assert wait_for_run(bench.store, project, full=True)["created"] == 1
            bench.fake.before = lambda request: httpx.Response(401)
            with pytest.raises(SoftirrError, match="refused the token"):
                wait_for_run(bench.store, project, full=False)
        finally:
            worker.stop.set()
            serving.join(30)

    def test_a_run_that_ends_before_the_command_looks_is_its_run(
        self, bench: Bench, project: int, worker: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        want = bench.store.want

        def want_and_run(number: int, **options: Any) -> None:
            want(number, **options)
            monkeypatch.setattr(bench.store, "want", want)
            worker.run(number)

        bench.store.note("alive:worker", {"at": time.time()})
        monkeypatch.setattr(bench.store, "want", want_and_run)
        monkeypatch.setattr("ml_backend.worker.runs.SILENT_AFTER", 1.0)
        assert wait_for_run(bench.store, project, full=True)["created"] == 1

    def test_a_worker_that_is_gone_is_reported(self, bench: Bench, project: int) -> None:
        with pytest.raises(SoftirrError, match="does not answer"):
            wait_for_run(bench.store, project, full=True)

"""Jobs: what is wanted stands in the store, the queue carries it, and whatever happens to either is made good."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from ml_backend import worker
from ml_backend.settings import Settings
from ml_backend.sync import jobs as jobs_module
from ml_backend.sync import project_sync, waiting
from ml_backend.sync.background import Background
from ml_backend.sync.job_queue import make_queue
from ml_backend.sync.jobs import Runner, Wakeups
from ml_backend.web.api import job_view
from softirr.errors import SoftirrError
from tests.ml_backend.bench import Bench, Looks
from tests.ml_backend.fake_label_studio import NUMBER, URL, drain
from tests.servers import free_port

TEXT = "unmistakable finding"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, debounce_seconds=0.01, reconcile_seconds=60.0)
    bench.fake.add_task({1: [TEXT], 2: [TEXT, "fever"]})
    return bench


@pytest.fixture
def project(bench: Bench) -> int:
    row = bench.store.ensure_project(URL, NUMBER, born=bench.fake.project["created_at"])
    bench.store.update_project(row["id"], connection={"mode": "connected"})
    return int(row["id"])


@pytest.fixture
def runner(bench: Bench) -> Runner:
    return Runner(bench.store, bench.settings, bench.scorer, bench.client)


def states(bench: Bench) -> list[str]:
    return [job["state"] for job in bench.store.jobs()]


class TestWakeups:
    @pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.redis)])
    def wakeups(self, request: pytest.FixtureRequest, bench: Bench, tmp_path: Path) -> Iterator[tuple[Wakeups, Any]]:
        url = request.getfixturevalue("redis_url") if request.param == "redis" else None
        served: list[int] = []
        queue = make_queue(Settings.from_environment({}, data=tmp_path, redis_url=url))
        queue.flush()
        yield Wakeups(bench.store, queue, served.append), served
        queue.flush()

    def test_many_wishes_are_one_run(self, wakeups: Any, bench: Bench, project: int) -> None:
        wake, served = wakeups
        for _ in range(50):
            wake.want(project, "webhook")
        assert len(wake.queue) == 1
        wake.queue.execute(wake.queue.dequeue())
        assert served == [project]
        assert states(bench) == ["queued"]

    def test_another_process_sees_them(self, wakeups: Any, bench: Bench, project: int) -> None:
        """The web worker puts on the queue, the scorer process takes off it."""
        wake, _ = wakeups
        settings = Settings.from_environment({}, data=bench.folder, redis_url=_redis_url(wake.queue))
        mine: list[int] = []
        other = Wakeups(bench.store, make_queue(settings), mine.append)
        wake.want(project, "webhook")
        other.queue.execute(other.queue.dequeue())
        assert mine == [project]

    def test_a_queue_that_is_away_loses_nothing(
        self, bench: Bench, project: int, caplog: pytest.LogCaptureFixture, tmp_path: Path
    ) -> None:
        url = f"redis://127.0.0.1:{free_port()}/0"
        wake = Wakeups(bench.store, make_queue(Settings.from_environment({}, data=tmp_path, redis_url=url)))
        wake.want(project, "webhook")
        assert bench.store.wanted() == [project]
        assert "the timer will" in caplog.text


def _redis_url(queue: Any) -> str | None:
    pool = getattr(queue.storage, "pool", None)
    return f"redis://127.0.0.1:{pool.connection_kwargs['port']}/0" if pool is not None else None


class TestRunner:
    def test_a_job_brings_the_project_up_to_date(self, bench: Bench, project: int, runner: Runner) -> None:
        bench.store.want(project)
        bench.store.open_job(project, "webhook")
        runner.run(project)
        assert bench.fake.wrong() == []
        (job,) = bench.store.jobs()
        assert (job["state"], job["message"], job["result"]["created"]) == ("done", "", 1)
        assert job["finished_at"] >= job["started_at"] >= job["requested_at"]
        assert bench.store.wanted() == []
        counts = bench.store.counts()
        assert (counts["jobs_done"], counts["tasks_scored"], counts["pairs_scored"]) == (1, 1, 1)
        row = bench.store.project_by_id(project)
        assert row is not None
        assert row["lease_owner"] is None

    def test_nothing_wanted_is_nothing_done(self, bench: Bench, project: int, runner: Runner) -> None:
        runner.run(project)
        runner.run(999)
        assert bench.store.jobs() == []
        assert bench.fake.calls == []

    def test_what_is_wanted_while_it_runs_is_another_run(self, bench: Bench, project: int, runner: Runner) -> None:
        def meanwhile(request: httpx.Request) -> None:
            if request.method == "PATCH" and len(bench.store.jobs()) == 1:
                bench.fake.add_task({1: ["new"], 2: ["news"]})
                bench.store.want(project)

        bench.fake.after = meanwhile  # type: ignore[assignment]
        bench.store.want(project)
        runner.run(project)
        assert bench.fake.wrong() == []
        assert states(bench) == ["done", "done"]

    def test_a_wish_that_a_long_run_served_leaves_no_job_behind(
        self, bench: Bench, project: int, runner: Runner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(waiting, "LOOK_EVERY", 0.0)
        wakeups = Wakeups(bench.store, make_queue(bench.settings))
        bench.store.want(project)
        runner.run(project)
        pages: list[str] = []

        def meanwhile(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and "fields=all" in str(request.url) and not pages:
                pages.append("first")
                wakeups.want(project, "annotation_updated")

        bench.fake.after = meanwhile  # type: ignore[assignment]
        bench.store.want(project, full=True)
        runner.run(project)
        assert pages
        assert set(states(bench)) == {"done"}
        assert bench.store.wanted() == []

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["server", "defect"])
    def test_a_failure_is_noted_in_a_sentence_without_a_text_and_tried_again_later(
        self,
        bench: Bench,
        project: int,
        runner: Runner,
        kind: str,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        if kind == "server":
            bench.fake.before = lambda request: httpx.Response(500, content=TEXT.encode())
        else:
            quoting = ValueError(f"{TEXT} secret-token")
            monkeypatch.setattr(bench.scorer, "task_details", lambda *_, **__: (_ for _ in ()).throw(quoting))
        bench.store.want(project, full=True)
        runner.run(project)
        (job, *_) = bench.store.jobs()
        assert job["state"] == "failed"
        assert job["message"].endswith(".")
        assert "\n" not in job["message"]
        assert TEXT not in job["message"] + caplog.text
        assert "secret-token" not in job["message"] + caplog.text
        assert not runner.due(project), "it pauses"
        assert bench.store.take_wanted(project) == (True, True), "and is wanted still"
        assert bench.store.counts()["jobs_failed"] == 1

    def test_the_pauses_grow_and_end(self, bench: Bench, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [0.0]
        monkeypatch.setattr(jobs_module.time, "monotonic", lambda: now[0])
        runner = Runner(bench.store, bench.settings, bench.scorer, bench.client)
        pauses = []
        for _ in range(12):
            runner._failed(project, bench.store.open_job(project, "x"), SoftirrError("It is down."), False)
            pauses.append(runner._not_before[project] - now[0])
        assert pauses == sorted(pauses)
        assert pauses[0] == 2.0
        assert pauses[-1] == jobs_module.LONGEST_PAUSE

    def test_told_to_stop_it_goes_on_at_the_next_start(self, bench: Bench, project: int, runner: Runner) -> None:
        def stop(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/":
                runner.stop.set()

        bench.fake.after = stop  # type: ignore[assignment]
        bench.store.want(project, full=True)
        runner.run(project)
        assert states(bench) == ["queued"]
        assert bench.store.wanted() == [project]
        bench.fake.after = lambda request: None
        Runner(bench.store, bench.settings, bench.scorer, bench.client).run(project)
        assert bench.fake.wrong() == []
        assert states(bench) == ["done"]

    def test_a_lost_lease_ends_the_run(
        self, bench: Bench, project: int, runner: Runner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(jobs_module, "LEASE_EVERY", 0.02)
        for k in range(20):
            bench.fake.add_task({1: [f"{k}"], 2: ["x"]})

        def steal(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/":
                bench.store.take_lease(project, "elsewhere:1:a", force=True)
                stolen.wait(0.5)

        stolen = threading.Event()
        bench.fake.after = steal  # type: ignore[assignment]
        bench.store.want(project)
        runner.run(project)
        assert bench.store.jobs()[0]["message"] == "Another process took over."
        assert bench.fake.writes() == []
        row = bench.store.project_by_id(project)
        assert row is not None
        assert row["lease_owner"] == "elsewhere:1:a"

    def test_another_process_at_work_is_left_alone(self, bench: Bench, project: int, runner: Runner) -> None:
        bench.store.take_lease(project, "elsewhere:1:a")
        bench.store.want(project)
        runner.run(project)
        assert bench.fake.calls == []
        assert bench.store.wanted() == [project]
        with pytest.raises(SoftirrError, match="Another process has been working"):
            runner.run_now(project, NUMBER, full=True, patience=0.0)

    def test_a_job_that_a_killed_process_left_is_closed(self, bench: Bench, project: int, runner: Runner) -> None:
        left = bench.store.open_job(project, "webhook")
        bench.store.update_job(left, state="running")
        assert bench.store.wanted() == [project]
        runner.run(project)
        assert states(bench) == ["done", "failed"]
        assert bench.fake.wrong() == []

    def test_a_store_that_can_not_be_written_does_not_end_the_process(
        self, bench: Bench, project: int, runner: Runner, caplog: pytest.LogCaptureFixture
    ) -> None:
        bench.store.want(project)
        full = [False]

        def refuse(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            if full[0] and statement.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
                raise sqlite3.OperationalError("database or disk is full")

        def fill(request: httpx.Request) -> None:
            full[0] = True

        sa.event.listen(bench.store.engine, "before_cursor_execute", refuse)
        bench.fake.before = fill  # type: ignore[assignment]
        try:
            runner.run(project)
        finally:
            sa.event.remove(bench.store.engine, "before_cursor_execute", refuse)
        warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert [record.getMessage().partition(": ")[2] for record in warnings] == [
            "The disk is full: make room in the folder SOFTIRR_DATA."
        ]
        assert warnings[0].exc_info is None and "Traceback" not in caplog.text
        assert TEXT not in caplog.text
        bench.fake.before = lambda request: None
        runner._not_before.clear()  # the pause is over
        runner.run(project)
        assert bench.fake.wrong() == []


class TestProgress:
    def test_phases_and_speed_can_be_seen(self, bench: Bench, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jobs_module, "REPORT_EVERY", 0.0)
        monkeypatch.setattr(project_sync, "SCORE_BATCH", 5)
        for k in range(20):
            bench.fake.add_task({1: [f"{k}"], 2: ["x"]})
        seen: list[dict[str, Any]] = []
        update = bench.store.update_job

        def watch(job: int, **values: Any) -> None:
            update(job, **values)
            seen.append(job_view(bench.store.jobs()[0], NUMBER))

        monkeypatch.setattr(bench.store, "update_job", watch)
        bench.store.want(project)
        Runner(bench.store, bench.settings, bench.scorer, bench.client).run(project)
        phases = list(dict.fromkeys(view["phase"] for view in seen if view["state"] == "running"))
        assert [phase for phase in phases if phase] == ["reading", "scoring", "writing", "coefficients"]
        scoring = [view for view in seen if view["phase"] == "scoring" and view["done"]]
        assert scoring
        assert scoring[-1]["pairs_per_second"] > 0
        assert any(view["seconds_left"] is not None for view in scoring)
        assert seen[-1]["state"] == "done"
        assert seen[-1]["seconds_left"] is None


class TestTimer:
    @pytest.fixture
    def wakeups(self, bench: Bench) -> Wakeups:
        return Wakeups(bench.store, make_queue(bench.settings))

    def tick(self, bench: Bench, wakeups: Wakeups, runner: Runner) -> int:
        """Look around once; how many wake-ups are on the queue now."""
        worker._tick(wakeups, runner, bench.settings, Looks(1))
        return len(wakeups.queue)

    def test_a_connected_project_is_looked_at_regularly(
        self, bench: Bench, project: int, wakeups: Wakeups, runner: Runner
    ) -> None:
        assert self.tick(bench, wakeups, runner) == 1
        assert bench.store.jobs()[0]["reason"] == "regular check"
        runner.run(project)
        wakeups.queue.flush()
        assert self.tick(bench, wakeups, runner) == 0, "looked at a moment ago"

    def test_others_are_not(self, bench: Bench, project: int, wakeups: Wakeups, runner: Runner) -> None:
        bench.store.update_project(project, connection={})
        assert self.tick(bench, wakeups, runner) == 0

    def test_what_the_process_before_left_unfinished(
        self, bench: Bench, project: int, wakeups: Wakeups, runner: Runner
    ) -> None:
        """Also of a project that is not connected: a sync that was killed goes on."""
        bench.store.update_project(project, connection={})
        bench.store.update_job(bench.store.open_job(project, "softirr-ls sync"), state="running")
        assert self.tick(bench, wakeups, runner) == 1

    def test_what_another_process_does_is_left_to_it(
        self, bench: Bench, project: int, wakeups: Wakeups, runner: Runner
    ) -> None:
        bench.store.want(project)
        bench.store.take_lease(project, "elsewhere:1:a")
        assert self.tick(bench, wakeups, runner) == 0

    def test_a_pause_after_a_failure_is_kept(
        self, bench: Bench, project: int, wakeups: Wakeups, runner: Runner
    ) -> None:
        bench.fake.before = lambda request: httpx.Response(401)
        bench.store.want(project)
        runner.run(project)
        wakeups.queue.flush()
        assert self.tick(bench, wakeups, runner) == 0

    def test_stale_coefficients_when_they_are_due(
        self, bench: Bench, project: int, wakeups: Wakeups, runner: Runner
    ) -> None:
        bench.store.want(project)
        runner.run(project)
        bench.store.update_project(project, summary_stale=True, summary_due=0.0)
        assert self.tick(bench, wakeups, runner) == 1

    def test_it_outlives_a_database_that_is_away(
        self, bench: Bench, wakeups: Wakeups, runner: Runner, monkeypatch: pytest.MonkeyPatch, caplog: Any
    ) -> None:
        monkeypatch.setattr(bench.store, "projects", lambda: (_ for _ in ()).throw(sqlite3.OperationalError(TEXT)))
        assert self.tick(bench, wakeups, runner) == 0
        assert "the timer could not look at the projects: OperationalError" in caplog.text
        assert TEXT not in caplog.text


class TestBackground:
    def test_in_order_and_each_after_its_time(self) -> None:
        background, done = Background(), []
        background.do(lambda: done.append("later"), after=60)
        background.do(lambda: done.append("first"))
        background.do(lambda: done.append("second"))
        drain(background)
        assert done == ["first", "second"]

    def test_one_that_fails_stops_no_other(self, caplog: pytest.LogCaptureFixture) -> None:
        background, done = Background(), []
        background.do(lambda: (_ for _ in ()).throw(ValueError(TEXT)))
        background.do(lambda: done.append("second"))
        drain(background)
        assert done == ["second"]
        assert "ValueError" in caplog.text
        assert TEXT not in caplog.text

    def test_too_many_are_dropped_and_said(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr("ml_backend.sync.background.MOST_WAITING", 3)
        background = Background()
        for _ in range(5):
            background.do(lambda: None, after=60)
        assert "one is dropped" in caplog.text

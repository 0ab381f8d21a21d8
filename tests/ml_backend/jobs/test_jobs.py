"""The worker: due projects are in the store, and a run completes an earlier one that failed."""

from __future__ import annotations

import logging
import sqlite3
import time
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from ml_backend.web.responses import job_view
from ml_backend.worker import runs as runs_module
from ml_backend.worker import task_scorer, update
from ml_backend.worker.runs import Worker
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import NUMBER
from tests.ml_backend.jobs.worker_runs import TEXT, due_in, make_worker, tick


class TestDue:
    def test_many_requests_are_one_run(self, bench: Bench, project: int, worker: Worker) -> None:
        for _ in range(50):
            bench.store.want(project)
        tick(worker)
        assert bench.store.run_of(project)["number"] == 1  # type: ignore[index]
        assert bench.fake.wrong() == []
        assert bench.store.due(time.time()) == []

    def test_a_connected_project_is_due_regularly(self, bench: Bench, project: int, worker: Worker) -> None:
        bench.store.want(project)
        tick(worker)
        assert 50 < due_in(bench, project) <= 60

    def test_an_unconnected_project_runs_once(self, bench: Bench, project: int, worker: Worker) -> None:
        bench.store.update_project(project, connection={})
        bench.store.want(project)
        tick(worker)
        assert bench.fake.wrong() == []
        assert bench.store.project_by_id(project)["due_at"] is None  # type: ignore[index]

    def test_stale_coefficients_are_due(self, bench: Bench, project: int, worker: Worker) -> None:
        bench.store.want(project)
        tick(worker)
        due = time.time() + 5.0
        bench.store.update_project(project, summary_stale=True, summary_due=due, due_at=0.0)
        tick(worker)
        assert 3 < due_in(bench, project) <= 5
        bench.store.update_project(project, summary_due=0.0, due_at=0.0)
        tick(worker)
        assert bench.store.project_by_id(project)["summary_stale"] is False  # type: ignore[index]

    def test_the_project_that_is_due_first_runs_first(self, bench: Bench, project: int) -> None:
        other_project = bench.store.ensure_project(URL, NUMBER + 1)["id"]
        bench.store.want(project, due_at=20.0)
        bench.store.want(other_project, due_at=10.0)
        bench.store.want(other_project, due_at=30.0)
        assert bench.store.due(25.0) == [other_project, project]

    def test_a_later_request_does_not_postpone_an_earlier_one(self, bench: Bench, project: int) -> None:
        bench.store.want(project, due_at=10.0)
        bench.store.want(project, due_at=20.0)
        assert bench.store.due(15.0) == [project]

    def test_a_request_during_a_run_is_another_run(self, bench: Bench, project: int, worker: Worker) -> None:
        def meanwhile(request: httpx.Request) -> None:
            if request.method == "PATCH" and len(bench.fake.tasks) == 1:
                bench.fake.add_task({1: ["new"], 2: ["news"]})
                bench.store.want(project)

        bench.fake.after = meanwhile  # type: ignore[assignment]
        bench.store.want(project)
        tick(worker)
        assert bench.store.due(time.time()) == [project]
        tick(worker)
        assert bench.fake.wrong() == []

    def test_an_edit_is_served_without_the_list_of_all_tasks(self, bench: Bench, project: int, worker: Worker) -> None:
        bench.store.want(project)
        tick(worker)
        bench.store.update_project(project, list_due=time.time() + 60)
        bench.fake.edit(bench.fake.tasks[1]["annotations"][0]["id"], ["changed"])
        bench.store.want(project)
        queries: list[str] = []
        bench.fake.before = lambda r: queries.append(r.url.params.get("query", ""))  # type: ignore[func-returns-value]
        tick(worker)
        assert bench.fake.wrong() == []
        assert not any('"tasks:id"' in query and "equal" not in query for query in queries)

    def test_outlives_a_database_that_is_away(
        self, bench: Bench, worker: Worker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        calls = []

        def due(now: float) -> list[int]:
            calls.append(now)
            if len(calls) == 2:
                worker.stop.set()
            raise sqlite3.OperationalError(TEXT)

        monkeypatch.setattr(bench.store, "due", due)
        worker.serve(lambda: True)
        assert len(calls) == 2
        assert "could not look for projects that are due: OperationalError" in caplog.text
        assert TEXT not in caplog.text


class TestRun:
    def test_a_run_stores_its_state(self, bench: Bench, project: int, worker: Worker) -> None:
        bench.store.want(project)
        tick(worker)
        (job,) = bench.store.jobs()
        assert (job["state"], job["message"], job["result"]["created"]) == ("done", "", 1)
        assert job["finished_at"] >= job["started_at"] >= job["requested_at"]

    def test_missing_project_starts_no_run(self, bench: Bench, worker: Worker) -> None:
        worker.run(999)
        assert bench.store.jobs() == []
        assert bench.fake.calls == []

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["server", "defect"])
    def test_a_failure_is_a_sentence_without_a_text_and_is_tried_again_later(
        self,
        bench: Bench,
        project: int,
        worker: Worker,
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
        bench.store.want(project)
        tick(worker)
        (job,) = bench.store.jobs()
        assert job["state"] == "failed"
        assert job["message"].endswith(".")
        assert "\n" not in job["message"]
        assert TEXT not in job["message"] + caplog.text
        assert "secret-token" not in job["message"] + caplog.text
        assert bench.store.due(time.time()) == [], "it pauses"
        assert bench.store.due(time.time() + 3.0) == [project], "and is tried again"

    def test_pauses_grow_and_are_bounded(self, bench: Bench, project: int, worker: Worker) -> None:
        bench.fake.before = lambda request: httpx.Response(401)
        pauses = []
        for _ in range(12):
            bench.store.want(project)
            worker.run(project)
            pauses.append(bench.store.project_by_id(project)["not_before"] - time.time())  # type: ignore[index]
        assert pauses == sorted(pauses) or pauses[-1] == pytest.approx(runs_module.LONGEST_PAUSE, abs=2.0)
        assert pauses[0] == pytest.approx(2.0, abs=1.0)
        assert max(pauses) <= runs_module.LONGEST_PAUSE
        bench.fake.before = lambda request: None
        worker.run(project)
        assert bench.store.project_by_id(project)["not_before"] is None  # type: ignore[index]

    def test_stopped_run_continues_at_the_next_start(self, bench: Bench, project: int, worker: Worker) -> None:
        def stop(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/":
                worker.stop.set()

        bench.fake.after = stop  # type: ignore[assignment]
        bench.store.want(project, full=True)
        tick(worker)
        assert bench.store.jobs()[0]["state"] == "queued"
        bench.fake.after = lambda request: None
        tick(make_worker(bench))
        assert bench.fake.wrong() == []

    def test_the_run_of_a_killed_process_is_completed(self, bench: Bench, project: int, worker: Worker) -> None:
        bench.store.update_project(project, connection={})
        assert bench.store.begin_run(project, {**runs_module.NO_RUN, "state": "running", "number": 1})
        worker.close_broken_runs()
        assert bench.store.jobs()[0]["state"] == "failed"
        tick(worker)
        assert bench.store.jobs()[0]["state"] == "done"
        assert bench.fake.wrong() == []

    def test_a_store_that_can_not_be_written_does_not_end_the_process(
        self, bench: Bench, project: int, worker: Worker, caplog: pytest.LogCaptureFixture
    ) -> None:
        bench.store.want(project)
        is_full = [False]

        def refuse(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            if is_full[0] and statement.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
                raise sqlite3.OperationalError("database or disk is full")

        def fill(request: httpx.Request) -> None:
            is_full[0] = True

        sa.event.listen(bench.store.engine, "before_cursor_execute", refuse)
        bench.fake.before = fill  # type: ignore[assignment]
        try:
            worker.run(project)
        finally:
            sa.event.remove(bench.store.engine, "before_cursor_execute", refuse)
        warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert {record.getMessage().partition(": ")[2] for record in warnings} == {
            "The disk is full: make room in the folder SOFTIRR_DATA."
        }
        assert TEXT not in caplog.text
        bench.fake.before = lambda request: None
        worker.close_broken_runs()
        tick(worker)
        assert bench.fake.wrong() == []

    def test_progress_shows_phases_and_numbers(
        self, bench: Bench, project: int, worker: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(runs_module, "REPORT_EVERY", 0.0)
        for name in ("FIRST_BATCH", "SCORE_BATCH"):
            monkeypatch.setattr(task_scorer, name, 5)
        monkeypatch.setattr(update, "SCORE_EVERY", 60.0)  # so that no task is scored while others are read
        for k in range(20):
            bench.fake.add_task({1: [f"{k}"], 2: ["x"]})
        observed: list[dict[str, Any]] = []
        note = bench.store.note

        def watch(name: str, state: Any) -> None:
            note(name, state)
            if name.startswith("run:"):
                observed.append(bench.store.jobs()[0])

        monkeypatch.setattr(bench.store, "note", watch)
        bench.store.want(project)
        worker.run(project)
        phases = list(dict.fromkeys(view["phase"] for view in observed if view["state"] == "running"))
        assert [phase for phase in phases if phase] == ["reading", "scoring", "writing", "coefficients"]
        scoring = [view for view in observed if view["phase"] == "scoring" and view["done"]]
        assert [job_view(job) for job in scoring][-1] == {"phase": "scoring", "done": 20, "total": 21}
        assert observed[-1]["state"] == "done"
        assert job_view(observed[-1]) is None

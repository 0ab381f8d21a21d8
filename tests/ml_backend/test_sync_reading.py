"""A run reads no more than it must, and annotators do not wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from ml_backend.scoring.measures import Stopped
from ml_backend.worker import reading as reader_module
from ml_backend.worker import update as update_module
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_project import region


def only_one(request: httpx.Request) -> bool:
    """Whether a request is for one task by its id."""
    return '"equal"' in request.url.params["query"]


class TestReadsLittle:
    """Most runs find nothing new, or one task, in a project of tens of thousands."""

    def test_recent_imports_are_not_read_again(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.sync()
        for _ in range(3):
            bench.fake.read.clear()
            bench.sync()
            assert bench.fake.read == []
        bench.fake.edit(bench.fake.tasks[tasks[7]]["annotations"][0]["id"], ["something else"])
        bench.sync()
        assert bench.fake.read == [tasks[7]]
        assert bench.fake.wrong() == []

    def test_after_a_deletion_only_that_task_is_read(self, bench: Bench) -> None:
        """It changes no date: found by the numbers of annotations, also where reading everything would take minutes."""
        tasks = answered(bench.fake, 30)
        bench.sync()
        bench.fake.read.clear()
        bench.fake.delete_annotation(bench.fake.tasks[tasks[7]]["annotations"][0]["id"])
        bench.fake.tasks.pop(tasks[9])
        bench.sync()
        assert bench.fake.read == [tasks[7]]
        assert bench.fake.wrong() == []

    def test_many_changes_are_read_by_the_page(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reader_module, "FEW", 2)
        monkeypatch.setattr(reader_module, "NEWEST", 2)
        monkeypatch.setattr(update_module, "NEWEST", 2)
        tasks = answered(bench.fake, 10)
        bench.sync()
        for task in tasks[:5]:
            bench.fake.edit(bench.fake.tasks[task]["annotations"][0]["id"], ["something else"])
        bench.fake.calls.clear()
        bench.sync()
        assert bench.fake.wrong() == []
        assert bench.fake.calls.count(("GET", "/api/tasks/")) == 3, "the newest, the dates of all, one page"

    def test_nearly_everything_is_read_by_the_page_without_a_list(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reader_module, "FEW", 5)
        monkeypatch.setattr(update_module, "NEWEST", 2)
        tasks = answered(bench.fake, 3)
        bench.sync()
        bench.fake.tasks.pop(tasks[1])
        added = answered(bench.fake, 10)
        bench.fake.calls.clear()
        bench.sync()
        assert bench.fake.wrong() == []
        assert bench.store.stamps(bench.row["id"]).keys() == {tasks[0], tasks[2], *added}, "one is gone"
        assert bench.fake.calls.count(("GET", "/api/tasks/")) == 2, "the newest and one page"

    def test_one_task_is_tried_as_often_as_a_list(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.sync()
        bench.fake.edit(bench.fake.tasks[tasks[7]]["annotations"][0]["id"], ["something else"])
        failures: list[str] = []

        def fail(request: httpx.Request) -> httpx.Response | None:
            if request.url.path != "/api/tasks/" or not only_one(request) or len(failures) == 6:
                return None
            failures.append(request.url.params["page_size"])
            return httpx.Response(500)

        bench.fake.before = fail
        result = bench.sync()
        assert len(failures) == 6
        assert result.updated == 1
        assert bench.fake.wrong() == []

    def test_edit_does_not_wait_for_recent_imports(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.sync()
        bench.fake.edit(bench.fake.tasks[tasks[7]]["annotations"][0]["id"], ["something else"])
        bench.store.update_project(bench.row["id"], list_due=0.0)
        order: list[str] = []

        def note(request: httpx.Request) -> None:
            if (
                request.url.path == "/api/tasks/"
                and '"tasks:id"' in request.url.params["query"]
                and not only_one(request)
            ):
                order.append("list")
            elif request.method == "PATCH" and "/predictions/" in request.url.path:
                order.append("written")

        bench.fake.after = note  # type: ignore[assignment]
        bench.sync()
        assert order == ["written", "list"]
        assert bench.fake.wrong() == []

    def test_change_that_appears_after_its_date_is_found(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """An annotation that becomes visible without another date is found by reading the last seconds once more."""
        tasks = answered(bench.fake, 10)
        bench.sync()
        later = SimpleNamespace(time=lambda: time.time() + reader_module.AGAIN_AFTER)
        monkeypatch.setattr("ml_backend.store.tasks.time", later)
        hidden = bench.fake.tasks[tasks[-1]]
        hidden["annotations"][0]["result"] = [region(["came late"])]
        bench.sync()
        assert bench.fake.wrong() == []
        bench.fake.read.clear()
        bench.sync()
        assert bench.fake.read == [], "once is enough"

    def test_annotators_are_served_while_everything_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(update_module, "ATTEND_EVERY", 0.0)
        bench = Bench(tmp_path, page_size=5)
        tasks = answered(bench.fake, 40)
        bench.sync()
        order: list[str] = []

        def meanwhile(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and "fields=all" in str(request.url):
                order.append("page")
                if order == ["page", "page"]:
                    bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["edited meanwhile"])
                    bench.store.want(bench.row["id"])
            elif request.method == "PATCH" and "/predictions/" in request.url.path:
                order.append("written")

        bench.fake.after = meanwhile  # type: ignore[assignment]
        result = bench.sync(full=True)
        assert (result.updated, result.unchanged) == (1, 39)
        assert order.index("written") < 5 < len(order), order
        assert bench.fake.wrong() == []

    def test_annotators_are_served_while_the_coefficients_are_computed(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(update_module, "ATTEND_EVERY", 0.02)
        tasks = answered(bench.fake, 10)
        bench.sync()
        patched = threading.Event()
        summary, was_written = bench.scorer.summary, []

        def slow(*args: Any, **options: Any) -> dict[str, Any]:
            bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["edited meanwhile"])
            bench.store.want(bench.row["id"])
            was_written.append(patched.wait(60))
            return summary(*args, **options)

        def note(request: httpx.Request) -> None:
            if request.method == "PATCH" and "/predictions/" in request.url.path:
                patched.set()

        monkeypatch.setattr(bench.scorer, "summary", slow)
        bench.fake.after = note  # type: ignore[assignment]
        bench.store.update_project(bench.row["id"], summary_stale=True, summary_due=0.0)
        bench.sync()
        assert was_written == [True], "the prediction was written before the coefficients were there"
        assert bench.fake.wrong() == []
        assert bench.row["summary_stale"], "they may be older than the edit"
        assert bench.store.is_due(bench.row["id"]), "the whole look comes after this run"

    def test_a_run_is_broken_off_also_while_the_coefficients_are_computed(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(update_module, "ATTEND_EVERY", 0.02)
        answered(bench.fake, 10)
        stops: list[str] = []
        stop = threading.Event()

        def endless(*args: Any, progress: Callable[[int, int], None], **options: Any) -> dict[str, Any]:
            stop.set()
            try:
                while True:
                    progress(0, 1)
            except Stopped:
                stops.append("broken off")
                raise

        def check() -> None:
            if stop.is_set():
                raise Stopped

        monkeypatch.setattr(bench.scorer, "summary", endless)
        with pytest.raises(Stopped):
            bench.sync(check=check)
        assert stops == ["broken off"]
        assert bench.row["summary"] is None
        assert bench.row["summary_stale"]

    def test_a_complete_pull_that_is_asked_for_during_the_coefficients_has_its_turn(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The newest tasks are read at once; the others, and changed settings, need another run."""
        monkeypatch.setattr(update_module, "ATTEND_EVERY", 0.02)
        tasks = answered(bench.fake, 30)
        bench.sync()
        attended = threading.Event()
        summary = bench.scorer.summary

        def slow(*args: Any, **options: Any) -> dict[str, Any]:
            monkeypatch.setattr(bench.scorer, "summary", summary)
            bench.fake.read.clear()
            bench.choose(suggestions=False)
            bench.store.want(bench.row["id"], full=True)
            assert attended.wait(60)
            return summary(*args, **options)

        def note(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and bench.store.is_due(bench.row["id"]):
                attended.set()

        monkeypatch.setattr(bench.scorer, "summary", slow)
        bench.fake.after = note  # type: ignore[assignment]
        bench.store.update_project(bench.row["id"], summary_stale=True, summary_due=0.0)
        bench.sync()
        assert bench.store.is_due(bench.row["id"])
        bench.sync()
        assert set(bench.fake.read) == set(tasks)
        assert not any(prediction["result"] for (prediction,) in bench.fake.predictions().values())

    def test_a_complete_pull_that_is_asked_for_meanwhile_has_its_turn(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(update_module, "ATTEND_EVERY", 0.0)
        bench = Bench(tmp_path, page_size=5)
        tasks = answered(bench.fake, 60)
        bench.sync()
        pages: list[int] = []

        def ask(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and "fields=all" in str(request.url) and not only_one(request):
                pages.append(len(bench.fake.read))
                if len(pages) == 2:
                    bench.store.want(bench.row["id"], full=True)

        bench.fake.after = ask  # type: ignore[assignment]
        bench.sync(full=True)
        assert bench.store.is_due(bench.row["id"])
        bench.fake.read.clear()
        bench.sync()
        assert bench.fake.read[:5] == tasks[:5], "they were read before the request"

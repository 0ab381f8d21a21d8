"""Writes while annotators work, and bulk imports of which Label Studio drops a part."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.worker import reading as reader_module
from ml_backend.worker import task_scorer
from ml_backend.worker import update as update_module
from ml_backend.worker import writing as writer_module
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER


class TestSteadyWork:
    """Something changes at every request: a run ends all the same, and what nobody touched carries its score."""

    @staticmethod
    def _people(fake: FakeLabelStudio, bench: Bench, *, deletions: bool) -> Callable[[httpx.Request], None]:
        """An edit of one of the newest tasks at each request.

        A new task and the deletion of an older one at each fifth.
        """
        turn = [0]

        def work(request: httpx.Request) -> None:
            turn[0] += 1
            row = bench.store.project(bench.settings.label_studio_url, NUMBER)
            if row is not None:
                bench.store.want(row["id"])
            numbers = sorted(fake.tasks)
            touched = fake.tasks[numbers[-1 - turn[0] % 5]]
            fake.edit(touched["annotations"][0]["id"], [f"edited {turn[0]}"])
            if turn[0] % 5:
                return
            fake.add_task({1: [f"new {turn[0]}"], 2: ["news"]})
            if deletions:
                del fake.tasks[numbers[-6]]

        return work  # type: ignore[return-value]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("deletions", "full", "page_size"), [(False, False, 500), (True, False, 500), (True, True, 5)]
    )
    def test_every_run_ends_and_makes_progress(
        self, tmp_path: Path, deletions: bool, full: bool, page_size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(update_module, "ATTEND_EVERY", 0.0)
        monkeypatch.setattr(task_scorer, "SCORE_BATCH", 5)
        monkeypatch.setattr(reader_module, "NEWEST", 5)
        monkeypatch.setattr(update_module, "NEWEST", 5)
        bench = Bench(tmp_path, page_size=page_size)
        tasks = answered(bench.fake, 24)
        untouched = tasks[:12]
        bench.fake.after = self._people(bench.fake, bench, deletions=deletions)
        for run in range(2):
            initial = len(bench.fake.calls)
            bench.sync(full=full)
            assert len(bench.fake.calls) - initial < 1000, "a run ends"
            expected = bench.fake.expected()
            for task in untouched:
                (prediction,) = bench.fake.predictions().get(task, [None])
                assert prediction is not None, f"run {run}: task {task} carries nothing"
                assert prediction["score"] == expected[task]
        bench.fake.after = lambda request: None
        bench.sync()
        bench.sync()
        assert bench.fake.wrong() == []

    def test_a_batch_with_tasks_that_are_gone_is_written_without_them(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 60)

        def vanish(request: httpx.Request) -> None:
            if request.url.path.endswith("/import/predictions"):
                sent = [prediction["task"] for prediction in json.loads(request.content)]
                bench.fake.tasks.pop(sent[len(sent) // 2], None)

        bench.fake.before = vanish  # type: ignore[assignment]
        bench.sync()
        remaining = [task for task in tasks if task in bench.fake.tasks]
        assert len(remaining) > 50
        assert set(bench.fake.predictions()) == set(remaining), "in one run"
        bench.fake.before = lambda request: None
        assert bench.sync().items == len(remaining)
        assert bench.fake.wrong() == []

    def test_a_scoring_that_is_never_done_still_comes_to_an_end(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whenever a batch was scored, all of its tasks have changed again."""
        monkeypatch.setattr(update_module, "ATTEND_EVERY", 0.0)
        monkeypatch.setattr(task_scorer, "SCORE_BATCH", 5)
        tasks = answered(bench.fake, 20)
        put, batches = bench.store.put_scored, [0]

        def changed_again(project: int, scored: Any) -> None:
            put(project, scored)
            batches[0] += 1
            assert batches[0] < 60, "without end"
            for row in scored:
                bench.fake.edit(bench.fake.tasks[row["number"]]["annotations"][0]["id"], [f"edit {batches[0]}"])
            bench.store.want(project)

        monkeypatch.setattr(bench.store, "put_scored", changed_again)
        bench.sync()
        assert set(bench.fake.predictions()) == set(tasks)
        monkeypatch.setattr(bench.store, "put_scored", put)
        bench.sync()
        assert bench.fake.wrong() == []


class TestBulkImport:
    """Label Studio drops invalid predictions with status 201, and may have stored half when the connection breaks."""

    @pytest.fixture(autouse=True)
    def one_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(task_scorer, "FIRST_BATCH", 500)

    def test_prediction_dropped_once_is_written_again(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        dropped: list[int] = []

        def drop(prediction: Any) -> bool:
            if prediction["task"] == tasks[3] and not dropped:
                dropped.append(prediction["task"])
                return True
            return False

        bench.fake.drop_in_bulk = drop
        bench.sync()
        assert dropped
        assert bench.fake.wrong() == []

    def test_predictions_always_dropped_end_in_a_sentence_without_duplicates(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.fake.drop_in_bulk = lambda prediction: prediction["task"] in tasks[:15]
        with pytest.raises(LabelStudioError, match="did not store all predictions"):
            bench.sync()
        assert all(len(listed) == 1 for listed in bench.fake.predictions().values())

    @pytest.mark.slow
    @pytest.mark.parametrize("n", [5, 40])
    def test_half_written(self, bench: Bench, n: int) -> None:
        answered(bench.fake, n)
        broken: list[int] = []

        def half(request: httpx.Request) -> httpx.Response | BaseException | None:
            if request.url.path.endswith("/import/predictions") and not broken:
                body = json.loads(request.content)
                for prediction in body[: len(body) // 2]:
                    bench.fake._store(prediction)
                broken.append(1)
                return httpx.RemoteProtocolError("broken off", request=request)
            return None

        bench.fake.before = half
        bench.sync()
        assert bench.fake.wrong() == []
        assert bool(broken) == (n > writer_module.FEW_CREATES)

    def test_a_prediction_that_the_label_config_forbids_is_not_sent(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        tasks = answered(bench.fake, 3)
        real = writer_module.PredictionChecker.problem

        def problem(self: Any, prediction: Any) -> str | None:
            return "is not allowed" if calls.pop() else real(self, prediction)

        calls = [False, False, False, True] * 3
        monkeypatch.setattr(writer_module.PredictionChecker, "problem", problem)
        with caplog.at_level(logging.WARNING):
            result = bench.sync()
        assert result.created == 2
        assert "prediction not written: is not allowed" in caplog.text
        assert len(bench.fake.predictions()) == len(tasks) - 1

    def test_a_stale_prediction_is_removed_where_the_new_one_is_forbidden(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tasks = answered(bench.fake, 3)
        bench.sync()
        bench.fake.edit(bench.fake.tasks[tasks[1]]["annotations"][0]["id"], ["changed"])
        monkeypatch.setattr(writer_module.PredictionChecker, "problem", lambda *_: "is not allowed")
        bench.sync()
        assert set(bench.fake.predictions()) == {tasks[0], tasks[2]}

"""Tasks are scored while Label Studio prepares the next page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ml_backend.worker import task_scorer, update
from tests.labelstudio.backend import WITHIN, eventually
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.store_calls import n_scored


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, page_size=2)
    for _ in range(2):
        bench.fake.add_task({1: ["-"], 2: ["-"]})
    for _ in range(2):
        bench.fake.add_task({1: ["+"], 2: ["+"]})
    return bench


def before_the_second_page(bench: Bench, call: Callable[[], Any]) -> None:
    """Have something called before the fake returns the tasks after the second."""
    second = sorted(bench.fake.tasks)[1]

    def before(request: httpx.Request) -> None:
        query = request.url.params.get("query", "")
        if request.url.params.get("fields") == "all" and f'"value": {second}' in query:
            call()

    bench.fake.before = before


def test_the_first_tasks_are_scored_before_the_last_are_read(bench: Bench) -> None:
    scored_tasks: list[int] = []

    def wait_for_scores() -> None:
        scored_tasks.append(eventually(lambda: n_scored(bench.store, 1, {}), what="the first page is scored"))

    before_the_second_page(bench, wait_for_scores)
    bench.sync()
    assert scored_tasks == [2]
    assert bench.fake.wrong() == []


def test_scores_under_earlier_marks_are_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second page shows that "-" is an answer, while the first page is scored as if it were none."""
    task_details = bench.scorer.task_details
    first = sorted(bench.fake.tasks)[0]
    begun = threading.Event()
    before_the_second_page(bench, lambda: begun.wait(WITHIN))

    def late(answers: Any, preparation: Any, **options: Any) -> Any:
        if not preparation.opposites:
            begun.set()
            eventually(lambda: "opposites" in bench.row["controls"][0], what="the second page is read")
        return task_details(answers, preparation, **options)

    monkeypatch.setattr(bench.scorer, "task_details", late)
    bench.sync()
    assert bench.task(first)["agreement"] == 1.0
    assert bench.fake.wrong() == []


def test_the_first_predictions_are_written_before_all_tasks_are_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "SCORE_EVERY", 60.0)  # so that no task is scored while others are read
    bench = Bench(tmp_path)
    answered(bench.fake, 30)
    task_details, n_written = bench.scorer.task_details, []

    def counted(answers: Any, preparation: Any, **options: Any) -> Any:
        n_written.append(len(bench.fake.predictions()))
        return task_details(answers, preparation, **options)

    monkeypatch.setattr(bench.scorer, "task_details", counted)
    bench.sync()
    assert n_written[-1] >= task_scorer.FIRST_BATCH
    assert bench.fake.wrong() == []


@pytest.mark.parametrize("is_new", [True, False])
def test_a_large_new_project_has_scores_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    monkeypatch.setattr(update, "FEW", 10)
    monkeypatch.setattr(update, "needs_model", lambda measure: True)
    bench, n_written = Bench(tmp_path), []
    if not is_new:
        answered(bench.fake, 1)
        bench.sync()
    answered(bench.fake, 30)

    def before(request: httpx.Request) -> None:
        if request.url.params.get("fields") == "all":
            n_written.append(len(bench.fake.predictions()))

    bench.fake.before = before
    bench.sync()
    assert n_written[-1] == (update.FIRST_TASKS if is_new else 1)
    assert bench.fake.wrong() == []

"""The report of a project is computed again after everything that it depends on has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ml_backend.store.acts import AgreedStore
from ml_backend.worker import update
from tests.ml_backend.bench import Bench


def sync(bench: Bench) -> None:
    """Run an update that may compute coefficients, whenever they were computed before."""
    bench.store.update_project(bench.row["id"], summary_due=0.0)
    bench.sync()


def alpha(bench: Bench) -> dict[str, Any]:
    coefficient: dict[str, Any] = bench.row["summary"]["controls"]["findings"]["coefficients"]["krippendorff_alpha"]
    return coefficient


@pytest.fixture
def bench(bench: Bench) -> Bench:
    for second in ("fever", "pyrexia", "fever", "rash"):
        bench.fake.add_task({1: ["fever"], 2: [second]})
    bench.sync()
    return bench


@pytest.fixture
def at_end_of_summary(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Have something happen when the worker has computed the next report, before it stores it."""

    def install(happen: Callable[[], Any]) -> None:
        def summarize(*arguments: Any) -> Any:
            monkeypatch.undo()
            result = original(*arguments)
            happen()
            return result

        original = update.summarize
        monkeypatch.setattr(update, "summarize", summarize)

    return install


def test_decision_while_the_report_is_computed(
    bench: Bench, at_end_of_summary: Callable[[Callable[[], Any]], None]
) -> None:
    alpha_before = alpha(bench)
    bench.fake.annotate(1, 3, ["fever"])
    project = bench.row["id"]
    at_end_of_summary(lambda: bench.store.decide(project, "fever", "pyrexia", same=True))
    sync(bench)
    assert bench.row["summary_stale"]
    sync(bench)
    assert alpha(bench)["value"] > alpha_before["value"]
    assert not bench.row["summary_stale"]


@pytest.mark.parametrize("layer", ["chosen", "extra_params"])
def test_setting_that_only_the_report_depends_on(bench: Bench, layer: str) -> None:
    bench.store.update_project(bench.row["id"], **{layer: {"chance": "permutation", "permutations": 2}})
    sync(bench)
    report = bench.row["summary"]["controls"]["findings"]
    assert report["expected_agreement"]["method"] == "permutation"
    computed_at = bench.row["summary_at"]
    sync(bench)
    assert bench.row["summary_at"] == computed_at, "nothing has changed since"


@pytest.fixture
def killed_after(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Kill a run when a method of the store has done its work."""

    def run(method: str) -> None:
        def kill(*arguments: Any) -> None:
            original(*arguments)
            raise KeyboardInterrupt

        original = getattr(bench.store, method)
        monkeypatch.setattr(bench.store, method, kill)
        with pytest.raises(KeyboardInterrupt):
            bench.sync(full=True)
        monkeypatch.undo()

    return run


def test_run_that_was_killed_after_it_stored_answers(bench: Bench, killed_after: Callable[[str], None]) -> None:
    alpha_before = alpha(bench)["value"]
    first, second = bench.fake.tasks[1]["annotations"]
    bench.fake.edit(second["id"], ["rash"])
    first |= {"ground_truth": True, "updated_by": 9}
    killed_after("put_read")
    sync(bench)
    assert alpha(bench)["value"] != alpha_before
    (agreed,) = AgreedStore(bench.store).current(bench.row["id"])
    assert agreed["texts"] == ["fever"]


def test_run_that_was_killed_after_it_removed_tasks(bench: Bench, killed_after: Callable[[str], None]) -> None:
    bench.fake.tasks.popitem()
    killed_after("drop_tasks")
    sync(bench)
    assert bench.row["summary"]["controls"]["findings"]["n_items"] == len(bench.fake.tasks)


def test_run_that_was_killed_after_an_opposite_was_gone(bench: Bench, killed_after: Callable[[str], None]) -> None:
    task = bench.fake.add_task({1: ["+"], 2: ["-"]})
    bench.sync()
    assert bench.task(task)["agreement"] is not None, "a minus is an answer beside a plus"
    bench.fake.edit(bench.fake.tasks[task]["annotations"][0]["id"], ["fever"])
    killed_after("put_read")
    sync(bench)
    assert bench.task(task)["agreement"] is None

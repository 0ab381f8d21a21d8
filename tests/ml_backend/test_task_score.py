"""The score of a task comes from its texts, all fields, the lowest field or one field, as the lead chooses."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.store.store import Store
from softirr.errors import InputError
from tests.ml_backend.answered_fields import ANSWERED, answered_project, app_of, panel_of, result
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import NUMBER, region


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    return Bench(tmp_path / "bench", answered_project())


def of_fields(bench: Bench) -> dict[str, dict[int, float]]:
    """The agreement of each task by field, as `softirr score` has it."""
    export = bench.export()
    tables = {name: softirr.read(export, control=name, kind="auto") for name in ANSWERED}
    texts = softirr.read(export, control="findings")
    reports = {"findings": softirr.agreement(texts, "exact")}
    reports |= {name: softirr.agreement(table) for name, table in tables.items()}
    return {
        name: {int(item.id): item.agreement for item in report.items if item.agreement is not None}
        for name, report in reports.items()
    }


def scores(bench: Bench) -> dict[int, float]:
    return {task: prediction[0]["score"] for task, prediction in bench.fake.predictions().items()}


def by(score: str, fields: dict[str, dict[int, float]]) -> dict[int, float]:
    scores_of_task = {task: [of[task] for of in fields.values() if task in of] for task in fields["side"]}
    if score == "mean":
        return {task: sum(values) / len(values) for task, values in scores_of_task.items()}
    return {task: min(values) for task, values in scores_of_task.items()} if score == "lowest" else fields[score]


@pytest.mark.slow
@pytest.mark.parametrize("score", ["mean", "lowest", "side", "stars", "findings"])
def test_predictions_have_the_chosen_score_from_the_start(bench: Bench, score: str) -> None:
    bench.choose(measure="exact", score=score)
    outcome = bench.sync()
    assert (outcome.created, outcome.updated) == (12, 0) and bench.fake.project["model_version"] == "agreement"
    assert scores(bench) == pytest.approx(by(score, of_fields(bench)), abs=1e-9)
    assert len(set(scores(bench).values())) > 1


def test_another_choice_is_written_and_orders_the_queue(bench: Bench) -> None:
    bench.choose(measure="exact")
    bench.sync()
    fields = of_fields(bench)
    assert scores(bench) == pytest.approx(fields["findings"])
    bench.choose(measure="exact", score="better")
    bench.sync()
    assert scores(bench) == pytest.approx(fields["better"], abs=1e-9)
    queue = app_of(bench).get(f"/api/queue?project={NUMBER}").json["tasks"]
    assert [entry["agreement"] for entry in queue] == pytest.approx(sorted(fields["better"].values()), abs=1e-9)


def test_a_changed_choice_changes_the_score_at_once(bench: Bench) -> None:
    bench.choose(measure="exact", score="side")
    bench.sync()
    bench.store.update_project(bench.row["id"], summary_due=time.time() + 600)
    task = next(number for number, score in scores(bench).items() if score == 1)
    annotation = bench.fake.tasks[task]["annotations"][0]
    new_side = "left" if result("side", "choices", ["right"]) in annotation["result"] else "right"
    changed = [result("side", "choices", [new_side]) if r["from_name"] == "side" else r for r in annotation["result"]]
    bench.fake.edit(annotation["id"], [], result=changed)
    outcome = bench.sync()
    assert (outcome.created, outcome.updated, outcome.deleted) == (0, 1, 0)
    assert scores(bench)[task] == pytest.approx(1 / 3)


def test_a_longer_scale_changes_the_scores_of_other_tasks(bench: Bench) -> None:
    def add(*sizes: float) -> int:
        task = bench.fake.add_task()
        for user, size in enumerate(sizes, start=1):
            bench.fake.annotate(task, user, [], result=[region(["fever"]), result("size", "number", size)])
        return task

    bench.choose(measure="exact", score="size")
    first = add(1.5, 90.0)
    bench.sync()
    assert scores(bench)[first] == 0
    second = add(1.5, 1000.0)
    bench.store.update_project(bench.row["id"], summary_due=0.0)
    bench.sync()
    assert scores(bench)[second] == 0 and scores(bench)[first] > 0.9
    assert scores(bench) == pytest.approx(of_fields(bench)["size"], abs=0.005)


def test_tasks_are_read_again_only_where_a_scale_changes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    scored = Store.scored
    monkeypatch.setattr(Store, "scored", lambda *arguments: reads.append(arguments) or scored(*arguments))

    def sync_with(first: float, second: float) -> int:
        task = bench.fake.add_task()
        for user, size in ((1, first), (2, second)):
            bench.fake.annotate(task, user, [], result=[region(["fever"]), result("size", "number", size)])
        bench.store.update_project(bench.row["id"], summary_due=0.0)
        reads.clear()
        bench.sync()
        assert task in scores(bench)
        return len(reads)

    bench.choose(measure="exact", score="size")
    bench.sync()
    assert len(reads) == 1
    sizes = {
        entry["value"]["number"]
        for stored_task in bench.fake.tasks.values()
        for a in stored_task["annotations"]
        for entry in a["result"]
        if entry["type"] == "number"
    }
    assert sync_with(min(sizes), max(sizes)) == 0
    assert sync_with(min(sizes), max(sizes) * 1.0001) == 0
    assert sync_with(min(sizes), max(sizes) * 2) == 1
    assert sync_with(min(sizes), max(sizes)) == 0


def test_scores_by_a_new_scale_survive_an_end_in_between(bench: Bench, monkeypatch: Any) -> None:
    bench.choose(measure="exact", score="size")
    bench.sync()
    task = bench.fake.add_task()
    for user, size in ((1, 1.5), (2, 1000.0)):
        bench.fake.annotate(task, user, [], result=[region(["fever"]), result("size", "number", size)])
    bench.store.update_project(bench.row["id"], summary_due=0.0)
    with monkeypatch.context() as ended:
        ended.setattr(Store, "scored", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            bench.sync()
    bench.sync()
    assert scores(bench) == pytest.approx(of_fields(bench)["size"], abs=0.005)


def test_a_task_without_texts_has_the_score_of_its_choices(bench: Bench) -> None:
    task = bench.fake.add_task()
    for user, side in ((1, "left"), (2, "right")):
        bench.fake.annotate(task, user, [], result=[result("side", "choices", [side])])
    bench.choose(measure="exact", score="lowest")
    bench.sync()
    assert scores(bench)[task] == 0


def test_the_panel_shows_the_score(bench: Bench) -> None:
    bench.choose(measure="exact", score="lowest")
    bench.sync()
    task = list(bench.fake.tasks)[2]
    agreement = panel_of(bench, "90", "reviewer")["task"]["agreement"]
    assert agreement == scores(bench)[task]
    assert agreement == pytest.approx(min(field[task] for field in of_fields(bench).values()), abs=1e-9)


def test_the_score_of_no_field_is_refused(bench: Bench) -> None:
    bench.choose(score="colour")
    with pytest.raises(
        InputError, match="no field 'colour' for the score: it can be texts, mean, lowest, findings, side, "
    ):
        bench.sync()

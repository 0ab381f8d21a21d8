"""A task's prediction waits until its annotators have answered: Label Studio shows it to whoever opens the task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ml_backend.app import create_app
from ml_backend.labelstudio.connect import blinding_notes
from ml_backend.store.reviews import ReviewStore
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import NUMBER


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.fake.project["maximum_annotations"] = 3
    return bench


def predict(bench: Bench, *tasks: int, with_annotations: bool = True) -> list[dict[str, Any]]:
    """What Label Studio gets when somebody retrieves predictions."""
    headers = bench.connect()
    given_tasks = [bench.fake.tasks[task] if with_annotations else {"id": task} for task in tasks]
    body = {"project": f"{NUMBER}.1", "tasks": given_tasks, "label_config": bench.fake.project["label_config"]}
    with create_app(services=bench.services).test_client() as client:
        results: list[dict[str, Any]] = client.post("/predict", json=body, headers=headers).get_json()["results"]
        return results


def test_a_prediction_waits_for_the_last_annotator(bench: Bench) -> None:
    waiting = bench.fake.add_task({1: ["fever"], 2: ["high fever"]})
    complete = bench.fake.add_task({1: ["rash"], 2: ["rash"], 3: ["rash"]})
    bench.sync()
    assert set(bench.fake.predictions()) == {complete}
    assert bench.task(waiting)["agreement"] is not None, "scored all the same"
    bench.fake.annotate(waiting, 3, ["fever"])
    bench.sync()
    assert set(bench.fake.predictions()) == {waiting, complete} and bench.fake.wrong() == []


def test_who_skips_has_finished(bench: Bench) -> None:
    task = bench.fake.add_task({1: ["fever"], 2: ["fever"]})
    bench.fake.annotate(task, 3, [], was_cancelled=True)
    bench.sync()
    assert set(bench.fake.predictions()) == {task}


def test_one_more_annotation_to_come_takes_the_prediction_back(bench: Bench) -> None:
    task = bench.fake.add_task({1: ["fever"], 2: ["fever"], 3: ["rash"]})
    bench.sync()
    assert set(bench.fake.predictions()) == {task}
    bench.fake.project["maximum_annotations"] = 4
    bench.sync()
    assert bench.fake.predictions() == {}
    bench.choose(predictions="always")
    bench.sync()
    assert set(bench.fake.predictions()) == {task}


def test_a_task_that_a_reviewer_marks_as_done_waits_for_nobody(bench: Bench) -> None:
    task = bench.fake.add_task({1: ["fever"], 2: ["fever"]})
    bench.sync()
    assert bench.fake.predictions() == {}
    bench.connect()
    row = bench.task(task)
    reviews = ReviewStore(bench.store)
    reviews.mark_done(bench.row["id"], task, answers_hash=row["answers_hash"], reviewer="Rae")
    bench.store.forget_scores_of(bench.row["id"], [task])
    bench.sync()
    assert set(bench.fake.predictions()) == {task}
    assert predict(bench, task)[0]["score"] == 1.0
    reviews.unmark(bench.row["id"], task)
    bench.store.forget_scores_of(bench.row["id"], [task])
    bench.sync()
    assert bench.fake.predictions() == {} and predict(bench, task)[0]["score"] is None


def test_a_model_as_rater_does_not_replace_an_annotator(bench: Bench) -> None:
    bench.fake.project["maximum_annotations"] = 1
    task = bench.fake.add_task({1: ["fever"]})
    bench.fake.add_prediction(task, ["fever"], "gpt")
    bench.choose(predictions_as_raters=True)
    bench.sync()
    assert set(bench.fake.predictions()) == {task}
    bench.fake.project["maximum_annotations"] = 2
    bench.sync()
    assert bench.fake.predictions() == {}, "a second annotator will answer"
    bench.choose(predictions="always")
    bench.sync()
    assert set(bench.fake.predictions()) == {task}


@pytest.mark.parametrize("with_annotations", [True, False])
@pytest.mark.parametrize("is_synced", [True, False])
def test_retrieving_predictions_shows_no_more(bench: Bench, is_synced: bool, with_annotations: bool) -> None:
    """Anybody in the project can request them in the Data Manager."""
    waiting = bench.fake.add_task({1: ["fever"], 2: ["fever"]})
    complete = bench.fake.add_task({1: ["rash"], 2: ["rash"], 3: ["rash"]})
    if is_synced:
        bench.sync()
    else:
        row = bench.store.ensure_project(bench.settings.label_studio_url, NUMBER)
        bench.store.update_project(row["id"], required=3)
    first, second = predict(bench, waiting, complete, with_annotations=with_annotations)
    assert first["score"] is None and first["result"] == [] and "fever" not in json.dumps(first)
    if is_synced or with_annotations:
        assert second["score"] == 1.0


def test_connect_prints_the_limits_of_blinding() -> None:
    for required, predictions in ((1, "complete"), (3, "complete"), (3, "always")):
        first, second = blinding_notes(required, predictions, 12)
        assert "shows all answers and predictions of a task to whoever opens it from the Data Manager" in first
        words = {"always": "--predictions complete", "complete": "3 annotations" if required == 3 else "1 annotation "}
        assert words[predictions] in second


def test_a_task_that_is_sent_back_while_it_is_scored_keeps_no_prediction(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = bench.fake.add_task({1: ["fever"], 2: ["fever"], 3: ["rash"]})
    reviews, put_scored = ReviewStore(bench.store), bench.store.put_scored

    def send_back_first(project: int, scored: Any) -> None:
        monkeypatch.undo()
        mark = {"answers_hash": bench.task(task)["answers_hash"], "note": "Look again.", "answers": {}}
        reviews.send_back(project, task, **mark)
        put_scored(project, scored)

    monkeypatch.setattr(bench.store, "put_scored", send_back_first)
    bench.sync()
    bench.sync()
    assert bench.fake.predictions() == {}

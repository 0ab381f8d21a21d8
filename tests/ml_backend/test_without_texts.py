"""Projects without a TextArea: connected, scored and shown by the same code, with nothing that is about texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.labelstudio.connect import Connector
from ml_backend.store.reviews import ReviewStore
from softirr.errors import InputError
from tests.ml_backend.answered_fields import ANSWERED, CONFIG, answered_project, answers, app_of, panel_of, result
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER, region
from tests.ml_backend.protocol_calls import calling, predict_body

WITHOUT = re.sub(r"<TextArea[^>]*>", "", CONFIG)


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    """Twelve tasks with three annotators, and one that two skipped."""
    fake = FakeLabelStudio(WITHOUT)
    for _ in range(12):
        task = fake.add_task()
        for user in (1, 2, 3):
            fake.annotate(task, user, [], result=answers(task, user)[1:])
    return Bench(tmp_path / "bench", fake)


def exported(bench: Bench) -> dict[str, softirr.AgreementReport]:
    tables = softirr.read_texts(bench.export(), kind="auto")
    return {name: softirr.agreement(tables[name]) for name in ANSWERED}


def test_a_project_of_fields_is_connected_scored_and_settles(bench: Bench) -> None:
    with bench.client() as client:
        Connector(bench.store, client, bench.settings).connect(NUMBER, "http://softirr.example:9090")
    outcome = bench.sync()
    assert (outcome.items, outcome.created) == (12, 12)
    reports = exported(bench)
    of_task: dict[int, list[float]] = {}
    for report in reports.values():
        for item in report.items:
            of_task.setdefault(int(item.id), []).append(item.agreement)
    means = {task: sum(values) / len(values) for task, values in of_task.items()}
    assert len(set(means.values())) > 1
    predictions = bench.fake.predictions()
    assert {task: prediction[0]["score"] for task, prediction in predictions.items()} == pytest.approx(means, abs=1e-9)
    assert all(prediction[0]["result"] == [] for prediction in predictions.values())
    second_outcome = bench.sync()
    assert (second_outcome.created, second_outcome.updated, second_outcome.unchanged) == (0, 0, 12)
    summary = bench.row["summary"]["controls"]
    for name, report in reports.items():
        best = summary[name]["coefficients"]["krippendorff_alpha"]["value"]
        assert best == pytest.approx(report.coefficients["krippendorff_alpha"].value, abs=1e-12), name


def test_one_field_or_the_lowest_can_be_the_score(bench: Bench) -> None:
    reports = exported(bench)
    for score, fields in (("size", ["size"]), ("lowest", ANSWERED)):
        bench.choose(score=score)
        bench.sync()
        expected: dict[int, float] = {}
        for name in fields:
            for item in reports[name].items:
                expected[int(item.id)] = min(item.agreement, expected.get(int(item.id), 1.0))
        scores = {task: prediction[0]["score"] for task, prediction in bench.fake.predictions().items()}
        assert scores == pytest.approx(expected, abs=1e-9)


def test_a_changed_choice_changes_the_score_and_a_mark_lapses(bench: Bench) -> None:
    bench.sync()
    client = app_of(bench)
    task = list(bench.fake.tasks)[2]
    reply = client.post("/api/queue", json={"project": NUMBER, "task": task, "who": "Kim"})
    assert reply.status_code == 201 and reply.json["done"]
    score_before = bench.fake.predictions()[task][0]["score"]
    annotation = bench.fake.tasks[task]["annotations"][1]
    same = [
        result("side", "choices", ["right"]) if entry["from_name"] == "side" else entry
        for entry in annotation["result"]
    ]
    bench.fake.edit(annotation["id"], [], result=same)
    bench.sync()
    assert bench.fake.predictions()[task][0]["score"] > score_before
    queue = client.get(f"/api/queue?project={NUMBER}").json["tasks"]
    assert [entry["done"] for entry in queue if entry["task"] == task] == [None]


def test_annotators_see_the_note_of_a_task_that_came_back(bench: Bench) -> None:
    bench.sync()
    task = list(bench.fake.tasks)[2]
    row = bench.task(task)
    mark = {"answers_hash": row["answers_hash"], "note": "Look again.", "answers": {}}
    ReviewStore(bench.store).send_back(bench.row["id"], task, **mark)
    assert [panel_of(bench, user, "annotator")["status"] for user in ("1", "9")] == ["note", "hidden"]


def test_report_has_fields_and_a_page_for_each_and_nothing_about_texts(bench: Bench) -> None:
    bench.fake.users[2]["first_name"] = "Zoe"
    bench.sync()
    client = app_of(bench)
    body = client.get(f"/api/report?project={NUMBER}").json
    assert [row["name"] for row in body["fields"]] == ANSWERED
    assert body["verdict"]["judgments"] == 0 and body["verdict"]["value"] is not None
    assert body["n_compared"] == 12 and len(body["items"]) == 12 and body["people"]
    page = client.get(f"/report/{NUMBER}?project={NUMBER}").text
    for content in ("h-policy", "Judge pairs"):
        assert content not in page, content
    other_text = client.get(f"/report/{NUMBER}?project={NUMBER}&control=stars").text
    assert 'data-control="stars"' in other_text
    for name in ("report.html", "report.json", "tasks.csv", "report.zip"):
        assert client.get(f"/report/{NUMBER}/{name}?project={NUMBER}").status_code == 200, name


@pytest.mark.parametrize("page", ["audit"])
def test_pages_about_texts_say_why_they_are_not_there(bench: Bench, page: str) -> None:
    bench.sync()
    reply = app_of(bench).get(f"/{page}/{NUMBER}?project={NUMBER}")
    assert reply.status_code == 409 and "this project has none" in reply.text


def test_panel_has_a_sentence_and_the_fields(bench: Bench) -> None:
    bench.fake.users[3]["first_name"] = "Zoe"
    bench.sync()
    panel = panel_of(bench, "90", "reviewer")
    assert panel["status"] == "ready" and len(panel["raters"]) == 3
    assert [field["name"] for field in panel["fields"]] == ANSWERED
    assert panel["sentence"] == f"The annotators differ in {', '.join(ANSWERED[:-1])} and {ANSWERED[-1]}."
    assert panel_of(bench, "2", "annotator")["status"] == "hidden"


def test_who_skipped_or_answered_alone_is_shown(bench: Bench) -> None:
    skipped, single_answer = bench.fake.add_task(), bench.fake.add_task()
    for user in (1, 2):
        bench.fake.annotate(skipped, user, [], result=[], was_cancelled=True)
    bench.fake.annotate(single_answer, 1, [], result=[result("side", "choices", ["left"])])
    bench.sync()
    stored = bench.store.get_tasks(bench.row["id"], [skipped, single_answer])
    assert stored[skipped]["answers"]["side"]["excluded"] == [["1", "skipped"], ["2", "skipped"]]
    assert stored[single_answer]["agreement"] is None and skipped not in bench.fake.predictions()


def test_predict_answers_from_the_store(bench: Bench) -> None:
    bench.sync()
    task = list(bench.fake.tasks)[2]
    client = calling(bench)
    for sent_task in ({"id": task}, bench.fake.tasks[task]):
        reply = client.post("/predict", json=predict_body([sent_task], label_config=WITHOUT))
        assert reply.status_code == 200, reply.json
        assert reply.json["results"][0]["score"] == pytest.approx(bench.fake.predictions()[task][0]["score"])


def test_nobody_has_answered(tmp_path: Path) -> None:
    empty_bench = Bench(tmp_path, FakeLabelStudio(WITHOUT))
    empty_bench.fake.add_task()
    empty_bench.sync()
    page = app_of(empty_bench).get(f"/report/{NUMBER}?project={NUMBER}").text
    assert "Nobody has answered a field of this project yet." in page


def test_a_text_that_is_added_later_takes_the_score(bench: Bench) -> None:
    bench.sync()
    bench.fake.project["label_config"] = CONFIG
    task = next(iter(bench.fake.tasks))
    for annotation in bench.fake.tasks[task]["annotations"]:
        bench.fake.edit(annotation["id"], [], result=[*annotation["result"], region(["fever"])])
    bench.sync()
    assert list(bench.row["summary"]["controls"]) == ["findings"]
    assert bench.fake.predictions()[task][0]["score"] == 1.0


def test_a_config_without_any_field_is_refused(tmp_path: Path) -> None:
    empty_bench = Bench(tmp_path, FakeLabelStudio('<View><Text name="text" value="$text"/></View>'))
    with pytest.raises(InputError, match="no TextArea, Choices, Rating or other field, so there is nothing to compare"):
        empty_bench.sync()


def test_a_set_that_nobody_chose_from_in_a_task_counts_as_in_the_export(tmp_path: Path) -> None:
    set_bench = Bench(tmp_path / "bench", answered_project())
    for task in list(set_bench.fake.tasks.values())[:4]:
        for annotation in task["annotations"]:
            remaining = [entry for entry in annotation["result"] if entry["from_name"] not in ("signs", "side")]
            set_bench.fake.edit(annotation["id"], [], result=remaining)
    set_bench.sync()
    reports = exported(set_bench)
    rows = {row["name"]: row for row in set_bench.row["summary"]["fields"]}
    for name, n_items in (("signs", 12), ("side", 8)):
        assert rows[name]["n_items"] == n_items, name
        assert rows[name]["value"] == pytest.approx(reports[name].coefficients["krippendorff_alpha"].value, abs=1e-12)

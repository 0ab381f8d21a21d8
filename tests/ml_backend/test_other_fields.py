"""Controls other than text: read with the texts, compared as by `softirr score`, and without effect on the texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

import softirr
from ml_backend.labelstudio.answers import OF_FIELDS
from ml_backend.labelstudio.config import other_controls
from ml_backend.project_settings import effective
from ml_backend.review.release import mark_state
from ml_backend.scoring.other_fields import FieldFit, agreements_of_tasks
from ml_backend.settings import Settings
from ml_backend.store.store import Store
from softirr.report.fields import field_row
from tests.ml_backend.answered_fields import (
    ANSWERED,
    CONFIG,
    KINDS,
    answered_project,
    app_of,
    panel_of,
    result,
)
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER, region

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    return Bench(tmp_path / "bench", answered_project())


def rows(bench: Bench) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in bench.row["summary"]["fields"]}


def test_other_controls_are_all_but_texts() -> None:
    assert dict(other_controls(CONFIG)) == {**KINDS, "signs": "nominal"}
    assert other_controls('<View><Text name="t" value="$t"/><TextArea name="f" toName="t"/></View>') == ()


def test_each_field_is_that_of_the_export(bench: Bench) -> None:
    bench.sync()
    fields = rows(bench)
    assert {name: row["kind"] for name, row in fields.items()} == {name: KINDS[name] for name in ANSWERED}
    for name, table in softirr.read_texts(bench.export(), kind="auto").items():
        if name in ANSWERED:
            expected = field_row(name, softirr.agreement(table).to_dict())
            assert fields[name] == json.loads(json.dumps(expected)), name
            assert fields[name]["value"] is not None and fields[name]["n_items"] == 12, name
    assert list(bench.row["summary"]["controls"]) == ["findings"]


def test_a_report_reads_the_answers_to_all_fields_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    stored = Store.fields
    monkeypatch.setattr(Store, "fields", lambda *arguments: reads.append(arguments) or stored(*arguments))
    bench.sync()
    assert len(rows(bench)) == len(ANSWERED) and len(reads) == 1


def test_an_answer_under_an_old_config_is_left_out_of_fields_too(bench: Bench) -> None:
    old = [{**region(["fever"]), "from_name": "former"}]
    task = bench.fake.add_task()
    for user, results in ((1, [*old, result("side", "choices", ["left"])]), (2, old)):
        bench.fake.annotate(task, user, [], result=results)
    bench.sync()
    side = dict(bench.store.fields(bench.row["id"]))[task]["side"]
    assert side["answers"] == {"1": ["left"]}
    assert side["excluded"] == [
        ["2", "answered under another label config, to a TextArea that it no longer has (former)"]
    ]


def test_texts_scores_and_predictions_do_not_depend_on_other_controls(bench: Bench, tmp_path: Path) -> None:
    bench.sync()
    text_bench = Bench(tmp_path / "plain")
    for task in bench.fake.tasks.values():
        texts_by_rater = {
            annotation["completed_by"]: annotation["result"][0]["value"]["text"] for annotation in task["annotations"]
        }
        text_bench.fake.add_task(texts_by_rater)
    text_bench.sync()
    assert "fields" not in text_bench.row["summary"]
    for store, row in ((bench.store, bench.row), (text_bench.store, text_bench.row)):
        assert len(list(store.answers(row["id"]))) == 12
    of_texts = [
        [
            (row["answers_hash"].partition(OF_FIELDS)[0], row["agreement"])
            for row in each_bench.store.get_tasks(each_bench.row["id"], list(each_bench.fake.tasks)).values()
        ]
        for each_bench in (bench, text_bench)
    ]
    assert of_texts[0] == of_texts[1]
    summaries = [
        each_bench.row["summary"]["controls"]["findings"]["coefficients"] for each_bench in (bench, text_bench)
    ]
    assert summaries[0] == summaries[1]


def test_a_changed_choice_changes_its_summary_and_no_score(bench: Bench) -> None:
    bench.sync()
    rows_before = rows(bench)
    task = next(iter(bench.fake.tasks))
    annotation = bench.fake.tasks[task]["annotations"][0]
    changed = [result("side", "choices", ["right"]) if r["from_name"] == "side" else r for r in annotation["result"]]
    bench.fake.edit(annotation["id"], [], result=changed)
    bench.store.update_project(bench.row["id"], summary_due=0.0)
    outcome = bench.sync()
    assert (outcome.created, outcome.updated, outcome.deleted) == (0, 0, 0)
    assert rows(bench)["side"]["value"] != rows_before["side"]["value"]
    assert rows(bench)["stars"] == rows_before["stars"]


@pytest.mark.parametrize("state", ["done", "sent back"])
def test_a_mark_lapses_when_a_choice_changes(bench: Bench, state: str) -> None:
    bench.sync()
    client, task = app_of(bench), list(bench.fake.tasks)[2]
    body = {"project": NUMBER, "task": task, "who": "Kim", "state": state, "note": "Look again."}
    assert client.post("/api/queue", json=body).status_code == 201
    bench.sync(full=True)

    def queued() -> str:
        listed = client.get(f"/api/queue?project={NUMBER}").json["tasks"]
        return next(str(entry["state"]) for entry in listed if entry["task"] == task)

    assert queued() == state
    annotation = bench.fake.tasks[task]["annotations"][1]
    unchanged = [entry for entry in annotation["result"] if entry["from_name"] != "side"]
    bench.fake.edit(annotation["id"], [], result=[*unchanged, result("side", "choices", ["left", "right"])])
    bench.sync()
    assert queued() == "ready"
    assert list(bench.fake.predictions()) == list(bench.fake.tasks)


def test_marks_of_an_earlier_release_are_about_texts(bench: Bench) -> None:
    bench.sync()
    row = bench.task(list(bench.fake.tasks)[2])
    texts, _, fields = row["answers_hash"].partition(OF_FIELDS)
    assert fields and mark_state({"answers_hash": texts, "sent_back": False}, row["answers_hash"]) == "done"


def test_hostile_and_reviewers_values_are_left_out(bench: Bench) -> None:
    task = next(iter(bench.fake.tasks))
    bench.fake.annotate(
        task,
        7,
        [],
        result=[region(["x"]), result("size", "number", "<img onerror=1>"), result("side", "choices", {"a": [1]})],
    )
    bench.fake.annotate(task, 9, [], result=[region(["x"]), result("size", "number", 400)])
    bench.choose(reviewers=["9"])
    bench.sync()
    size = rows(bench)["size"]
    assert size["value"] is not None and "problem" not in size and size["n_left_out"] == 1
    page = app_of(bench).get(f"/report/{NUMBER}?project={NUMBER}").text
    assert "size: 1 answer is not a value of the kind interval and left out." in page
    stored = dict(bench.store.fields(bench.row["id"]))[task]["size"]
    assert (
        "9" not in stored["answers"]
        and ["9", "a reviewer’s own answer, which does not count as an annotator’s"] in stored["excluded"]
    )


def test_texts_are_read_where_another_field_can_not_be(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> dict[str, str]:
        raise TypeError

    monkeypatch.setattr("ml_backend.labelstudio.answers.field_kinds", broken)
    bench.sync()
    assert len(bench.fake.predictions()) == 12 and bench.row["summary"]["controls"]["findings"]["n_compared"] == 12
    assert "fields" not in bench.row["summary"]


def test_a_field_that_nobody_answers_has_no_row(tmp_path: Path) -> None:
    field_bench = Bench(tmp_path, FakeLabelStudio(CONFIG))
    field_bench.fake.add_task({1: ["fever"], 2: ["fever"]})
    field_bench.sync()
    assert "fields" not in field_bench.row["summary"]


def test_values_of_regions_are_pooled_as_in_the_export(bench: Bench) -> None:
    for task, stored_task in enumerate(bench.fake.tasks.values()):
        for annotation in stored_task["annotations"]:
            of_regions = [result("of_region", "choices", [choice]) for choice in ("x", "y")[: 1 + task % 2]]
            bench.fake.edit(annotation["id"], [], result=[*annotation["result"], *of_regions])
    bench.sync()
    table = softirr.read(bench.export(), kind="auto", control="of_region")
    expected = field_row("of_region", softirr.agreement(table).to_dict())
    assert expected["kind"] == "set" and rows(bench)["of_region"] == json.loads(json.dumps(expected))


def test_a_project_chooses_the_kind_of_a_field(bench: Bench) -> None:
    export = bench.export()
    bench.choose(fields=["size=ratio", "side=ordinal:left,right", "signs=set:jaccard"])
    bench.sync()
    for name, kind in {"size": "ratio", "side": "ordinal:left,right", "signs": "set:jaccard", "stars": "auto"}.items():
        expected = field_row(name, softirr.agreement(softirr.read(export, kind=kind, control=name)).to_dict())
        assert rows(bench)[name] == json.loads(json.dumps(expected)), name
    bench.choose(fields=["findings=nominal"])
    with pytest.raises(softirr.InputError, match="no control 'findings' to give a kind; it has side, signs"):
        bench.sync()


def test_each_task_is_compared_as_in_the_whole_project(bench: Bench) -> None:
    bench.choose(missing="auto,4")
    bench.sync()
    tables = softirr.read_texts(bench.export(), kind="auto", missing="auto,4")
    project_settings = effective(Settings(), command_options=bench.row["chosen"]).values
    for name in ANSWERED:
        fit = FieldFit.from_dict(json.loads(json.dumps(bench.row["summary"]["fits"][name])))
        items = softirr.agreement(tables[name]).items
        stored = dict(bench.store.fields(bench.row["id"]))
        scored = agreements_of_tasks(stored.items(), name, fit, project_settings)
        of_tasks = {str(n): scored[n]["agreement"] if n in scored else None for n in stored}
        by_export = {item.id: item.agreement for item in items}
        assert {n for n, agreement in of_tasks.items() if agreement is None} == {
            n for n, agreement in by_export.items() if agreement is None
        }
        defined = {n: agreement for n, agreement in by_export.items() if agreement is not None}
        assert {n: of_tasks[n] for n in defined} == pytest.approx(defined, abs=1e-12, rel=0), name
        assert len(set(defined.values())) > 1, name


def test_the_panel_has_a_part_for_each_field(bench: Bench) -> None:
    bench.sync()
    panel = panel_of(bench, "90", "reviewer")
    assert panel["status"] == "ready" and [entry["name"] for entry in panel["fields"]] == ["findings", *ANSWERED]
    assert {entry["name"]: entry["kind"] for entry in panel["fields"][1:]} == {name: KINDS[name] for name in ANSWERED}
    _, side, _, stars, *_ = panel["fields"]
    assert side["values"] == [{"values": ["right"], "raters": ["1", "3"]}, {"values": ["left"], "raters": ["2"]}]
    assert (side["suggestion"], side["suggested_by"]) == (["right"], "majority")
    assert (stars["suggestion"], stars["suggested_by"]) == (["2"], "median")
    tables, task = softirr.read_texts(bench.export(), kind="auto"), str(list(bench.fake.tasks)[2])
    for entry in panel["fields"][1:]:
        (item,) = [item for item in softirr.agreement(tables[entry["name"]]).items if item.id == task]
        assert tuple(entry["suggestion"] or ()) == item.suggestion, entry["name"]


def test_an_annotator_sees_no_field_before_or_after_answering(bench: Bench) -> None:
    bench.fake.users[3]["first_name"] = "Zoe"
    bench.sync()
    for user in ("2", "8"):
        panel = panel_of(bench, user, "annotator")
        assert set(panel) == {"project", "task", "status", "message"}
        assert (panel["status"], panel["message"], set(panel["task"])) == ("hidden", "", {"id"})


def test_the_report_has_a_part_for_each_field(bench: Bench) -> None:
    bench.fake.users[2]["first_name"] = HOSTILE
    for task in bench.fake.tasks.values():
        changed = [region(["fever"]), result("side", "choices", [HOSTILE])]
        bench.fake.edit(task["annotations"][1]["id"], [], result=changed)
    bench.sync()
    client = app_of(bench)
    reply = client.get(f"/api/report?project={NUMBER}")
    assert reply.status_code == 200, reply.json
    fields = {row["name"]: row for row in reply.json["fields"]}
    assert list(fields) == ANSWERED
    stored = rows(bench)
    for name, row in fields.items():
        shared = ("kind", "coefficient", "value", "ci95", "n_items")
        assert {key: row[key] for key in shared} == {key: stored[name][key] for key in shared}, name
    side, matrix = fields["side"], stored["side"]["confusion_matrix"]
    assert side["categories"] == matrix["categories"] and HOSTILE in side["categories"]
    assert side["confusion"] == matrix["pairs"] and side["labels"][HOSTILE] == matrix["labels"]["2"]

    text = client.get(f"/report/{NUMBER}?project={NUMBER}").text
    section = text.partition('id="h-fields"')[2].partition("</section>")[0]
    escaped = str(escape(HOSTILE))
    assert HOSTILE not in text and f'<th scope="row"><bdi>{escaped}</bdi></th>' in section
    assert f'<th scope="row"><bdi dir="auto">{escaped}</bdi></th>' in section
    assert text.index('id="verdict"') < text.index('id="h-fields"') < text.index("data-item=")
    assert all(f"<summary><bdi>{name}</bdi>" in section for name in ANSWERED)

"""Controls other than text in a real Label Studio: each annotated through its API, and equal to `softirr score`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import softirr
from softirr.report.fields import field_row
from tests.labelstudio.backend import Commands
from tests.labelstudio.conftest import Harness
from tests.ml_backend.answered_fields import ANSWERED, CONFIG, KINDS, answers
from tests.ml_backend.test_without_texts import WITHOUT


def test_the_fields_of_a_project_are_those_of_its_export(ls: Harness, tmp_path: Path) -> None:
    people = [ls.person(name) for name in ("Ann", "Ben", "Cleo")]
    project = ls.create_project(label_config=CONFIG)
    tasks = ls.import_tasks(project, [{"data": {"text": f"narrative {n}"}} for n in range(12)])
    for n, task in enumerate(tasks):
        for number, user in enumerate(people):
            user.api.post(f"/api/tasks/{task}/annotations/", {"result": answers(n + 1, number), "lead_time": 5.0})
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    assert commands.sync(project)["items"] == 12
    store = commands.store()
    (row,) = store.projects()
    fields = {field["name"]: field for field in row["summary"]["fields"]}
    assert {name: field["kind"] for name, field in fields.items()} == {name: KINDS[name] for name in ANSWERED}
    for name, table in softirr.read_texts(ls.export_file(project, tmp_path), kind="auto").items():
        if name in ANSWERED:
            expected = field_row(name, softirr.agreement(table).to_dict())
            assert fields[name] == json.loads(json.dumps(expected)), name
            assert fields[name]["value"] is not None and fields[name]["n_items"] == 12, name
    store.close()
    sizes = softirr.agreement(softirr.read(ls.export_file(project, tmp_path), control="size", kind="auto"))
    assert commands.here("settings", "--project", str(project), "--score", "size")[0] == 0
    commands.sync(project)
    scores = {prediction["task"]: prediction["score"] for prediction in ls.predictions(project)}
    assert scores == pytest.approx({int(item.id): item.agreement for item in sizes.items}, abs=1e-9)


def test_a_project_without_texts_is_connected_and_scored(ls: Harness, tmp_path: Path) -> None:
    people = [ls.person(name) for name in ("Ann", "Ben")]
    project = ls.create_project(label_config=WITHOUT)
    for n, task in enumerate(ls.import_tasks(project, [{"data": {"text": f"narrative {n}"}} for n in range(6)])):
        for number, user in enumerate(people):
            user.api.post(f"/api/tasks/{task}/annotations/", {"result": answers(n + 1, number)[1:], "lead_time": 5.0})
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    commands.json("connect", "--project", str(project), "--pull-only")
    commands.sync(project)
    of_task: dict[int, list[float]] = {}
    for name, table in softirr.read_texts(ls.export_file(project, tmp_path), kind="auto").items():
        for item in softirr.agreement(table).items if name in ANSWERED else ():
            of_task.setdefault(int(item.id), []).append(item.agreement)
    means = {task: sum(values) / len(values) for task, values in of_task.items()}
    predictions = {
        prediction["task"]: (prediction["score"], prediction["result"]) for prediction in ls.predictions(project)
    }
    assert {task: score for task, (score, _) in predictions.items()} == pytest.approx(means, abs=1e-9)
    assert all(result == [] for _, result in predictions.values()) and len(set(means.values())) > 1
    assert all(finding["ok"] for finding in commands.doctor(project) if "compared exactly" in finding["what"])

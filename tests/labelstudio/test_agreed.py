"""Agreed answers in a real Label Studio.

What its API says about a ground truth and a copied prediction, and our predictions of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.labelstudio.backend import Commands, score_of_export
from tests.labelstudio.conftest import Harness, annotation


def test_agreed_answers_are_read_and_written(ls: Harness, tmp_path: Path) -> None:
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    ann, ben, rae = (ls.create_user(name) for name in ("Ann", "Ben", "Rae"))
    project = ls.create_project()
    answers = [annotation(ann.id, ["fever", "cough"]), annotation(ben.id, ["fever"])]
    imported = [{key: value for key, value in one.items() if key != "ground_truth"} for one in answers]
    starred, copied, by_import, _ = tasks = ls.import_tasks(
        project, [{"data": {"text": str(n)}, "annotations": imported if n == 2 else answers} for n in range(4)]
    )
    commands.sync(project, "--reviewer", rae.email)

    def agreed() -> dict[int, dict[str, Any]]:
        status, out, err = commands.here("consensus", "--project", str(project), "--json")
        assert status == 0, err
        return {row["task"]: row for row in json.loads(out)["answers"]}

    assert agreed() == {}, "Label Studio marks imported annotations as ground truth"
    assert all(one["ground_truth"] for one in ls.api.get(f"/api/tasks/{by_import}/")["annotations"])

    (task,) = [task for task in ls.export(project) if task["id"] == starred]
    first = next(one for one in task["annotations"] if one["completed_by"] == ann.id)
    ls.api.patch(f"/api/annotations/{first['id']}/", {"ground_truth": True})
    own = next(one for one in ls.predictions(project) if one["task"] == copied)
    result = [{**region, "origin": "prediction-changed", "value": {"text": ["high fever"]}} for region in own["result"]]
    body = {"result": result, "parent_prediction": own["id"], "lead_time": 1.0}
    rae.api.post(f"/api/tasks/{copied}/annotations/", body)
    before = {one["task"]: one["score"] for one in ls.predictions(project)}
    commands.sync(project, "--changes")

    consensus = agreed()
    assert set(consensus) == {starred, copied}
    assert (consensus[starred]["texts"], consensus[starred]["source"]) == (["fever", "cough"], "ground truth")
    assert consensus[starred]["user"] == str(ls.admin), "who set it, not whose annotation it is"
    assert (consensus[copied]["texts"], consensus[copied]["source"]) == (["high fever"], "annotation")
    assert consensus[copied]["edited"] is True and consensus[copied]["who"].startswith("Rae")
    assert {one["task"]: one["score"] for one in ls.predictions(project)} == before

    for _ in range(2):
        status, out, err = commands.here("consensus", "--project", str(project), "--predictions")
        assert (status, out.strip()) == (0, "2 predictions written."), err
    written = [one for one in ls.predictions(project) if one["model_version"] == "consensus"]
    assert {one["task"]: one["result"][0]["value"]["text"] for one in written} == {
        starred: ["fever", "cough"],
        copied: ["high fever"],
    }
    assert ls.api.get(f"/api/projects/{project}/")["model_version"] == "agreement"
    alone = score_of_export(ls.export_file(project, tmp_path))

    def ground_truths(expected: str) -> dict[int, list[str]]:
        status, out, err = commands.here("consensus", "--project", str(project), "--ground-truth")
        assert (status, out.strip()) == (0, expected), err
        marked = [
            (task["id"], one) for task in ls.export(project) for one in task["annotations"] if one["ground_truth"]
        ]
        return {task: one["result"][0]["value"]["text"] for task, one in marked if task in (starred, copied)}

    expected = {starred: ["fever", "cough"], copied: ["high fever"]}
    assert ground_truths("1 ground truths written, 0 updated, 0 removed, 1 set by people kept.") == expected
    assert ground_truths("0 ground truths written, 0 updated, 0 removed, 1 set by people kept.") == expected
    consensus_before = agreed()
    commands.sync(project, "--changes")
    assert agreed() == consensus_before, "it says nothing new: who agreed stays"
    assert {
        one["task"]: one["score"] for one in ls.predictions(project) if one["model_version"] == "agreement"
    } == before
    assert score_of_export(ls.export_file(project, tmp_path)) == alone

    (written,) = [
        one for one in ls.api.get(f"/api/tasks/{copied}/")["annotations"] if one["ground_truth"]
    ]  # a person edits it
    edited = [{**written["result"][0], "origin": "prediction-changed", "value": {"text": ["pyrexia"]}}]
    rae.api.patch(f"/api/annotations/{written['id']}/", {"result": edited})
    commands.sync(project, "--changes")
    assert (agreed()[copied]["texts"], agreed()[copied]["source"]) == (["pyrexia"], "ground truth")
    assert ground_truths("0 ground truths written, 0 updated, 0 removed, 2 set by people kept.")[copied] == ["pyrexia"]
    ls.api.delete(f"/api/annotations/{written['id']}/")
    ls.api.patch(f"/api/annotations/{first['id']}/", {"ground_truth": False})
    final = commands.sync(project)
    assert (final["created"], final["updated"], final["deleted"]) == (0, 0, 0)
    assert set(agreed()) == {copied} < set(tasks)

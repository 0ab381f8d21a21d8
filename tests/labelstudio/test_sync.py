"""Our predictions in a real Label Studio.

After each kind of change they equal ``softirr score`` of a fresh export.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import requests

from ml_backend.settings import MODEL_VERSION
from tests.labelstudio.backend import Commands, differences, score_of_export, wrong
from tests.labelstudio.conftest import LABEL_CONFIG, Harness, annotation, textarea
from tests.labelstudio.project_changes import answer_changes, answer_of, change_tasks, project_changes


def test_after_each_change_predictions_equal_softirr_score(ls: Harness, commands: Commands, tmp_path: Path) -> None:
    project, tasks, (ann, ben) = ls.answered([(["fever", f"cough {n}"], ["a fever"]) for n in range(30)])
    cleo = ls.person("Cleo")
    first = commands.sync(project)
    assert (first["items"], first["created"]) == (30, 30)
    assert wrong(ls, project, tmp_path) == []
    second = commands.sync(project)
    assert (second["created"], second["updated"], second["deleted"], second["unchanged"]) == (0, 0, 0, 30)
    steps = {
        **answer_changes(ls, project, tasks, (ann, ben, cleo)),
        **project_changes(ls, project, tasks, cleo),
    }
    for what, step in steps.items():
        step()
        commands.sync(project, "--changes")
        assert wrong(ls, project, tmp_path) == [], what
    final = commands.sync(project)
    assert (final["created"], final["updated"], final["deleted"]) == (0, 0, 0)
    remote = ls.api.get(f"/api/projects/{project}/")
    assert (remote["model_version"], remote["show_collab_predictions"]) == (MODEL_VERSION, False)


def test_a_text_area_added_while_running(ls: Harness, commands: Commands, tmp_path: Path) -> None:
    """With two controls the task's score is the mean over both."""
    project, (first, second), (ann, ben) = ls.answered([(["fever"], ["fever", "rash"])] * 2)
    commands.sync(project)
    added = LABEL_CONFIG.replace("</View>", '<TextArea name="actions" toName="text"/></View>')
    ls.api.patch(f"/api/projects/{project}/", {"label_config": added})
    for user, action in ((ann, ["stopped"]), (ben, ["continued"])):
        result = textarea(["fever"]) + textarea(action, control="actions")
        user.api.patch(f"/api/annotations/{answer_of(ls, first, user.id)}/", {"result": result})
    commands.sync(project, "--changes")
    export = ls.export_file(project, tmp_path)
    by_control = [score_of_export(export, "--control", name) for name in ("findings", "actions")]
    # Nobody could have answered the new TextArea in the second task, which an export does not show: it counts for the
    # first one only.
    findings_scores, actions_scores = ([scores[str(task)] or 0.0 for task in (first, second)] for scores in by_control)
    expected = {str(first): (findings_scores[0] + actions_scores[0]) / 2, str(second): findings_scores[1]}
    assert differences(ls.predictions(project), expected) == []
    assert len({p["score"] for p in ls.predictions(project)}) == 2
    (prediction,) = [p for p in ls.predictions(project) if p["task"] == first]
    assert {region["from_name"] for region in prediction["result"]} == {"findings", "actions"}
    assert second in {p["task"] for p in ls.predictions(project)}


def test_a_text_area_that_is_renamed(ls: Harness, commands: Commands) -> None:
    """Earlier answers are missing under the new name, also empty ones, until they are submitted again."""
    ann, ben = ls.person("Ann"), ls.person("Ben")
    project = ls.create_project()
    (task,) = ls.import_tasks(project, [{"data": {"text": "x"}, "annotations": [annotation(ann.id, ["fever"])]}])
    empty = ls.annotate(task, ben, [])
    commands.sync(project)
    assert [p["score"] for p in ls.predictions(project)] == [0.0]
    renamed = LABEL_CONFIG.replace("findings", "signs")
    ls.api.patch(f"/api/projects/{project}/", {"label_config": renamed})
    commands.sync(project, "--changes")
    assert ls.predictions(project) == [], "not 1.00 for answers that are not there"
    ann.api.patch(f"/api/annotations/{answer_of(ls, task, ann.id)}/", {"result": textarea(["fever"], control="signs")})
    commands.sync(project, "--changes")
    assert ls.predictions(project) == [], "Ben had no such TextArea"
    ben.api.patch(f"/api/annotations/{empty}/", {"result": []})
    commands.sync(project, "--changes")
    assert [p["score"] for p in ls.predictions(project)] == [0.0], "now Ben has found nothing"


def test_a_run_ends_and_makes_progress_while_people_work_and_delete(ls: Harness, commands: Commands) -> None:
    """About five changes a second during three runs or more; every fifth deletes an annotation or a task."""
    project, tasks, (ann, _) = ls.answered([(["fever", "cough"], ["a fever"])] * 150)
    answers = {task["id"]: [a["id"] for a in task["annotations"]] for task in ls.export(project)}
    stop, done = threading.Event(), Counter[str]()
    work = partial(change_tasks, ls, ann, answers, stop=stop, done=done)
    workers = [threading.Thread(target=work, args=(tasks[k : k + 25],)) for k in range(0, 100, 25)]
    for worker in workers:
        worker.start()
    began, counts = time.monotonic(), [0]
    try:
        while len(counts) < 4 or done["edits"] <= 10 or not (done["deleted tasks"] and done["deleted annotations"]):
            assert time.monotonic() - began < 600, dict(done)
            commands.sync(project, "--changes")  # ends, or the test reaches its time limit
            counts.append(sum(p["model_version"] == MODEL_VERSION for p in ls.predictions(project)))
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert counts[1] >= 50, "what nobody touches carries its score after the first run"
    assert done["edits"] > 10 and done["deleted tasks"] > 0 and done["deleted annotations"] > 0
    commands.sync(project)
    remaining = [task for task in ls.export(project) if len(task["annotations"]) == 2]
    assert {p["task"] for p in ls.predictions(project)} == {task["id"] for task in remaining}
    print(
        f"{dict(done)} in {time.monotonic() - began:.0f} s during {len(counts) - 1} runs; "
        f"predictions after each: {counts[1:]}"
    )


def test_a_legacy_token_works_where_it_is_enabled(ls: Harness, tmp_path: Path) -> None:
    settings = {"api_tokens_enabled": True, "legacy_api_tokens_enabled": True}
    record_before = ls.session.get(f"{ls.url}/api/jwt/settings", timeout=60).json()
    token = ls.session.get(f"{ls.url}/api/current-user/token", timeout=60).json()["token"]
    project = ls.create_project()
    commands = Commands(tmp_path / "state", ls.url, token)
    refused = commands.doctor()
    assert next(f["what"] for f in refused if not f["ok"]).startswith("Legacy tokens are disabled")
    try:
        ls.session.post(f"{ls.url}/api/jwt/settings", json=settings, timeout=60).raise_for_status()
        assert commands.sync(project)["items"] == 0
    finally:
        ls.session.post(f"{ls.url}/api/jwt/settings", json=record_before, timeout=60)


class TestCommands:
    """Exit status and messages."""

    def test_sync_as_a_process(self, ls: Harness, commands: Commands) -> None:
        project, _, _ = ls.answered([(["fever"], ["fevers"])])
        done = commands.run("sync", "--project", str(project), "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout) == {
            "project": project,
            "items": 1,
            "created": 1,
            "updated": 0,
            "deleted": 0,
            "unchanged": 0,
            "notes": [],
        }

    @pytest.mark.parametrize(
        ("arguments", "environment", "status", "says"),
        [
            (["sync", "--project", "999999"], {}, 1, "has no project 999999"),
            (["sync", "--project", "1"], {"LABEL_STUDIO_API_KEY": ""}, 1, "set LABEL_STUDIO_API_KEY"),
            (["sync", "--project", "1"], {"LABEL_STUDIO_API_KEY": "nonsense"}, 1, "refused the token"),
            (["sync", "--project", "1"], {"LABEL_STUDIO_URL": "ftp://x"}, 2, "LABEL_STUDIO_URL is not an http address"),
            (["sync", "--project", "1", "--threshold", "9"], {}, 2, "threshold must be"),
            (["sync", "--project", "1", "--measure", "nonsense"], {}, 2, "There is no measure"),
            (["connect", "--project", "1"], {}, 2, "--pull-only"),
        ],
    )
    def test_refusals_are_single_sentences(
        self,
        ls: Harness,
        commands: Commands,
        arguments: list[str],
        environment: dict[str, str],
        status: int,
        says: str,
    ) -> None:
        ls.create_project()
        ended, _, errors = commands.here(*arguments, **environment)
        assert ended == status, errors
        assert says in errors
        assert errors.count("\n") == 1
        assert ls.token not in errors


def test_sync_sends_only_necessary_requests(ls: Harness, commands: Commands) -> None:
    """A run without changes is a handful of small requests: no page of tasks is read again."""
    from tests.labelstudio.faulty_proxy import faulty_proxy

    project, _, _ = ls.answered([(["fever"], ["fevers"])] * 20)
    with faulty_proxy(ls.url) as proxy:
        other_commands = Commands(commands.folder, proxy.url, ls.token)
        other_commands.sync(project)
        proxy.seen.clear()
        other_commands.sync(project, "--changes")
        assert not [call for call in proxy.seen if call[0] in ("PATCH", "DELETE")]
        assert len(proxy.seen) <= 11, (
            proxy.seen
        )  # one of them for the names of people, who are renamed without a webhook
    assert requests.get(f"{ls.url}/health", timeout=30).ok

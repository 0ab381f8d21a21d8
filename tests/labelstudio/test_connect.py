"""Connecting a project, the doctor's findings, and undoing it all, in a real Label Studio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo.processes import ServerError
from ml_backend.labelstudio import snippet, triage
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.connect import Connector
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER, Settings
from tests.labelstudio.backend import KEPT_SECRET, Commands, Serving, eventually, right
from tests.labelstudio.conftest import LABEL_CONFIG, Harness


@pytest.fixture
def commands(serving: Serving) -> Commands:
    """Those of the running backend."""
    return serving.commands


def state(ls: Harness, project: int) -> dict[str, Any]:
    """All that connect may touch."""
    remote = ls.api.get(f"/api/projects/{project}/")
    names = ("label_config", "model_version", "show_collab_predictions", "evaluate_predictions_automatically")
    keys = ("id", "url", "title", "state", "actions", "headers", "is_active", "project")
    return {
        **{name: remote[name] for name in names},
        "connections": [{k: c[k] for k in keys if k in c} for c in ls.api.get("/api/ml/", project=project)],
        "webhooks": [{k: h[k] for k in keys if k in h} for h in ls.api.get("/api/webhooks/", project=project)],
        "views": [view["data"]["title"] for view in ls.api.get("/api/dm/views/", project=project)],
    }


def test_connect_does_all_and_twice_is_the_same_as_once_and_disconnect_undoes_it(
    ls: Harness, commands: Commands, serving: Serving, project: int, tmp_path: Path
) -> None:
    state_before = state(ls, project)
    changes = commands.json("connect", "--project", str(project), "--url", serving.url)
    assert len(changes["changed"]) == 5
    connected_state = state(ls, project)
    assert [(c["title"], c["url"], c["state"]) for c in connected_state["connections"]] == [
        (MODEL_VERSION, serving.url, "CO")
    ]
    assert len(connected_state["webhooks"]) == 1
    assert connected_state["webhooks"][0]["url"] == f"{serving.url}/webhook"
    assert len(connected_state["webhooks"][0]["headers"][SECRET_HEADER]) >= 24
    assert connected_state["model_version"] == MODEL_VERSION
    assert connected_state["show_collab_predictions"] is False
    assert triage.TITLE in connected_state["views"]
    assert snippet.remove(connected_state["label_config"]) == state_before["label_config"]
    assert snippet.present(connected_state["label_config"])

    assert commands.json("connect", "--project", str(project), "--url", serving.url)["changed"] == []
    assert state(ls, project) == connected_state
    right(ls, project, tmp_path)
    assert ls.api.get(f"/api/projects/{project}/")["model_version"] == MODEL_VERSION

    undone = commands.json("disconnect", "--project", str(project))
    assert undone["changed"]
    state_after = state(ls, project)
    state_after["views"] = [title for title in state_after["views"] if title != "Default"]
    assert state_after == state_before
    assert ls.predictions(project) == []
    assert commands.json("disconnect", "--project", str(project))["changed"] == []


def test_disconnect_restores_the_previous_settings(
    ls: Harness, commands: Commands, serving: Serving, project: int
) -> None:
    task = ls.api.get("/api/tasks", project=project, fields="all")["tasks"][0]["id"]
    ls.api.post("/api/predictions/", {"task": task, "model_version": "gpt", "score": 0.5, "result": []})
    fields = {"model_version": "gpt", "show_collab_predictions": True, "evaluate_predictions_automatically": False}
    ls.api.patch(f"/api/projects/{project}/", fields)
    commands.json("connect", "--project", str(project), "--url", serving.url)
    assert ls.api.get(f"/api/projects/{project}/")["model_version"] == MODEL_VERSION
    commands.json("disconnect", "--project", str(project))
    remote = ls.api.get(f"/api/projects/{project}/")
    assert {name: remote[name] for name in fields} == fields
    assert [p["model_version"] for p in ls.predictions(project)] == ["gpt"]


def test_a_backend_that_is_not_there_leaves_nothing_behind(ls: Harness, commands: Commands, project: int) -> None:
    state_before = state(ls, project)
    ended, _, errors = commands.here("connect", "--project", str(project), "--url", "http://localhost:9")
    assert ended == 1
    assert "is softirr-ls serve running there" in errors
    assert state(ls, project) == state_before


def test_a_host_without_a_dot_is_refused_before_anything_is_written(
    ls: Harness, commands: Commands, project: int
) -> None:
    """Label Studio refuses such a host for the webhook only, after it has registered the connection."""
    state_before = state(ls, project)
    ended, _, errors = commands.here("connect", "--project", str(project), "--url", "http://softirr:9090")
    assert ended == 2
    assert "host name without a dot" in errors
    assert "--url http://softirr.internal:9090" in errors
    assert state(ls, project) == state_before


def test_a_first_connect_that_fails_halfway_is_undone(
    ls: Harness, commands: Commands, serving: Serving, project: int
) -> None:
    class Failing(Client):
        def check_label_config(self, number: int, label_config: str) -> None:
            raise LabelStudioError("Label Studio fails at the last step.", 500)

    state_before = state(ls, project)
    store = commands.store()
    settings = Settings.from_environment({}, label_studio_url=ls.url, api_key=ls.token, data=commands.folder)
    with pytest.raises(LabelStudioError, match="at the last step"):
        Connector(store, Failing(ls.url, ls.token), settings).connect(project, serving.url)
    state_after = state(ls, project)
    assert state_after.pop("views") in (state_before.pop("views"), ["Default"])  # Label Studio makes its own first tab
    assert state_after == state_before


def test_a_label_config_without_any_field_is_refused(ls: Harness, commands: Commands, serving: Serving) -> None:
    config = '<View><Text name="t" value="$text"/><Labels name="l" toName="t"><Label value="a"/></Labels></View>'
    project = ls.create_project(label_config=config)
    ended, _, errors = commands.here("connect", "--project", str(project), "--url", serving.url)
    assert (ended, "no TextArea" in errors) == (2, True)
    assert [f["what"] for f in commands.doctor(project) if "TextArea" in f["what"] and not f["ok"]]


def test_pull_only(ls: Harness, commands: Commands, serving: Serving, project: int, tmp_path: Path) -> None:
    """Nothing is registered; the timer of the running backend reads what changed."""
    commands.json("connect", "--project", str(project), "--pull-only")
    now = state(ls, project)
    assert (now["connections"], now["webhooks"]) == ([], [])
    assert now["label_config"] == LABEL_CONFIG
    right(ls, project, tmp_path)
    eventually(  # it is set at the end of the run, after the predictions
        lambda: ls.api.get(f"/api/projects/{project}/")["model_version"] == MODEL_VERSION, what="the chosen version"
    )
    user = ls.create_user()
    task = ls.predictions(project)[0]["task"]
    ls.annotate(task, user, ["something else"])
    right(ls, project, tmp_path)
    assert not [f for f in commands.doctor(project) if not f["ok"] and "webhook" in f["what"].lower()]
    commands.json("disconnect", "--project", str(project))


def test_the_effective_settings_and_where_they_come_from(
    ls: Harness, commands: Commands, serving: Serving, project: int
) -> None:
    commands.json("connect", "--project", str(project), "--url", serving.url, "--threshold", "0.7")
    (connection,) = ls.api.get("/api/ml/", project=project)
    ls.api.patch(
        f"/api/ml/{connection['id']}",
        {"url": connection["url"], "project": project, "extra_params": {"casefold": True}, **KEPT_SECRET},
    )
    record = commands.json("settings", "--project", str(project))
    assert record["threshold"] == {"value": 0.7, "source": "softirr-ls"}
    assert record["casefold"] == {"value": True, "source": "connection"}
    assert record["measure"] == {"value": "indel", "source": "environment"}
    assert record["chance"]["source"] == "default"
    commands.json("disconnect", "--project", str(project))


def test_by_hand_in_label_studios_own_settings(ls: Harness, commands: Commands, serving: Serving, project: int) -> None:
    """Someone types the address into Settings > Model and never runs connect: refused, since it carries no secret."""
    with pytest.raises(ServerError, match="look like a valid ML backend"):
        ls.api.post("/api/ml/", {"url": serving.url, "project": project, "title": "my model"})
    assert ls.api.get("/api/ml/", project=project) == []
    assert commands.store().project(ls.url, project) is None
    commands.json("connect", "--project", str(project), "--url", serving.url)
    (connection,) = ls.api.get("/api/ml/", project=project)
    assert (connection["title"], connection["auth_method"], connection["state"]) == (MODEL_VERSION, "BASIC_AUTH", "CO")
    assert connection["basic_auth_pass_is_set"] and "basic_auth_pass" not in connection
    assert len(ls.api.get("/api/webhooks/", project=project)) == 1
    commands.json("disconnect", "--project", str(project))

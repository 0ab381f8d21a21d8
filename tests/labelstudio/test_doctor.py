"""The doctor names each trouble of a connection, and connect repairs it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ml_backend.auth.keys import CONNECTION_USER, Keys
from ml_backend.labelstudio import triage
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.lock import alone
from ml_backend.store.store import NO_RUN
from tests.labelstudio.backend import KEPT_SECRET, Commands, Serving, eventually, right
from tests.labelstudio.conftest import LABEL_CONFIG, Harness


@pytest.fixture
def commands(serving: Serving) -> Commands:
    """Those of the running backend."""
    return serving.commands


@contextlib.contextmanager
def held(commands: Commands, ls: Harness, project: int) -> Iterator[None]:
    """No job runs in between: the backend would fix some problems."""
    store = commands.store()
    row = store.project(ls.url, project)
    assert row is not None
    with alone(store, row["id"]):
        yield
    store.close()


Troubles = dict[str, tuple[Callable[[], Any], str]]
"""Trouble: what puts it in, and part of the doctor's finding."""


def webhook_troubles(ls: Harness, project: int) -> Troubles:
    def webhook() -> dict[str, Any]:
        return ls.api.get("/api/webhooks/", project=project)[0]

    return {
        "webhook gone": (lambda: ls.api.delete(f"/api/webhooks/{webhook()['id']}/"), "The webhook is missing"),
        "webhook off": (
            lambda: ls.api.patch(f"/api/webhooks/{webhook()['id']}/", {"is_active": False}),
            "The webhook is switched off",
        ),
        "webhook without secret": (
            lambda: ls.api.patch(f"/api/webhooks/{webhook()['id']}/", {"headers": {}}),
            "does not carry this backend's secret",
        ),
    }


def setting_troubles(ls: Harness, project: int) -> Troubles:
    def patch(**fields: Any) -> None:
        ls.api.patch(f"/api/projects/{project}/", fields)

    return {
        "model version": (
            lambda: patch(model_version="", show_collab_predictions=False),
            "model version is ''",
        ),
        "suggestions shown": (
            lambda: patch(model_version=MODEL_VERSION, show_collab_predictions=True),
            "show_collab_predictions is on",
        ),
        "automatic": (
            lambda: patch(evaluate_predictions_automatically=True, model_version=MODEL_VERSION),
            "evaluate_predictions_automatically is on",
        ),
        "panel taken out": (lambda: patch(label_config=LABEL_CONFIG), "panel is no longer in the label config"),
        "tab removed": (
            lambda: [
                ls.api.delete(f"/api/dm/views/{view['id']}/")
                for view in ls.api.get("/api/dm/views/", project=project)
                if view["data"]["title"] == triage.TITLE
            ],
            "triage tab is missing",
        ),
    }


def connection_troubles(ls: Harness, serving: Serving, project: int) -> Troubles:
    return {
        "connection gone": (
            lambda: ls.api.delete(f"/api/ml/{ls.api.get('/api/ml/', project=project)[0]['id']}"),
            "connection is gone",
        ),
        "title changed": (
            lambda: ls.api.patch(
                f"/api/ml/{ls.api.get('/api/ml/', project=project)[0]['id']}",
                {"url": serving.url, "project": project, "title": "other", **KEPT_SECRET},
            ),
            "connection's title is",
        ),
    }


def another_project(ls: Harness, commands: Commands, project: int) -> Troubles:
    def older() -> None:
        store = commands.store()
        row = store.project(ls.url, project)
        assert row is not None
        store.update_project(row["id"], born="2020-01-01T00:00:00Z")
        store.close()

    return {"another project under this number": (older, "is another, older one")}


class TestDoctor:
    """Each trouble is put in, found in one sentence with the fix, and gone after it."""

    def test_nothing_is_wrong_after_connect(
        self, ls: Harness, commands: Commands, serving: Serving, project: int, tmp_path: Path
    ) -> None:
        commands.json("connect", "--project", str(project), "--url", serving.url)
        right(ls, project, tmp_path)
        eventually(
            lambda: not [f for f in commands.doctor(project, "--url", serving.url) if not f["ok"]],
            what="the doctor finds nothing",
        )
        troubles = [
            connection_troubles(ls, serving, project),
            webhook_troubles(ls, project),
            setting_troubles(ls, project),
        ]
        rounds = [dict(filter(None, row)) for row in itertools.zip_longest(*(trouble.items() for trouble in troubles))]
        for present in [*rounds, another_project(ls, commands, project)]:  # a trouble of each part at once
            with held(commands, ls, project):
                for put_in, _ in present.values():
                    put_in()
                problems = [f for f in commands.doctor(project, "--url", serving.url) if not f["ok"]]
            for what, (_, says) in present.items():
                assert any(says in f["what"] for f in problems), (what, problems)
            assert all(f["fix"] and f["what"].endswith((".", "?")) and "\n" not in f["what"] for f in problems), (
                problems
            )
            commands.json("connect", "--project", str(project), "--url", serving.url)
            eventually(
                lambda: not [f for f in commands.doctor(project, "--url", serving.url) if not f["ok"]],
                what=f"connect mends: {', '.join(present)}",
            )
        commands.json("disconnect", "--project", str(project))

    def test_token_and_server(self, ls: Harness, commands: Commands) -> None:
        def first(**environment: str) -> dict[str, Any]:
            other_commands = Commands(commands.folder, commands.url, ls.token, environment=environment)
            return next(finding for finding in other_commands.doctor() if not finding["ok"])

        assert "refused the" in first(LABEL_STUDIO_API_KEY="nonsense")["what"]
        assert "LABEL_STUDIO_API_KEY is not set" in first(LABEL_STUDIO_API_KEY=" ")["what"]
        nobody = first(LABEL_STUDIO_URL="http://localhost:9")
        assert "can't be reached" in nobody["what"]
        assert "localhost is the container itself" in nobody["fix"]

    def test_a_wrong_address_of_the_backend(self, ls: Harness, commands: Commands, project: int) -> None:
        findings = commands.doctor(project, "--url", "http://localhost:9")
        assert any("This backend does not answer at http://localhost:9" in f["what"] for f in findings if not f["ok"])

    def test_leftover_connections(self, ls: Harness, commands: Commands, serving: Serving, project: int) -> None:
        commands.json("connect", "--project", str(project), "--url", serving.url)
        second = serving.url.replace("127.0.0.1", "localhost")
        store = commands.store()
        password = Keys(store.secret()).password(project)
        store.close()
        auth = {"auth_method": "BASIC_AUTH", "basic_auth_user": CONNECTION_USER, "basic_auth_pass": password}
        connection = ls.api.post("/api/ml/", {"url": second, "project": project, "title": MODEL_VERSION, **auth})
        problems = [f["what"] for f in commands.doctor(project) if not f["ok"]]
        assert any(f"A leftover connection to {second}" in what for what in problems), problems
        ls.api.delete(f"/api/ml/{connection['id']}")
        assert not any("leftover" in f["what"] for f in commands.doctor(project))
        commands.json("disconnect", "--project", str(project))

    def test_a_backend_that_went_away_and_a_job_that_failed(
        self, ls: Harness, commands: Commands, project: int
    ) -> None:
        with commands.serve() as brief:
            commands.json("connect", "--project", str(project), "--url", brief.url)
            store = commands.store()
            row = store.project(ls.url, project)
            assert row is not None
            eventually(lambda: store.jobs(row["id"])[0]["state"] == "done", what="the first sync")
        fixes = {f["what"]: f["fix"] for f in commands.doctor(project) if not f["ok"]}
        assert f"Label Studio can't reach this backend at {brief.url}." in fixes
        assert "host.docker.internal" in fixes[f"Label Studio can't reach this backend at {brief.url}."]
        with held(commands, ls, project):
            store.note(f"run:{row['id']}", {**NO_RUN, "state": "failed", "message": "The disk is full.", "failures": 1})
            fixes = {f["what"]: f["fix"] for f in commands.doctor(project) if not f["ok"]}
        store.close()
        (failed,) = (what for what in fixes if what.endswith("The disk is full."))
        assert failed.startswith("The last run failed (the last one that did not was")
        assert "softirr-ls sync does it now" in fixes[failed]
        commands.json("disconnect", "--project", str(project))

    def test_a_project_that_is_not_there(self, ls: Harness, commands: Commands) -> None:
        problems = [f["what"] for f in commands.doctor(999_999) if not f["ok"]]
        assert any("no project 999999" in what for what in problems)

    def test_leftover_predictions(self, ls: Harness, commands: Commands, serving: Serving, project: int) -> None:
        task = ls.api.get("/api/tasks", project=project, fields="all")["tasks"][0]["id"]
        ls.api.post("/api/predictions/", {"task": task, "model_version": MODEL_VERSION, "score": 0.5, "result": []})
        problems = [f["what"] for f in commands.doctor(project, "--url", serving.url) if not f["ok"]]
        assert any("Label Studio has 1 prediction of version" in what for what in problems)
        commands.sync(project)
        assert len([p for p in ls.predictions(project) if p["task"] == task]) == 1


def test_a_server_that_refuses_local_addresses(
    start_label_studio: Callable[..., Any], commands: Commands, serving: Serving, tmp_path: Path
) -> None:
    """As Label Studio is out of the box.

    Connect names the two variables to set, and leaves no half-made connection.
    """
    closed = {"ML_BLOCK_LOCAL_IP": "true", "SSRF_PROTECTION_ENABLED": "true"}
    with start_label_studio(tmp_path / "closed", environment=closed) as server:
        strict = Harness(server)
        project = strict.create_project()
        other_commands = Commands(tmp_path / "state", strict.url, strict.token)
        ended, _, errors = other_commands.here("connect", "--project", str(project), "--url", serving.url)
        assert ended == 2 and "SOFTIRR_DATA" in errors, "that backend is of another store"
        with other_commands.serve() as own_backend:
            ended, _, errors = other_commands.here("connect", "--project", str(project), "--url", own_backend.url)
        assert ended == 1
        assert "ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false" in errors
        assert strict.api.get("/api/ml/", project=project) == []
        problems = [f for f in other_commands.doctor(project, "--url", serving.url) if not f["ok"]]
        assert any("private or local" in f["what"] and "SSRF_PROTECTION_ENABLED" in f["fix"] for f in problems)
        other_commands.json("connect", "--project", str(project), "--pull-only")
        assert other_commands.sync(project)["items"] == 0

"""The webhook of Label Studio: its secret, its bodies, and the runs that it causes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ml_backend.app import create_app
from ml_backend.settings import SECRET_HEADER
from ml_backend.web.protocol import AFTER_SAVING
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL, drain
from tests.ml_backend.fake_project import NUMBER
from tests.ml_backend.protocol_calls import BASIC, SETUP, known, predict_body, predict_task


class TestWebhook:
    def test_a_change_wakes_a_job_and_is_answered_at_once(self, client: FlaskClient, bench: Bench) -> None:
        key = known(bench)
        body = {
            "action": "ANNOTATION_UPDATED",
            "annotation": {"id": 12, "result": [], "task": 254, "project": NUMBER},
            "task": {"id": 254},
            "project": {"id": NUMBER, "token": "project-token", "task_data_password": "x"},
        }
        reply = client.post("/webhook", json=body, headers={SECRET_HEADER: "the secret"})
        assert reply.status_code == 202
        drain(bench.services.background)
        assert bench.store.due(time.time()) == [], "first the person who saved gets the next task"
        assert bench.store.due(time.time() + AFTER_SAVING) == [key]

    def test_many_calls_are_one_run(self, client: FlaskClient, bench: Bench) -> None:
        key = known(bench)
        for _ in range(30):
            client.post(
                "/webhook",
                json={"action": "ANNOTATION_CREATED", "project": {"id": NUMBER}},
                headers={SECRET_HEADER: "the secret"},
            )
        drain(bench.services.background)
        assert bench.store.due(time.time() + AFTER_SAVING) == [key]

    @pytest.mark.parametrize(
        ("body", "is_due"),
        [
            ({"action": "ANNOTATIONS_CREATED", "annotation": [{"id": 1}], "project": {"id": NUMBER}}, True),
            ({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 12}]}, True),
            ({"action": "TASKS_DELETED", "tasks": [{"id": 4}], "project": {"id": NUMBER}}, True),
            ({"action": "ANNOTATION_UPDATED"}, True),
            ({"action": "ANNOTATION_UPDATED", "project": {"id": 77}}, True),
            ({"action": "SOMETHING_NEW", "project": {"id": NUMBER}}, False),
            ({"action": "LABEL_LINK_CREATED", "project": {"id": NUMBER}}, False),
            ({}, False),
            ([], False),
            ({"action": ["TASKS_CREATED"]}, False),
            (None, False),
        ],
    )
    def test_webhook_with_the_right_secret_accepts_any_body(
        self, client: FlaskClient, bench: Bench, body: Any, is_due: bool
    ) -> None:
        """Label Studio sends the action alone if its webhook sends no payload, and counts refusals."""
        key = known(bench)
        assert client.post("/webhook", json=body, headers={SECRET_HEADER: "the secret"}).status_code == 202
        drain(bench.services.background)
        assert bench.store.due(time.time() + AFTER_SAVING) == ([key] if is_due else [])

    @pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"action=TASKS_CREATED"])
    def test_a_body_that_is_not_json_is_answered_202(self, client: FlaskClient, bench: Bench, data: bytes) -> None:
        known(bench)
        for kind in ("application/json", "text/plain"):
            reply = client.post("/webhook", data=data, content_type=kind, headers={SECRET_HEADER: "the secret"})
            assert reply.status_code == 202
        drain(bench.services.background)
        assert bench.store.due(time.time() + AFTER_SAVING) == []

    def test_start_training_recomputes_everything(self, client: FlaskClient, bench: Bench) -> None:
        key = known(bench)
        assert client.post("/webhook", json={"action": "START_TRAINING", "project": {"id": NUMBER}}).status_code == 202
        drain(bench.services.background)
        assert bench.store.due(time.time() + AFTER_SAVING) == [key]
        assert bench.row["pulled_at"] is None, "every task is read again"

    @pytest.mark.parametrize("headers", [{}, {SECRET_HEADER: "wrong"}, {SECRET_HEADER: ""}, {SECRET_HEADER: "ÿ"}])
    def test_without_the_secret_nothing_happens(
        self, client: FlaskClient, bench: Bench, headers: dict[str, str]
    ) -> None:
        known(bench)
        del client.environ_base["HTTP_AUTHORIZATION"]
        reply = client.post("/webhook", json={"action": "TASKS_CREATED", "project": {"id": NUMBER}}, headers=headers)
        assert reply.status_code == 403
        assert "softirr-ls connect" in reply.json["error"]
        drain(bench.services.background)
        assert bench.store.due(time.time() + AFTER_SAVING) == []

    def test_the_secret_names_the_project_and_the_body_does_not(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        other_project = bench.store.ensure_project(URL, 77)["id"]
        bench.store.update_project(other_project, connection={"mode": "connected"}, webhook_secret="theirs")
        body = {"action": "TASKS_CREATED", "project": {"id": NUMBER}}
        assert client.post("/webhook", json=body, headers={SECRET_HEADER: "theirs"}).status_code == 202
        drain(bench.services.background)
        assert bench.store.due(time.time() + AFTER_SAVING) == [other_project]

    def test_a_late_call_for_a_disconnected_project_wakes_nothing(self, client: FlaskClient, bench: Bench) -> None:
        key = known(bench)
        bench.store.update_project(key, connection={})
        for headers in ({}, {SECRET_HEADER: "the secret"}):
            body = {"action": "TASKS_CREATED", "project": {"id": NUMBER}}
            assert client.post("/webhook", json=body, headers=headers).status_code == 403
        predict = predict_body([predict_task(1, {1: ["a"], 2: ["b"]})])
        assert client.post("/predict", json=predict).status_code == 403
        drain(bench.services.background)
        assert bench.store.due(time.time() + AFTER_SAVING) == []


class TestSecrets:
    """Every endpoint but /health needs the secret that `connect` made, or the operator's user and password."""

    @pytest.fixture
    def guarded(self, tmp_path: Path) -> tuple[Bench, FlaskClient]:
        bench = Bench(tmp_path, basic_auth_user="us", basic_auth_pass="pass word")
        return bench, create_app(services=bench.services).test_client()

    ROUTES = (("GET", "/"), ("GET", "/versions"), ("POST", "/setup"), ("POST", "/predict"), ("GET", "/metrics"))

    @pytest.mark.parametrize(("method", "path"), ROUTES)
    def test_each_route(self, guarded: tuple[Bench, FlaskClient], method: str, path: str) -> None:
        bench, client = guarded
        known(bench)
        other_project = bench.store.ensure_project(URL, 77)["id"]
        bench.store.update_project(other_project, connection={"mode": "connected"})
        body = None if method == "GET" else {**SETUP, **predict_body([])}
        wrong = [
            {},
            *({"Authorization": header} for header in ("Basic !", "Bearer x", "Basic dTpw", "Basic c29mdGlycjo=")),
        ]
        for headers in (*wrong, *([bench.caller(77)] if body else []), bench.caller(78)):
            reply = client.open(path, method=method, json=body, headers=headers)
            assert reply.status_code == 401
            assert reply.json["error"].endswith(".")
            assert "pass word" not in reply.text
        assert client.open(path, method=method, json=body, headers=BASIC).status_code == 200
        if path != "/metrics":
            assert client.open(path, method=method, json=body, headers=bench.caller()).status_code == 200

    def test_health_is_open(self, guarded: tuple[Bench, FlaskClient]) -> None:
        assert guarded[1].get("/health", headers={"Host": "anything.example"}).json["status"] == "UP"

    def test_new_keys_end_the_old_secret(self, guarded: tuple[Bench, FlaskClient]) -> None:
        bench, client = guarded
        key, old = known(bench), bench.caller()
        bench.store.update_project(key, key_round=1)
        assert client.post("/setup", json=SETUP, headers=old).status_code == 401
        assert client.post("/setup", json=SETUP, headers=bench.caller()).status_code == 200

    def test_start_training_comes_over_the_connection(self, guarded: tuple[Bench, FlaskClient]) -> None:
        bench, client = guarded
        known(bench)
        training = {"action": "START_TRAINING", "project": {"id": NUMBER}}
        assert client.post("/webhook", json=training).status_code == 403
        for headers in (BASIC, bench.caller()):
            assert client.post("/webhook", json=training, headers=headers).status_code == 202

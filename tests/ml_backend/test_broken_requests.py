"""Requests that no Label Studio sends: each is refused in a sentence, and nothing falls over."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ml_backend.app import create_app
from ml_backend.settings import SECRET_HEADER
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import LABEL_CONFIG, NUMBER, region
from tests.ml_backend.protocol_calls import BASIC, SETUP, known, predict_body, predict_task

BROKEN: list[Any] = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"3",
    b"\xff\xfe\x00",
    b'{"project": NaN}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    {},
    {"project": None},
    {"project": True},
    {"project": -4},
    {"project": "4; DROP TABLE"},
    {"project": "9" * 400},
    {"project": 2**40},
    {"project": 1e300},
    {"project": {"id": {"id": 4}}},
    {"project": ["4"]},
    {"project": "٤"},
    {"project": f"{NUMBER}.1", "tasks": None},
    {"project": f"{NUMBER}.1", "tasks": {}},
    {"project": f"{NUMBER}.1", "tasks": [None]},
    {"project": f"{NUMBER}.1", "tasks": [{"id": "x"}]},
    {"project": f"{NUMBER}.1", "tasks": [{"id": True}]},
    {"project": f"{NUMBER}.1", "tasks": [{}], "label_config": LABEL_CONFIG},
    {"project": f"{NUMBER}.1", "tasks": [{"id": 1}], "label_config": 7},
    {"project": f"{NUMBER}.1", "tasks": [{"id": 1}], "label_config": "<View"},
    {"project": f"{NUMBER}.1", "schema": 7, "action": 3},
    {"project": f"{NUMBER}.1", "schema": "<View", "action": None},
    {"project": f"{NUMBER}.1", "extra_params": 5, "action": []},
    {"project": f"{NUMBER}.1", "hostname": "javascript:alert(1)", "action": {}},
    {"project": "77.1", "tasks": [], "action": "ANNOTATION_CREATED"},
    {"project": {"id": 77}, "tasks": [{"id": 1}], "action": "START_TRAINING"},
]

ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">'
    '<!ENTITY f SYSTEM "file:///etc/passwd">]><View><TextArea name="&c;" toName="&f;"/></View>'
)


class TestBrokenRequests:
    """A 4xx with one sentence, never a 500; harmless requests may pass."""

    @pytest.mark.slow
    @pytest.mark.parametrize("number", range(len(BROKEN)))
    @pytest.mark.parametrize("path", ["/predict", "/setup", "/webhook"])
    def test_body(self, client: FlaskClient, bench: Bench, path: str, number: int) -> None:
        known(bench)
        body = BROKEN[number]
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {SECRET_HEADER: "the secret"} if path == "/webhook" else {}
        reply = client.post(path, data=data, content_type="application/json", headers=headers)
        if reply.status_code >= 300:
            assert 400 <= reply.status_code < 500
            assert reply.json["error"].endswith(".")
            assert "\n" not in reply.json["error"]
        elif path == "/predict":
            assert len(reply.json["results"]) == len(body["tasks"])

    @pytest.mark.parametrize("number", [0, -1, -(2**70), 2**31, 2**63, 2**64 + 1])
    def test_task_ids_beyond_the_database_range_get_no_score(
        self, client: FlaskClient, bench: Bench, number: int
    ) -> None:
        known(bench)
        reply = client.post("/predict", json=predict_body([{"id": number, "annotations": []}]))
        assert reply.status_code == 200
        assert reply.json["results"][0]["score"] is None

    @pytest.mark.parametrize(
        "annotations",
        [
            [None, 5, "x"],
            [{"result": None}],
            [{"completed_by": 1, "result": [{"type": "textarea", "from_name": "findings", "value": {"text": [{}]}}]}]
            * 2,
            [{"completed_by": {"id": [1]}, "result": [region(["x"])]}] * 3,
            [{"completed_by": 1, "updated_at": {}, "id": [], "result": [region(["fe\ud800ver"])]}] * 2,
            [{"completed_by": n, "result": [region(["<script>\x00"])]} for n in range(5)],
        ],
    )
    def test_odd_annotations(self, client: FlaskClient, bench: Bench, annotations: Any) -> None:
        known(bench)
        data = json.dumps(predict_body([{"id": 1, "annotations": annotations}]))
        reply = client.post("/predict", data=data, content_type="application/json")
        assert reply.status_code == 200
        assert len(reply.json["results"]) == 1

    def test_entities_in_the_label_config_are_not_followed(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        reply = client.post("/predict", json=predict_body([{"id": 1}], label_config=ENTITIES))
        assert "root:" not in reply.text
        assert reply.status_code < 500

    def test_a_body_beyond_the_limit(self, bench: Bench) -> None:
        app = create_app(services=bench.services)
        app.config["MAX_CONTENT_LENGTH"] = 1000
        headers = bench.connect()
        reply = app.test_client().post("/predict", data=b"x" * 2000, content_type="application/json", headers=headers)
        assert 400 <= reply.status_code < 500
        assert reply.json["error"].endswith(".")

    @pytest.mark.parametrize(
        ("method", "path"), [("GET", "/predict"), ("POST", "/health"), ("GET", "/nowhere"), ("DELETE", "/webhook")]
    )
    def test_wrong_method_or_path(self, client: FlaskClient, method: str, path: str) -> None:
        reply = client.open(path, method=method)
        assert reply.status_code in (404, 405)
        assert reply.json["error"].endswith(".")

    def test_a_foreign_project_is_refused_and_not_made(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, basic_auth_user="us", basic_auth_pass="pass word")
        client = create_app(services=bench.services).test_client()
        for path in ("/setup", "/predict", "/webhook"):
            body = {**SETUP, **predict_body([]), "action": "START_TRAINING"}
            assert client.post(path, json=body).status_code == 403
            reply = client.post(path, json=body, headers=BASIC)
            assert reply.status_code == 404
            assert f"Project {NUMBER} is not connected" in reply.json["error"]
        assert bench.store.projects() == []

    def test_a_database_that_is_away_is_a_500_without_a_text(
        self, client: FlaskClient, bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        words = ("quotes", "an", "unmistakable", "finding")  # a traceback shows the source, so it must not stand there

        def away(*_: Any) -> None:
            raise RuntimeError(" ".join(words))

        monkeypatch.setattr(bench.store, "project", away)
        with caplog.at_level(logging.DEBUG):
            reply = client.post("/predict", json=predict_body([predict_task(1, {1: [" ".join(words[2:])]})]))
        assert reply.status_code == 500
        assert " ".join(words[2:]) not in reply.text + caplog.text

"""The ML backend protocol as Label Studio 1.23.2 speaks it, and what it must not fall over."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ml_backend.app import create_app
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER
from ml_backend.web import protocol as protocol_module
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import LABEL_CONFIG, NUMBER, URL, drain, region

BASIC = {"Authorization": "Basic " + base64.b64encode(b"us:pass word").decode()}
SETUP = {
    "project": f"{NUMBER}.1795179623",
    "schema": LABEL_CONFIG,
    "hostname": "http://localhost:8081",
    "access_token": "abcdef0123456789abcdef0123456789abcdef01",
    "extra_params": None,
}


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    """Sends what Label Studio's connection sends, the secret included."""
    return calling(bench)


def calling(bench: Bench) -> FlaskClient:
    made = create_app(services=bench.services).test_client()
    bench.connect()
    made.environ_base["HTTP_AUTHORIZATION"] = bench.caller()["Authorization"]
    return made


def known(bench: Bench, *, secret: str | None = "the secret", **columns: Any) -> int:
    """The project as `connect` leaves it."""
    row = bench.store.ensure_project(URL, NUMBER)
    bench.store.update_project(
        row["id"],
        webhook_secret=secret,
        connection={"mode": "connected"},
        label_config=LABEL_CONFIG,
        pulled_at=1.0,
        **columns,
    )
    return int(row["id"])


def predict_task(number: int, answers: dict[int, list[str]], **fields: Any) -> dict[str, Any]:
    annotations = [
        {
            "id": 100 * number + user,
            "result": [region(texts)],
            "completed_by": user,
            "was_cancelled": False,
            "ground_truth": True,
            "updated_at": "2026-11-20T13:03:54.632084Z",
            "task": number,
            "project": NUMBER,
        }
        for user, texts in answers.items()
    ]
    return {"id": number, "data": {"text": "t"}, "meta": {}, "annotations": annotations, "predictions": [], **fields}


def predict_body(tasks: list[Any], **fields: Any) -> dict[str, Any]:
    params = {"login": None, "password": None, "context": None}
    return {"tasks": tasks, "project": f"{NUMBER}.1795179834", "label_config": LABEL_CONFIG, "params": params, **fields}


class TestHealthSetupVersions:
    def test_health(self, client: FlaskClient) -> None:
        for path in ("/", "/health"):
            reply = client.get(path)
            assert (reply.status_code, reply.json["status"]) == (200, "UP")

    def test_versions(self, client: FlaskClient) -> None:
        assert client.get("/versions").json["versions"] == [MODEL_VERSION]

    def test_setup_gives_the_version_that_predict_gives(self, client: FlaskClient, bench: Bench) -> None:
        reply = client.post("/setup", json=SETUP)
        assert (reply.status_code, reply.json) == (200, {"model_version": MODEL_VERSION})
        assert client.post("/predict", json=predict_body([])).json["model_version"] == MODEL_VERSION

    def test_setup_notes_the_options_and_wakes_a_job(self, client: FlaskClient, bench: Bench) -> None:
        client.post("/setup", json={**SETUP, "extra_params": {"measure": "jaccard", "controls": "findings"}})
        row = bench.row
        assert row["extra_params"] == {"measure": "jaccard", "controls": ["findings"]}
        assert row["origins"] == [], "the request does not say where Label Studio is opened"
        assert bench.store.wanted() == [row["id"]]
        bench.store.take_wanted(row["id"])
        bench.store.update_project(row["id"], pulled_at=1.0)
        client.post("/setup", json={**SETUP, "extra_params": {"measure": "jaccard", "controls": "findings"}})
        assert bench.store.take_wanted(row["id"]) == (False, False), (
            "asked before each predict, so it must cost nothing"
        )

    def test_the_creators_token_is_not_kept(self, client: FlaskClient, bench: Bench, tmp_path: Path) -> None:
        client.post("/setup", json=SETUP)
        bench.store.close()
        assert all(SETUP["access_token"].encode() not in path.read_bytes() for path in tmp_path.iterdir())  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"metric": "soft"}, "unknown option 'metric'"),
            ({"threshold": 7}, "threshold must be"),
            ("{", "not valid JSON"),
            ([1], "expected an object"),
            ({"controls": []}, "controls must be"),
            ({"measure": "llm-verbalised:http://192.0.2.1/v1"}, "SOFTIRR_ALLOWED_MEASURES"),
            ({"measure": "embedding:/tmp/model"}, "SOFTIRR_ALLOWED_MEASURES"),
            ({"reviewers": ["1"]}, "only be set by softirr-ls"),
        ],
    )
    def test_unusable_options_are_said_in_a_sentence(self, client: FlaskClient, options: Any, says: str) -> None:
        reply = client.post("/setup", json={**SETUP, "extra_params": options})
        assert reply.status_code == 400
        assert says in reply.json["error"]


class TestPredict:
    def test_one_result_for_each_task_in_order(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        tasks = [
            predict_task(5, {1: ["fever"], 2: ["fever"]}),
            predict_task(3, {1: ["fever"], 2: ["rash"]}),
            predict_task(9, {1: ["alone"]}),
            predict_task(5, {1: ["fever"], 2: ["fever"]}),
            predict_task(4, {}),
        ]
        results = client.post("/predict", json=predict_body(tasks)).json["results"]
        assert [result["score"] for result in results] == [1.0, pytest.approx(2 / 9), None, 1.0, None]
        assert {result["model_version"] for result in results} == {MODEL_VERSION}
        assert results[0]["result"][0]["value"]["text"] == ["fever"]

    def test_from_the_store_where_the_answers_are_the_same(self, client: FlaskClient, bench: Bench) -> None:
        task = bench.fake.add_task({1: ["fever"], 2: ["rash"]})
        bench.sync()
        bench.store.put_scored(
            bench.row["id"],
            [
                {
                    **row,
                    "agreement": 0.123,
                    "details": {**row["details"], "agreement": 0.123},
                    "answers_hash": row["answers_hash"],
                    "desired": None,
                }
                for row in bench.store.get_tasks(bench.row["id"], [task]).values()
            ],
        )
        sent = bench.fake.tasks[task]
        same = client.post("/predict", json=predict_body([sent])).json["results"]
        assert same[0]["score"] == 0.123, "not computed again"
        bench.fake.edit(sent["annotations"][0]["id"], ["rash"])
        changed = client.post("/predict", json=predict_body([sent])).json["results"]
        assert changed[0]["score"] == 1.0

    def test_ids_only_where_the_request_has_no_annotations(self, client: FlaskClient, bench: Bench) -> None:
        task = bench.fake.add_task({1: ["fever"], 2: ["rash"]})
        bench.sync()
        results = client.post("/predict", json=predict_body([{"id": task}, {"id": 999}])).json["results"]
        assert results[0]["score"] == bench.fake.expected()[task]
        assert results[1]["score"] is None

    def test_an_interactive_request_with_drafts_and_context(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        task = predict_task(5, {1: ["fever"]}, drafts=[{"id": 1, "user": "a@x", "result": [region(["draft"])]}])
        body = predict_body([task])
        body["params"]["context"] = {"result": [region(["in progress"])]}
        assert client.post("/predict", json=body).json["results"][0]["score"] is None

    def test_what_takes_too_long_is_queued_and_answered_without_a_score(
        self, client: FlaskClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = known(bench)
        monkeypatch.setattr(protocol_module, "MOST_PAIRS_AT_ONCE", 10)
        many = predict_task(5, {1: [f"a{k}" for k in range(20)], 2: ["b"]})
        few = predict_task(6, {1: ["fever"], 2: ["fever"]})
        results = client.post("/predict", json=predict_body([many, few])).json["results"]
        assert [result["score"] for result in results] == [None, 1.0]
        drain(bench.services.background)
        assert bench.store.wanted() == [key]

    def test_the_budget_ends_the_computing(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, predict_budget_seconds=1e-9)
        known(bench)
        client = calling(bench)
        tasks = [predict_task(n, {1: ["fever"], 2: ["fever"]}) for n in range(1, 60)]
        results = client.post("/predict", json=predict_body(tasks)).json["results"]
        assert len(results) == 59
        assert {result["score"] for result in results} == {None}
        bench.store.close()

    def test_a_measure_with_a_model_is_left_to_the_scorer_process(self, client: FlaskClient, bench: Bench) -> None:
        known(bench, chosen={"measure": "nli:/nowhere"})
        reply = client.post("/predict", json=predict_body([predict_task(5, {1: ["fever"], 2: ["rash"]})]))
        assert reply.json["results"][0]["score"] is None
        assert "torch" not in _loaded_by("import ml_backend.app, ml_backend.scoring.scorer, ml_backend.sync.jobs")

    def test_a_label_config_without_a_text_area(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        body = predict_body([predict_task(1, {})], label_config='<View><Text name="t" value="$t"/></View>')
        reply = client.post("/predict", json=body)
        assert reply.status_code == 422
        assert "no TextArea" in reply.json["error"]


def _loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


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
        assert bench.store.wanted() == [key]

    def test_many_calls_are_one_run(self, client: FlaskClient, bench: Bench) -> None:
        key = known(bench)
        for _ in range(30):
            client.post(
                "/webhook",
                json={"action": "ANNOTATION_CREATED", "project": {"id": NUMBER}},
                headers={SECRET_HEADER: "the secret"},
            )
        drain(bench.services.background)
        assert len(bench.store.jobs(key)) == 1
        assert len(bench.services.wakeups.queue) == 1

    def test_removed_tasks_are_looked_at_again(self, client: FlaskClient, bench: Bench) -> None:
        task = bench.fake.add_task({1: ["a"], 2: ["b"]})
        bench.sync()
        known(bench)
        client.post(
            "/webhook",
            json={"action": "TASKS_DELETED", "tasks": [{"id": task}], "project": {"id": NUMBER}},
            headers={SECRET_HEADER: "the secret"},
        )
        drain(bench.services.background)
        assert bench.store.suspects(bench.row["id"]) == [task]

    def test_start_training_recomputes_everything(self, client: FlaskClient, bench: Bench) -> None:
        key = known(bench)
        assert client.post("/webhook", json={"action": "START_TRAINING", "project": {"id": NUMBER}}).status_code == 202
        drain(bench.services.background)
        assert bench.store.take_wanted(key) == (True, True)

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
        assert bench.store.wanted() == []

    def test_the_secret_of_another_project_is_no_secret(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        other = bench.store.ensure_project(URL, 77)["id"]
        bench.store.update_project(other, connection={"mode": "connected"}, webhook_secret="theirs")
        body = {"action": "TASKS_CREATED", "project": {"id": NUMBER}}
        assert client.post("/webhook", json=body, headers={SECRET_HEADER: "theirs"}).status_code == 403
        drain(bench.services.background)
        assert bench.store.wanted() == []

    def test_a_late_call_for_a_disconnected_project_wakes_nothing(self, client: FlaskClient, bench: Bench) -> None:
        key = known(bench)
        bench.store.update_project(key, connection={})
        for headers in ({}, {SECRET_HEADER: "the secret"}):
            body = {"action": "TASKS_CREATED", "project": {"id": NUMBER}}
            assert client.post("/webhook", json=body, headers=headers).status_code == 403
        predict = predict_body([predict_task(1, {1: ["a"], 2: ["b"]})])
        assert client.post("/predict", json=predict).status_code == 403
        drain(bench.services.background)
        assert bench.store.wanted() == []

    def test_actions_that_change_no_answer_are_ignored(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        headers = {SECRET_HEADER: "the secret"}
        for action in ("LABEL_LINK_CREATED", "SOMETHING_NEW"):
            reply = client.post("/webhook", json={"action": action, "project": {"id": NUMBER}}, headers=headers)
            assert reply.status_code == 202
        drain(bench.services.background)
        assert bench.store.wanted() == []


class TestSecrets:
    """Every endpoint but /health needs the secret that `connect` made, or the operator's user and password."""

    @pytest.fixture
    def guarded(self, tmp_path: Path) -> Iterator[tuple[Bench, FlaskClient]]:
        bench = Bench(tmp_path, basic_auth_user="us", basic_auth_pass="pass word")
        yield bench, create_app(services=bench.services).test_client()
        bench.store.close()

    ROUTES = (("GET", "/"), ("GET", "/versions"), ("POST", "/setup"), ("POST", "/predict"), ("GET", "/metrics"))

    @pytest.mark.parametrize(("method", "path"), ROUTES)
    def test_each_route(self, guarded: tuple[Bench, FlaskClient], method: str, path: str) -> None:
        bench, client = guarded
        known(bench)
        other = bench.store.ensure_project(URL, 77)["id"]
        bench.store.update_project(other, connection={"mode": "connected"})
        body = None if method == "GET" else {**SETUP, **predict_body([])}
        wrong = [
            {},
            *({"Authorization": given} for given in ("Basic !", "Bearer x", "Basic dTpw", "Basic c29mdGlycjo=")),
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
    """A 4xx with one sentence, never a 500; what is harmless may pass."""

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
    def test_task_ids_that_no_database_holds(self, client: FlaskClient, bench: Bench, number: int) -> None:
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
        bench.store.close()

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


def test_a_web_worker_loads_no_model_library() -> None:
    loaded = _loaded_by(
        "import tempfile; from ml_backend.app import create_app; from ml_backend.settings import Settings; "
        "s = Settings.from_environment({}, data=tempfile.mkdtemp()); a = create_app(s); "
        "t = a.extensions['softirr'].store; t.migrate(); c = a.test_client(); "
        f"r = t.ensure_project(s.label_studio_url, {NUMBER}); t.update_project(r['id'], connection={{'mode': 'connected'}}); "
        "from ml_backend.auth.keys import Keys; "
        f"h = {{'auth': ('softirr', Keys(t.secret()).password({NUMBER}))}}; "
        f"assert c.post('/setup', json={SETUP!r}, **h).status_code == 200; "
        f"assert c.post('/predict', json={predict_body([predict_task(1, {1: ['fever'], 2: ['rash']})])!r}, **h).status_code == 200"
    )
    assert "flask" in loaded
    assert not loaded & {"torch", "transformers", "matplotlib"}

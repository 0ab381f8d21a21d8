"""The ML backend protocol as Label Studio 1.23.2 speaks it, and hostile requests."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ml_backend.settings import MODEL_VERSION
from ml_backend.store.store import NO_RUN
from ml_backend.web import protocol as protocol_module
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import drain
from tests.ml_backend.fake_project import NUMBER, region
from tests.ml_backend.protocol_calls import SETUP, calling, known, predict_body, predict_task
from tests.programs import run_python


class TestHealthSetupVersions:
    def test_health(self, client: FlaskClient) -> None:
        for path in ("/", "/health"):
            reply = client.get(path)
            assert (reply.status_code, reply.json["status"]) == (200, "UP")

    def test_versions(self, client: FlaskClient) -> None:
        assert client.get("/versions").json["versions"] == [MODEL_VERSION]

    def test_setup_gives_the_version_that_predict_gives(self, client: FlaskClient) -> None:
        reply = client.post("/setup", json=SETUP)
        assert (reply.status_code, reply.json) == (200, {"model_version": MODEL_VERSION})
        assert client.post("/predict", json=predict_body([])).json["model_version"] == MODEL_VERSION

    def test_setup_notes_the_options_and_wakes_a_job(self, client: FlaskClient, bench: Bench) -> None:
        options = {"measure": "jaccard", "controls": "findings", "fields": ["stars=nominal"]}
        client.post("/setup", json={**SETUP, "extra_params": options})
        row = bench.row
        assert row["extra_params"] == {**options, "controls": ["findings"]}
        assert row["origins"] == [], "the request does not say where Label Studio is opened"
        assert bench.store.due(time.time()) == [row["id"]]
        assert bench.store.begin_run(row["id"], NO_RUN)
        bench.store.update_project(row["id"], pulled_at=1.0)
        client.post("/setup", json={**SETUP, "extra_params": options})
        assert not bench.store.is_due(row["id"]), "asked before each predict, so it must cost nothing"

    def test_the_creators_token_is_not_kept(self, client: FlaskClient, bench: Bench, tmp_path: Path) -> None:
        client.post("/setup", json=SETUP)
        bench.store.close()
        token = str(SETUP["access_token"]).encode()
        assert all(token not in path.read_bytes() for path in tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"metric": "soft"}, "unknown option 'metric'"),
            ({"measure": "llm-verbalised:http://192.0.2.1/v1"}, "SOFTIRR_ALLOWED_MEASURES"),
            ({"measure": "embedding:/tmp/model"}, "SOFTIRR_ALLOWED_MEASURES"),
            ({"reviewers": ["1"]}, "only be set by softirr-ls"),
        ],
    )
    def test_unusable_options_are_refused(self, client: FlaskClient, options: Any, says: str) -> None:
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

    def test_slow_task_is_queued_and_answered_without_a_score(
        self, client: FlaskClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = known(bench)
        monkeypatch.setattr(protocol_module, "MOST_PAIRS_AT_ONCE", 10)
        large_task = predict_task(5, {1: [f"a{k}" for k in range(20)], 2: ["b"]})
        small_task = predict_task(6, {1: ["fever"], 2: ["fever"]})
        results = client.post("/predict", json=predict_body([large_task, small_task])).json["results"]
        assert [result["score"] for result in results] == [None, 1.0]
        drain(bench.services.background)
        assert bench.store.due(time.time()) == [key]

    def test_the_budget_ends_the_computing(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, predict_budget_seconds=1e-9)
        known(bench)
        client = calling(bench)
        tasks = [predict_task(n, {1: ["fever"], 2: ["fever"]}) for n in range(1, 60)]
        results = client.post("/predict", json=predict_body(tasks)).json["results"]
        assert len(results) == 59
        assert {result["score"] for result in results} == {None}

    @pytest.mark.slow
    def test_a_measure_with_a_model_is_left_to_the_scorer_process(self, client: FlaskClient, bench: Bench) -> None:
        known(bench, chosen={"measure": "nli:/nowhere"})
        reply = client.post("/predict", json=predict_body([predict_task(5, {1: ["fever"], 2: ["rash"]})]))
        assert reply.json["results"][0]["score"] is None
        assert "torch" not in _loaded_by("import ml_backend.app, ml_backend.worker.runs")

    def test_a_label_config_without_a_text_area(self, client: FlaskClient, bench: Bench) -> None:
        known(bench)
        body = predict_body([predict_task(1, {})], label_config='<View><Text name="t" value="$t"/></View>')
        reply = client.post("/predict", json=body)
        assert reply.status_code == 422
        assert "no TextArea" in reply.json["error"]


def _loaded_by(code: str) -> set[str]:
    return set(run_python(f"import sys; {code}; print(' '.join(sys.modules))").split())


@pytest.mark.slow
def test_a_web_worker_loads_no_model_library() -> None:
    tasks = [predict_task(1, {1: ["fever"], 2: ["rash"]})]
    loaded = _loaded_by(
        "import tempfile; from ml_backend.app import create_app; from ml_backend.settings import Settings; "
        "s = Settings.from_environment({}, data=tempfile.mkdtemp()); a = create_app(s); "
        "t = a.extensions['softirr'].store; t.migrate(); c = a.test_client(); "
        f"r = t.ensure_project(s.label_studio_url, {NUMBER}); "
        "t.update_project(r['id'], connection={'mode': 'connected'}); "
        "from ml_backend.auth.keys import Keys; "
        f"h = {{'auth': ('softirr', Keys(t.secret()).password({NUMBER}))}}; "
        f"assert c.post('/setup', json={SETUP!r}, **h).status_code == 200; "
        f"assert c.post('/predict', json={predict_body(tasks)!r}, **h).status_code == 200"
    )
    assert "flask" in loaded
    assert not loaded & {"torch", "transformers", "matplotlib"}

"""The backend answers as Label Studio asks. Install requirements-test.txt, then run ``pytest`` in this folder."""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

LABEL_CONFIG = (
    '<View><Text name="text" value="$text"/><TextArea name="findings" toName="text" maxSubmissions="20"/></View>'
)
PROJECT = 1


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlaskClient]:
    """A client that has the secret that ``softirr-ls connect`` gives to Label Studio."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("SOFTIRR_DATA", str(tmp_path))
    monkeypatch.setenv("SOFTIRR_MEASURE", "indel")
    monkeypatch.delenv("SOFTIRR_DATABASE_URL", raising=False)
    for name in ("_wsgi", "model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    from _wsgi import init_app

    from ml_backend.auth.keys import Keys

    app = init_app()
    services = app.extensions["softirr"]
    store = services.store
    row = store.ensure_project(services.settings.label_studio_url, PROJECT)
    store.update_project(
        row["id"], connection={"mode": "connected"}, label_config=LABEL_CONFIG, chosen={"predictions": "always"}
    )
    with app.test_client() as client:
        client.environ_base["HTTP_AUTHORIZATION"] = _basic("softirr", Keys(store.secret()).password(PROJECT))
        yield client
    store.close()


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _annotation(number: int, user: int, text: str) -> dict[str, object]:
    result = {"from_name": "findings", "to_name": "text", "type": "textarea", "value": {"text": [text]}}
    return {"id": number, "completed_by": user, "was_cancelled": False, "result": [result]}


def _task(number: int, first: str, second: str) -> dict[str, object]:
    annotations = [_annotation(2 * number, 1, first), _annotation(2 * number + 1, 2, second)]
    return {"id": number, "data": {"text": "A short report."}, "annotations": annotations}


def test_health(client: FlaskClient) -> None:
    reply = client.get("/health")
    assert reply.status_code == 200
    assert json.loads(reply.data)["status"] == "UP"


def test_setup(client: FlaskClient) -> None:
    reply = client.post("/setup", json={"project": f"{PROJECT}.1795179623", "schema": LABEL_CONFIG})
    assert reply.status_code == 200
    assert reply.json == {"model_version": "agreement"}


def test_predict(client: FlaskClient) -> None:
    tasks = [_task(1, "fever", "fever"), _task(2, "fever", "back pain")]
    request = {"tasks": tasks, "project": f"{PROJECT}.1795179623", "label_config": LABEL_CONFIG}
    reply = client.post("/predict", json=request)
    assert reply.status_code == 200
    same, different = json.loads(reply.data)["results"]
    assert same["score"] == 1
    assert different["score"] < 0.5
    (suggestion,) = same["result"]
    assert (suggestion["from_name"], suggestion["to_name"]) == ("findings", "text")
    assert suggestion["value"]["text"] == ["fever"]


def test_a_request_without_the_secret_is_refused(client: FlaskClient) -> None:
    del client.environ_base["HTTP_AUTHORIZATION"]
    assert client.post("/predict", json={"tasks": [], "project": f"{PROJECT}.1"}).status_code == 401

"""Requests as Label Studio's connection sends them."""

from __future__ import annotations

import base64
from typing import Any

from flask.testing import FlaskClient

from ml_backend.app import create_app
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import LABEL_CONFIG, NUMBER, region

BASIC = {"Authorization": "Basic " + base64.b64encode(b"us:pass word").decode()}

SETUP = {
    "project": f"{NUMBER}.1795179623",
    "schema": LABEL_CONFIG,
    "hostname": "http://localhost:8081",
    "access_token": "abcdef0123456789abcdef0123456789abcdef01",
    "extra_params": None,
}


def calling(bench: Bench) -> FlaskClient:
    client = create_app(services=bench.services).test_client()
    bench.connect()
    client.environ_base["HTTP_AUTHORIZATION"] = bench.caller()["Authorization"]
    return client


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

"""Times of predict, webhook and health, also while a job runs."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import requests

from ml_backend.auth.keys import CONNECTION_USER, Keys
from ml_backend.labelstudio.tasks import TASK_FIELDS
from ml_backend.settings import SECRET_HEADER
from tests.labelstudio.backend import Commands, Serving
from tests.labelstudio.conftest import Harness
from tests.labelstudio.measured_rows import Table, timed


def quiet(store: Any) -> None:
    """Wait until no job is waiting or running."""
    still = 0
    while still < 5:
        busy = any(job["state"] in ("queued", "running") for job in store.jobs(limit=5))
        still = 0 if busy else still + 1
        time.sleep(0.1)


def requests_in_a_row(serving: Serving, method: str, path: str, bodies: Sequence[Any], **options: Any) -> list[float]:
    session = requests.Session()
    took = []
    for body in bodies:
        seconds, reply = timed(
            lambda body=body: session.request(method, serving.url + path, json=body, timeout=60, **options)
        )
        assert reply.status_code < 300, reply.text
        took.append(seconds)
    return took


def protocol(table: Table, ls: Harness, commands: Commands, serving: Serving, project: int) -> None:
    remote = ls.api.get(f"/api/projects/{project}/")
    store = commands.store()
    row = store.project(ls.url, project)
    assert row is not None
    auth = (CONNECTION_USER, Keys(store.secret()).password(project, generation=row["key_round"]))
    tasks = ls.api.get("/api/tasks", project=project, page_size=400, page=1, fields="all", include=TASK_FIELDS)["tasks"]
    session = {"project": f"{project}.1", "label_config": remote["label_config"], "params": {}}
    single = requests_in_a_row(serving, "POST", "/predict", [{**session, "tasks": [task]} for task in tasks], auth=auth)
    table.row("/predict from the store, one task", f"p95 {1e3 * np.quantile(single, 0.95):.0f} ms", "under 300 ms")
    batch = requests_in_a_row(serving, "POST", "/predict", [{**session, "tasks": tasks[:250]}] * 20, auth=auth)
    table.row("/predict from the store, 250 tasks", f"p95 {1e3 * np.quantile(batch, 0.95):.0f} ms")
    quiet(store)
    setup = {"project": f"{project}.1", "schema": remote["label_config"], "hostname": ls.url, "access_token": "x"}
    start = {"action": "START_TRAINING", "project": remote}
    requests_in_a_row(serving, "POST", "/webhook", [start], auth=auth)
    with probed(serving, setup, auth) as probes:
        hook = {
            "action": "ANNOTATION_UPDATED",
            "project": remote,
            "task": tasks[0],
            "annotation": tasks[0]["annotations"][0],
        }
        took = webhook_times(serving, hook, {SECRET_HEADER: row["webhook_secret"]})
    running = [job["state"] for job in store.jobs(row["id"], limit=3)]
    table.row("/webhook, 20 a second while a job runs", f"p99 {1e3 * np.quantile(took, 0.99):.0f} ms", "under 50 ms")
    for path, waits in probes.items():
        table.row(
            f"{path} while a job runs",
            f"p99 {1e3 * np.quantile(waits, 0.99):.0f} ms, longest {1e3 * max(waits):.0f} ms ({len(waits)} calls)",
            "under 100 ms",
        )
    assert running
    store.close()


@contextlib.contextmanager
def probed(serving: Serving, setup: Any, auth: tuple[str, str]) -> Iterator[dict[str, list[float]]]:
    """Times of health and setup meanwhile."""
    finished = threading.Event()
    probes: dict[str, list[float]] = {"/health": [], "/setup": []}

    def probe() -> None:
        while not finished.wait(0.1):
            probes["/health"] += requests_in_a_row(serving, "GET", "/health", [None])
            probes["/setup"] += requests_in_a_row(serving, "POST", "/setup", [setup], auth=auth)

    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    yield probes
    finished.set()
    thread.join()


def webhook_times(serving: Serving, hook: Any, headers: dict[str, str]) -> list[float]:
    """Times of 400 webhook calls, 20 a second."""
    took: list[float] = []
    begin = time.perf_counter()
    for number in range(400):
        time.sleep(max(0.0, begin + number / 20 - time.perf_counter()))
        took += requests_in_a_row(serving, "POST", "/webhook", [hook], headers=headers)
    return took

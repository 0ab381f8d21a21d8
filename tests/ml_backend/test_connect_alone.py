"""No run changes the project in Label Studio while ``softirr-ls connect`` does."""

from __future__ import annotations

import httpx

from ml_backend.labelstudio import snippet
from ml_backend.labelstudio.connect import Connector
from ml_backend.store.lock import WorkerLock
from ml_backend.store.store import NO_RUN
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import NUMBER


def test_no_run_begins_before_the_panel_is_in_the_config(bench: Bench) -> None:
    """Label Studio saves the whole project for each PATCH: one of a run could restore the config without the panel."""
    worker = WorkerLock(bench.store)
    assert worker.acquire()
    began: list[bool] = []

    def try_to_begin(request: httpx.Request) -> None:
        if request.method == "PATCH":
            project = bench.store.ensure_project(URL, NUMBER)["id"]
            began.append(bench.store.begin_run(project, NO_RUN))

    bench.fake.before = try_to_begin
    with bench.client() as client:
        Connector(bench.store, client, bench.settings).connect(NUMBER, "http://softirr.example:9090")
    worker.release()
    assert began == [False, False], "the fields, and the config with the panel"
    assert snippet.present(bench.fake.project["label_config"])
    assert bench.store.begin_run(bench.row["id"], NO_RUN)

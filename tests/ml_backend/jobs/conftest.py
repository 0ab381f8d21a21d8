"""A project that a worker keeps up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from ml_backend.worker.runs import Worker
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import NUMBER
from tests.ml_backend.jobs.worker_runs import TEXT, make_worker


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, reconcile_seconds=60.0)
    bench.fake.add_task({1: [TEXT], 2: [TEXT, "fever"]})
    return bench


@pytest.fixture
def project(bench: Bench) -> int:
    row = bench.store.ensure_project(URL, NUMBER, born=bench.fake.project["created_at"])
    bench.store.update_project(row["id"], connection={"mode": "connected"})
    return int(row["id"])


@pytest.fixture
def worker(bench: Bench) -> Worker:
    return make_worker(bench)

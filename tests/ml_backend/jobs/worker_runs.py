"""Runs of a worker in this process."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from ml_backend.services import Services
from ml_backend.worker.runs import Worker
from tests.ml_backend.bench import Bench

TEXT = "unmistakable finding"


def make_worker(bench: Bench) -> Worker:
    services = Services(bench.settings)
    services.store, services.scorer = bench.store, bench.scorer
    services.client = bench.client  # type: ignore[method-assign]
    return Worker(services)


def tick(worker: Worker) -> None:
    """Run what is due, and wait until it is done."""
    with ThreadPoolExecutor(2) as pool:
        worker.tick(pool)


def due_in(bench: Bench, project: int) -> float:
    row = bench.store.project_by_id(project)
    assert row is not None and row["due_at"] is not None
    return row["due_at"] - time.time()

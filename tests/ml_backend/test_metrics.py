"""The states that Prometheus reads."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from flask.testing import FlaskClient

from ml_backend.app import create_app
from tests.ml_backend.bench import Bench
from tests.ml_backend.jobs.worker_runs import make_worker

AUTH = ("us", "pass word")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, basic_auth_user=AUTH[0], basic_auth_pass=AUTH[1])
    for k in range(3):
        bench.fake.add_task({1: ["fever"], 2: [f"fevers {k}"], 3: ["rash"]})
    bench.sync()
    bench.connect()
    return bench


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return create_app(services=bench.services).test_client()


def run_jobs(bench: Bench, n: int = 1, *, failing: bool = False) -> None:
    worker = make_worker(bench)
    if failing:
        bench.fake.before = lambda request: httpx.Response(401)
    for _ in range(n):
        bench.store.want(bench.row["id"])
        worker.run(bench.row["id"])
    bench.fake.before = lambda request: None


def samples(client: FlaskClient) -> dict[str, int]:
    """Return the numbers of jobs by state that Prometheus reads."""
    reply = client.get("/metrics", auth=AUTH)
    assert reply.status_code == 200
    assert reply.content_type.startswith("text/plain; version=")
    comments, rows = reply.text.splitlines()[:2], reply.text.splitlines()[2:]
    assert [line.split()[:3] for line in comments] == [["#", "HELP", "softirr_jobs"], ["#", "TYPE", "softirr_jobs"]]
    matches = [re.fullmatch(r'softirr_jobs\{state="(\w+)"\} (\d+)', row) for row in rows]
    return {match[1]: int(match[2]) for match in matches if match}


class TestMetrics:
    def test_no_page_of_another_site_reads_them(self, client: FlaskClient) -> None:
        """A browser may send the operator's password automatically."""
        assert client.get("/metrics", headers={"Origin": "http://evil.example"}, auth=AUTH).status_code == 403
        assert client.get("/metrics", auth=AUTH).status_code == 200
        assert client.get("/metrics").status_code == 401

    def test_every_state_is_there_from_the_start(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path / "empty", basic_auth_user=AUTH[0], basic_auth_pass=AUTH[1])
        client = create_app(services=bench.services).test_client()
        assert samples(client) == {"queued": 0, "running": 0, "done": 0, "failed": 0}

    def test_the_last_run_of_each_project_counts(self, client: FlaskClient, bench: Bench) -> None:
        run_jobs(bench, 2)
        assert samples(client) == {"queued": 0, "running": 0, "done": 1, "failed": 0}
        run_jobs(bench, 1, failing=True)
        assert samples(client) == {"queued": 0, "running": 0, "done": 0, "failed": 1}

    def test_all_web_workers_report_the_same(self, client: FlaskClient, bench: Bench) -> None:
        run_jobs(bench)
        other_worker = create_app(bench.settings).test_client()
        assert samples(other_worker) == samples(client)

"""Requests about jobs, and the states that Prometheus reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from flask.testing import FlaskClient

from ml_backend.app import create_app
from ml_backend.auth.keys import Keys
from ml_backend.worker.runs import Worker
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import NUMBER

AUTH = ("us", "pass word")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path, basic_auth_user=AUTH[0], basic_auth_pass=AUTH[1])
    for k in range(3):
        bench.fake.add_task({1: ["fever"], 2: [f"fevers {k}"], 3: ["rash"]})
    bench.sync()
    bench.connect()
    yield bench
    bench.store.close()


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return create_app(services=bench.services).test_client()


def run_jobs(bench: Bench, n: int = 1, *, failing: bool = False) -> None:
    worker = Worker(bench.store, bench.settings, bench.scorer, bench.client)
    if failing:
        bench.fake.before = lambda request: httpx.Response(401)
    for _ in range(n):
        bench.store.want(bench.row["id"])
        worker.run(bench.row["id"])
    bench.fake.before = lambda request: None


def key(bench: Bench, door: str = "report") -> str:
    return Keys(bench.store.secret()).key(NUMBER, door, generation=bench.row["key_round"])


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
    def test_every_state_is_there_from_the_start(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path / "empty", basic_auth_user=AUTH[0], basic_auth_pass=AUTH[1])
        client = create_app(services=bench.services).test_client()
        assert samples(client) == {"queued": 0, "running": 0, "done": 0, "failed": 0}
        bench.store.close()

    def test_the_last_run_of_each_project_counts(self, client: FlaskClient, bench: Bench) -> None:
        run_jobs(bench, 2)
        assert samples(client) == {"queued": 0, "running": 0, "done": 1, "failed": 0}
        run_jobs(bench, 1, failing=True)
        assert samples(client) == {"queued": 0, "running": 0, "done": 0, "failed": 1}

    def test_all_web_workers_report_the_same(self, client: FlaskClient, bench: Bench) -> None:
        run_jobs(bench)
        other_worker = create_app(bench.settings).test_client()
        assert samples(other_worker) == samples(client)


class TestJobs:
    def test_of_one_project_with_its_key(self, client: FlaskClient, bench: Bench) -> None:
        run_jobs(bench, 2)
        jobs = client.get(f"/api/jobs?project={NUMBER}&k={key(bench)}").json["jobs"]
        assert [(job["state"], job["project"], job["phase"]) for job in jobs] == [("done", NUMBER, "")]
        assert jobs[0]["result"]["items"] == 3

    def test_of_all_projects_with_user_and_password(self, client: FlaskClient, bench: Bench) -> None:
        run_jobs(bench)
        assert len(client.get("/api/jobs", auth=AUTH).json["jobs"]) == 1
        assert len(client.get(f"/api/jobs?project={NUMBER}", auth=AUTH).json["jobs"]) == 1

    def test_no_page_of_another_site_gets_them(self, client: FlaskClient, bench: Bench) -> None:
        """A browser may send the operator's password automatically."""
        elsewhere = {"Origin": "http://evil.example"}
        for address, options in (("", {"auth": AUTH}), (f"?project={NUMBER}&k={key(bench)}", {})):
            assert client.get(f"/api/jobs{address}", headers=elsewhere, **options).status_code == 403
            assert client.get(f"/api/jobs{address}", **options).status_code == 200

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "query", ["", "?project=4", "?project=4&k=", "?project=4&k=wrong", "?project=5&k=KEY", "?project=x&k=KEY"]
    )
    def test_others_learn_nothing(self, client: FlaskClient, bench: Bench, query: str) -> None:
        reply = client.get("/api/jobs" + query.replace("KEY", key(bench)))
        assert reply.status_code in (400, 401, 404)
        assert reply.json["error"].endswith(".")

    def test_failed_job_gives_the_reason(self, client: FlaskClient, bench: Bench) -> None:
        run_jobs(bench, failing=True)
        (job,) = client.get(f"/api/jobs?project={NUMBER}&k={key(bench)}").json["jobs"]
        assert job["state"] == "failed"
        assert "refused the" in job["message"]
        assert "secret-token" not in job["message"]

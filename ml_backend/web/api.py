"""JSON about jobs, and /metrics."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Response, jsonify, request

from ml_backend.auth.requests import Refused
from ml_backend.auth.routes import current_project
from ml_backend.store.store import Row
from ml_backend.web.responses import refused
from ml_backend.web.running import services

api = Blueprint("api", __name__)
api.register_error_handler(Refused, refused)


@api.get("/api/jobs")
def jobs() -> Response:
    """Jobs, newest first: one project's jobs with its key, all jobs with the service's user and password."""
    project = current_project()["id"] if request.args.get("project") is not None else None
    listed = services().store.jobs(project)
    numbers = {row["id"]: row["number"] for row in services().store.projects()}
    return jsonify({"jobs": [job_view(job, numbers.get(job["project"])) for job in listed]})


def job_view(job: Row, number: int | None) -> dict[str, Any]:
    """A job with its speed and remaining time."""
    view = {
        name: job[name]
        for name in (
            "id",
            "state",
            "reason",
            "phase",
            "done",
            "total",
            "pairs",
            "requested_at",
            "started_at",
            "finished_at",
        )
    } | {
        "project": number,
        "message": job["message"],
        "result": job["result"],
        "pairs_per_second": None,
        "seconds_left": None,
    }
    if job["state"] == "running" and job["phase_at"]:
        seconds = max(1e-3, time.time() - job["phase_at"])
        if job["phase"] in ("scoring", "coefficients"):
            view["pairs_per_second"] = round(job["pairs"] / seconds, 1)
        if job["total"] and job["done"]:
            view["seconds_left"] = round(seconds * max(0, job["total"] - job["done"]) / job["done"], 1)
    return view


@api.get("/metrics")
def metrics() -> Response:
    """Counters of all processes in Prometheus' format; the store keeps them, so every web worker returns the same."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(_StoreCollector())
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _StoreCollector:
    """Prometheus collector of the counters."""

    def collect(self) -> Iterator[Any]:
        """Metric families."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        store = services().store
        counts = store.counts()
        states = GaugeMetricFamily("softirr_jobs", "Jobs by state", labels=["state"])
        present = Counter(job["state"] for job in store.jobs(limit=1_000_000))
        for state in ("queued", "running", "done", "failed"):
            states.add_metric([state], present[state])
        yield states
        errors = CounterMetricFamily("softirr_label_studio_errors", "Failed requests to Label Studio", labels=["kind"])
        for name, value in sorted(counts.items()):
            if name.startswith("label_studio_errors:"):
                errors.add_metric([name.partition(":")[2]], value)
        yield errors
        for name, text in {
            "jobs_done": "Jobs that ended well",
            "jobs_failed": "Jobs that ended in an error",
            "tasks_scored": "Tasks scored",
            "pairs_scored": "Pairs of answers compared",
            "cache_hits": "Pairs of texts found in the cache",
            "cache_misses": "Pairs of texts that a model had to score",
            "seconds_running": "Seconds in which jobs ran",
        }.items():
            yield CounterMetricFamily(f"softirr_{name}", text, value=counts.get(name, 0.0))
        speed = counts.get("pairs_scored", 0.0) / counts["seconds_running"] if counts.get("seconds_running") else 0.0
        yield GaugeMetricFamily("softirr_pairs_per_second", "Pairs per second of running jobs, on average", value=speed)

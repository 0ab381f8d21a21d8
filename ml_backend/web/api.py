"""JSON about jobs, and /metrics."""

import time
from collections import Counter
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
    """A job with its remaining time."""
    view = {
        name: job[name]
        for name in (
            "id",
            "state",
            "reason",
            "phase",
            "done",
            "total",
            "requested_at",
            "started_at",
            "finished_at",
        )
    } | {
        "project": number,
        "message": job["message"],
        "result": job["result"],
        "seconds_left": None,
    }
    if job["state"] == "running" and job["phase_at"]:
        seconds = max(1e-3, time.time() - job["phase_at"])
        if job["total"] and job["done"]:
            view["seconds_left"] = round(seconds * max(0, job["total"] - job["done"]) / job["done"], 1)
    return view


@api.get("/metrics")
def metrics() -> Response:
    """Number of projects by the state of their last run, in Prometheus' format."""
    present = Counter(job["state"] for job in services().store.jobs(limit=1_000_000))
    states = [f'softirr_jobs{{state="{state}"}} {present[state]}' for state in ("queued", "running", "done", "failed")]
    lines = ["# HELP softirr_jobs Jobs by state", "# TYPE softirr_jobs gauge", *states, ""]
    return Response("\n".join(lines), content_type="text/plain; version=0.0.4; charset=utf-8")

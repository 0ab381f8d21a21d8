"""/metrics."""

from collections import Counter

from flask import Blueprint, Response

from ml_backend.auth.requests import Refused
from ml_backend.web.responses import refused
from ml_backend.web.running import services

metrics = Blueprint("metrics", __name__)
metrics.register_error_handler(Refused, refused)


@metrics.get("/metrics")
def jobs_by_state() -> Response:
    """Number of projects by the state of their last run, in Prometheus' format."""
    present = Counter(job["state"] for job in services().store.jobs(limit=1_000_000))
    states = [f'softirr_jobs{{state="{state}"}} {present[state]}' for state in ("queued", "running", "done", "failed")]
    lines = ["# HELP softirr_jobs Jobs by state", "# TYPE softirr_jobs gauge", *states, ""]
    return Response("\n".join(lines), content_type="text/plain; version=0.0.4; charset=utf-8")

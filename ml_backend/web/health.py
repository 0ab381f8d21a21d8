"""The state of the service: its parts, for ``/health?detail=1`` and the doctor, and its jobs, for ``/metrics``."""

import time
from collections import Counter
from typing import Any

from flask import Blueprint, Response

from ml_backend.auth.requests import Refused
from ml_backend.store.trouble import disk_problem, trouble_sentence
from ml_backend.web.responses import refused
from ml_backend.web.running import services

WORKER_SILENT = 60.0  # seconds without a sign of life


def details() -> dict[str, Any]:
    """State of web server, database, disk and worker: "ok" or one sentence each.

    Status DEGRADED if one is not ok.
    """
    states = {"web": "ok", "database": "ok", "disk": disk_problem(services().settings.data) or "ok"}
    try:
        states["worker"] = _worker(services().store.noted("alive:worker"))
    except Exception as error:  # noqa: BLE001 - health has to answer whatever is wrong
        states["database"] = trouble_sentence(error)
        states["worker"] = "Unknown while the database can't be read."
    fine = all(state == "ok" for state in states.values())
    return {"status": "UP" if fine else "DEGRADED", "model_class": "softirr", "parts": states}


def _worker(beat: dict[str, Any] | None) -> str:
    if beat is None:
        return "The worker process has not started yet."
    silent = time.time() - beat["at"]
    if silent > WORKER_SILENT:
        return f"The worker process has given no sign of life for {silent:.0f} s: look at the log of softirr-ls serve."
    return "ok"


metrics = Blueprint("metrics", __name__)
metrics.register_error_handler(Refused, refused)


@metrics.get("/metrics")
def jobs_by_state() -> Response:
    """Number of projects by the state of their last run, in Prometheus' format."""
    present = Counter(job["state"] for job in services().store.jobs(limit=1_000_000))
    states = [f'softirr_jobs{{state="{state}"}} {present[state]}' for state in ("queued", "running", "done", "failed")]
    lines = ["# HELP softirr_jobs Jobs by state", "# TYPE softirr_jobs gauge", *states, ""]
    return Response("\n".join(lines), content_type="text/plain; version=0.0.4; charset=utf-8")

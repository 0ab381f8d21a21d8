"""The state of the parts of the service, for ``/health?detail=1`` and the doctor."""

import time
from typing import Any

from ml_backend.services import Services
from ml_backend.store.trouble import disk_problem, trouble_sentence

WORKER_SILENT = 60.0  # seconds without a sign of life


def details(services: Services) -> dict[str, Any]:
    """State of web server, database, disk and worker: "ok" or one sentence each.

    Status DEGRADED if one is not ok.
    """
    states = {"web": "ok", "database": "ok", "disk": disk_problem(services.settings.data) or "ok"}
    try:
        states["worker"] = _worker(services.store.noted("alive:worker"))
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

"""The state of the parts of the service, for ``/health?detail=1`` and the doctor."""

import time
from typing import Any

from ml_backend.services import Services
from ml_backend.store.integrity import disk_problem, trouble_sentence

__all__ = ["details"]

SCORER_SILENT = 60.0  # seconds without a sign of life


def details(services: Services) -> dict[str, Any]:
    """State of web server, database, disk, queue and scorer: "ok" or one sentence each.

    Status DEGRADED if one is not ok.
    """
    parts = {"web": "ok", "database": "ok", "disk": disk_problem(services.settings.data) or "ok", "queue": "ok"}
    try:
        beat = services.store.heartbeat("scorer")
        parts["scorer"] = _scorer(beat)
        if beat and beat.get("queue"):
            parts["queue"] = (
                f"The queue can't be used ({beat['queue']}); a timer finds what is to be done, some seconds later."
            )
    except Exception as error:  # noqa: BLE001 - health has to answer whatever is wrong
        parts["database"] = trouble_sentence(error)
        parts["scorer"] = "Unknown while the database can't be read."
    if services.wakeups.queue.trouble and parts["queue"] == "ok":
        parts["queue"] = "The web server can't write the queue; a timer finds what is to be done, some seconds later."
    fine = all(state == "ok" for state in parts.values())
    return {"status": "UP" if fine else "DEGRADED", "model_class": "softirr", "parts": parts}


def _scorer(beat: dict[str, Any] | None) -> str:
    if beat is None:
        return "The scorer process has not started yet."
    silent = time.time() - beat["at"]
    if silent > SCORER_SILENT:
        return f"The scorer process has given no sign of life for {silent:.0f} s: look at the log of softirr-ls serve."
    return "ok"

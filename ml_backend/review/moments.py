"""Times and progress as pages and programs read them."""

from datetime import UTC, datetime
from typing import Any

from ml_backend.store.store import Row


def moment(seconds: float | None) -> str | None:
    """ISO time of a time stamp."""
    return (
        None
        if seconds is None
        else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )


def job_view(job: Row | None) -> dict[str, Any] | None:
    """Progress of a running job."""
    if job is None or job["state"] != "running" or not job["total"]:
        return None
    return {"phase": job["phase"], "done": min(job["done"], job["total"]), "total": job["total"]}

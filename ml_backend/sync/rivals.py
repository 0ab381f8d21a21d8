"""Two backends on one project: which of them writes.

A connected backend goes before one that is not connected. Of two connected ones the one that was connected last goes first. Of two
that are not connected, each ``softirr-ls sync`` writes when somebody runs it. Backends that score alike are no rivals.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ml_backend.sync.notes import Note

__all__ = ["mark", "note", "stronger"]


def mark(secret: bytes, *, measure: str, scoring: str, connection: Mapping[str, Any]) -> dict[str, Any]:
    """What a prediction says of the backend that wrote it.

    Parameters
    ----------
    secret : bytes
        Of the backend's store; only a name made from it is shown.
    scoring : str
        Names settings, measure, model and controls.
    connection : mapping
        What ``connect`` noted for the project; empty if it is not connected.
    """
    since = connection.get("since", 0.0) if connection else None
    name = hashlib.sha256(b"backend" + secret).hexdigest()[:12]
    return {"backend": name, "measure": measure, "scoring": scoring[:16], "connected": since}


def stronger(own: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The strongest of the other backends, if it goes before this one."""
    rivals = [other for other in others if _place(other) > _place(own) and other.get("connected") is not None]
    rivals = [other for other in rivals if other.get("scoring") != own["scoring"]]
    return max(rivals, key=_place, default=None)


def _place(found: Mapping[str, Any]) -> tuple[bool, float, str]:
    since = found.get("connected")
    known = isinstance(since, int | float) and not isinstance(since, bool)
    return known, float(since) if known and since else 0.0, str(found.get("backend"))


def note(rival: Mapping[str, Any], number: int) -> Note:
    """What people are told when this backend leaves the writing to another one."""
    return Note(
        f"Another backend (measure {str(rival.get('measure'))[:80]}) writes the scores of project {number} and was connected "
        "last, so this one writes none.",
        "Disconnect one of the two. To let this one write, run softirr-ls connect here again.",
    )

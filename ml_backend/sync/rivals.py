"""Two backends on one project: which of them writes.

A connected backend takes precedence over one that is not connected. Of two connected ones the last connected one takes precedence. Without a
connection, each ``softirr-ls sync`` writes and says so. Backends with the same scores are no rivals, and neither is a backend whose connection or
predictions are gone.
"""

from collections.abc import Mapping
from typing import Any

from ml_backend.labelstudio.register import backend_name
from ml_backend.sync.notes import Note

__all__ = ["mark", "note", "note_of_overwriting"]


def mark(secret: bytes, *, measure: str, scoring: str, connection: Mapping[str, Any]) -> dict[str, Any]:
    """Mark of the backend in the predictions that it writes.

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
    return {"backend": backend_name(secret), "measure": measure, "scoring": scoring[:16], "connected": since}


def note(rival: Mapping[str, Any], number: int) -> Note:
    """Note for people when this backend does not write because another one does."""
    return Note(
        f"Another backend (measure {str(rival.get('measure'))[:80]}) writes the scores of project {number} and was connected "
        "last, so this one writes none.",
        "Disconnect one of the two. To let this one write, run softirr-ls connect here again.",
    )


def note_of_overwriting(n: int, number: int) -> Note:
    """Note for people when this backend replaces scores that it did not write."""
    return Note(
        f"{n} scores of project {number} were written by another backend or program since this one last ran; it wrote its own over them.",
        "If two backends score this project, run softirr-ls connect with the one that is to write: the other one leaves the writing to it then.",
    )

"""Two backends on one project: which of them writes.

A connected backend takes precedence over one that is not connected. Of two connected ones the last connected one takes
precedence. Without a connection, each ``softirr-ls sync`` writes and reports that. Backends with the same scores are no
rivals, and neither is a backend whose connection or predictions are gone.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.predictions import writers_of
from ml_backend.labelstudio.register import Register, backend_name, stronger
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.store import Row, Store, is_connected
from ml_backend.sync.notes import Note

__all__ = ["OtherBackends", "mark"]

log = logging.getLogger(__name__)


class OtherBackends:
    """The other backends of one project during one run.

    Parameters
    ----------
    row : mapping
        The project's row in the store.
    own_mark : mapping
        Mark of this backend (`mark`).
    """

    def __init__(self, store: Store, client: Client, row: Row, own_mark: Mapping[str, Any]):
        self._store, self._client = store, client
        self._project, self._number = row["id"], row["number"]
        self._connection, self._mark = dict(row["connection"]), own_mark
        self._connected: dict[str, Mapping[str, Any]] = {}
        self._gone: set[str] = set()  # disconnected backends whose predictions may still be there
        self._writers: dict[str, Mapping[str, Any]] = {}  # backends that wrote predictions of our version: their marks
        self._strange: dict[int, set[str]] = {}  # tasks with predictions of our version that this one never saw: hashes

    def meet(self) -> None:
        """Find the other backends that are connected to the project, and announce this one to them."""
        register = Register(self._client, self._number)
        own, ours = self._mark["backend"], {**self._mark, "connection": self._connection.get("connection_id")}
        gone = register.gone(own)
        noted = self._connection.get("rival")
        if noted is not None and "connection" in noted and register.exists and noted["backend"] not in register.marks:
            gone.add(noted["backend"])
        known = [*register.others(own).values(), *([noted] if noted else [])]
        loses = stronger(self._mark, known) is not None and self._store.totals(self._project)["predictions"] > 0
        if loses and not self._client.model_versions(self._number).get(MODEL_VERSION):
            gone |= {one["backend"] for one in known}  # a backend that still works announces itself again
        register.change(own, ours if is_connected(self._connection) else None, without=gone)
        self._connected, self._gone = register.others(own), gone
        if noted is not None and noted["backend"] in gone:
            log.info("project %d: the other backend is gone, this one writes again", self._number)
            for name in ("rival", "rival_note"):
                self._connection.pop(name, None)
            self._store.update_project(self._project, connection=self._connection, pulled_at=None)

    def note_page(self, page: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> None:
        """Note who wrote the predictions of our version, before the tasks are stored.

        Parameters
        ----------
        page : sequence of mapping
            Tasks as Label Studio's API returns them.
        rows : sequence of mapping
            The same tasks as ``answers.pulled_row`` returns them.
        """
        for task in page:
            for prediction in task.get("predictions") or ():
                if isinstance(prediction, Mapping) and prediction.get("model_version") == MODEL_VERSION:
                    self._writers.update({str(one.get("backend")): one for one in writers_of(prediction)})
        seen = {row["number"]: {entry[1] for entry in row["actual"]} for row in rows if row["actual"]}
        known = self._store.predictions_of(self._project, list(seen))
        for number, hashes in seen.items():
            _, ours, in_doubt = known.get(number, (None, set(), False))
            if not in_doubt and (strange := hashes - ours):
                self._strange.setdefault(number, set()).update(strange)

    def notes(self) -> list[Note]:
        """Who writes the scores, for people: a backend that takes precedence, or predictions that were replaced."""
        if (rival := self.rival()) is not None:
            return [_note(rival, self._number)]
        wanted = self._store.predictions_of(self._project, list(self._strange))
        n = sum(bool(hashes - {wanted[task][0]}) for task, hashes in self._strange.items() if task in wanted)
        return [_note_of_overwriting(n, self._number)] if n else []

    def rival(self) -> Mapping[str, Any] | None:
        """Another backend that scores this project differently and takes precedence; it is stored until `connect`."""
        noted = self._connection.get("rival")
        known = {name: one for name, one in self._writers.items() if name not in self._gone} | self._connected
        if noted is not None:  # its present announcement takes precedence over what an earlier run stored
            known.setdefault(noted["backend"], noted)
        known.pop(self._mark["backend"], None)
        rival = stronger(self._mark, known.values())
        if rival is not None and self._connection and rival != noted:
            sentence = _note(rival, self._number).what
            log.warning("project %d: %s", self._number, sentence)
            self._connection |= {"rival": dict(rival), "rival_note": sentence}
            self._store.update_project(self._project, connection=self._connection)
        return rival


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


def _note(rival: Mapping[str, Any], number: int) -> Note:
    """Note for people when this backend does not write because another one does."""
    return Note(
        f"Another backend (measure {str(rival.get('measure'))[:80]}) writes the scores of project {number} and was "
        "connected last, so this one writes none.",
        "Disconnect one of the two. To let this one write, run softirr-ls connect here again.",
    )


def _note_of_overwriting(n: int, number: int) -> Note:
    """Note for people when this backend replaces scores that it did not write."""
    return Note(
        f"{n} scores of project {number} were written by another backend or program since this one last ran; it wrote "
        "its own over them.",
        "If two backends score this project, run softirr-ls connect with the one that is to write: the other one "
        "leaves the writing to it then.",
    )

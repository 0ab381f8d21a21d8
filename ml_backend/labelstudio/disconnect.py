"""Disconnecting a project from this backend, with a list of the changes."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ml_backend.auth.keys import Keys
from ml_backend.labelstudio import snippet, triage
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.errors import NotFound
from ml_backend.labelstudio.register import Register, backend_name, stronger
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER, Settings
from ml_backend.store.store import LEASE_EVERY, Row, Store, process_name
from softirr.plural import plural

__all__ = ["Changes", "Disconnector"]

WAIT_FOR_JOB = 15.0
"""Seconds that `disconnect` leaves to a running job."""


@dataclass
class Changes:
    """The changes, one sentence each, and the addresses to open."""

    project: int
    done: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {"project": self.project, "changed": self.done, "links": self.links, "notes": self.notes}


class Disconnector:
    """Disconnects projects."""

    def __init__(self, store: Store, client: Client, settings: Settings):
        self.store, self.client, self.settings = store, client, settings

    def disconnect(self, number: int, *, predictions: bool = True) -> Changes:
        """Undo what `connect` did; idempotent.

        Parameters
        ----------
        predictions : bool
            Remove our predictions too.
        """
        row = self.store.project(self.settings.label_studio_url, number)
        if row is None:
            return self.undo(number, None, predictions=predictions)
        with self._alone(row["id"]):
            # Done first, so that a job that starts from now on has nothing to do.
            self.store.update_project(row["id"], wanted_at=None, wanted_full=False)
            self.store.close_stale_jobs(row["id"], but=0)
            changes = self.undo(number, row, predictions=predictions)
            self.store.update_project(row["id"], wanted_at=None, wanted_full=False)
            self.store.close_stale_jobs(row["id"], but=0)
            return changes

    @contextlib.contextmanager
    def _alone(self, project: int) -> Iterator[None]:
        """Wait for the running job, then stop it, so that none writes predictions while they are removed."""
        owner = f"{process_name()}:disconnect"
        end = time.monotonic() + WAIT_FOR_JOB
        while not self.store.take_lease(project, owner):
            if time.monotonic() > end:
                self.store.take_lease(project, owner, force=True)
                time.sleep(LEASE_EVERY + 2.0)  # long enough for its owner to notice
            else:
                time.sleep(0.2)
        try:
            yield
        finally:
            self.store.drop_lease(project, owner)

    def undo(self, number: int, row: Row | None, *, predictions: bool) -> Changes:
        """Take back what `connect` did, as far as it went.

        Parameters
        ----------
        row : mapping or None
            The project's row in the store.
        predictions : bool
            Remove our predictions too.
        """
        changes = Changes(number)
        try:
            remote = self.client.project(number)
        except NotFound:
            if row is None or not row["connection"]:
                raise
            self._forget_connection(row)
            changes.done.append(
                f"Project {number} is gone from Label Studio: forgot its connection. "
                f"Its texts are still in the store; softirr-ls forget --project {number} erases them."
            )
            return changes
        noted = dict(row["connection"]) if row is not None else {}
        others = self._other_backends(number, noted)
        label_config = remote.get("label_config") or ""
        if snippet.present(label_config) and (not others or self._is_our_panel(label_config, row, noted)):
            self.client.update_project(number, label_config=snippet.remove(label_config))
            changes.done.append("Took the agreement panel out of the label config.")
        urls = set()
        for connection in self.client.connections(number):
            is_ours = connection["id"] == noted.get("connection_id")
            if is_ours or (connection.get("title") == MODEL_VERSION and not others):
                urls.add(connection.get("url", "").rstrip("/"))
                self.client.request("DELETE", f"/api/ml/{connection['id']}")
                changes.done.append(f"Removed the connection to {connection.get('url')}.")
        for webhook in self.client.webhooks(number):  # removing the connection does not remove its webhook
            has_secret = SECRET_HEADER in (webhook.get("headers") or {}) and not others
            if (
                webhook["id"] == noted.get("webhook_id")
                or has_secret
                or webhook.get("url", "").removesuffix("/webhook") in urls
            ):
                self.client.request("DELETE", f"/api/webhooks/{webhook['id']}/")
                changes.done.append("Removed the webhook.")
        if others:
            self._leave_to(others, number, noted, changes, predictions=predictions)
            self._forget_connection(row)
            return changes
        view = triage.find(self.client, number)
        if view is not None:
            with contextlib.suppress(NotFound):
                triage.delete(self.client, view)
            changes.done.append(f"Removed the Data Manager tab “{triage.TITLE}”.")
        if predictions and self.client.model_versions(number).get(MODEL_VERSION):
            n = self.client.delete_version(number, MODEL_VERSION)
            changes.done.append(f"Removed {plural(n, 'prediction')} of version “{MODEL_VERSION}”.")
        self._restore_fields(number, noted, changes)
        if row is not None:
            self._forget_connection(row)
        return changes

    def _other_backends(self, number: int, connection: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Other backends that are connected to the project.

        None where this one is not, so that leftovers can be removed.
        """
        if not connection:
            return {}
        register, own = Register(self.client, number), self._own_name()
        others = {name: mark for name, mark in register.others(own).items() if name not in register.gone(own)}
        noted = connection.get("rival")
        return others | ({noted["backend"]: noted} if noted and noted["backend"] not in register.gone(own) else {})

    def _own_name(self) -> str:
        return backend_name(self.store.secret())

    def _is_our_panel(self, label_config: str, row: Row | None, connection: Mapping[str, Any]) -> bool:
        base = str(connection.get("panel_base") or "")
        return row is not None and bool(base) and snippet.present(label_config, self.panel_address(row, base))

    def _leave_to(
        self,
        others: Mapping[str, Mapping[str, Any]],
        number: int,
        connection: Mapping[str, Any],
        changes: Changes,
        *,
        predictions: bool,
    ) -> None:
        """Leave the project to the other backends.

        The tab and the fields are theirs too, and the predictions of the one that wins.
        """
        register, own = Register(self.client, number), self._own_name()
        ours = {
            "backend": own,
            "scoring": None,
            **register.marks.get(own, {}),
            "connected": connection.get("since", 0.0),
        }
        alike = any(mark.get("scoring") == ours["scoring"] for mark in others.values())
        register.change(own, None)
        kept = "tab and fields"
        if alike or stronger(ours, others.values()) is not None:
            kept = "predictions, tab and fields"
        elif predictions and self.client.model_versions(number).get(MODEL_VERSION):
            n = self.client.delete_version(number, MODEL_VERSION)
            changes.done.append(f"Removed {plural(n, 'prediction')} of version “{MODEL_VERSION}”.")
        changes.done.append(f"Left {kept} in place: another backend is connected to the project.")

    def _forget_connection(self, row: Row | None) -> None:
        if row is None:
            return
        self.store.update_project(row["id"], connection={}, webhook_secret=None, watermark=None, pulled_at=None)

    def _restore_fields(self, number: int, connection: Mapping[str, Any], changes: Changes) -> None:
        remote = self.client.project(number)
        before = connection.get("before")
        if before is None:
            if remote.get("model_version") == MODEL_VERSION:
                self.client.update_project(
                    number, model_version="", show_collab_predictions=remote.get("show_collab_predictions")
                )
                changes.done.append("Set the project's model_version back to ''.")
            return
        wanted = {name: value for name, value in before.items() if value is not None}
        possible = {"", *self.client.model_versions(number), *(c.get("title") for c in self.client.connections(number))}
        if before.get("model_version") not in possible or before.get("model_version") == MODEL_VERSION:
            wanted["model_version"] = ""
        if all(remote.get(name) == value for name, value in wanted.items()):
            return
        self.client.update_project(number, **wanted)
        changes.done.append("Set the project's " + ", ".join(sorted(wanted)) + " back to what they were.")

    def panel_address(self, row: Row, panel_base: str) -> str:
        """The panel's address with its key."""
        key = Keys(self.store.secret()).key(row["number"], "panel", generation=row["key_round"])
        return f"{panel_base}/panel?k={key}"

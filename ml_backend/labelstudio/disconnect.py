"""Disconnecting a project from this backend, with a list of the changes."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ml_backend.labelstudio import snippet, triage
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.errors import NotFound
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER, Settings
from ml_backend.store.lock import alone
from ml_backend.store.store import Row, Store
from softirr.numbers import plural


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
        with alone(self.store, row["id"]):  # so that no run writes predictions while they are removed
            changes = self.undo(number, row, predictions=predictions)
            self.store.update_project(row["id"], due_at=None)
            return changes

    def undo(self, number: int, row: Row | None, *, predictions: bool) -> Changes:
        """Undo the completed steps of `connect`.

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
        connection = dict(row["connection"]) if row is not None else {}
        label_config = remote.get("label_config") or ""
        if snippet.present(label_config):
            self.client.update_project(number, label_config=snippet.remove(label_config))
            changes.done.append("Took the agreement panel out of the label config.")
        self._remove_connections(number, connection, changes)
        view = triage.find(self.client, number)
        if view is not None:
            with contextlib.suppress(NotFound):
                triage.delete(self.client, view)
            changes.done.append(f"Removed the Data Manager tab “{triage.TITLE}”.")
        if predictions and self.client.model_versions(number).get(MODEL_VERSION):
            n = self.client.delete_version(number, MODEL_VERSION)
            changes.done.append(f"Removed {plural(n, 'prediction')} of version “{MODEL_VERSION}”.")
        self._restore_fields(number, connection, changes)
        if row is not None:
            self._forget_connection(row)
        return changes

    def _remove_connections(self, number: int, stored_connection: Mapping[str, Any], changes: Changes) -> None:
        urls = set()
        for connection in self.client.connections(number):
            if connection["id"] == stored_connection.get("connection_id") or connection.get("title") == MODEL_VERSION:
                urls.add(connection.get("url", "").rstrip("/"))
                self.client.request("DELETE", f"/api/ml/{connection['id']}")
                changes.done.append(f"Removed the connection to {connection.get('url')}.")
        for webhook in self.client.webhooks(number):  # removing the connection does not remove its webhook
            has_secret = SECRET_HEADER in (webhook.get("headers") or {})
            is_ours = webhook["id"] == stored_connection.get("webhook_id") or has_secret
            if is_ours or webhook.get("url", "").removesuffix("/webhook") in urls:
                self.client.request("DELETE", f"/api/webhooks/{webhook['id']}/")
                changes.done.append("Removed the webhook.")

    def _forget_connection(self, row: Row) -> None:
        self.store.update_project(row["id"], connection={}, webhook_secret=None, pulled_at=None, due_at=None)
        self.store.forget_predictions(row["id"])

    def _restore_fields(self, number: int, connection: Mapping[str, Any], changes: Changes) -> None:
        remote = self.client.project(number)
        earlier = connection.get("before")
        if earlier is None:
            if remote.get("model_version") == MODEL_VERSION:
                self.client.update_project(
                    number, model_version="", show_collab_predictions=remote.get("show_collab_predictions")
                )
                changes.done.append("Set the project's model_version back to ''.")
            return
        restored = {name: value for name, value in earlier.items() if value is not None}
        possible = {"", *self.client.model_versions(number), *(c.get("title") for c in self.client.connections(number))}
        if earlier.get("model_version") not in possible or earlier.get("model_version") == MODEL_VERSION:
            restored["model_version"] = ""
        if all(remote.get(name) == value for name, value in restored.items()):
            return
        self.client.update_project(number, **restored)
        changes.done.append("Set the project's " + ", ".join(sorted(restored)) + " back to what they were.")

"""The connection and the webhook of this backend in Label Studio, and the actions that the webhook reports."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ml_backend.auth.keys import CONNECTION_USER
from ml_backend.labelstudio.backend_address import RESERVED
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.disconnect import Changes
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER
from ml_backend.store.store import Row, Store

WEBHOOK_ACTIONS = (
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_CREATED",
    "TASKS_DELETED",
    "PROJECT_UPDATED",
)
"""Actions after which the project is updated.

A new action is a line here: ``softirr-ls connect`` subscribes to each. Projects that are connected already need
``softirr-ls connect`` again.
"""
START_TRAINING = "START_TRAINING"
"""The button "Start training" of the connection, which needs no webhook."""


@dataclass
class ConnectionRecord:
    """The completed steps of `connect`, saved after each, so that `disconnect` can undo an interrupted one.

    Attributes
    ----------
    row : mapping
        The project's row in the store.
    values : dict
        Content of the row's ``connection``.
    changes : Changes
        Sentences about what changed.
    """

    store: Store
    row: Row
    values: dict[str, Any]
    changes: Changes

    @property
    def number(self) -> int:
        """The project's number in Label Studio."""
        return int(self.row["number"])

    def save(self, **values: Any) -> None:
        """Store the steps so far, with further values."""
        self.values |= values
        self.store.update_project(self.row["id"], connection=self.values)

    def reload(self) -> None:
        """Read the project's row again."""
        row = self.store.project_by_id(self.row["id"])
        assert row is not None
        self.row = row


def has_secret(connection: Mapping[str, Any]) -> bool:
    """Whether Label Studio's connection carries a secret that `connect` made."""
    return connection.get("auth_method") == "BASIC_AUTH" and connection.get("basic_auth_user") == CONNECTION_USER


def register_connection(client: Client, record: ConnectionRecord, url: str, password: str) -> None:
    """Register this backend as the project's ML backend at `url`, once, with a secret."""
    body: dict[str, Any] = {
        "url": url,
        "project": record.number,
        "title": MODEL_VERSION,
        "auth_method": "BASIC_AUTH",
        "basic_auth_user": CONNECTION_USER,
        "basic_auth_pass": password,
    }
    present = client.connections(record.number)
    matching = [c for c in present if _has_url(c, url) or c["id"] == record.values.get("connection_id")]
    for extra in matching[1:]:
        client.request("DELETE", f"/api/ml/{extra['id']}")
        record.changes.done.append(f"Removed a second connection to {extra['url']}.")
    if matching:
        _update_connection(client, record, matching[0], body)
    else:
        _create_connection(client, record, present, body)
    other_titles = [c["title"] for c in client.connections(record.number) if c["id"] != record.values["connection_id"]]
    if other_titles:
        record.changes.done.append(
            "Note: the project has other ML backends; Label Studio asks only the first one for predictions, which "
            "does not matter here, since agreement is written by us."
        )


def _has_url(connection: Mapping[str, Any], url: str) -> bool:
    return bool(connection.get("url", "").rstrip("/") == url)


def _update_connection(
    client: Client, record: ConnectionRecord, existing: Mapping[str, Any], body: Mapping[str, Any]
) -> None:
    url, key_round = body["url"], record.row["key_round"]
    record.values["connection_id"] = existing["id"]
    is_same = existing.get("title") == MODEL_VERSION and _has_url(existing, url)
    is_secured = has_secret(existing) and record.values.get("secret_round") == key_round
    if not is_same or not is_secured or existing.get("state") != "CO":
        reply = client.request("PATCH", f"/api/ml/{existing['id']}", body=body)
        _check_state(reply, url)
        record.values["secret_round"] = key_round
        record.changes.done.append(f"Updated the connection “{MODEL_VERSION}” to {url}, with a secret.")
    record.save()


def _create_connection(
    client: Client, record: ConnectionRecord, present: list[dict[str, Any]], body: Mapping[str, Any]
) -> None:
    url = body["url"]
    try:
        reply = client.create("/api/ml/", body)
    except LabelStudioError as error:
        # After a 403 the connection can exist (only its webhook was refused): remove it.
        with contextlib.suppress(LabelStudioError):
            for leftover in client.connections(record.number):
                if _has_url(leftover, url) and leftover not in present:
                    client.request("DELETE", f"/api/ml/{leftover['id']}")
        raise _explained(error, url) from None
    record.save(connection_id=reply["id"], secret_round=record.row["key_round"])
    _check_state(reply, url)
    record.changes.done.append(f"Registered this backend as “{MODEL_VERSION}” at {url}, with a secret.")


def register_webhook(client: Client, record: ConnectionRecord, url: str) -> None:
    """Give the project one webhook to this backend at `url`, with the secret and the actions that matter."""
    target = f"{url}/webhook"
    body = {
        "url": target,
        "send_payload": True,
        "send_for_all_actions": False,
        "actions": WEBHOOK_ACTIONS,
        "headers": {SECRET_HEADER: record.row["webhook_secret"]},
        "is_active": True,
    }
    # Label Studio made a webhook with the connection, without a secret: add the secret to it.
    matching = [
        hook
        for hook in client.webhooks(record.number)
        if hook.get("url") == target or hook["id"] == record.values.get("webhook_id")
    ]
    for extra in matching[1:]:
        client.request("DELETE", f"/api/webhooks/{extra['id']}/")
    if not matching:
        try:
            reply = client.create("/api/webhooks/", {**body, "project": record.number})
        except LabelStudioError as error:
            raise _explained(error, url) from None
        record.changes.done.append("Made a webhook with a secret header.")
        record.save(webhook_id=reply["id"])
        return
    hook = matching[0]
    present = {name: hook.get(name) for name in body}
    present["actions"] = sorted(present["actions"] or [])
    if present != {**body, "actions": sorted(WEBHOOK_ACTIONS)}:
        client.request("PATCH", f"/api/webhooks/{hook['id']}/", body=body)
        record.changes.done.append("Gave the webhook a secret header and the actions that matter.")
    record.save(webhook_id=hook["id"])


def _check_state(reply: Any, url: str) -> None:
    if not isinstance(reply, Mapping) or reply.get("state") not in ("CO", "TR", "PR"):
        raise LabelStudioError(f"Label Studio can't reach this backend at {url}: is softirr-ls serve running there?")


def _explained(error: LabelStudioError, url: str) -> LabelStudioError:
    if error.status == 403:
        return LabelStudioError(RESERVED.format(url=url), 403)
    if error.status == 400:
        return LabelStudioError(
            f"Label Studio can't use a backend at {url}: is softirr-ls serve running there, and is that address "
            "right as seen from Label Studio (inside a container, localhost is the container itself)? It has to "
            f"use the same SOFTIRR_DATA or SOFTIRR_DATABASE_URL as this command. {error}",
            400,
        )
    return error

"""Calls of Label Studio's webhook; :mod:`ml_backend.labelstudio.webhook_actions` lists the actions."""

import hmac
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request

from ml_backend.labelstudio.webhook_actions import START_TRAINING, TASKS_DELETED, WEBHOOK_ACTIONS
from ml_backend.settings import SECRET_HEADER
from ml_backend.store.store import Row
from ml_backend.web.callers import Refused, json_body, project_in, refused, services
from ml_backend.web.protocol import connected_project

__all__ = ["webhook"]

webhook = Blueprint("webhook", __name__)
webhook.register_error_handler(Refused, refused)


@webhook.post("/webhook")
def receive() -> tuple[Response, int]:
    """Webhook about a change in a project: requests an update; its content is not trusted. Answers at once."""
    row, body = _sent()
    action = body.get("action")
    if not isinstance(action, str):
        raise Refused(400, "The request names no action.")
    store = services().store
    key, deleted = row["id"], _ids(body.get("tasks")) if action == TASKS_DELETED else []
    wakeups, training = services().wakeups, action == START_TRAINING

    def note() -> None:
        if not store.is_connected(key):  # disconnected meanwhile
            return
        if deleted:
            store.suspect(key, deleted)
        wakeups.want(key, "recompute" if training else action.lower(), full=training)

    if training or action in WEBHOOK_ACTIONS:
        # A waiting request covers this one, unless this one names tasks.
        services().background.do(note, key=None if deleted else ("webhook", key, training))
    return jsonify({"status": "ok"}), 202


def _sent() -> tuple[Row, dict[str, Any]]:
    """The project and the body of a webhook's call: our own webhook carries its secret; "Start training" comes over the connection."""
    given = request.headers.get(SECRET_HEADER)
    if given is None:
        if request.authorization is None:
            raise Refused(403, f"The webhook lacks the header {SECRET_HEADER}: run softirr-ls connect again.")
        return connected_project()
    candidate, found = given.encode("utf-8", "replace"), None
    for row in services().store.connected(services().settings.label_studio_url):
        if row["webhook_secret"] and hmac.compare_digest(candidate, row["webhook_secret"].encode()):
            found = row
    if found is None:
        raise Refused(403, "The webhook's secret is wrong: run softirr-ls connect again.")
    body = json_body()
    if project_in(body) != found["number"]:
        raise Refused(403, "The webhook carries the secret of another project.")
    return found, body


def _ids(entries: Any) -> list[int]:
    found = (entry.get("id") for entry in entries if isinstance(entry, Mapping)) if isinstance(entries, list) else ()
    return [number for number in found if isinstance(number, int) and 0 < number < 2**31][:1000]

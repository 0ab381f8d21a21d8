"""Calls of Label Studio's webhook; :mod:`ml_backend.labelstudio.webhook_actions` lists the actions."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify

from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project
from ml_backend.labelstudio.webhook_actions import START_TRAINING, TASKS_DELETED, WEBHOOK_ACTIONS
from ml_backend.web.responses import refused
from ml_backend.web.running import services

__all__ = ["webhook"]

webhook = Blueprint("webhook", __name__)
webhook.register_error_handler(Refused, refused)


@webhook.post("/webhook")
def receive() -> tuple[Response, int]:
    """Webhook about a change in a project: requests an update; its content is not trusted. Answers at once."""
    row, body = current_project(), json_body()
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


def _ids(entries: Any) -> list[int]:
    numbers = (entry.get("id") for entry in entries if isinstance(entry, Mapping)) if isinstance(entries, list) else ()
    return [number for number in numbers if isinstance(number, int) and 0 < number < 2**31][:1000]

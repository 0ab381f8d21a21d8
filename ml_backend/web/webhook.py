"""Calls of Label Studio's webhook; :mod:`ml_backend.labelstudio.registration` lists the actions."""

from flask import Blueprint, Response, jsonify

from ml_backend.auth.requests import Refused, body_or_nothing
from ml_backend.auth.routes import current_project
from ml_backend.labelstudio.registration import START_TRAINING, WEBHOOK_ACTIONS
from ml_backend.web.responses import refused
from ml_backend.web.running import services

webhook = Blueprint("webhook", __name__)
webhook.register_error_handler(Refused, refused)


@webhook.post("/webhook")
def receive() -> tuple[Response, int]:
    """Mark the project as due; the secret names it, and the content is not trusted. Answers 202 at once.

    Label Studio switches a webhook off after a number of other answers, so no body is refused.
    """
    action = body_or_nothing().get("action")
    if action in (START_TRAINING, *WEBHOOK_ACTIONS):
        store, project, is_training = services().store, current_project()["id"], action == START_TRAINING

        def note() -> None:
            if store.is_connected(project):  # it may be disconnected meanwhile
                store.want(project, full=is_training)

        services().background.do(note, key=("webhook", project, is_training))
    return jsonify({"status": "ok"}), 202

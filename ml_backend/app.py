"""The Flask app: ``create_app(settings)``."""

import logging
from importlib.util import find_spec

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.web.api import api
from ml_backend.web.protocol import protocol

log = logging.getLogger(__name__)

LARGEST_BODY = 256 * 1024 * 1024  # Label Studio sends all selected tasks with their annotations in one request


def create_app(settings: Settings | None = None, *, services: Services | None = None) -> Flask:
    """Build the app.

    Parameters
    ----------
    settings : Settings, optional
        From the environment by default.
    services : Services, optional
        What the app shares; made from the settings by default.
    """
    app = Flask("ml_backend", template_folder="web/templates", static_folder="web/static")
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.extensions["softirr"] = services or Services(settings or Settings.from_environment())
    app.register_blueprint(protocol)
    app.register_blueprint(api)
    for name in ("panel", "report", "audit"):
        _register_pages(app, name)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)
    return app


def _register_pages(app: Flask, name: str) -> None:
    """Pages for people are rooms of their own; each module holds a blueprint of the same name."""
    if find_spec(f"ml_backend.web.{name}") is not None:
        module = __import__(f"ml_backend.web.{name}", fromlist=[name])
        app.register_blueprint(getattr(module, name))


def _http_error(error: HTTPException) -> tuple[Response, int]:
    return jsonify({"error": f"{error.name}."}), error.code or 500


def _unexpected(error: Exception) -> tuple[Response, int]:
    """A defect of ours or a database that is away. The exception's message may quote an answer, so it is not logged."""
    info = (RuntimeError, RuntimeError(type(error).__name__), error.__traceback__)
    log.error("%s %s failed: %s", request.method, request.path, type(error).__name__, exc_info=info)
    return jsonify({"error": f"Unexpected error: {type(error).__name__}."}), 500

"""The Flask app: ``create_app(settings)``."""

import logging
import time

from flask import Flask, Response, g, jsonify, request
from jinja2 import ChoiceLoader, FileSystemLoader
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException

from ml_backend.auth.requests import Refused
from ml_backend.auth.routes import check_request
from ml_backend.logs import begin_request, where_only
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.store.trouble import trouble_sentence
from ml_backend.web import request_limits
from ml_backend.web.agreed import agreed
from ml_backend.web.audit import audit
from ml_backend.web.health import metrics
from ml_backend.web.panel import panel
from ml_backend.web.protocol import protocol
from ml_backend.web.queue import queue
from ml_backend.web.report import report
from ml_backend.web.responses import refused
from softirr.answers.labelstudio_results import readable_name
from softirr.report.page.render import TEMPLATES

log = logging.getLogger(__name__)

BLUEPRINTS = (protocol, metrics, panel, report, queue, audit, agreed)
QUIET = frozenset({"/health", "/"})  # asked every few seconds


def create_app(settings: Settings | None = None, *, services: Services | None = None) -> Flask:
    """Build the app.

    Parameters
    ----------
    settings : Settings, optional
        From the environment by default.
    services : Services, optional
        Objects that the app shares between requests; made from the settings by default.
    """
    app = Flask("ml_backend", template_folder="web/templates", static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # each method of a route has its row in ml_backend.auth.routes
    app.jinja_loader = ChoiceLoader([app.jinja_loader, FileSystemLoader(TEMPLATES)])  # type: ignore[list-item]
    app.add_template_filter(readable_name)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app_services = services or Services(settings or Settings.from_environment())
    app.extensions["softirr"] = app_services
    _name_requests(app)
    request_limits.install(app, largest_body=app_services.settings.largest_body)
    app.before_request(check_request)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.register_error_handler(Refused, refused)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(SQLAlchemyError, _store_fails)
    app.register_error_handler(OverflowError, _out_of_range)
    app.register_error_handler(Exception, _unexpected)
    return app


def _name_requests(app: Flask) -> None:
    """Give each request an id, in the log and in the reply; log its route without keys and texts."""

    @app.before_request
    def begin() -> None:
        g.softirr_started = time.monotonic()
        g.softirr_request = begin_request(request.headers.get("X-Request-ID"))

    @app.after_request
    def end(response: Response) -> Response:
        response.headers["X-Request-ID"] = g.softirr_request
        rule = request.url_rule.rule if request.url_rule is not None else "(no such address)"
        milliseconds = 1000 * (time.monotonic() - g.softirr_started)
        level = logging.DEBUG if rule in QUIET else logging.INFO
        log.log(level, "%s %s %d in %.1f ms", request.method, rule, response.status_code, milliseconds)
        return response


def _http_error(error: HTTPException) -> tuple[Response, int]:
    return jsonify({"error": f"{error.name}."}), error.code or 500


def _out_of_range(_error: OverflowError) -> tuple[Response, int]:
    return jsonify({"error": "A number in the request is out of range."}), 400


def _store_fails(error: SQLAlchemyError) -> tuple[Response, int]:
    """Answer with one sentence, without a traceback, if the database is unreachable, full, read-only or damaged."""
    sentence = trouble_sentence(error)
    log.error("the store failed: %s", sentence)
    return jsonify({"error": sentence}), 503


def _unexpected(error: Exception) -> tuple[Response, int]:
    """A defect of ours."""
    log.error("%s %s failed: %s", request.method, request.path, type(error).__name__, exc_info=where_only(error))
    return jsonify({"error": f"Unexpected error: {type(error).__name__}."}), 500

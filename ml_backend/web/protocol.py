"""The ML backend protocol as Label Studio 1.23 speaks it. Every answer is quick: work goes to the scorer process."""

import hmac
import logging
import time
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, current_app, jsonify, request
from sqlalchemy.exc import SQLAlchemyError

from ml_backend.access import Keys
from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio.answers import answered, answers_hash, comparisons, task_answers, unanswered_of, without
from ml_backend.labelstudio.config import Control, chosen_controls, control_names, text_controls
from ml_backend.review.calibration import current
from ml_backend.scoring.scorer import needs_model
from ml_backend.services import Services
from ml_backend.settings import MODEL_VERSION, SECRET_HEADER, checked_options, clean_url, effective, origin
from ml_backend.store.store import Row
from ml_backend.web.health import details
from softirr.errors import InputError

log = logging.getLogger(__name__)
protocol = Blueprint("protocol", __name__)

CHANGES = frozenset(
    {
        "ANNOTATION_CREATED",
        "ANNOTATIONS_CREATED",
        "ANNOTATION_UPDATED",
        "ANNOTATIONS_DELETED",
        "TASKS_CREATED",
        "TASKS_DELETED",
        "PROJECT_UPDATED",
    }
)
LABEL_STUDIO_STORES_WITHIN = 5.0  # seconds after our reply
PREDICT_BATCH = 20  # tasks scored between two looks at the clock
MOST_PAIRS_AT_ONCE = 20_000  # text comparisons of one task that a request may wait for


class Refused(Exception):
    """The request can't be served: a status and one sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@protocol.errorhandler(Refused)
def refused(error: Refused) -> tuple[Response, int, dict[str, str]]:
    """The sentence as JSON."""
    headers = {"WWW-Authenticate": 'Basic realm="softirr"'} if error.status == 401 else {}
    return jsonify({"error": error.sentence}), error.status, headers


def services() -> Services:
    """Of the running app."""
    return current_app.extensions["softirr"]


def require_basic_auth() -> None:
    """Refuse the request unless it carries the user and password that are set (if any are)."""
    settings = services().settings
    if not settings.basic_auth_user:
        return
    given = request.authorization
    if given is None or given.type != "basic":
        raise Refused(401, "This backend asks for a user and password (BASIC_AUTH_USER, BASIC_AUTH_PASS).")
    right = hmac.compare_digest((given.username or "").encode(), settings.basic_auth_user.encode())
    right &= hmac.compare_digest((given.password or "").encode(), settings.basic_auth_pass.encode())
    if not right:
        raise Refused(401, "Wrong user or password.")


def json_body() -> dict[str, Any]:
    """The request's JSON object."""
    try:
        body = request.get_json(force=True, silent=True)
    except RecursionError:
        raise Refused(400, "The request's body is nested too deeply.") from None
    if not isinstance(body, dict):
        raise Refused(400, "The request's body is not a JSON object.")
    return body


def _marks() -> dict[str, str]:
    """Made once: the store's secret stays the same."""
    extensions = current_app.extensions
    if "softirr-marks" not in extensions:
        try:
            found = Keys(services().store.secret()).marks(services().settings.label_studio_url)
        except SQLAlchemyError:  # its trouble is not that of who asks whether we are up
            return {}
        extensions["softirr-marks"] = found
    known: dict[str, str] = extensions["softirr-marks"]
    return known


@protocol.get("/")
@protocol.get("/health")
def health() -> Response:
    """Whether the service is up, and which one it is; answers at once, whatever the scorer process does."""
    require_basic_auth()
    if request.args.get("detail") == "1" and _may_see_details():
        return jsonify(details(services()) | _marks())
    return jsonify({"status": "UP", "model_class": "softirr", **_marks()})


def _may_see_details() -> bool:
    """Who carries the operator's password (checked before), and who sits at this machine and came through no proxy."""
    at_this_machine = request.remote_addr in ("127.0.0.1", "::1") and not request.headers.get("X-Forwarded-For")
    return at_this_machine or bool(services().settings.basic_auth_user)


@protocol.get("/versions")
def versions() -> Response:
    """The one model version there is."""
    require_basic_auth()
    return jsonify({"versions": [MODEL_VERSION], "model_version": MODEL_VERSION})


@protocol.post("/setup")
def setup() -> Response:
    """Label Studio introduces a project: note its options, and where people open it."""
    require_basic_auth()
    body = json_body()
    number = project_number(body.get("project"))
    schema = body.get("schema")
    if schema is not None and not isinstance(schema, str):
        raise Refused(400, "The schema is not a text.")
    try:
        options = checked_options(body.get("extra_params"), source="Extra params of the connection")
        if schema:
            text_controls(schema)
        hostname = (
            origin(clean_url(body["hostname"], "hostname"))
            if isinstance(body.get("hostname"), str) and body["hostname"]
            else ""
        )
    except InputError as error:
        raise Refused(400, str(error)) from None
    store, settings = services().store, services().settings
    row = store.ensure_project(settings.label_studio_url, number)
    changes: dict[str, Any] = {}
    if options != _plain(row["extra_params"]):
        changes["extra_params"] = options
    if hostname and hostname not in row["origins"]:
        changes["origins"] = [*row["origins"], hostname][-8:]
    if not row["connection"]:
        # Registered in Label Studio's own settings page rather than by `connect`: followed all the same.
        changes["connection"] = {"registered_in_label_studio": True}
    if changes:
        store.update_project(row["id"], **changes)
    if row["pulled_at"] is None or "extra_params" in changes:
        services().wakeups.want(row["id"], "setup")
    return jsonify({"model_version": MODEL_VERSION})


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if name == "controls" and value else value for name, value in options.items()}


@protocol.post("/webhook")
def webhook() -> tuple[Response, int]:
    """Something happened in a project: a hint to look, never believed further. Answers at once."""
    body = json_body()
    action = body.get("action")
    if not isinstance(action, str):
        raise Refused(400, "The request names no action.")
    project = body.get("project")
    number = project_number(project.get("id") if isinstance(project, Mapping) else project)
    store, settings = services().store, services().settings
    row = store.project(settings.label_studio_url, number)
    _check_sender(action, row)
    if row is None:
        raise Refused(404, f"Project {number} is not connected to this backend.")
    key, deleted = row["id"], _ids(body.get("tasks")) if action == "TASKS_DELETED" else []
    wakeups, training = services().wakeups, action == "START_TRAINING"

    def note() -> None:
        if not store.is_connected(key):  # disconnected meanwhile
            return
        if deleted:
            store.suspect(key, deleted)
        wakeups.want(key, "recompute" if training else action.lower(), full=training)

    if training or action in CHANGES:
        # A hint that waits already says the same, unless it names tasks of its own.
        services().background.do(note, key=None if deleted else ("webhook", key, training))
    return jsonify({"status": "ok"}), 202


def _check_sender(action: str, row: Row | None) -> None:
    """Our own webhook carries the project's secret; "Start training" comes over the connection, with its basic auth."""
    given = request.headers.get(SECRET_HEADER)
    secret = row["webhook_secret"] if row is not None else None
    if given is not None:
        if secret is None or not hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode()):
            raise Refused(403, "The webhook's secret is wrong: run softirr-ls connect again.")
        return
    if action == "START_TRAINING" or secret is None:
        # Without a secret of its own the project was registered by hand: Label Studio's automatic webhook carries no auth.
        if action == "START_TRAINING":
            require_basic_auth()
        return
    raise Refused(403, f"The webhook lacks the header {SECRET_HEADER}: run softirr-ls connect again.")


def _ids(entries: Any) -> list[int]:
    found = (entry.get("id") for entry in entries if isinstance(entry, Mapping)) if isinstance(entries, list) else ()
    return [number for number in found if isinstance(number, int) and 0 < number < 2**31][:1000]


def project_number(value: Any) -> int:
    """Project id from ``4``, ``"4"`` or Label Studio's ``"4.1795179834"``."""
    text = str(value).partition(".")[0] if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:12]) < 2**31 or len(text) > 12:
        raise Refused(400, "The request names no project.")
    return int(text)


@protocol.post("/predict")
def predict() -> Response:
    """One result per task, in order: from the store, else computed from the request's annotations, else queued."""
    require_basic_auth()
    body = json_body()
    tasks = body.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, Mapping) for task in tasks):
        raise Refused(400, "tasks is not a list of tasks.")
    if any(isinstance(task.get("id"), bool) or not isinstance(task.get("id"), int) for task in tasks):
        raise Refused(400, "A task has no id.")
    number = project_number(body.get("project"))
    store, settings = services().store, services().settings
    row = store.project(settings.label_studio_url, number)
    if row is None:
        raise Refused(404, f"Project {number} is not connected to this backend.")
    label_config = body.get("label_config") or row["label_config"]
    if not isinstance(label_config, str):
        raise Refused(400, "The label config is not a text.")
    chosen = effective(settings, connection=row["extra_params"], chosen=row["chosen"]).values
    try:
        controls = chosen_controls(text_controls(label_config), chosen.controls)
    except InputError as error:
        raise Refused(422, str(error)) from None
    results, unknown = _results(row, tasks, controls, chosen, control_names(label_config))
    if tasks:
        _look_again(row["id"], [task["id"] for task in tasks if 0 < task["id"] < 2**31], soon=unknown > 0)
    return jsonify({"results": results, "model_version": MODEL_VERSION})


def _look_again(project: int, numbers: list[int], *, soon: bool) -> None:
    """What Label Studio now stores itself must not stand beside what the scorer process writes."""
    store, wakeups = services().store, services().wakeups

    def note(suspects: list[int]) -> None:
        if store.is_connected(project):
            store.suspect(project, suspects)
            wakeups.want(project, "predict")

    if soon:
        services().background.do(lambda: note([]), key=("predict", project))
    services().background.do(lambda: note(numbers), after=LABEL_STUDIO_STORES_WITHIN)


def _results(
    row: Row, tasks: list[Mapping[str, Any]], controls: tuple[Control, ...], chosen: Any, names: frozenset[str]
) -> tuple[list[Any], int]:
    deadline = time.monotonic() + services().settings.predict_budget_seconds
    known = services().store.get_tasks(row["id"], [task["id"] for task in tasks if 0 < task["id"] < 2**31])
    results: dict[int, dict[str, Any]] = {}
    missing: dict[int, dict[str, Any]] = {}
    for place, task in enumerate(tasks):
        if not isinstance(task.get("annotations"), list):
            stored = known.get(task["id"])
            details = stored["details"] if stored is not None else None
            results[place] = _result(details, controls, chosen)
            continue
        answers = task_answers(task, controls, chosen, names=names)
        stored = known.get(task["id"])
        if stored is not None and stored["scored_hash"] == answers_hash(answers) and stored["details"] is not None:
            results[place] = _result(stored["details"], controls, chosen)
        else:
            missing[place] = answers
    unanswered = unanswered_of(row).difference(*map(answered, missing.values()))
    places = [place for place, answers in missing.items() if _work(answers) <= MOST_PAIRS_AT_ONCE]
    if not needs_model(chosen.measure):
        decisions = services().store.decisions(row["id"]) if places else []
        calibration = current(services().store, row["id"], chosen.measure) if decisions else None
        for start in range(0, len(places), PREDICT_BATCH):
            if time.monotonic() > deadline:
                break
            part = places[start : start + PREDICT_BATCH]
            # Keyed by place: a request may name a task twice.
            answers_of = {place: without(missing[place], unanswered) for place in part}
            details = services().scorer.task_details(answers_of, chosen, decisions=decisions, calibration=calibration)
            results.update({place: _result(details[place], controls, chosen) for place in part})
    unknown = len(tasks) - len(results)
    return [results.get(place) or _result(None, controls, chosen) for place in range(len(tasks))], unknown


def _result(details: Mapping[str, Any] | None, controls: tuple[Control, ...], chosen: Any) -> dict[str, Any]:
    made = {"score": None, "result": []}
    if details is not None:
        made = shapes.build(details, controls, suggestions=chosen.suggestions)
    return {**made, "model_version": MODEL_VERSION}


def _work(answers: Mapping[str, Any]) -> int:
    """Number of text comparisons that a task needs."""
    return sum(comparisons(entry["answers"].values()) for entry in answers.values())

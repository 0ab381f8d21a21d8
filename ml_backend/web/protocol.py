"""The ML backend protocol of Label Studio 1.23. Every answer is quick, because the scorer process does the work."""

import logging
import time
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, current_app, jsonify, request
from sqlalchemy.exc import SQLAlchemyError

from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio.answers import answered, answers_hash, comparisons, task_answers, unanswered_of, without
from ml_backend.labelstudio.config import (
    CodedControl,
    Control,
    chosen_controls,
    coded_controls,
    control_names,
    text_controls,
)
from ml_backend.review.calibration import current
from ml_backend.scoring.scorer import needs_model
from ml_backend.settings import MODEL_VERSION, checked_options, effective
from ml_backend.settings import refused as refused_options
from ml_backend.store.splittings import SplittingStore
from ml_backend.store.store import Row, is_connected
from ml_backend.web.callers import (
    Refused,
    host_is_known,
    is_operator,
    json_body,
    keys,
    project_in,
    refused,
    require_connection,
    services,
)
from ml_backend.web.health import details
from softirr.errors import InputError

log = logging.getLogger(__name__)
protocol = Blueprint("protocol", __name__)
protocol.register_error_handler(Refused, refused)

LABEL_STUDIO_STORES_WITHIN = 5.0  # seconds after our reply
PREDICT_BATCH = 20  # tasks scored between two checks of the time
MOST_PAIRS_AT_ONCE = 20_000  # text comparisons of one task that a request may wait for


@protocol.get("/health")
def health() -> Response:
    """State and identity of the service, without authentication and independent of the scorer process."""
    if request.args.get("detail") == "1" and _may_see_details():
        return jsonify(details(services()) | _marks())
    return jsonify({"status": "UP", "model_class": "softirr", **_marks()})


def _marks() -> dict[str, str]:
    """Identifiers of the store, computed once because its secret does not change."""
    extensions = current_app.extensions
    if "softirr-marks" not in extensions:
        try:
            found = keys().marks(services().settings.label_studio_url)
        except SQLAlchemyError:  # an error of the database is not reported here
            return {}
        extensions["softirr-marks"] = found
    known: dict[str, str] = extensions["softirr-marks"]
    return known


@protocol.get("/")
def root() -> Response:
    """As `health`, for a caller with a secret."""
    require_connection()
    return health()


def _may_see_details() -> bool:
    """Whether details are shown: to the operator, and to direct requests from this machine under a known host name."""
    at_this_machine = request.remote_addr in ("127.0.0.1", "::1") and not request.headers.get("X-Forwarded-For")
    return is_operator() or (at_this_machine and host_is_known())


@protocol.get("/versions")
def versions() -> Response:
    """The only model version."""
    require_connection()
    return jsonify({"versions": [MODEL_VERSION], "model_version": MODEL_VERSION})


@protocol.post("/setup")
def setup() -> Response:
    """Setup call of Label Studio for a connected project: store the options of its connection.

    The rest of the request is not trusted: it cannot add a project or set an address of Label Studio.
    """
    row, body = connected_project()
    schema = body.get("schema")
    if schema is not None and not isinstance(schema, str):
        raise Refused(400, "The schema is not a text.")
    try:
        options = checked_options(body.get("extra_params"), source="Extra params of the connection")
        if schema:
            text_controls(schema)
    except InputError as error:
        raise Refused(400, str(error)) from None
    if not_allowed := refused_options(services().settings, options):
        raise Refused(400, next(iter(not_allowed.values())))
    changed = options != _plain(row["extra_params"])
    if changed:
        services().store.update_project(row["id"], extra_params=options)
    if row["pulled_at"] is None or changed:
        services().wakeups.want(row["id"], "setup")
    return jsonify({"model_version": MODEL_VERSION})


def connected_project() -> tuple[Row, dict[str, Any]]:
    """The connected project that the request is about, and the request's body, which is not read before the secret is right.

    Raises
    ------
    Refused
    """
    row = require_connection()
    body = json_body()
    number = project_in(body)
    if row is None:
        row = services().store.project(services().settings.label_studio_url, number)
        if row is None or not is_connected(row["connection"]):
            raise Refused(404, f"Project {number} is not connected to this backend: run softirr-ls connect.")
    if row["number"] != number:
        raise Refused(401, "The connection carries the secret of another project.")
    return row, body


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if name == "controls" and value else value for name, value in options.items()}


@protocol.post("/predict")
def predict() -> Response:
    """One result per task, in order: from the store, else computed from the request's annotations, else queued."""
    row, body = connected_project()
    tasks = body.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, Mapping) for task in tasks):
        raise Refused(400, "tasks is not a list of tasks.")
    if any(isinstance(task.get("id"), bool) or not isinstance(task.get("id"), int) for task in tasks):
        raise Refused(400, "A task has no id.")
    label_config = body.get("label_config") or row["label_config"]
    if not isinstance(label_config, str):
        raise Refused(400, "The label config is not a text.")
    chosen = effective(services().settings, connection=row["extra_params"], chosen=row["chosen"]).values
    try:
        controls = chosen_controls(text_controls(label_config), chosen.controls)
    except InputError as error:
        raise Refused(422, str(error)) from None
    results, unknown = _results(row, tasks, controls, chosen, label_config)
    if tasks:
        _look_again(row["id"], [task["id"] for task in tasks if 0 < task["id"] < 2**31], soon=unknown > 0)
    return jsonify({"results": results, "model_version": MODEL_VERSION})


def _look_again(project: int, numbers: list[int], *, soon: bool) -> None:
    """Prevent duplicates of the predictions that Label Studio now stores itself and those that the scorer process writes."""
    store, wakeups = services().store, services().wakeups

    def note(suspects: list[int]) -> None:
        if store.is_connected(project):
            store.suspect(project, suspects)
            wakeups.want(project, "predict")

    if soon:
        services().background.do(lambda: note([]), key=("predict", project))
    services().background.do(lambda: note(numbers), after=LABEL_STUDIO_STORES_WITHIN)


def _results(
    row: Row, tasks: list[Mapping[str, Any]], controls: tuple[Control, ...], chosen: Any, label_config: str
) -> tuple[list[Any], int]:
    names, coded = control_names(label_config), coded_controls(label_config)
    deadline = time.monotonic() + services().settings.predict_budget_seconds
    known = services().store.get_tasks(row["id"], [task["id"] for task in tasks if 0 < task["id"] < 2**31])
    splits = chosen.policy.split != "none"
    splittings = SplittingStore(services().store).decisions(row["id"]) if splits else {}
    results: dict[int, dict[str, Any]] = {}
    missing: dict[int, dict[str, Any]] = {}
    for place, task in enumerate(tasks):
        if not isinstance(task.get("annotations"), list):
            stored = known.get(task["id"])
            details = stored["details"] if stored is not None else None
            results[place] = _result(details, controls, chosen, coded)
            continue
        answers = task_answers(
            task, controls, chosen, names=names, history=row["control_history"], splittings=splittings
        )
        stored = known.get(task["id"])
        if stored is not None and stored["scored_hash"] == answers_hash(answers) and stored["details"] is not None:
            results[place] = _result(stored["details"], controls, chosen, coded)
        else:
            missing[place] = answers
    unanswered = unanswered_of(row).difference(*map(answered, missing.values()))
    places = [place for place, answers in missing.items() if _work(answers) <= MOST_PAIRS_AT_ONCE]
    if not needs_model(chosen.measure):
        decisions = services().store.decisions(row["id"]) if places else []
        calibration = current(services().store, row["id"], chosen.measure_name) if decisions else None
        for start in range(0, len(places), PREDICT_BATCH):
            if time.monotonic() > deadline:
                break
            part = places[start : start + PREDICT_BATCH]
            # By position, because a request may name a task twice.
            answers_of = {place: without(missing[place], unanswered) for place in part}
            details = services().scorer.task_details(answers_of, chosen, decisions=decisions, calibration=calibration)
            results.update({place: _result(details[place], controls, chosen, coded) for place in part})
    unknown = len(tasks) - len(results)
    return [results.get(place) or _result(None, controls, chosen, coded) for place in range(len(tasks))], unknown


def _result(
    details: Mapping[str, Any] | None, controls: tuple[Control, ...], chosen: Any, coded: tuple[CodedControl, ...]
) -> dict[str, Any]:
    made: dict[str, Any] = {"score": None, "result": []}
    if details is not None:
        made = shapes.build(details, controls, suggestions=chosen.suggestions, coded=coded)
    return {**made, "model_version": MODEL_VERSION}


def _work(answers: Mapping[str, Any]) -> int:
    """Number of text comparisons that a task needs."""
    return sum(comparisons(entry["answers"].values()) for entry in answers.values())

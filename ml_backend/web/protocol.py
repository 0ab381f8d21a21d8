"""The calls of Label Studio 1.23: the ML backend protocol and the webhook.

Every answer is quick, because the worker does the work.
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response, current_app, jsonify, request
from sqlalchemy.exc import SQLAlchemyError

from ml_backend.auth.origins import host_is_known
from ml_backend.auth.program_auth import is_operator
from ml_backend.auth.requests import Refused, body_or_nothing, json_body, keys
from ml_backend.auth.routes import current_project
from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio.answers import Reading, answers_hash, count_annotations, read_task
from ml_backend.labelstudio.config import (
    Control,
    chosen_controls,
    control_names,
    other_controls,
    text_controls,
    with_score,
)
from ml_backend.labelstudio.registration import START_TRAINING, WEBHOOK_ACTIONS
from ml_backend.options import checked_options
from ml_backend.project_settings import ProjectSettings
from ml_backend.project_settings import refused as refused_options
from ml_backend.review.release import is_released
from ml_backend.scoring.measures import needs_model
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.task_score import counts_fields
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web.health import details
from ml_backend.web.responses import refused
from ml_backend.web.running import services, settings_of
from softirr.answers.preparation import comparisons
from softirr.errors import InputError

log = logging.getLogger(__name__)
protocol = Blueprint("protocol", __name__)
protocol.register_error_handler(Refused, refused)

AFTER_SAVING = 0.7  # seconds in which a person who saved gets the next task, before the worker asks Label Studio
LABEL_STUDIO_STORES_WITHIN = 5.0  # seconds after our reply
PREDICT_BATCH = 20  # tasks scored between two checks of the time
MOST_PAIRS_AT_ONCE = 20_000  # text comparisons of one task that a request may wait for


@protocol.get("/health")
def health() -> Response:
    """State and identity of the service, without authentication and independent of the worker."""
    if request.args.get("detail") == "1" and _may_see_details():
        return jsonify(details() | _marks())
    return jsonify({"status": "UP", "model_class": "softirr", **_marks()})


def _marks() -> dict[str, str]:
    """Identifiers of the store, computed once because its secret does not change."""
    extensions = current_app.extensions
    if "softirr-marks" not in extensions:
        try:
            marks = keys().marks(services().settings.label_studio_url)
        except SQLAlchemyError:  # an error of the database is not reported here
            return {}
        extensions["softirr-marks"] = marks
    cached: dict[str, str] = extensions["softirr-marks"]
    return cached


@protocol.get("/")
def root() -> Response:
    """As `health`, for a caller with a secret."""
    return health()


def _may_see_details() -> bool:
    """Whether details are shown: to the operator, and to direct requests from this machine under a known host name."""
    at_this_machine = request.remote_addr in ("127.0.0.1", "::1") and not request.headers.get("X-Forwarded-For")
    return is_operator() or (at_this_machine and host_is_known())


@protocol.get("/versions")
def versions() -> Response:
    """The only model version."""
    return jsonify({"versions": [MODEL_VERSION], "model_version": MODEL_VERSION})


@protocol.post("/setup")
def setup() -> Response:
    """Setup call of Label Studio for a connected project: store the options of its connection.

    The rest of the request is not trusted: it cannot add a project or set an address of Label Studio.
    """
    row, body = current_project(), json_body()
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
    changed = json.loads(json.dumps(options)) != row["extra_params"]  # lists are stored for tuples
    if changed:
        services().store.update_project(row["id"], extra_params=options)
    if row["pulled_at"] is None or changed:
        services().store.want(row["id"])
    return jsonify({"model_version": MODEL_VERSION})


@protocol.post("/predict")
def predict() -> Response:
    """One result per task, in order: from the store, else computed from the request's annotations, else queued."""
    row, body = current_project(), json_body()
    tasks = body.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, Mapping) for task in tasks):
        raise Refused(400, "tasks is not a list of tasks.")
    if any(isinstance(task.get("id"), bool) or not isinstance(task.get("id"), int) for task in tasks):
        raise Refused(400, "A task has no id.")
    label_config = body.get("label_config") or row["label_config"]
    if not isinstance(label_config, str):
        raise Refused(400, "The label config is not a text.")
    settings = settings_of(row)
    try:
        controls = chosen_controls(label_config, settings.controls)
    except InputError as error:
        raise Refused(422, str(error)) from None
    results, unknown = _results(row, tasks, controls, with_score(settings, controls), label_config)
    if tasks:
        _look_again(row["id"], [task["id"] for task in tasks if 0 < task["id"] < 2**31], soon=unknown > 0)
    return jsonify({"results": results, "model_version": MODEL_VERSION})


def _look_again(project: int, numbers: list[int], *, soon: bool) -> None:
    """Prevent duplicates of the predictions that Label Studio now stores itself and those that the worker writes."""
    store = services().store

    def note(suspects: list[int]) -> None:
        if store.is_connected(project):
            store.read_again(project, suspects)
            store.want(project)

    if soon:
        services().background.do(lambda: note([]), key=("predict", project))
    services().background.do(lambda: note(numbers), delay=LABEL_STUDIO_STORES_WITHIN)


def _results(
    row: Row,
    tasks: list[Mapping[str, Any]],
    controls: tuple[Control, ...],
    settings: ProjectSettings,
    label_config: str,
) -> tuple[list[Any], int]:
    other_names = [name for name, _ in other_controls(label_config)]
    stored_tasks = services().store.get_tasks(row["id"], [task["id"] for task in tasks if 0 < task["id"] < 2**31])
    reading = Reading(controls, settings, control_names(label_config), row["control_history"] or {}, other_names)
    marks = ReviewStore(services().store).marks(row["id"])

    def is_shown(task: Mapping[str, Any], number: int) -> bool:
        return is_released(settings, row["required"], task, marks.get(number))

    results: dict[int, dict[str, Any]] = {}
    missing: dict[int, dict[str, Any]] = {}
    for position, task in enumerate(tasks):
        stored = stored_tasks.get(task["id"])
        if not isinstance(task.get("annotations"), list):
            released = stored is not None and is_shown(stored, task["id"])
            details: Mapping[str, Any] | None = stored["details"] if stored is not None and released else None
            results[position] = _result(details, controls, settings)
            continue
        answers, beside = read_task(task, reading)
        hashed = answers_hash(answers, beside.get("fields"))
        sent = {"n_annotations": count_annotations(task), "answers": answers, "answers_hash": hashed}
        if not is_shown(sent, task["id"]):
            results[position] = _result(None, controls, settings)
        elif stored is not None and stored["scored_hash"] == hashed and stored["details"] is not None:
            results[position] = _result(stored["details"], controls, settings)
        else:
            missing[position] = answers
    results |= _computed(row, missing, controls, settings)
    unknown = len(tasks) - len(results)
    return [results.get(position) or _result(None, controls, settings) for position in range(len(tasks))], unknown


def _computed(
    row: Row, missing: Mapping[int, Mapping[str, Any]], controls: tuple[Control, ...], settings: ProjectSettings
) -> dict[int, dict[str, Any]]:
    """Compute the results of some raw answers within the time that a request may take; positions are the keys."""
    positions = [position for position, answers in missing.items() if _work(answers) <= MOST_PAIRS_AT_ONCE]
    if not positions or needs_model(settings.measure) or counts_fields(settings):
        return {}
    deadline = time.monotonic() + services().settings.predict_budget_seconds
    decisions, preparation = services().store.decisions(row["id"]), AnswerPreparation.of(row, settings)
    answered = {
        name for answers in missing.values() for name, entry in answers.items() if any(entry["answers"].values())
    }
    preparation = replace(preparation, unanswered=preparation.unanswered - answered)
    results: dict[int, dict[str, Any]] = {}
    for start in range(0, len(positions), PREDICT_BATCH):
        if time.monotonic() > deadline:
            break
        batch = positions[start : start + PREDICT_BATCH]
        # By position, because a request may name a task twice.
        answers = {position: missing[position] for position in batch}
        details, _ = services().scorer.score_or_set_aside(answers, preparation, decisions=decisions)
        results |= {position: _result(details[position], controls, settings) for position in batch}
    return results


def _result(
    details: Mapping[str, Any] | None, controls: tuple[Control, ...], settings: ProjectSettings
) -> dict[str, Any]:
    prediction: dict[str, Any] = {"score": None, "result": []}
    if details is not None:
        prediction = shapes.build(details, controls, suggestions=settings.suggestions)
    return {**prediction, "model_version": MODEL_VERSION}


def _work(answers: Mapping[str, Any]) -> int:
    """Number of text comparisons that a task needs."""
    return sum(comparisons(entry["answers"].values()) for entry in answers.values())


@protocol.post("/webhook")
def receive() -> tuple[Response, int]:
    """Mark the project as due soon; the secret names it, and the content is not trusted. Answers 202 at once.

    Label Studio switches a webhook off after a number of other answers, so no body is refused.
    `ml_backend.labelstudio.registration.WEBHOOK_ACTIONS` lists the actions.
    """
    action = body_or_nothing().get("action")
    if action in (START_TRAINING, *WEBHOOK_ACTIONS):
        store, project, is_training = services().store, current_project()["id"], action == START_TRAINING

        def note() -> None:
            if store.is_connected(project):  # it may be disconnected meanwhile
                store.want(project, full=is_training, due_at=time.time() + AFTER_SAVING)

        services().background.do(note, key=("webhook", project, is_training))
    return jsonify({"status": "ok"}), 202

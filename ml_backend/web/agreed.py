"""Agreed answers: a reviewer accepts an answer, and it becomes their ground-truth annotation in Label Studio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from ml_backend.auth.keys import Person
from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project, current_reviewer
from ml_backend.labelstudio.agreed import ground_truth_of
from ml_backend.labelstudio.config import Control, is_repeated
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.own_session import OwnSession, copied_results, region_results, text_results
from ml_backend.review.field_entries import field_entries, regions_of
from ml_backend.store.acts import AcceptedAnswer, AgreedStore, given_hash
from ml_backend.store.store import Row, Store
from ml_backend.web import arguments, responses
from ml_backend.web.panel import LONGEST, allow_label_studio, allow_preflights, refused_as_json
from ml_backend.web.responses import moment
from ml_backend.web.running import marking, reviews, services
from softirr.answers.labelstudio import is_agreed_answer, user_id
from softirr.text import normalize

agreed = Blueprint("agreed", __name__)
agreed.register_error_handler(Refused, refused_as_json)
allow_preflights(agreed, "/api/agreed", "/api/agreed/<int:task>")

MOST_TEXTS = 200
NO_SESSION = (
    "Label Studio’s login does not reach this backend, so it can’t save an annotation of yours: set a ground truth in "
    "Label Studio instead."
)
ASK = "This task has a ground truth that a person set: replace it?"


@agreed.get("/api/agreed")
def listed() -> Response:
    """Agreed answers of a project: ``project``, ``control``; with ``log=1`` all answers and withdrawals."""
    project = current_project()
    control = request.args.get("control")
    if request.args.get("log") == "1":
        rows = AgreedStore(services().store).log(project["id"])
        log = [{**answer_view(row, project, row["given_hash"]), "withdrawn": row["withdrawn"]} for row in rows]
        return responses.data({"answers": log})
    return responses.data({"answers": entries(services().store, project, control)})


@agreed.post("/api/agreed")
def accept() -> Response:
    """Accept the answer of a task: ``{"project", "task", "fields": {name: [texts or values]}, "replace": false}``.

    It is saved as a ground-truth annotation of the reviewer, through their session in Label Studio, and the task is
    done. An empty list means that the answer is empty. Without ``replace``, a ground truth of a person stays.
    """
    body, project = json_body(), current_project()
    who, task = current_reviewer(), arguments.task(project, body)
    fields = _fields(task, body.get("fields"))
    session = _session(who)
    try:
        annotations = session.annotations(task["number"])
        star = ground_truth_of({"annotations": [row for row in annotations if not is_agreed_answer(row)]})
        if star is not None and body.get("replace") is not True:
            return allow_label_studio(responses.data({"error": ASK, "asks": "replace"}, status=409))
        result = list(agreed_results(project, task, fields, annotations))
        if not result:  # the annotation would count as the reviewer's own answer
            raise Refused(409, "An answer without any value cannot be saved in Label Studio: choose a value, or skip.")
        agreed_answers = (row for row in annotations if is_agreed_answer(row))
        previous = next((row["id"] for row in agreed_answers if user_id(row.get("completed_by")) == who.user), None)
        number = session.save_ground_truth(project["number"], task["number"], result, annotation=previous)
    except LabelStudioError as error:
        raise Refused(502, str(error)) from None
    for name, texts in fields.items():
        answer = AcceptedAnswer(
            texts,
            edited=texts != [normalize(text) for text in _suggestion(task, name)],
            given_hash=given_hash(field_entries(task)[name]),
            annotation=number,
        )
        AgreedStore(services().store).agree(project["id"], task["number"], name, answer, **who.signature)
    with marking(project, task["number"]):
        reviews().mark_done(project["id"], task["number"], answers_hash=task["answers_hash"], reviewer=who.name)
    return allow_label_studio(responses.data({"annotation": number, "replaced": star and star["id"]}, status=201))


@agreed.delete("/api/agreed/<int:task>")
def withdraw(task: int) -> Response:
    """Withdraw the agreed answer of a task and delete its annotation: ``project``.

    ``restore`` names the annotation that was the ground truth before.
    """
    project, who = current_project(), current_reviewer()
    store = AgreedStore(services().store)
    rows = store.current(project["id"], tasks=[task])
    if not rows:
        raise Refused(404, "This answer was already withdrawn.")
    restore = request.args.get("restore", type=int)
    session = _session(who)
    try:
        for number in {row["annotation"] for row in rows if row["annotation"] is not None}:
            session.delete_annotation(number)
        if restore is not None:
            session.set_ground_truth(restore)
    except LabelStudioError as error:
        raise Refused(502, str(error)) from None
    for row in rows:
        store.withdraw(project["id"], row["id"], **who.signature)
    with marking(project, task):
        reviews().unmark(project["id"], task)
    return allow_label_studio(responses.data({"withdrawn": task}))


def _session(who: Person) -> OwnSession:
    """Return Label Studio under the reviewer's login.

    Raises
    ------
    Refused
        If only a personal link identifies them.
    """
    session = request.cookies.get("sessionid")
    if who.known_by != "session" or not session:
        raise Refused(403, NO_SESSION)
    return OwnSession(services().settings.label_studio_url, session=session, csrf=request.cookies.get("csrftoken"))


def _suggestion(task: Row, name: str) -> Sequence[str]:
    fields: Mapping[str, Any] = (task["details"] or {}).get("controls") or {}
    return (fields.get(name) or {}).get("suggestion") or ()


def agreed_results(
    project: Row, task: Row, fields: Mapping[str, list[str]], annotations: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Build the results of the annotation; texts of regions come with a copy of a region that has them."""
    people = [record for record in annotations if not is_agreed_answer(record)]
    controls = {record["name"]: Control.from_dict(record) for record in project["controls"]}
    yield from text_results(list(controls.values()), fields)
    for name, texts in fields.items():
        control = controls.get(name)
        if control is not None and control.per_region and texts:
            regions = regions_of(task, name)
            details = ((task["details"] or {}).get("controls") or {}).get(name) or {}
            rows = None if regions is None else regions.suggested(details, texts, by_group=is_repeated(name))
            if regions is None or not rows:
                raise Refused(409, "The regions of these texts are not known yet: run softirr-ls sync.")
            agreed_regions = [(row, texts_of_region, regions.members(row)) for row, texts_of_region in rows]
            yield from region_results(name, agreed_regions, people)
        elif control is None and texts:
            answers = field_entries(task)[name]["answers"]
            raters = [rater for rater, values in answers.items() if sorted(values) == sorted(texts)]
            yield from copied_results(name, texts, raters, people)


def _fields(task: Row, fields: Any) -> dict[str, list[str]]:
    """Return the answer of each field that the request names, with clean texts.

    Raises
    ------
    Refused
    """
    entries_by_field = field_entries(task)
    if not isinstance(fields, Mapping) or not fields or not set(fields) <= set(entries_by_field):
        raise Refused(400, f"fields does not name fields of this task: {', '.join(entries_by_field)[:200]}.")
    return {name: _texts(texts) for name, texts in fields.items()}


def _texts(texts: Any) -> list[str]:
    if (
        not isinstance(texts, list)
        or len(texts) > MOST_TEXTS
        or not all(isinstance(text, str) and len(text) <= LONGEST for text in texts)
    ):
        raise Refused(400, f"An answer is not a list of up to {MOST_TEXTS} texts.")
    return list(dict.fromkeys(text for text in map(normalize, texts) if text))


def entries(store: Store, project: Row, control: str | None = None) -> list[dict[str, Any]]:
    """The agreed answers of the tasks that the project still has, by task, of one field or of all.

    `answers_changed`: annotators have changed their answers since it was agreed.
    """
    agreed = AgreedStore(store).current(project["id"], control=control)
    now: dict[tuple[int, str], str] = {}
    numbers = sorted({row["task"] for row in agreed})
    for number, task in store.get_tasks(project["id"], numbers, columns=("answers",)).items():
        now |= {(number, name): given_hash(entry) for name, entry in task["answers"].items()}
    return [
        answer_view(row, project, now[row["task"], row["control"]])
        for row in agreed
        if (row["task"], row["control"]) in now
    ]


def answer_view(row: Row, project: Row, now: str) -> dict[str, Any]:
    """One agreed answer as pages and programs get it; `now` is the `given_hash` of the field as it is now."""
    who = project["raters"].get(row["reviewer_id"]) or row["reviewer"]
    return {
        "id": row["id"],
        "task": row["task"],
        "control": row["control"],
        "texts": list(row["texts"]),
        "source": row["source"],
        "annotation": row["annotation"],
        "edited": row["edited"],
        "who": who,
        "user": row["reviewer_id"] or None,
        "known_by": row["known_by"] or None,
        "when": moment(row["at"]),
        "answers_changed": bool(row["given_hash"]) and row["given_hash"] != now,
    }

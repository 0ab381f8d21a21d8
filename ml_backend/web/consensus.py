"""The consensus: agreed answers of tasks, accepted in the panel or anywhere else by a known reviewer."""

from typing import Any

from flask import Blueprint, Response, request

from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project, current_reviewer
from ml_backend.labelstudio.answers import texts_of
from ml_backend.review.consensus import answer_view, entries, progress
from ml_backend.store.agreed import AgreedStore, given_hash
from ml_backend.store.store import Row
from ml_backend.web import arguments, responses
from ml_backend.web.decisions import LONGEST
from ml_backend.web.panel import allow_label_studio, allow_preflights, refused_as_json
from ml_backend.web.running import links_of, reports, services, settings_of
from softirr.text import normalize

consensus = Blueprint("consensus", __name__)
MOST_TEXTS = 200


consensus.register_error_handler(Refused, refused_as_json)
allow_preflights(consensus, "/api/consensus", "/api/consensus/<int:which>")


@consensus.get("/api/consensus")
def agreed() -> Response:
    """Agreed answers of a project: ``project``, ``control``, ``task``; with ``log=1`` all answers and withdrawals."""
    project = current_project()
    control, task = request.args.get("control"), request.args.get("task", type=int)
    if request.args.get("log") == "1":
        rows = AgreedStore(services().store).log(project["id"], tasks=None if task is None else [task])
        log = [{**answer_view(row, project, row["given_hash"]), "withdrawn": row["withdrawn"]} for row in rows]
        return responses.data({"answers": log})
    answers = entries(services().store, project, control)
    names = (project["summary"] or {}).get("controls") or ()
    counts = {
        name: progress([row for row in answers if row["control"] == name], _compared(project, name))
        for name in names
        if control in (None, name)
    }
    if task is not None:
        answers = [row for row in answers if row["task"] == task]
    return responses.data({"progress": counts, "answers": answers})


@consensus.post("/api/consensus")
def accept() -> Response:
    """A reviewer accepts an answer, edited or not: ``{"project", "task", "control", "texts"}``.

    ``control`` may be left out where the project has one field; ``texts`` may be empty: then it is agreed that there is
    nothing to say.
    """
    body, project = json_body(), current_project()
    who = current_reviewer()
    task = arguments.task(project, body)
    number = task["number"]
    control = _control(task, body.get("control"))
    texts = _texts(body.get("texts"))
    chosen = settings_of(project)
    details = ((task["details"] or {}).get("controls") or {}).get(control) or {}
    now = given_hash(task["answers"][control])
    AgreedStore(services().store).agree(
        project["id"],
        number,
        control,
        texts,
        codes=services().scorer.codes(texts, chosen),
        edited=texts != [normalize(text) for text in details.get("suggestion", ())],
        given_hash=now,
        **who.signature,
    )
    (row,) = AgreedStore(services().store).current(project["id"], tasks=[number], control=control)
    return allow_label_studio(responses.data({"agreed": answer_view(row, project, now)}, status=201))


@consensus.delete("/api/consensus/<int:which>")
def withdraw(which: int) -> Response:
    """Withdraw an agreed answer; the log keeps it."""
    project = current_project()
    who = current_reviewer()
    if not AgreedStore(services().store).withdraw(project["id"], which, **who.signature):
        raise Refused(404, "This answer was already withdrawn or replaced.")
    return allow_label_studio(responses.data({"withdrawn": which}))


def _compared(project: Row, control: str) -> list[int]:
    """Tasks with two answers or more to a field."""
    return reports().queue(project, links_of(project), control).tasks()


def _control(task: Row, given: Any) -> str:
    names = list(texts_of(task["answers"]))
    if not names and task["answers"]:
        raise Refused(409, arguments.NO_TEXT)
    if given is None and len(names) == 1:
        return str(names[0])
    if not isinstance(given, str) or given not in names:
        raise Refused(400, f"control is none of this task's fields: {', '.join(names)[:200]}.")
    return given


def _texts(given: Any) -> list[str]:
    if (
        not isinstance(given, list)
        or len(given) > MOST_TEXTS
        or not all(isinstance(text, str) and len(text) <= LONGEST for text in given)
    ):
        raise Refused(400, f"texts is not a list of up to {MOST_TEXTS} texts.")
    return list(dict.fromkeys(text for text in map(normalize, given) if text))

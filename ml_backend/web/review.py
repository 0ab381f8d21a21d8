"""What reviewers do besides decisions: take the suggestion, send tasks back."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project, current_reviewer
from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.own_session import OwnSession, region_results, results_of
from ml_backend.report.links import MOST_IDS
from ml_backend.review.panel_regions import regions_of
from ml_backend.store.store import Row
from ml_backend.web import arguments, responses
from ml_backend.web.panel import allow_label_studio, allow_preflights, refused_as_json
from ml_backend.web.running import links_of, reports, reviews, services

review = Blueprint("review", __name__)


review.register_error_handler(Refused, refused_as_json)
allow_preflights(review, "/api/take")


@review.post("/api/take")
def take() -> Response:
    """Take the suggestion into a draft: ``{"project", "task", "suggestions": [{"control", "texts"}]}``.

    Label Studio gets it with the person's own session. The draft becomes an annotation when they submit it there. Texts
    of the suggestion may be
    missing. Where the person has such a draft already, that draft is the answer.
    """
    body, project = json_body(), current_project()
    who = current_reviewer()
    number = arguments.whole_number(body.get("task"), "task")
    task = services().store.get_tasks(project["id"], [number]).get(number)
    if task is None or not task["details"]:
        raise Refused(404, f"Task {number} has no suggestion.")
    wanted = _suggestions(body.get("suggestions"))
    fields = task["details"]["controls"]
    if any(not set(texts) <= set(fields.get(name, {}).get("suggestion", ())) for name, texts in wanted.items()):
        raise Refused(409, "The suggestion has changed: look at it again.")
    session = request.cookies.get("sessionid")
    if who.known_by != "session" or not session:
        raise Refused(
            403,
            "Label Studio’s login does not reach this backend, so it can’t annotate as you: duplicate the prediction.",
        )
    own = OwnSession(services().settings.label_studio_url, session=session, csrf=request.cookies.get("csrftoken"))
    try:
        draft = own.taken_draft(number)
        if draft is not None:
            return allow_label_studio(responses.data({"draft": draft, "again": True}))
        draft = own.save_draft(project["number"], number, _results(own, project, task, wanted))
    except LabelStudioError as error:
        raise Refused(502, str(error)) from None
    return allow_label_studio(responses.data({"draft": draft}, status=201))


def _results(own: OwnSession, project: Row, task: Row, wanted: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """The results of the draft; texts of regions come with a copy of a region that has them.

    Raises
    ------
    Refused, LabelStudioError
    """
    controls = [Control.from_dict(one) for one in project["controls"]]
    results = results_of(controls, wanted)
    per_region = [control.name for control in controls if control.per_region and wanted.get(control.name)]
    annotations = own.annotations(task["number"]) if per_region else []
    for name in per_region:
        regions = regions_of(task, name)
        rows = None if regions is None else regions.suggested(task["details"]["controls"][name], wanted[name])
        if not rows:
            raise Refused(409, "The regions of these texts are not known yet: run softirr-ls sync.")
        results += region_results(name, rows, annotations)
    if not results:
        raise Refused(409, "The suggestion has no text left to take.")
    return results


def _suggestions(given: Any) -> dict[str, list[str]]:
    good = isinstance(given, list) and 0 < len(given) <= 100
    if not good or not all(
        isinstance(one, Mapping)
        and isinstance(one.get("control"), str)
        and isinstance(one.get("texts"), list)
        and all(isinstance(text, str) for text in one["texts"])
        for one in given
    ):
        raise Refused(400, "suggestions is not a list of fields with their texts.")
    return {one["control"]: one["texts"] for one in given}


# --- tasks with low agreement ---------------------------------------------------------------------------------------


@review.post("/api/queue/low")
def send_back_low() -> Response:
    """Send all ready tasks with low agreement back with a note: ``{"project", "below", "note", "who"}``.

    With ``"only_count": true`` nothing is marked. The answer has the tasks, and the address of a tab of Label Studio
    with them, from which more
    annotators can be asked for answers.
    """
    body, project = json_body(), current_project()
    below = body.get("below")
    if not isinstance(below, int | float) or isinstance(below, bool) or not 0 < below <= 1:
        raise Refused(400, "below is not a number above 0 and up to 1.")
    links = links_of(project)
    ready = [one for one in reports().queue(project, links).view(done=False) if one["state"] == "ready"]
    numbers = [one["task"] for one in ready if one["agreement"] < below]
    if not body.get("only_count"):
        who, note = arguments.acting_name(body), arguments.note(body)
        rows = services().store.get_tasks(project["id"], numbers)
        for number in numbers:
            hashed = rows[number]["answers_hash"]
            reviews().send_back(project["id"], number, answers_hash=hashed, reviewer=who, note=note)
        services().wakeups.want(project["id"], "mark")
    link = links.tasks(numbers, f"Agreement below {below:.2f}") if numbers else None
    return responses.data({"tasks": numbers, "link": link, "shown": min(len(numbers), MOST_IDS)})

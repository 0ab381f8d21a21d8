"""What reviewers do in the panel besides deciding about pairs: take the suggestion, and say what does not count in the project."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.own_session import results_of, save_draft
from ml_backend.review.panel_payload import moment
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web import visitors
from ml_backend.web.callers import Refused, json_body, project_number, services
from ml_backend.web.panel import allow_label_studio
from softirr.policy.attributes import KIND_NAMES, KINDS

review = Blueprint("review", __name__)


@review.errorhandler(Refused)
def refused(error: Refused) -> Response:
    """The sentence, as the panel reads it."""
    return allow_label_studio(visitors.data({"error": error.sentence}, status=error.status))


@review.post("/api/take")
def take() -> Response:
    """Take the suggestion into a draft of the person's own: ``{"project", "task", "suggestions": [{"control", "texts"}]}``.

    Label Studio gets it with the person's own session. The draft becomes an annotation when they submit it there.
    """
    body = json_body()
    project = visitors.enter(project_number(body.get("project")), "panel")
    who = visitors.reviewer(project)
    number = visitors.whole_number(body.get("task"), "task")
    task = services().store.get_tasks(project["id"], [number]).get(number)
    if task is None or not task["details"]:
        raise Refused(404, f"Task {number} has no suggestion.")
    wanted = _suggestions(body.get("suggestions"))
    now = {name: found["suggestion"] for name, found in task["details"]["controls"].items() if found["suggestion"]}
    if any(now.get(name) != texts for name, texts in wanted.items()):
        raise Refused(409, "The suggestion has changed: look at it again.")
    session = request.cookies.get("sessionid")
    if who.known_by != "session" or not session:
        raise Refused(
            403,
            "Label Studio’s login does not reach this backend, so it can’t annotate as you: duplicate the prediction.",
        )
    result = results_of([Control.from_dict(one) for one in project["controls"]], wanted)
    if not result:
        raise Refused(409, "Texts of regions can’t be taken without their regions.")
    try:
        draft = save_draft(
            services().settings.label_studio_url,
            session=session,
            csrf=request.cookies.get("csrftoken"),
            project=project["number"],
            task=number,
            result=result,
        )
    except LabelStudioError as error:
        raise Refused(502, str(error)) from None
    return allow_label_studio(visitors.data({"draft": draft}, status=201))


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


# --- what does not count --------------------------------------------------------------------------------------------


@review.post("/api/uncounted")
def say_uncounted() -> Response:
    """A reviewer says that an attribute does not count in this project: ``{"project", "task", "attribute"}``.

    It is a proposal: nothing is scored differently until a lead sets the project's policy.
    """
    body = json_body()
    project = visitors.enter(project_number(body.get("project")), "panel")
    who = visitors.reviewer(project)
    if body.get("attribute") not in KINDS:
        raise Refused(400, f"attribute is none of {', '.join(KINDS)}.")
    task = visitors.whole_number(body.get("task"), "task")
    if task not in services().store.get_tasks(project["id"], [task]):
        raise Refused(404, f"Task {task} is not in this project.")
    number = ReviewStore(services().store).say_uncounted(
        project["id"],
        body["attribute"],
        task=task,
        reviewer=who.name,
        reviewer_id=who.user,
        known_by=who.known_by,
    )
    return allow_label_studio(visitors.data({"said": number}, status=201))


@review.get("/api/uncounted")
def list_uncounted() -> Response:
    """What reviewers say does not count, oldest first; with ``log=1`` everything that was said and withdrawn."""
    project = visitors.enter(project_number(request.args.get("project")), "report")
    store = ReviewStore(services().store)
    rows = store.uncounted_log(project["id"]) if request.args.get("log") == "1" else store.uncounted(project["id"])
    return visitors.data({"uncounted": [_view(row) for row in rows]})


@review.delete("/api/uncounted/<int:number>")
def withdraw(number: int) -> Response:
    """Take it back; the log keeps it."""
    project = visitors.enter(project_number(request.args.get("project")), "panel")
    who = visitors.reviewer(project)
    signed = {"reviewer": who.name, "reviewer_id": who.user, "known_by": who.known_by}
    if not ReviewStore(services().store).withdraw_uncounted(project["id"], number, **signed):
        raise Refused(404, "This was taken back already.")
    return allow_label_studio(visitors.data({"withdrawn": number}))


def _view(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "attribute": row["attribute"],
        "name": KIND_NAMES[row["attribute"]],
        "task": row["task"],
        "who": row["reviewer"],
        "user": row["reviewer_id"] or None,
        "known_by": row["known_by"] or None,
        "when": moment(row["at"]),
        "withdrawn": row["withdrawn"],
    }


@review.route("/api/take", methods=["OPTIONS"])
@review.route("/api/uncounted", methods=["OPTIONS"])
@review.route("/api/uncounted/<int:number>", methods=["OPTIONS"])
def preflight(number: int | None = None) -> Response:
    """Allow requests from Label Studio's pages (the Enterprise plugin) and from no other site."""
    return allow_label_studio(Response(status=204))

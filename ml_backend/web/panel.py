"""The agreement panel: its page, its data, and reviewers' decisions."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, current_app, redirect, render_template, request, send_from_directory

from ml_backend.auth.browser_auth import HOW_TO_BE_KNOWN, KEY_HEADER, remember_person, require_link
from ml_backend.auth.keys import Person
from ml_backend.auth.origins import label_studio_home, label_studio_places
from ml_backend.auth.requests import Refused, find_project, json_body
from ml_backend.auth.routes import current_person, current_project, current_reviewer
from ml_backend.plugin_files import plugin_dir
from ml_backend.report.queue import mark_details
from ml_backend.review.annotator_view import for_annotator
from ml_backend.review.consensus import agreed_of_task
from ml_backend.review.panel_fields import fields_of
from ml_backend.review.panel_payload import moment, not_ready, payload
from ml_backend.review.triage_queue import mark_state
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web import arguments, decisions, responses
from ml_backend.web.assets import version_of
from ml_backend.web.pages import message
from ml_backend.web.running import services, settings_of
from softirr.answers.table import SKIPPED

panel = Blueprint("panel", __name__)
A_YEAR = 365 * 24 * 3600
OPEN_A_TASK = "Open a task from the Data Manager to see its agreement."
ANSWER_FIRST = "Agreement is shown once your own answer to this task is in."
NOBODY = {
    "status": "blind",
    "message": f"Agreement is shown to people of this project: {HOW_TO_BE_KNOWN}",
    "raters": [],
}
MODULES = tuple(sorted(path.stem for path in (plugin_dir() / "panel").glob("*.js") if path.stem != "page"))


@panel.errorhandler(Refused)
def refused(error: Refused) -> Response:
    """The sentence, in the shape that the panel shows; as a page where the panel's page was asked for."""
    if request.endpoint == "panel.page":
        response = responses.page(message("Agreement", error.sentence, up=""), label_studio=label_studio_places(None))
        response.status_code = error.status
        return response
    if request.endpoint == "panel.come_in":
        return responses.refusal(error)
    body = {"status": "unavailable", "message": error.sentence, "error": error.sentence}
    return allow_label_studio(responses.data(body, status=error.status))


@panel.get("/panel")
def page() -> Response:
    """The page in the frame, without data: its script requests them."""
    files = f"panel/static/{version_of(plugin_dir() / 'panel')}"
    text = render_template("panel.html", files=files, modules=MODULES)
    return responses.page(text, label_studio=label_studio_places(current_project()))


@panel.get("/enter/<int:number>")
def come_in(number: int) -> Response:
    """Open a personal link, which identifies the browser for later requests."""
    project, who, seconds = require_link(number)
    if who.at_least("reviewer"):
        response = current_app.make_response(redirect(f"../report/{number}"))
    else:
        response = responses.page(
            message("Welcome", f"This browser is known as {who.name} now. Go on in Label Studio.", up="../")
        )
    remember_person(response, project, request.args["t"], seconds)
    return response


@panel.get("/panel/static/<version>/<path:name>")
def files(version: str, name: str) -> Response:
    """The panel's files, without data; their address changes with their content."""
    folder = plugin_dir() / "panel"
    response = send_from_directory(folder, name, max_age=A_YEAR if version == version_of(folder) else 0)
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@panel.get("/api/panel")
def panel_data() -> Response:
    """The content of the panel of a task."""
    project = current_project()
    who = current_person()
    body = NOBODY | {"project": {"id": project["number"]}} if who is None else _payload_for(project, who)
    return allow_label_studio(responses.data(body, etag=True))


def _payload_for(project: Row, who: Person) -> dict[str, Any]:
    """The content for this person: annotators learn nothing about their colleagues."""
    body = _payload(project, who)
    if who.at_least("reviewer"):
        return body
    chosen = settings_of(project)
    return for_annotator(body, who.user, secret=services().store.secret(), threshold=chosen.threshold)


def _payload(project: Row, who: Person) -> dict[str, Any]:
    """The content for this person; the address only selects the task and grants no access."""
    store = services().store
    chosen = settings_of(project)
    labeling = request.args.get("labeling") == "1"
    base = {"project": {"id": project["number"], "title": project["title"]}, "raters": []}
    number = request.args.get("task", type=int)
    if number is None:
        if labeling:
            return not_ready(project, None, chosen, labeling=True, job=None) or base
        where = OPEN_A_TASK if who.at_least("reviewer") else ANSWER_FIRST
        return base | {"status": "none", "message": where}
    task = store.get_tasks(project["id"], [number]).get(number)
    if not labeling and not who.at_least("reviewer") and not _has_answered(who, task):
        return base | {"status": "blind", "message": ANSWER_FIRST, "task": {"id": number}}
    job = next(iter(store.jobs(project["id"], limit=1)), None)
    again = task is not None and task["scored_hash"] is None and task["agreement"] is not None
    reason = not_ready(
        project,
        {**task, "scored_hash": task["answers_hash"]} if again and task else task,
        chosen,
        labeling=labeling,
        job=job,
    )
    if reason is not None:
        return reason
    assert task is not None
    texts = [text for entry in task["answers"].values() for given in entry["answers"].values() for text in given]
    reviews = who.at_least("reviewer")
    body = payload(
        project,
        task,
        place=store.rank(project["id"], task["agreement"]),
        decisions=store.decisions(project["id"], texts=texts),
        viewer={
            "can_decide": reviews and bool(who.known_by),
            "can_take": False,
            "can_mark": reviews,
            "name": who.name,
            "role": who.role,
        },
        threshold=chosen.threshold,
        agreed=agreed_of_task(store, project, task),
        # relative, because only the browser knows a proxy's path prefix
        about_people=reviews,
        links={"report": f"report/{project['number']}"} if reviews else {},
        home=label_studio_home(),
        places=label_studio_places(project),
        other_fields=fields_of(project, task, chosen, about_people=reviews),
    )
    body |= {"review": _review(project, task)}
    return body | {"message": "Being computed again …"} if again else body


def _review(project: Row, task: Row) -> dict[str, Any]:
    """Whether the task is done or was sent back to its annotators, by whom and with which note."""
    mark = ReviewStore(services().store).mark(project["id"], task["number"])
    state = mark_state(mark, task["answers_hash"])
    return {"state": state or "open", **((mark_details(mark) or {}) if state else {})}


def _has_answered(who: Person, task: Row | None) -> bool:
    """Whether the person has answered or skipped the task; before that, other people's answers would influence them."""
    return task is not None and any(
        who.user in entry["answers"]
        or any((str(rater), reason) == (who.user, SKIPPED) for rater, reason in entry.get("excluded", ()))
        for entry in task["answers"].values()
    )


@panel.post("/api/decisions")
def decide() -> Response:
    """A reviewer decides whether texts mean the same: ``{"project", "task", "pairs": [[a, b]], "verdict"}``.

    ``"decisions": [{"pairs", "verdict"}]`` in place of the last two stores several at once: moving a text is two.
    """
    body, project = json_body(), current_project()
    who = current_reviewer()
    task = arguments.whole_number(body["task"], "task") if body.get("task") is not None else None
    parts = body.get("decisions", [body])
    if not isinstance(parts, list) or not 0 < len(parts) <= decisions.MOST_PAIRS:
        raise Refused(400, "decisions is not a list of decisions.")
    checked = [_decision(one) for one in parts]
    stored: dict[int, tuple[str, str]] = {}
    for pairs, same in checked:
        stored |= decisions.decide(services(), project, pairs, same=same, who=who, task=task)
    body = {"decided": len(stored), "ids": list(stored), "pairs": list(stored.values())}
    return allow_label_studio(responses.data(body, status=201))


def _decision(given: Any) -> tuple[list[tuple[str, str]], bool]:
    """The pairs of a decision, and whether they are the same."""
    pairs = given.get("pairs") if isinstance(given, Mapping) else None
    if (
        not isinstance(pairs, list)
        or not 0 < len(pairs) <= decisions.MOST_PAIRS
        or not all(
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(text, str) and 0 < len(text) <= decisions.LONGEST for text in pair)
            for pair in pairs
        )
    ):
        raise Refused(400, "pairs is not a list of pairs of texts.")
    if given.get("verdict") not in ("same", "different"):
        raise Refused(400, "verdict is neither same nor different.")
    return [(a, b) for a, b in pairs], given["verdict"] == "same"


@panel.get("/api/decisions")
def list_decisions() -> Response:
    """The current decisions of a project, oldest first; with ``log=1`` all decisions and withdrawals."""
    project = current_project()
    store = services().store
    rows = store.decision_log(project["id"]) if request.args.get("log") == "1" else store.decisions(project["id"])
    listed = [
        {
            "id": row["id"],
            "task": row["task"],
            "texts": [row["text_a"], row["text_b"]],
            "verdict": "withdrawn" if row["withdrawn"] else "same" if row["same"] else "different",
            "who": row["reviewer"],
            "user": row["reviewer_id"] or None,
            "known_by": row["known_by"] or None,
            "when": moment(row["decided_at"]),
        }
        for row in rows
    ]
    return responses.data({"decisions": listed})


@panel.delete("/api/decisions/<int:number>")
def undo(number: int) -> Response:
    """Undo a decision."""
    project = current_project()
    if not decisions.undo(services(), project, number, who=current_reviewer()):
        raise Refused(404, "This decision was already withdrawn.")
    return allow_label_studio(responses.data({"undone": number}))


def preflight(**_: int) -> Response:
    """Allow requests from Label Studio's pages (the Enterprise plugin) and from no other site."""
    return allow_label_studio(Response(status=204))


def allow_preflights(blueprint: Blueprint, *rules: str) -> None:
    """Have the routes answer what browsers ask before a request from another site."""
    for rule in rules:
        blueprint.add_url_rule(rule, view_func=preflight, methods=["OPTIONS"])


def refused_as_json(error: Refused) -> Response:
    """The sentence, as the panel reads it."""
    return allow_label_studio(responses.data({"error": error.sentence}, status=error.status))


def allow_label_studio(response: Response) -> Response:
    """Let scripts on Label Studio's pages read the response."""
    asked = request.headers.get("Origin")
    number = request.args.get("project", type=int)
    if asked and asked in label_studio_places(find_project(number) if number else None):
        response.headers["Access-Control-Allow-Origin"] = asked
        response.headers["Access-Control-Allow-Credentials"] = "true"  # its session identifies the person
        response.headers["Access-Control-Allow-Headers"] = f"{KEY_HEADER}, Content-Type, If-None-Match"
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, DELETE"
        response.headers["Access-Control-Expose-Headers"] = "ETag"
        response.headers["Access-Control-Max-Age"] = "600"
    response.vary.add("Origin")
    return response


allow_preflights(panel, "/api/panel", "/api/decisions", "/api/decisions/<int:number>")

"""The agreement panel: its page, its data, and reviewers' decisions."""

import time
from typing import Any

from flask import Blueprint, Response, current_app, redirect, request, send_from_directory

from ml_backend.access import Person
from ml_backend.report.queue import told
from ml_backend.review.consensus import agreed_of_task
from ml_backend.review.panel_payload import moment, not_ready, payload
from ml_backend.review.triage_queue import mark_state
from ml_backend.settings import effective
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web import decisions, visitors
from ml_backend.web.assets import plugin_dir, version_of
from ml_backend.web.callers import Refused, json_body, project_number, services
from ml_backend.web.pages import message
from softirr.tables.table import SKIPPED

panel = Blueprint("panel", __name__)
A_YEAR = 365 * 24 * 3600
ANSWER_FIRST = "Agreement is shown once your own answer to this task is in."
NOBODY = {
    "status": "blind",
    "message": f"Agreement is shown to people of this project: {visitors.HOW_TO_BE_KNOWN}",
    "raters": [],
}
MODULES = ("panel", "render", "texts", "pieces", "keys")


@panel.errorhandler(Refused)
def refused(error: Refused) -> Response:
    """The sentence, in the shape that the panel shows; as a page where the panel's page was asked for."""
    if request.endpoint == "panel.page":
        response = visitors.page(
            message("Agreement", error.sentence, up=""), label_studio=visitors.label_studio_places(None)
        )
        response.status_code = error.status
        return response
    body = {"status": "unavailable", "message": error.sentence, "error": error.sentence}
    return allow_label_studio(visitors.data(body, status=error.status))


@panel.get("/panel")
def page() -> Response:
    """The page in the frame, without data: its script requests them."""
    row = visitors.project_of_key(request.args.get("k"))
    visitors.check_source(row)
    files = f"panel/static/{version_of(plugin_dir() / 'panel')}"
    text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Agreement</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="{files}/page.css"><link rel="stylesheet" href="{files}/panel.css">
{"".join(f'<link rel="modulepreload" href="{files}/{name}.js">' for name in MODULES)}
<script type="module" src="{files}/page.js"></script></head>
<body><main id="panel" data-backend="."><noscript>The agreement panel needs JavaScript.</noscript></main></body></html>"""
    return visitors.page(text, label_studio=visitors.label_studio_places(row))


@panel.get("/enter/<int:number>")
def come_in(number: int) -> Response:
    """Open a personal link, which identifies the browser for later requests."""
    project = visitors.find_project(number)
    token, now = request.args.get("t"), time.time()
    generation = project["key_round"] if project is not None else 0
    who = visitors.links().read(token, number, generation=generation, now=now)
    if project is None or who is None or token is None:
        return visitors.refusal(
            Refused(403, "This personal link is over or was made for another project: ask for a new one.")
        )
    if who.at_least("reviewer"):
        response = current_app.make_response(redirect(f"../report/{number}"))
    else:
        response = visitors.page(
            message("Welcome", f"This browser is known as {who.name} now. Go on in Label Studio.", up="../")
        )
    visitors.remember_person(response, project, token, visitors.links().seconds_left(token, now))
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


@panel.get("/api/panel", provide_automatic_options=False)
def panel_data() -> Response:
    """The content of the panel for one task."""
    number = project_number(request.args.get("project"))
    project = visitors.enter(number, "panel")
    who = visitors.visitor(project)
    body = NOBODY | {"project": {"id": number}} if who is None else _payload(project, who)
    return allow_label_studio(visitors.data(body, etag=True))


def _payload(project: Row, who: Person) -> dict[str, Any]:
    """The content for this person; the address only selects the task and grants no access."""
    store = services().store
    chosen = effective(services().settings, connection=project["extra_params"], chosen=project["chosen"]).values
    labeling = request.args.get("labeling") == "1"
    base = {"project": {"id": project["number"], "title": project["title"]}, "raters": []}
    number = request.args.get("task", type=int)
    if number is None:
        if labeling:
            return not_ready(project, None, chosen, labeling=True, job=None) or base
        return base | {"status": "none", "message": "Open a task from the Data Manager to see its agreement."}
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
            "can_take": reviews and who.known_by == "session",
            "can_mark": reviews,
            "name": who.name,
            "role": who.role,
        },
        calibrated=_calibrated(project),
        threshold=chosen.threshold,
        audited=lambda control: ReviewStore(store).audited(project["id"], control),
        agreed=agreed_of_task(store, project, task),
        uncounted=ReviewStore(store).uncounted(project["id"]) if reviews else (),
        # relative, because only the browser knows a proxy's path prefix
        links={"report": f"report/{project['number']}"} if reviews else {},
    )
    body |= {"review": _review(project, task)}
    return body | {"message": "Being computed again …"} if again else body


def _review(project: Row, task: Row) -> dict[str, Any]:
    """Whether the task is done or was sent back to its annotators, by whom and with which note."""
    mark = ReviewStore(services().store).mark(project["id"], task["number"])
    state = mark_state(mark, task["answers_hash"])
    return {"state": state or "open", **((told(mark) or {}) if state else {})}


def _has_answered(who: Person, task: Row | None) -> bool:
    """Whether the person has answered or skipped the task; before that, other people's answers would influence them."""
    return task is not None and any(
        who.user in entry["answers"]
        or any((str(rater), reason) == (who.user, SKIPPED) for rater, reason in entry.get("excluded", ()))
        for entry in task["answers"].values()
    )


def _calibrated(project: Row) -> int | None:
    kept = ReviewStore(services().store).calibration(project["id"])
    return kept["report"]["pairs"] if kept is not None and kept["report"] is not None else None


@panel.post("/api/decisions", provide_automatic_options=False)
def decide() -> Response:
    """A reviewer says that texts mean the same, or not: ``{"project", "task", "pairs": [[a, b]], "verdict"}``."""
    body = json_body()
    project = visitors.enter(project_number(body.get("project")), "panel")
    who = visitors.reviewer(project)
    pairs = body.get("pairs")
    if (
        not isinstance(pairs, list)
        or not 0 < len(pairs) <= decisions.MOST_PAIRS
        or not all(
            isinstance(p, list)
            and len(p) == 2
            and all(isinstance(t, str) and 0 < len(t) <= decisions.LONGEST for t in p)
            for p in pairs
        )
    ):
        raise Refused(400, "pairs is not a list of pairs of texts.")
    if body.get("verdict") not in ("same", "different"):
        raise Refused(400, "verdict is neither same nor different.")
    task = visitors.whole_number(body["task"], "task") if body.get("task") is not None else None
    n = decisions.decide(
        services(),
        project,
        [(a, b) for a, b in pairs],
        same=body["verdict"] == "same",
        who=who,
        task=task,
    )
    return allow_label_studio(visitors.data({"decided": n}, status=201))


@panel.get("/api/decisions", provide_automatic_options=False)
def list_decisions() -> Response:
    """The current decisions of a project, oldest first; with ``log=1`` all decisions and withdrawals."""
    project = visitors.enter(project_number(request.args.get("project")), "report")
    store = services().store
    rows = store.decision_log(project["id"]) if request.args.get("log") == "1" else store.decisions(project["id"])
    found = [
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
    return visitors.data({"decisions": found})


@panel.delete("/api/decisions/<int:number>", provide_automatic_options=False)
def undo(number: int) -> Response:
    """Undo a decision."""
    project = visitors.enter(project_number(request.args.get("project")), "panel")
    if not decisions.undo(services(), project, number, who=visitors.reviewer(project)):
        raise Refused(404, "This decision was taken back already.")
    return allow_label_studio(visitors.data({"undone": number}))


@panel.route("/api/panel", methods=["OPTIONS"])
@panel.route("/api/decisions", methods=["OPTIONS"])
@panel.route("/api/decisions/<int:number>", methods=["OPTIONS"])
def preflight(number: int | None = None) -> Response:
    """Allow requests from Label Studio's pages (the Enterprise plugin) and from no other site."""
    return allow_label_studio(Response(status=204))


def allow_label_studio(response: Response) -> Response:
    """Let scripts on Label Studio's pages read the response."""
    asked = request.headers.get("Origin")
    number = request.args.get("project", type=int)
    if asked and asked in visitors.label_studio_places(visitors.find_project(number) if number else None):
        response.headers["Access-Control-Allow-Origin"] = asked
        response.headers["Access-Control-Allow-Credentials"] = "true"  # its session identifies the person
        response.headers["Access-Control-Allow-Headers"] = f"{visitors.KEY_HEADER}, Content-Type, If-None-Match"
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, DELETE"
        response.headers["Access-Control-Expose-Headers"] = "ETag"
        response.headers["Access-Control-Max-Age"] = "600"
    response.vary.add("Origin")
    return response

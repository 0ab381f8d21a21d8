"""The agreement panel: its page, its data, and reviewers' decisions."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, current_app, redirect, render_template, request, send_from_directory

from ml_backend.auth.browser_auth import HOW_TO_BE_KNOWN, KEY_HEADER, PERSON_COOKIE, require_link
from ml_backend.auth.origins import label_studio_origins
from ml_backend.auth.requests import Refused, find_project, json_body
from ml_backend.auth.routes import current_person, current_project, current_reviewer
from ml_backend.auth.session_users import keep_cookie
from ml_backend.labelstudio.snippet import plugin_dir
from ml_backend.store.schema import projects, tasks
from ml_backend.store.store import Row
from ml_backend.web import arguments, responses
from ml_backend.web.pages import message, version_of
from ml_backend.web.panel_state import CAUSES, HIDDEN, PanelState
from ml_backend.web.responses import moment
from ml_backend.web.running import services, settings_of
from softirr.text import normalize

panel = Blueprint("panel", __name__)
MOST_PAIRS = 64  # of one request: a match of ten annotators has 45
LONGEST = 20_000
A_YEAR = 365 * 24 * 3600
NOBODY = {"status": "unknown", "message": f"Agreement is shown to reviewers of this project: {HOW_TO_BE_KNOWN}"}
MODULES = tuple(sorted(path.stem for path in (plugin_dir() / "panel").glob("*.js") if path.stem != "page"))


@panel.errorhandler(Refused)
def refused(error: Refused) -> Response:
    """Return the sentence as the panel reads it, or as a page if the request was for the panel's page."""
    if request.endpoint == "panel.page":
        response = responses.page(message("Agreement", error.sentence, up=""), label_studio=label_studio_origins(None))
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
    return responses.page(text, label_studio=label_studio_origins(current_project()))


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
    keep_cookie(project, PERSON_COOKIE, request.args["t"], response, seconds=int(seconds))
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
    """The content of the panel of a task; the address only selects the task and grants no access."""
    project = current_project()
    who = current_person()
    labeling = request.args.get("labeling") == "1"
    if who is None:
        body = {"project": {"id": project["number"]}, **(HIDDEN if labeling else NOBODY)}
    else:
        state = PanelState(services(), project, settings_of(project), who)
        body = state.content(request.args.get("task", type=int), labeling=labeling)
    return allow_label_studio(responses.data(body, etag=True))


@panel.post("/api/decisions")
def decide() -> Response:
    """Decide whether texts mean the same: ``{"project", "task", "pairs": [[a, b]], "verdict", "cause"}``.

    ``verdict`` is ``same``, ``different``, or ``none`` to withdraw the decision; ``cause`` is one of `CAUSES` or null.
    """
    body, project = json_body(), current_project()
    who = current_reviewer()
    task = arguments.whole_number(body["task"], "task") if body.get("task") is not None else None
    pairs = _pairs(body.get("pairs"))
    verdict, cause = body.get("verdict"), body.get("cause")
    if verdict not in ("same", "different", "none"):
        raise Refused(400, "verdict is none of same, different, none.")
    if cause not in (None, *CAUSES):
        raise Refused(400, f"cause is none of {', '.join(CAUSES)}.")
    store = services().store
    if verdict == "none":
        pairs = [pair for pair in pairs if store.undecide(project["id"], *pair, **who.signature)]
    else:
        for a, b in pairs:
            store.decide(project["id"], a, b, same=verdict == "same", task=task, cause=cause, **who.signature)
    _rescore(project, pairs)
    return allow_label_studio(responses.data({"decided": len(pairs)}, status=201))


def _pairs(pairs: Any) -> list[tuple[str, str]]:
    if (
        not isinstance(pairs, list)
        or not 0 < len(pairs) <= MOST_PAIRS
        or not all(
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(text, str) and 0 < len(text) <= LONGEST for text in pair)
            for pair in pairs
        )
    ):
        raise Refused(400, "pairs is not a list of pairs of texts.")
    ordered = (sorted((normalize(a), normalize(b))) for a, b in pairs)
    return sorted({(a, b) for a, b in ordered if a and b and a != b})


def _rescore(project: Row, pairs: Sequence[tuple[str, str]]) -> None:
    """Mark the tasks with both texts of a pair for scoring, and request the project's coefficients.

    Details have the texts as they were compared, which decisions are about; raw answers have them before splitting.
    """
    store = services().store
    column = sa.cast(tasks.c.details, sa.Text)
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        for a, b in pairs:
            holds = [column.contains(json.dumps(text), autoescape=True) for text in (a, b)]
            connection.execute(
                sa.update(tasks).where(tasks.c.project == project["id"], *holds).values(scored_hash=None)
            )
        connection.execute(sa.update(projects).where(projects.c.id == project["id"]).values(summary_stale=True))
    store.want(project["id"])


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
            "cause": row.get("cause"),
            "who": row["reviewer"],
            "user": row["reviewer_id"] or None,
            "known_by": row["known_by"] or None,
            "when": moment(row["decided_at"]),
        }
        for row in rows
    ]
    return responses.data({"decisions": listed})


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
    page_origin = request.headers.get("Origin")
    number = request.args.get("project", type=int)
    if page_origin and page_origin in label_studio_origins(find_project(number) if number else None):
        response.headers["Access-Control-Allow-Origin"] = page_origin
        response.headers["Access-Control-Allow-Credentials"] = "true"  # its session identifies the person
        response.headers["Access-Control-Allow-Headers"] = f"{KEY_HEADER}, Content-Type, If-None-Match"
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, DELETE"
        response.headers["Access-Control-Expose-Headers"] = "ETag"
        response.headers["Access-Control-Max-Age"] = "600"
    response.vary.add("Origin")
    return response


allow_preflights(panel, "/api/panel", "/api/decisions")

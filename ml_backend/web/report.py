"""The project's report, its files, and the triage queue."""

import csv
import io
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, current_app, request, send_from_directory

from ml_backend.auth.browser_auth import key_of, remember_given_key
from ml_backend.auth.origins import label_studio_home
from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_person, current_project
from ml_backend.options import checked_options
from ml_backend.report import policies
from ml_backend.report.codes import code_table
from ml_backend.report.data import QUEUE, Reports
from ml_backend.report.links import Links
from ml_backend.report.queue import told
from ml_backend.report.tables import TABLES, facts, table
from ml_backend.review.misfits import misfits_of
from ml_backend.review.panel_payload import job_view
from ml_backend.review.release import is_released
from ml_backend.review.triage_queue import mark_state
from ml_backend.scoring.measures import needs_model
from ml_backend.services import INDEXES
from ml_backend.settings import ProjectSettings, effective
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web import arguments, pages, responses
from ml_backend.web.assets import SHARED, page_files_version, static_dir
from ml_backend.web.panel import allow_label_studio
from ml_backend.web.running import services
from softirr.errors import InputError
from softirr.policy.attributes import KIND_NAMES
from softirr.policy.reasons import REASONS
from softirr.policy.rules import MORE_GENERAL
from softirr.report.page.render import STATIC
from softirr.tables.cells import plain_cell

report = Blueprint("report", __name__)
report.register_error_handler(Refused, responses.refusal)
log = logging.getLogger(__name__)
CODES = "codes"
"""The CSV file of projects with terminologies."""
A_YEAR = 365 * 24 * 3600
MOST_QUEUE = 1000
LONGEST_NOTE = 2000
_TAB = re.compile(r"[A-Za-z0-9_-]{1,2000}")  # a saved tab's id, or a tab whose filters are in the address


@report.get("/report/<int:number>")
def show(number: int) -> Response:
    """The report as a page."""
    project = current_project()
    days, by = _days(), request.args.get("by")
    found = reports().get(project, request.args.get("control"), links_of(project), by=by, days=days)
    if found is None:
        return responses.page(pages.waiting(project, job_of(project)))
    found = _with_policies(project, found)
    who = current_person()
    reason = _reason()
    if reason is not None:
        field, whole = (
            reports().queue(project, links_of(project), name, days=days) for name in (found["control"], None)
        )
        found = {**found, "queue": whole.view(0, QUEUE, only=field.tasks_with_reason(reason))}
    text = pages.served(
        found,
        reason=reason,
        known_as=who.name if who is not None else "",
        version=reports().version(project),
        marks=reports().marks(project),
        query=urlencode({"control": found["control"], **({"by": by} if by else {}), **_given(days)}),
        lead=who is not None and who.at_least("lead"),
        tables=_tables(found),
        facts=facts(found),
        measures=measures_of(project, found),
        attributes=KIND_NAMES,
        more_general=MORE_GENERAL,
        used=_chosen(project).policy,
    )
    response = responses.page(text)
    remember_given_key(response, project, "report")
    return response


@report.get("/report/<int:number>/<name>")
def download(number: int, name: str) -> Response:
    """The report as one HTML file, as JSON, or a part of it as CSV."""
    project = current_project()
    stem, _, kind = name.rpartition(".")
    known = (stem == "report" and kind in ("html", "json")) or (kind == "csv" and stem in (*TABLES, CODES))
    if not known:
        raise Refused(
            404,
            f"There is no {name[:80]}; there are report.html, report.json and {', '.join((*TABLES, CODES))} as .csv.",
        )
    days = _days()
    found = reports().get(project, request.args.get("control"), links_of(project), by=request.args.get("by"), days=days)
    if found is None:
        raise Refused(409, "The project has not been scored yet.")
    found = _with_policies(project, found)
    misfits = misfits_of(project, found["control"])
    if kind == "json":
        response = responses.data(found)
    elif kind == "html":
        response = responses.page(pages.one_file(found, facts=facts(found)))
    elif stem == CODES:
        response = csv_response(_codes(project, found), warnings=misfits)
    else:
        queue = reports().queue(project, links_of(project), days=days).view() if stem == "tasks" else None
        response = csv_response(table(stem, found, queue=queue), warnings=misfits)
    file = f"agreement-{number}.{kind}" if stem == "report" else f"agreement-{number}-{stem}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


def _tables(found: Mapping[str, Any]) -> tuple[str, ...]:
    """The CSV files of a report: codes where the project has terminologies."""
    return (*TABLES, CODES) if found["codes"] else TABLES


def _codes(project: Row, found: Mapping[str, Any]) -> list[list[Any]]:
    """The codes of each task, looked up in the project's terminologies."""
    own = services()
    chosen = _chosen(project)
    if not chosen.terminologies:
        raise Refused(404, "The project has no terminology, so its texts have no codes.")
    try:
        rows = code_table(
            own.store, project["id"], found["control"], chosen, found["names"], own.settings.data / INDEXES
        )
        return list(rows)
    except InputError as error:  # the message names the operator's folders
        log.warning("project %d: no codes: %s", project["number"], error)
        raise Refused(503, "A terminology of the project can't be read; the backend's log says why.") from None


@report.get("/report/static/<version>/<path:name>")
def files(version: str, name: str) -> Response:
    """Scripts and styles of the pages; they hold no data, and their address changes with their content."""
    folder = STATIC if name in SHARED else static_dir()
    response = send_from_directory(folder, name, max_age=A_YEAR if version == page_files_version() else 0)
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@report.get("/api/report")
def report_data() -> Response:
    """The report as JSON; 304 without a body if it is unchanged."""
    project = current_project()
    found = reports().get(
        project, request.args.get("control"), links_of(project), by=request.args.get("by"), days=_days()
    )
    if found is None:
        raise Refused(409, "The project has not been scored yet.")
    return responses.data(_with_policies(project, found), etag=True)


@report.post("/api/report/condition")
def condition() -> Response:
    """The lead chooses what the report groups tasks by: ``{"project", "condition"}``, null for none."""
    body, project = json_body(), current_project()
    chosen = body.get("condition")
    found = reports().get(project, None, links_of(project))
    if chosen is not None and chosen not in (found["dimensions"] if found else ()):
        raise Refused(404, "The tasks can’t be grouped by this.")
    kept = {name: value for name, value in project["chosen"].items() if name != "condition"}
    services().store.update_project(project["id"], chosen=kept | ({"condition": chosen} if chosen else {}))
    return responses.data({"condition": chosen})


@report.post("/api/report/target")
def target() -> Response:
    """The lead sets what the headline is to reach: ``{"project", "target"}``, null for none."""
    body, project = json_body(), current_project()
    try:
        target = checked_options({"target": body.get("target")}, source="The request")["target"]
    except InputError as error:
        raise Refused(400, str(error)) from None
    kept = {name: value for name, value in project["chosen"].items() if name != "target"}
    services().store.update_project(project["id"], chosen=kept if target is None else kept | {"target": target})
    return responses.data({"target": target})


@report.post("/api/report/link")
def link() -> Response:
    """The report's key for a lead who wants to share it: ``{"project"}``."""
    project = current_project()
    return responses.data({"key": key_of(project, "report")})


@report.get("/api/report/state")
def state() -> Response:
    """The version of the results, and the running work, for pages that wait for news."""
    project = current_project()
    job = job_of(project)
    working = project["wanted_at"] is not None or (job is not None and job["state"] in ("queued", "running"))
    names = {"version": reports().version(project), "marks": reports().marks(project)}
    return responses.data({**names, "working": working, "job": job_view(job)})


@report.get("/api/queue")
def queue() -> Response:
    """Tasks in the order in which a review helps most.

    Arguments: ``project``, ``limit``, ``offset``, ``done`` (0 or 1), ``reason`` (only tasks with this reason), ``sort``
    (``reason``).
    """
    project = current_project()
    found = reports().queue(project, links_of(project))
    wanted = {"0": False, "1": True}.get(request.args.get("done", ""))
    reason = _reason()
    total = {None: found.n_open + found.n_done, True: found.n_done, False: found.n_open}[wanted]
    if reason is not None:
        total = found.with_reason(reason, done=wanted)
    limit = min(MOST_QUEUE, max(0, request.args.get("limit", 100, type=int)))
    start = max(0, request.args.get("offset", 0, type=int))
    return responses.data(
        {
            "total": total,
            "offset": start,
            "tasks": found.view(start, start + limit, done=wanted, reason=reason, sort=_sort()),
        }
    )


@report.post("/api/queue")
def mark() -> Response:
    """A person looked at a task, or sends it back: ``{"project", "task", "who", "state", "note"}``.

    The mark lapses when the answers change.
    """
    body, project = json_body(), current_project()
    number = arguments.whole_number(body.get("task"), "task")
    task = services().store.get_tasks(project["id"], [number]).get(number)
    if task is None:
        raise Refused(404, f"Task {number} is not in this project.")
    who, note = arguments.acting_name(body), body.get("note", "")
    if body.get("state", "done") not in ("done", "sent back"):
        raise Refused(400, "state is neither done nor sent back.")
    if body.get("state") == "sent back":
        if not isinstance(note, str) or not note.strip() or len(note) > LONGEST_NOTE:
            raise Refused(
                400, f"note is not a text of up to {LONGEST_NOTE} characters: say what the annotators are to do."
            )
        reviews().send_back(project["id"], number, answers_hash=task["answers_hash"], reviewer=who, note=note.strip())
    else:
        reviews().mark_done(project["id"], number, answers_hash=task["answers_hash"], reviewer=who)
    _show_mark(project)
    _release(project, task)
    mark = reviews().mark(project["id"], number)
    state = mark_state(mark, task["answers_hash"])
    said = {name: told(mark) if state == name.replace("_", " ") else None for name in ("done", "sent_back")}
    return allow_label_studio(responses.data({"task": number, **said, **_left(project)}, status=201))


@report.get("/api/queue/next")
def next_task() -> Response:
    """The next task of the queue after one, with its address.

    ``project``, ``task``, and as for the queue ``reason``, ``sort``; ``tab`` stays in the address.
    """
    project = current_project()
    here = request.args.get("task") or None
    tab = request.args.get("tab", "")
    found = reports().queue(project, links_of(project))
    return allow_label_studio(
        responses.data(
            found.after(
                arguments.whole_number(here, "task") if here is not None else None,
                reason=_reason(),
                sort=_sort(),
                tab=tab if _TAB.fullmatch(tab) else None,
            )
        )
    )


@report.route("/api/queue", methods=["OPTIONS"])
@report.route("/api/queue/next", methods=["OPTIONS"])
@report.route("/api/queue/<int:task>", methods=["OPTIONS"])
def preflight(task: int | None = None) -> Response:
    """Allow requests from Label Studio's pages (the Enterprise plugin) and from no other site."""
    return allow_label_studio(Response(status=204))


@report.delete("/api/queue/<int:task>")
def unmark(task: int) -> Response:
    """Remove the mark; a task without one stays as it is, because a key may be pressed twice."""
    project = current_project()
    if reviews().unmark(project["id"], task):
        _show_mark(project)
    task_row = services().store.get_tasks(project["id"], [task]).get(task)
    if task_row is not None:
        _release(project, task_row)
    return allow_label_studio(responses.data({"task": task, "done": None, "sent_back": None, **_left(project)}))


def _show_mark(project: Row) -> None:
    """Have the triage tab's columns written again, where the project has them."""
    if effective(
        services().settings, connection=project["extra_params"], chosen=project["chosen"]
    ).values.triage_columns:
        services().wakeups.want(project["id"], "mark")


def _release(project: Row, task: Row) -> None:
    """Have the prediction of a task that waits for answers written, or taken back: that is up to the mark."""
    if not is_released(_chosen(project), project["required"], task["n_annotations"], task["answers"]):
        services().store.forget_scores_of(project["id"], [task["number"]])
        services().wakeups.want(project["id"], "mark")


def _days() -> tuple[str, str]:
    """First and last day of the arguments ``from`` and ``to``, checked."""
    found = tuple(request.args.get(name, "").strip() for name in ("from", "to"))
    for day in filter(None, found):
        try:
            date.fromisoformat(day)
        except ValueError:
            raise Refused(400, f"{day[:40]} is not a date such as 2026-11-20.") from None
    first, last = found
    if first and last and first > last:
        raise Refused(400, "The first day is after the last one.")
    return first, last


def _given(days: tuple[str, str]) -> dict[str, str]:
    return {name: day for name, day in zip(("from", "to"), days, strict=True) if day}


def _reason() -> str | None:
    """The reason that tasks are filtered by, checked."""
    reason = request.args.get("reason") or None
    if reason is not None and reason not in REASONS:
        raise Refused(400, f"There is no reason {reason[:40]}; there are {', '.join(REASONS)}.")
    return reason


def _sort() -> str | None:
    """The order that is asked for, checked."""
    if request.args.get("sort") not in (None, "reason"):
        raise Refused(400, "The queue is sorted by priority, or with sort=reason.")
    return request.args.get("sort")


def _left(project: Row) -> dict[str, Any]:
    """The counts of the queue that a page shows after a mark."""
    found = reports().queue(project, links_of(project))
    return {
        "marks": reports().marks(project),
        "queue": {"low": found.n_low, "done": found.n_done, "sent_back": found.n_sent_back},
    }


# --- of the running app ---------------------------------------------------------------------------------------------


def reports() -> Reports:
    """Builds reports and keeps the last few."""
    return current_app.extensions.setdefault("softirr-reports", Reports(services().store))


def reviews() -> ReviewStore:
    """Marks and audits."""
    return ReviewStore(services().store)


def links_of(project: Row) -> Links:
    """Addresses in Label Studio."""
    return Links(label_studio_home(), project["number"], triage=project["connection"].get("view"))


def job_of(project: Row) -> Row | None:
    """The project's newest job."""
    return next(iter(services().store.jobs(project["id"], limit=1)), None)


def _chosen(project: Row) -> ProjectSettings:
    """The settings that hold in the project."""
    return effective(services().settings, connection=project["extra_params"], chosen=project["chosen"]).values


def _with_policies(project: Row, found: Mapping[str, Any]) -> dict[str, Any]:
    """The report with the look at what counts as the same, where the lead asked for one."""
    chosen = _chosen(project)
    links, store = links_of(project), services().store
    used = chosen.policy.told() if chosen.policy.changes_scores else "texts as written"
    look = policies.view(store, project, found["control"], chosen, links.task)
    reasons = found["reasons"]
    if reasons:
        reasons = {**reasons, "proposed": policies.with_policy(reasons["proposed"], chosen.policy, look)}
    return {**found, "reasons": reasons, "policy_in_use": used, "policies": look}


def measures_of(project: Row, found: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Measures that can be compared: those without a model or file, and those that the operator allows by name."""
    from softirr.measures import measure_names

    settings, chosen = services().settings, _chosen(project)
    names = dict.fromkeys((*measure_names(), *settings.allowed_measures))
    entries = {name: needs_model(name) for name in names if settings.allows_measure(name)}
    entries.pop(chosen.measure, None)
    before = {row["measure"] for row in ((found or {}).get("comparison") or {}).get("rows", ())}
    return [{"name": name, "needs_model": needs, "checked": name in before} for name, needs in entries.items()]


def csv_response(rows: Iterable[Iterable[Any]], *, warnings: Sequence[str] = (), for_people: bool = True) -> Response:
    """Rows as a CSV file, the header first, in which no text can become a formula.

    Parameters
    ----------
    warnings : sequence of str
        A last column with these, since whoever opens the file has not seen the page.
    for_people : bool
        Start with a byte order mark, by which spreadsheets recognize UTF-8.
    """
    last = [" ".join(warnings)] if warnings else []
    text = io.StringIO()
    writer = csv.writer(text)
    for at, row in enumerate(rows):
        writer.writerow([*(plain_cell(value) for value in row), *(last if at else ["warning"] * len(last))])
    response = current_app.make_response(("\ufeff" if for_people else "") + text.getvalue())
    response.headers["Content-Type"] = "text/csv; charset=utf-8"
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response

"""The project's report, its files, and the triage queue."""

import logging
from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request, send_from_directory

from ml_backend.auth.browser_auth import key_of
from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_person, current_project
from ml_backend.options import checked_options
from ml_backend.report import policies
from ml_backend.report.codes import code_table
from ml_backend.report.data import QUEUE
from ml_backend.report.tables import TABLES, facts, table
from ml_backend.review.misfits import misfits_of
from ml_backend.review.panel_payload import job_view
from ml_backend.scoring.measures import needs_model
from ml_backend.services import INDEXES
from ml_backend.store.store import Row
from ml_backend.web import arguments, pages, responses
from ml_backend.web.assets import SHARED, page_files_version, static_dir
from ml_backend.web.queue import filter_reason
from ml_backend.web.running import job_of, links_of, reports, services, settings_of
from softirr.errors import InputError
from softirr.meaning.policy.attributes import KIND_NAMES
from softirr.meaning.policy.rules import MORE_GENERAL
from softirr.report.page.render import STATIC

report = Blueprint("report", __name__)
report.register_error_handler(Refused, responses.refusal)
log = logging.getLogger(__name__)
CODES = "codes"
"""The CSV file of projects with terminologies."""
A_YEAR = 365 * 24 * 3600


@report.get("/report/<int:number>")
def show(number: int) -> Response:
    """The report as a page."""
    project = current_project()
    days, by = _days(), request.args.get("by")
    content = _asked(project)
    if content is None:
        return responses.page(pages.waiting(project, job_of(project)))
    who = current_person()
    reason = filter_reason()
    if reason is not None:
        field, whole = (
            reports().queue(project, links_of(project), name, days=days) for name in (content["control"], None)
        )
        content = {**content, "queue": whole.view(0, QUEUE, only=field.tasks_with_reason(reason))}
    text = pages.served(
        content,
        reason=reason,
        known_as=who.name if who is not None else "",
        version=reports().version(project),
        marks=reports().marks(project),
        query=urlencode({"control": content["control"], **({"by": by} if by else {}), **_given(days)}),
        lead=who is not None and who.at_least("lead"),
        tables=_tables(content),
        facts=facts(content),
        measures=measures_of(project, content),
        attributes=KIND_NAMES,
        more_general=MORE_GENERAL,
        used=settings_of(project).policy,
    )
    return responses.shown(project, text)


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
    content = _scored(project)
    misfits = misfits_of(project, content["control"])
    if kind == "json":
        response = responses.data(content)
    elif kind == "html":
        response = responses.page(pages.one_file(content, facts=facts(content)))
    elif stem == CODES:
        response = responses.csv_file(_codes(project, content), warnings=misfits)
    else:
        queue = reports().queue(project, links_of(project), days=_days()).view() if stem == "tasks" else None
        response = responses.csv_file(table(stem, content, queue=queue), warnings=misfits)
    file = f"agreement-{number}.{kind}" if stem == "report" else f"agreement-{number}-{stem}.csv"
    return responses.attachment(response, file)


def _tables(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The CSV files of a report: codes where the project has terminologies."""
    return (*TABLES, CODES) if content["codes"] else TABLES


def _codes(project: Row, content: Mapping[str, Any]) -> list[list[Any]]:
    """The codes of each task, looked up in the project's terminologies."""
    own = services()
    chosen = settings_of(project)
    if not chosen.terminologies:
        raise Refused(404, "The project has no terminology, so its texts have no codes.")
    try:
        rows = code_table(
            own.store, project["id"], content["control"], chosen, content["names"], own.settings.data / INDEXES
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
    return responses.data(_scored(current_project()), etag=True)


@report.post("/api/report/condition")
def condition() -> Response:
    """The lead chooses what the report groups tasks by: ``{"project", "condition"}``, null for none."""
    body, project = json_body(), current_project()
    chosen = body.get("condition")
    content = reports().get(project, None, links_of(project))
    if chosen is not None and chosen not in (content["dimensions"] if content else ()):
        raise Refused(404, "The tasks can’t be grouped by this.")
    return _choose(project, "condition", chosen or None)


@report.post("/api/report/target")
def target() -> Response:
    """The lead sets what the headline is to reach: ``{"project", "target"}``, null for none."""
    body, project = json_body(), current_project()
    try:
        target = checked_options({"target": body.get("target")}, source="The request")["target"]
    except InputError as error:
        raise Refused(400, str(error)) from None
    return _choose(project, "target", target)


def _choose(project: Row, name: str, value: Any) -> Response:
    """Set an option of the project; None takes it away."""
    kept = {one: old for one, old in project["chosen"].items() if one != name}
    services().store.update_project(project["id"], chosen=kept if value is None else kept | {name: value})
    return responses.data({name: value})


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


def _days() -> tuple[str, str]:
    """First and last day of the arguments ``from`` and ``to``, checked."""
    days = tuple(request.args.get(name, "").strip() for name in ("from", "to"))
    for day in filter(None, days):
        try:
            date.fromisoformat(day)
        except ValueError:
            raise Refused(400, f"{day[:40]} is not a date such as 2026-11-20.") from None
    first, last = days
    if first and last and first > last:
        raise Refused(400, "The first day is after the last one.")
    return first, last


def _given(days: tuple[str, str]) -> dict[str, str]:
    return {name: day for name, day in zip(("from", "to"), days, strict=True) if day}


def _asked(project: Row) -> dict[str, Any] | None:
    """The report that the arguments ask for, with the look at what counts as the same, where the lead asked to see it.

    None while the project has not been scored.
    """
    control, by = request.args.get("control"), request.args.get("by")
    if control is not None and control not in ((project["summary"] or {}).get("controls") or {control}):
        raise Refused(404, arguments.NO_SUCH_FIELD)
    content = reports().get(project, control, links_of(project), by=by, days=_days())
    if content is None:
        return None
    chosen = settings_of(project)
    links, store = links_of(project), services().store
    used = chosen.policy.describe() if chosen.policy.changes_scores else "texts as written"
    look = policies.view(store, project, content["control"], chosen, links.task)
    reasons = content["reasons"]
    if reasons:
        reasons = {**reasons, "proposed": policies.with_policy(reasons["proposed"], chosen.policy, look)}
    return {**content, "reasons": reasons, "policy_in_use": used, "policies": look}


def _scored(project: Row) -> dict[str, Any]:
    content = _asked(project)
    if content is None:
        raise Refused(409, "The project has not been scored yet.")
    return content


def measures_of(project: Row, content: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Measures that can be compared: those without a model or file, and those that the operator allows by name."""
    from softirr.meaning.measures import measure_names

    settings, chosen = services().settings, settings_of(project)
    names = dict.fromkeys((*measure_names(), *settings.allowed_measures))
    entries = {name: needs_model(name) for name in names if settings.allows_measure(name)}
    entries.pop(chosen.measure, None)
    before = {row["measure"] for row in ((content or {}).get("comparison") or {}).get("rows", ())}
    return [{"name": name, "needs_model": needs, "checked": name in before} for name, needs in entries.items()]

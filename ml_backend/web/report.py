"""The project's report, its files, and the triage queue."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request, send_from_directory

from ml_backend.auth.browser_auth import key_of
from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_person, current_project
from ml_backend.options import checked_options
from ml_backend.report.data import QUEUE
from ml_backend.report.tables import TABLES, facts, table
from ml_backend.review.misfits import misfits_of
from ml_backend.review.moments import job_view
from ml_backend.store.store import Row
from ml_backend.web import arguments, pages, responses
from ml_backend.web.assets import SHARED, page_files_version, static_dir
from ml_backend.web.queue import filter_reason
from ml_backend.web.running import job_of, links_of, reports, services, settings_of
from softirr.errors import InputError
from softirr.meaning.policy.attributes import KIND_NAMES
from softirr.meaning.policy.rules import Policy
from softirr.report.page.render import STATIC

report = Blueprint("report", __name__)
report.register_error_handler(Refused, responses.refusal)
log = logging.getLogger(__name__)
A_YEAR = 365 * 24 * 3600


@report.get("/report/<int:number>")
def show(number: int) -> Response:
    """The report as a page."""
    project = current_project()
    content = _asked(project)
    if content is None:
        return responses.page(pages.waiting(project, job_of(project)))
    who = current_person()
    reason = filter_reason()
    if reason is not None:
        field, whole = (reports().queue(project, links_of(project), name) for name in (content["control"], None))
        content = {**content, "queue": whole.view(0, QUEUE, only=field.tasks_with_reason(reason))}
    text = pages.served(
        content,
        reason=reason,
        known_as=who.name if who is not None else "",
        version=reports().version(project),
        marks=reports().marks(project),
        query=urlencode({"control": content["control"]}),
        lead=who is not None and who.at_least("lead"),
        tables=TABLES,
        facts=facts(content),
    )
    return responses.shown(project, text)


@report.get("/report/<int:number>/<name>")
def download(number: int, name: str) -> Response:
    """The report as one HTML file, as JSON, or a part of it as CSV."""
    project = current_project()
    stem, _, kind = name.rpartition(".")
    known = (stem == "report" and kind in ("html", "json")) or (kind == "csv" and stem in TABLES)
    if not known:
        raise Refused(
            404,
            f"There is no {name[:80]}; there are report.html, report.json and {', '.join(TABLES)} as .csv.",
        )
    content = _scored(project)
    misfits = misfits_of(project, content["control"])
    if kind == "json":
        response = responses.data(content)
    elif kind == "html":
        response = responses.page(pages.one_file(content, facts=facts(content)))
    else:
        queue = reports().queue(project, links_of(project)).view() if stem == "tasks" else None
        response = responses.csv_file(table(stem, content, queue=queue), warnings=misfits)
    file = f"agreement-{number}.{kind}" if stem == "report" else f"agreement-{number}-{stem}.csv"
    return responses.attachment(response, file)


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

    def change(row: Row) -> dict[str, Any]:
        others = {option: given for option, given in row["chosen"].items() if option != name}
        return {"chosen": others if value is None else others | {name: value}}

    services().store.change_project(project["id"], change)
    return responses.data({name: value})


@report.post("/api/report/policy")
def choose_policy() -> Response:
    """Choose what counts in the project: ``{"project", "policy"}``; the project is scored again."""
    body, project = json_body(), current_project()
    try:  # the name of a preset, or a policy as a JSON object
        given = checked_options({"policy": body.get("policy")}, source="The request")["policy"]
        policy = replace(
            Policy.from_dict(given), split=settings_of(project).policy.split
        )  # splitting is another setting
    except InputError as error:
        raise Refused(400, str(error)) from None
    _choose(project, "policy", policy.to_dict())
    services().store.want(project["id"])
    return responses.data({"policy": policy.to_dict(), "description": policy.describe()}, status=202)


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
    working = job is not None and job["state"] in ("queued", "running")
    names = {"version": reports().version(project), "marks": reports().marks(project)}
    return responses.data({**names, "working": working, "job": job_view(job)})


def _asked(project: Row) -> dict[str, Any] | None:
    """The report on the field that the request names; None while the project has not been scored."""
    control = request.args.get("control")
    if control is not None and control not in ((project["summary"] or {}).get("controls") or {control}):
        raise Refused(404, arguments.NO_SUCH_FIELD)
    content = reports().get(project, control, links_of(project))
    if content is None:
        return None
    chosen = settings_of(project)
    used = chosen.policy.describe() if chosen.policy.changes_scores else "texts as written"
    return {**content, "policy_in_use": used, "policies": _policies(content, chosen.policy)}


def _policies(content: Mapping[str, Any], used: Policy) -> list[dict[str, Any]]:
    """The policies that leave out what texts differ in, each with the coefficient that it would give."""
    return [
        {
            **one,
            "policy": (changed := used.changed(ignore=used.ignore | {one["attribute"]})).to_dict(),
            "name": KIND_NAMES[one["attribute"]],
            "description": changed.describe(),
        }
        for one in (content["reasons"] or {}).get("what_if", ())
        if one["attribute"] in KIND_NAMES
    ]


def _scored(project: Row) -> dict[str, Any]:
    content = _asked(project)
    if content is None:
        raise Refused(409, "The project has not been scored yet.")
    return content

"""The project's report: its page, its files, and what leads set on it."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request, send_from_directory

from ml_backend.auth.browser_auth import report_key
from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_person, current_project
from ml_backend.options import checked_options
from ml_backend.store.store import Row
from ml_backend.web import arguments, pages, responses
from ml_backend.web.pages import SHARED, page_files_version, static_dir
from ml_backend.web.panel_state import CAUSES
from ml_backend.web.responses import job_view, moment
from ml_backend.web.running import job_of, links_of, reports, services, settings_of
from softirr.errors import InputError
from softirr.meaning.policy.attributes import KIND_NAMES
from softirr.meaning.policy.rules import Policy
from softirr.provenance import version
from softirr.report.key_figures import is_exact
from softirr.report.page.render import SCRIPTS, STATIC, STYLES, inlined, view_variables
from softirr.report.view import View

report = Blueprint("report", __name__)
report.register_error_handler(Refused, responses.refusal)

A_YEAR = 365 * 24 * 3600
LEAST_CHANGE = 0.02
"""Minimum change of the coefficient for which a policy is listed."""
FILES = ("report.html", "report.json", "report.zip", "tasks.csv")


@dataclass(frozen=True)
class _Shown:
    """The report on one field of a project."""

    project: Row
    control: str
    view: View

    def json(self) -> dict[str, Any]:
        """Return the view as JSON, with what it is about."""
        project = self.project
        return {
            "schema_version": 3,
            "project": {"id": project["number"], "title": project["title"]},
            "control": self.control,
            "computed_at": moment(project["summary_at"]),
            **self.view.to_dict(),
            "decisions": reports().decisions(project),
            "agreed_tasks": reports().agreed_tasks(project),
        }

    def html(self, **variables: Any) -> str:
        """Return the page."""
        project = self.project
        return render_template(
            "report.html",
            project=project,
            control=self.control,
            controls=list(project["summary"]["controls"]),
            computed_at=moment(project["summary_at"]),
            decisions=reports().decisions(project),
            agreed_tasks=reports().agreed_tasks(project),
            causes=CAUSES,
            has_texts=not is_exact(project["summary"]["controls"][self.control]),
            policy_in_use=_policy_in_use(project),
            policies=_policies(project, self.control),
            least_change=LEAST_CHANGE,
            version=version(),
            **view_variables(self.view),
            **variables,
        )

    def tasks(self) -> Iterator[list[Any]]:
        """Return the rows of the list of tasks, the header first, in the order of "next"."""
        queue = reports().queue(self.project, settings_of(self.project), links_of(self.project))
        yield ["task", "agreement", "annotators", "sentence", "state", "reviewed_by", "reviewed_at", "note", "link"]
        for row in queue.view():
            mark = row["done"] or row["sent_back"] or {}
            reviewed = [mark.get(name) for name in ("who", "when", "note")]
            yield [
                row["task"],
                row["agreement"],
                row["n_raters"],
                row["sentence"],
                row["state"],
                *reviewed,
                row["link"],
            ]


@report.get("/report/<int:number>")
def show(number: int) -> Response:
    """The report as a page."""
    project = current_project()
    report_page = _shown(project)
    if report_page is None:
        return responses.page(pages.waiting(project, job_of(project)))
    who = current_person()
    text = report_page.html(
        live=True,
        lead=who is not None and who.at_least("lead"),
        known_as=who.name if who is not None else "",
        label_studio=links_of(project).project(),
        results=reports().version(project),
        marks=reports().marks(project),
        **pages.page_files(*STYLES, scripts=SCRIPTS, modules=("report.js",)),
    )
    return responses.shown(project, text)


@report.get("/report/<int:number>/<name>")
def download(number: int, name: str) -> Response:
    """The report as one HTML file or JSON, the list of tasks as CSV, or all of them in one ZIP file."""
    project = current_project()
    if name not in FILES:
        raise Refused(404, f"There is no {name[:80]}; there are {', '.join(FILES)}.")
    report_page = _scored(project)
    if name == "report.zip":
        response = _zipped(report_page)
    elif name == "tasks.csv":
        response = responses.csv_file(report_page.tasks(), warnings=report_page.view.warnings)
    elif name == "report.json":
        response = responses.data(report_page.json())
    else:
        response = responses.page(report_page.html(live=False, **inlined()))
    return responses.attachment(response, f"agreement-{number}-{name}")


def _zipped(report_page: _Shown) -> Response:
    page = report_page.html(live=False, **inlined())
    files = {
        "report.html": page.encode(),
        "report.json": responses.data(report_page.json()).get_data(),
        "tasks.csv": responses.csv_file(report_page.tasks(), warnings=report_page.view.warnings).get_data(),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    response = current_app.make_response(content.getvalue())
    response.headers["Content-Type"] = "application/zip"
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


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
    return responses.data(_scored(current_project()).json(), etag=True)


@report.post("/api/report/target")
def target() -> Response:
    """The lead sets what the coefficient should reach: ``{"project", "target"}``, null for none."""
    body, project = json_body(), current_project()
    try:
        target = checked_options({"target": body.get("target")}, source="The request")["target"]
    except InputError as error:
        raise Refused(400, str(error)) from None
    return _choose(project, "target", target)


@report.post("/api/report/policy")
def choose_policy() -> Response:
    """Choose what counts in the project: ``{"project", "policy"}``; the project is scored again."""
    body, project = json_body(), current_project()
    try:  # the name of a preset, or a policy as a JSON object
        chosen_policy = checked_options({"policy": body.get("policy")}, source="The request")["policy"]
        split = settings_of(project).policy.split  # splitting is another setting
        policy = replace(Policy.from_dict(chosen_policy), split=split)
    except InputError as error:
        raise Refused(400, str(error)) from None
    _choose(project, "policy", policy.to_dict())
    services().store.want(project["id"])
    return responses.data({"policy": policy.to_dict(), "description": policy.describe()}, status=202)


@report.post("/api/report/link")
def link() -> Response:
    """The report's key for a lead who wants to share it: ``{"project"}``."""
    return responses.data({"key": report_key(current_project())})


@report.get("/api/report/state")
def state() -> Response:
    """The version of the results, and the running work, for pages that wait for news."""
    project = current_project()
    job = job_of(project)
    working = job is not None and job["state"] in ("queued", "running")
    versions = {"version": reports().version(project), "marks": reports().marks(project)}
    return responses.data({**versions, "working": working, "job": job_view(job)})


def _choose(project: Row, name: str, value: Any) -> Response:
    """Set an option of the project; None removes it."""

    def change(row: Row) -> dict[str, Any]:
        options = {option: current for option, current in row["chosen"].items() if option != name}
        return {"chosen": options if value is None else options | {name: value}}

    services().store.change_project(project["id"], change)
    return responses.data({name: value})


def _shown(project: Row) -> _Shown | None:
    """Return the report on the field that the request names; None while the project has not been scored."""
    controls = (project["summary"] or {}).get("controls") or {}
    control = request.args.get("control")
    if control is not None and controls and control not in controls:
        raise Refused(404, arguments.NO_SUCH_FIELD)
    if not controls:
        return None
    name = control or next(iter(controls))
    return _Shown(project, name, reports().view(project, name, settings_of(project), links_of(project)))


def _scored(project: Row) -> _Shown:
    report_page = _shown(project)
    if report_page is None:
        raise Refused(409, "The project has not been scored yet.")
    return report_page


def _policy_in_use(project: Row) -> str:
    policy = settings_of(project).policy
    return policy.describe() if policy.changes_scores else "texts as written"


def _policies(project: Row, control: str) -> list[dict[str, Any]]:
    """Return policies that ignore one more attribute and change the coefficient, with the value that each gives."""
    in_use = settings_of(project).policy
    reasons = project["summary"]["controls"][control].get("reasons") or {}
    rows = []
    for entry in reasons.get("what_if") or ():
        if entry["attribute"] in KIND_NAMES and abs(entry["value"] - entry["instead_of"]) >= LEAST_CHANGE:
            policy = in_use.changed(ignore=in_use.ignore | {entry["attribute"]})
            name = KIND_NAMES[entry["attribute"]]
            rows.append({**entry, "name": name, "policy": policy.to_dict(), "description": policy.describe()})
    return rows

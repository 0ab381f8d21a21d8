"""The comparison page: projects, fields, groups of tasks, annotators and models side by side."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from ml_backend.report import side_by_side
from ml_backend.review.headline import field_headline
from ml_backend.review.panel_payload import job_view, moment, name_of
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.side_by_side import SideBySideStore
from ml_backend.store.store import Row, is_connected
from ml_backend.web import pages, visitors
from ml_backend.web.callers import Refused, is_operator, json_body, keys, project_number, require_operator, services
from ml_backend.web.report import job_of
from softirr.errors import InputError
from softirr.report.page.formats import FORMATS
from softirr.report.page.sentences import NAMES, TASKS
from softirr.tables.fields import ANNOTATED_AT

compare = Blueprint("compare", __name__)
compare.register_error_handler(Refused, visitors.refusal)

MOST_OFFERED = 30
"""Other projects that are offered; asking Label Studio who may open each takes two requests."""
MANY_DIFFERENCES = 12
_VARIABLE = re.compile(r"\$(\w+)")


@compare.get("/compare/<int:number>")
def show(number: int) -> Response:
    """The page. Keys of further projects come as ``k`` and the project's number, or by the page's form, and are kept in cookies."""
    if request.args.get("operator"):
        require_operator()
    if given := _given_keys(number):
        return _with_keys(number, given)
    project = _enter(number)
    control = visitors.field(project, request.args.get("control"))
    if control is None:
        return visitors.page(pages.waiting(project, job_of(project)))
    seen = _visible(project)
    asked = [row for row in _kept().of(project["id"]) if set(side_by_side.projects_of(row["question"])) <= set(seen)]
    wanted = request.args.get("show", type=int)
    shown = next((row for row in asked if row["id"] == wanted), None)
    if wanted is not None and shown is None:
        raise Refused(
            404, "There is no such comparison, or it is about a project whose key this browser does not have."
        )
    text = render_template(
        "compare.html",
        project=project,
        controls=visitors.fields(project),
        control=control,
        projects=[_line(row, control) for row in (project, *seen.values())],
        people=_people(project, control),
        fields=sorted({ANNOTATED_AT, *_VARIABLE.findall(project["label_config"] or "")}),
        asked=[{"id": row["id"], "told": _told(row["question"], project, seen), **_state(row)} for row in asked],
        shown=None if shown is None else _shown(shown, project, seen),
        margin=side_by_side.checked({"kind": "models"}, project)["margin"],
        operators=bool(services().settings.basic_auth_user),
        p=_p,
        words=TASKS,
        **FORMATS,
        **pages.page_files("pages.css", "compare.css", modules=("compare.js",)),
    )
    return visitors.page(text)


@compare.post("/api/side-by-side")
def ask() -> Response:
    """Ask for a comparison: ``{"project", "kind", "control", ...}`` (see `side_by_side.checked`); the scorer process computes it."""
    body = json_body()
    project = _enter(project_number(body.get("project")))
    try:
        question = side_by_side.checked(body, project)
    except InputError as error:
        raise Refused(400, str(error)) from None
    for number in side_by_side.projects_of(question):
        _enter(number)
    which = _kept().ask(project["id"], question)
    services().wakeups.want(project["id"], "comparison")
    return visitors.data({"id": which}, status=202)


@compare.get("/api/side-by-side/<int:which>")
def result(which: int) -> Response:
    """One comparison: ``project``; needs access to every project that it is about."""
    project = _enter(project_number(request.args.get("project")))
    row = _kept().get(which)
    if row is None or row["project"] != project["id"]:
        raise Refused(404, "There is no such comparison.")
    for number in side_by_side.projects_of(row["question"]):
        _enter(number)
    found, job = row["result"] or {}, job_of(project)
    return visitors.data(
        {
            "id": which,
            "question": row["question"],
            **_state(row),
            "computed_at": moment(row["result_at"]),
            "stale": _stale(row, project),
            "comparison": found.get("comparison"),
            "sentences": found.get("sentences", []),
            "job": job_view(job),
            "trouble": job["message"] if job is not None and job["state"] == "failed" else None,
        }
    )


# --- who sees what ----------------------------------------------------------------------------------------------------


def _enter(number: int) -> Row:
    """The project's row, for the operator and for those who have access to its report.

    Raises
    ------
    Refused
    """
    row = visitors.find_project(number)
    visitors.check_source(row)
    known = is_operator() or (row is not None and _key_opens(row, request.args.get(f"k{number}")))
    if known and row is not None and is_connected(row["connection"]):
        return row
    return visitors.enter(number, "report")


def _key_opens(row: Row, key: str | None) -> bool:
    return key is not None and keys().opens(key, row["number"], "report", generation=row["key_round"])


def _may_see(row: Row) -> bool:
    try:
        _enter(row["number"])
    except Refused:
        return False
    return True


def _visible(project: Row) -> dict[int, Row]:
    """The other connected projects that the visitor has access to, by number."""
    numbers = [row["number"] for row in services().store.connected(project["server"])]
    others = [number for number in sorted(numbers) if number != project["number"]][:MOST_OFFERED]
    rows = {number: visitors.find_project(number) for number in others}
    return {number: row for number, row in rows.items() if row is not None and row["summary"] and _may_see(row)}


def _given_keys(number: int) -> dict[int, str]:
    """Keys in the address, by project."""
    given = {int(name[1:]): key for name, key in request.args.items() if re.fullmatch(r"k\d{1,9}", name)}
    if "k" in request.args:
        given[number] = request.args["k"]
    if "add" in request.args:
        given[project_number(request.args["add"])] = request.args.get("key", "").strip()
    return given


def _with_keys(number: int, given: Mapping[int, str]) -> Response:
    """Keep the keys of the address in cookies, and send the browser to the address without them.

    Raises
    ------
    Refused
        If one of them is wrong.
    """
    rows = {one: visitors.find_project(one) for one in given}
    for one, key in given.items():
        row = rows[one]
        visitors.check_source(row)
        if row is None or not is_connected(row["connection"]) or not _key_opens(row, key):
            raise Refused(403, f"This is not the access key of project {one}.")
    query = {name: request.args[name] for name in ("show", "control") if name in request.args}
    response = visitors.page("")
    response.status_code = 303
    # relative, as a proxy may serve this backend below a path
    response.headers["Location"] = f"{number}?{urlencode(query)}" if query else f"{number}"
    for one, key in given.items():
        row = rows[one]
        if row is not None:
            visitors.remember_key(response, row, key)
    return response


# --- what the page shows ----------------------------------------------------------------------------------------------


def _kept() -> SideBySideStore:
    return SideBySideStore(services().store)


def _line(row: Row, control: str) -> dict[str, Any]:
    """One line of the table of projects: its headline as its own report has it."""
    controls = (row["summary"] or {}).get("controls") or {}
    name = control if control in controls else next(iter(controls), None) if len(controls) == 1 else None
    summary = controls.get(name) if name is not None else None
    found = None if name is None else field_headline(row, name, ReviewStore(services().store).audited(row["id"], name))
    return {
        "number": row["number"],
        "title": row["title"] or f"Project {row['number']}",
        "control": name,
        "headline": found,
        "coefficient": NAMES.get(found["name"], found["name"]) if found else None,
        "n_tasks": summary["n_items"] if summary else None,
        "n_raters": summary["n_raters"] if summary else None,
        "measure": (summary or {}).get("measure"),
    }


def _people(project: Row, control: str) -> list[dict[str, str]]:
    raters = project["summary"]["controls"][control]["raters"]
    found = [{"id": one["id"], "name": name_of(project["raters"], one["id"])} for one in raters if one["n_items"]]
    return sorted(found, key=lambda one: one["name"].casefold())


def _told(question: Mapping[str, Any], project: Row, seen: Mapping[int, Row]) -> str:
    """What is compared, in words."""

    def title(number: int) -> str:
        row = project if number == project["number"] else seen.get(number)
        return (row["title"] if row is not None else "") or f"Project {number}"

    def names(raters: Sequence[str]) -> str:
        return ", ".join(name_of(project["raters"], rater) for rater in raters)

    match question["kind"]:
        case "projects":
            told = " and ".join(title(number) for number in (project["number"], *question["projects"]))
            return f"{told}, tasks with the same {question['field']}" if question["field"] else told
        case "fields":
            return "Fields of this project"
        case "groups":
            same = f", tasks with the same {question['same']}" if question.get("same") else ""
            return f"Groups of tasks by {question['field']}{same}"
        case "rounds":
            return f"The rounds before and since {question['date']}"
        case "teams":
            return " against ".join(names(team) for team in question["teams"])
        case "annotator":
            return f"{names([question['annotator']])} with the others"
        case "models":
            return "Models and people"
        case _:
            who = f" of {names([question['annotator']])}" if "annotator" in question else ""
            return f"Change{who} over {question['field']}"


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _state(row: Row) -> dict[str, Any]:
    if row["wanted_at"] is not None:
        return {"state": "waiting", "problem": None}
    return {"state": "failed" if row["problem"] else "done", "problem": row["problem"]}


def _stale(row: Row, project: Row) -> bool:
    return row["based_on"] is not None and row["based_on"] != side_by_side.basis(
        services().store, project, row["question"]
    )


def _shown(row: Row, project: Row, seen: Mapping[int, Row]) -> dict[str, Any]:
    found = row["result"] or {}
    comparison = found.get("comparison") or {}
    several = len(comparison.get("differences", ()))
    names = side_by_side.names_in(comparison, row["question"])
    return {
        "id": row["id"],
        "told": _told(row["question"], project, seen),
        "control": row["question"]["control"],
        **_state(row),
        "at": moment(row["result_at"]),
        "stale": _stale(row, project),
        "names": names,
        "svg": Markup(found["svg"]) if found else None,  # noqa: S704 - forest_svg escapes the labels
        "comparison": found.get("comparison"),
        "sentences": found.get("sentences", ()),
        "adjustment": found.get("adjustment"),
        "coefficient": found.get("coefficient_name"),
        "policy": found.get("policy"),
        "many": several > MANY_DIFFERENCES,
    }

"""The comparison page: projects, fields, groups of tasks, annotators and models side by side."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from ml_backend.auth.browser_auth import key_opens_report, remember_key
from ml_backend.auth.origins import check_source
from ml_backend.auth.requests import Refused, find_project, json_body, project_number
from ml_backend.auth.routes import current_project, project_to_compare
from ml_backend.report import questions
from ml_backend.report.units import words_for
from ml_backend.review.headline import field_headline
from ml_backend.review.misfits import misfits_of
from ml_backend.review.panel_payload import job_view, moment
from ml_backend.review.rater_names import name_of
from ml_backend.scoring.stored_answers import PLACE
from ml_backend.store.side_by_side import SideBySideStore
from ml_backend.store.store import Row, is_connected
from ml_backend.web import arguments, pages, responses
from ml_backend.web.report import measures_of
from ml_backend.web.running import job_of, links_of, services
from softirr.answers.item_fields import ANNOTATED_AT
from softirr.errors import InputError
from softirr.planning.comparison import range_of
from softirr.report.charts import forest_chart
from softirr.report.forest import Row as ForestRow
from softirr.report.page.figures import both_widths
from softirr.report.page.formats import FORMATS
from softirr.statistics.coefficients.registry import coefficient_title

compare = Blueprint("compare", __name__)
compare.register_error_handler(Refused, responses.refusal)

MOST_OFFERED = 30
"""Other projects that are offered; asking Label Studio who may open each takes two requests."""
MANY_DIFFERENCES = 12
_VARIABLE = re.compile(r"\$(\w+)")


@compare.get("/compare/<int:number>")
def show(number: int) -> Response:
    """The page; keys of other projects come as ``k`` and the project's number, or by the form, and are kept in cookies."""
    if given := _given_keys(number):
        return _with_keys(number, given)
    project = current_project()
    control = arguments.field(project, request.args.get("control"))
    if control is None:
        return responses.page(pages.waiting(project, job_of(project)))
    seen = _visible(project)
    kept = [row for row in _kept().of(project["id"]) if row["question"]["kind"] != questions.MEASURES]
    asked = [row for row in kept if set(questions.projects_of(row["question"])) <= set(seen)]
    wanted = request.args.get("show", type=int)
    shown = next((row for row in asked if row["id"] == wanted), None)
    if wanted is not None and shown is None:
        raise Refused(
            404, "There is no such comparison, or it is about a project whose key this browser does not have."
        )
    text = render_template(
        "compare.html",
        project=project,
        controls=arguments.fields(project),
        control=control,
        projects=[line for row in (project, *seen.values()) for line in _lines(row, control)],
        n_others=len(seen),
        people=_people(project, control),
        fields=sorted({ANNOTATED_AT, *_VARIABLE.findall(project["label_config"] or "")}),
        asked=[
            {"id": row["id"], "description": _question_words(row["question"], project, seen), **_state(row)}
            for row in asked
        ],
        shown=None if shown is None else _shown(shown, project, seen),
        margin=questions.checked({"kind": "models"}, project)["margin"],
        misfits=misfits_of(project, control) if shown is None else _misfits_of_question(project, shown["question"]),
        others_misfits=_misfits_of_others(seen, control),
        operators=bool(services().settings.basic_auth_user),
        p=_p,
        words=words_for(project, control),
        **FORMATS,
        **pages.page_files("pages.css", "compare.css", modules=("compare.js",)),
    )
    return responses.page(text)


@compare.post("/api/side-by-side")
def ask() -> Response:
    """Ask for a comparison: ``{"project", "kind", "control", ...}`` (see `questions.checked`).

    The scorer process computes it.
    """
    body, project = json_body(), current_project()
    try:
        question = questions.checked(body, project, [one["name"] for one in measures_of(project)])
    except InputError as error:
        raise Refused(400, str(error)) from None
    for number in questions.projects_of(question):
        project_to_compare(number)
    which = _kept().ask(project["id"], question)
    services().wakeups.want(project["id"], "comparison")
    return responses.data({"id": which}, status=202)


@compare.get("/api/side-by-side/<int:which>")
def result(which: int) -> Response:
    """One comparison: ``project``; needs access to every project that it is about."""
    project = current_project()
    row = _kept().get(which)
    if row is None or row["project"] != project["id"]:
        raise Refused(404, "There is no such comparison.")
    for number in questions.projects_of(row["question"]):
        project_to_compare(number)
    answer, job = row["result"] or {}, job_of(project)
    return responses.data(
        {
            "id": which,
            "question": row["question"],
            **_state(row),
            "computed_at": moment(row["result_at"]),
            "stale": _stale(row, project),
            "comparison": answer.get("comparison"),
            "sentences": answer.get("sentences", []),
            "misfits": _misfits_of_question(project, row["question"]),
            "job": job_view(job),
            "trouble": job["message"] if job is not None and job["state"] == "failed" else None,
        }
    )


# --- who sees what ----------------------------------------------------------------------------------------------------


def _may_see(row: Row) -> bool:
    try:
        project_to_compare(row["number"])
    except Refused:
        return False
    return True


def _visible(project: Row) -> dict[int, Row]:
    """The other connected projects that the visitor has access to, by number."""
    numbers = [row["number"] for row in services().store.connected(project["server"])]
    others = [number for number in sorted(numbers) if number != project["number"]][:MOST_OFFERED]
    rows = {number: find_project(number) for number in others}
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
    rows = {one: find_project(one) for one in given}
    for one, key in given.items():
        row = rows[one]
        check_source(row)
        if row is None or not is_connected(row["connection"]) or not key_opens_report(row, key):
            raise Refused(403, f"This is not the access key of project {one}.")
    query = {name: request.args[name] for name in ("show", "control") if name in request.args}
    response = responses.page("")
    response.status_code = 303
    # relative, as a proxy may serve this backend below a path
    response.headers["Location"] = f"{number}?{urlencode(query)}" if query else f"{number}"
    for one, key in given.items():
        row = rows[one]
        if row is not None:
            remember_key(response, row, key)
    return response


# --- what the page shows ----------------------------------------------------------------------------------------------


def _misfits_of_others(seen: Mapping[int, Row], control: str) -> list[str]:
    """Why the measure of another project does not fit, with the project's title."""
    return [
        f"{row['title'] or f'Project {number}'}: {sentence}"
        for number, row in seen.items()
        for sentence in misfits_of(row, control if control in (row["summary"] or {}).get("controls", ()) else None)
    ]


def _misfits_of_question(project: Row, question: Mapping[str, Any]) -> list[str]:
    """Why the measure does not fit one of the projects that a comparison is about."""
    rows = {number: find_project(number) for number in questions.projects_of(question)}
    others = {number: row for number, row in rows.items() if row is not None}
    control = question["control"]
    return [*misfits_of(project, control), *_misfits_of_others(others, control)]


def _kept() -> SideBySideStore:
    return SideBySideStore(services().store)


def _lines(row: Row, control: str) -> list[dict[str, Any]]:
    """Lines of the table of projects, one for each field, with its headline as the project's own report has it."""
    controls = (row["summary"] or {}).get("controls") or {}
    n_tasks = services().store.totals(row["id"])["tasks"] if controls else None
    lines = []
    for name, summary in controls.items() or [(None, {})]:
        best = None if name is None else field_headline(row, name)
        lines.append(
            {
                "number": row["number"],
                "title": row["title"] or f"Project {row['number']}",
                "control": name,
                "n_fields": len(controls),
                "is_compared": name == control or len(controls) < 2,
                "lacks_field": len(controls) > 1 and control not in controls,
                "headline": best,
                "coefficient": coefficient_title(best["name"]) if best else None,
                "n_tasks": n_tasks,
                "n_raters": summary.get("n_raters"),
                "measure": summary.get("measure"),
            }
        )
    return lines


def _people(project: Row, control: str) -> list[dict[str, str]]:
    raters = project["summary"]["controls"][control]["raters"]
    people = [{"id": one["id"], "name": name_of(project["raters"], one["id"])} for one in raters if one["n_items"]]
    return sorted(people, key=lambda one: one["name"].casefold())


def _question_words(question: Mapping[str, Any], project: Row, seen: Mapping[int, Row]) -> str:
    """What is compared, in words."""

    def title(number: int) -> str:
        row = project if number == project["number"] else seen.get(number)
        return (row["title"] if row is not None else "") or f"Project {number}"

    def names(raters: Sequence[str]) -> str:
        return ", ".join(name_of(project["raters"], rater) for rater in raters)

    match question["kind"]:
        case "projects":
            titles = " and ".join(title(number) for number in (project["number"], *question["projects"]))
            return f"{titles}, tasks with the same {question['field']}" if question["field"] else titles
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
    return row["based_on"] is not None and row["based_on"] != questions.basis(
        services().store, project, row["question"]
    )


def _figure(answer: Mapping[str, Any]) -> Markup | None:
    """The forest plot; none where an earlier version computed the comparison."""
    rows = [ForestRow(**one) for one in answer.get("figure") or ()]
    if not rows:
        return None
    band = range_of(one["value"] for one in answer["comparison"].get("others", ()))
    return both_widths(lambda width: forest_chart(rows, answer["coefficient_name"], band=band, width=width))


def _shown(row: Row, project: Row, seen: Mapping[int, Row]) -> dict[str, Any]:
    answer = row["result"] or {}
    comparison = answer.get("comparison") or {}
    several = len(comparison.get("differences", ()))
    names = questions.names_in(comparison, row["question"])
    return {
        "id": row["id"],
        "description": _question_words(row["question"], project, seen),
        "control": row["question"]["control"],
        **_state(row),
        "at": moment(row["result_at"]),
        "stale": _stale(row, project),
        "names": names,
        "figure": _figure(answer),
        "comparison": answer.get("comparison"),
        "sentences": answer.get("sentences", ()),
        "adjustment": answer.get("adjustment"),
        "coefficient": answer.get("coefficient_name"),
        "policy": answer.get("policy"),
        "many": several > MANY_DIFFERENCES,
        "furthest": _furthest(comparison, project),
    }


def _furthest(comparison: Mapping[str, Any], project: Row) -> dict[str, list[dict[str, Any]]]:
    """The tasks on which each annotator or model is furthest from the others, with their addresses in Label Studio."""
    links = links_of(project)
    tasks: dict[str, list[dict[str, Any]]] = {}
    for one in comparison.get("furthest", ()):  # absent where an earlier version computed the comparison
        number = one["item"].split(PLACE)[0]
        tasks.setdefault(one["rater"], []).append({**one, "link": links.task(number) if number.isdigit() else None})
    return tasks

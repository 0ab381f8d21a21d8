"""The audit: its page, its pairs, the judgments."""

from typing import Any

from flask import Blueprint, Response, render_template, request

from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_project
from ml_backend.review import audits
from ml_backend.review.requests import LOOK, RESULT, SHEET, RequestStore
from ml_backend.store.store import Row
from ml_backend.web import arguments, responses
from ml_backend.web.pages import page_files
from ml_backend.web.responses import job_view, moment
from ml_backend.web.running import job_of, reviews, services, settings_of
from softirr.defaults import JUDGMENTS
from softirr.report.key_figures import by_measure, headline
from softirr.statistics.coefficients.registry import coefficient_title

audit = Blueprint("audit", __name__)
NOT_USED = "The report can’t use the judgments any more and says why: start a new audit."
audit.register_error_handler(Refused, responses.refusal)


@audit.get("/audit/<int:number>")
def show(number: int) -> Response:
    """The page, without data: its script requests them."""
    project = current_project()
    text = render_template(
        "audit.html",
        project=project,
        controls=arguments.fields(project),
        control=arguments.field(project, request.args.get("control")),
        default=JUDGMENTS,
        fewest=audits.FEWEST,
        most=audits.MOST,
        who=arguments.acting_name({}),
        **page_files("pages.css", "audit.css", modules=("audit.js",)),
    )
    return responses.shown(project, text)


@audit.get("/audit/<int:number>/<int:which>.csv")
def sheet(number: int, which: int) -> Response:
    """The sheet with one judge's judgments, as ``softirr audit apply`` reads it."""
    project = current_project()
    record = _audit(project, which)
    verdicts = reviews().judgments(which, request.args.get("judge") or "")
    # No byte order mark: the sheet has the format of softirr audit sample.
    file = responses.csv_file(audits.sheet_rows(record, verdicts), for_people=False)
    return responses.attachment(file, f"audit-{number}-{which}.csv")


@audit.get("/api/audit")
def state() -> Response:
    """The newest audit of a field: ``project``, ``control``; without numbers that could influence a judge."""
    project = current_project()
    control = arguments.field(project, request.args.get("control"))
    newest = next((row for row in reviews().audits(project["id"]) if row["control"] == control), None)
    job = job_of(project)
    body: dict[str, Any] = {"control": control, "audit": None, "job": job_view(job)}
    if newest is not None:
        record = reviews().audit(newest["id"])
        assert record is not None
        body["audit"] = _view(project, record)
    return responses.data(body)


@audit.post("/api/audit")
def draw() -> Response:
    """Request a sample: ``{"project", "control", "judgments", "who"}``."""
    body, project = json_body(), current_project()
    control = arguments.field(project, body.get("control"))
    if control is None:
        raise Refused(409, "The project has not been scored yet.")
    n_judgments = arguments.whole_number(body.get("judgments", JUDGMENTS), "judgments")
    if not audits.FEWEST <= n_judgments <= audits.MOST:
        raise Refused(400, f"judgments is not between {audits.FEWEST} and {audits.MOST}.")
    measure, who = settings_of(project).measure, arguments.acting_name(body)
    number = audits.ask(
        services().store, project["id"], control=control, measure=measure, n_judgments=n_judgments, who=who
    )
    services().store.want(project["id"])
    return responses.data({"audit": number}, status=202)


@audit.get("/api/audit/<int:which>")
def pairs(which: int) -> Response:
    """The pairs in the order of judging, with the judgments of one judge: ``project``, ``judge``.

    ``result=1`` adds the result, ``own=1`` this judge's progress and the judges' agreement; both need a judge who has
    judged every pair.
    """
    project = current_project()
    record = _audit(project, which)
    judge = _judge(project, request.args.get("judge"))
    verdicts = {judgment["row"]: judgment["verdict"] for judgment in reviews().judgments(which, judge)}
    pair_rows = [
        {"row": row, "texts": [a, b], "verdict": verdicts.get(row)} for row, (_, _, a, b) in enumerate(record["sheet"])
    ]
    body = {**_view(project, record), "judge": judge, "pairs": pair_rows, "own": None, "result": None}
    # A judge with unjudged pairs sees neither the result nor the other judges' judgments.
    if len(verdicts) >= len(pair_rows) or request.args.get("result") == "1":
        body["result"] = _result(project, record)
    if len(verdicts) >= len(pair_rows) or request.args.get("own") == "1":
        body["own"] = audits.progress_of(reviews(), record, judge)
    return responses.data(body)


@audit.post("/api/audit/<int:which>/judgments")
def judge(which: int) -> Response:
    """One judgment on one or several pairs: ``{"project", "judge", "rows", "verdict"}``.

    A later judgment replaces an earlier one.
    """
    body, project = json_body(), current_project()
    record = _audit(project, which)
    name = _judge(project, body.get("judge"))
    if body.get("verdict") not in (*audits.VERDICTS,):
        raise Refused(400, f"verdict is none of {', '.join(audits.VERDICTS)}.")
    rows, finished = _rows(record, body.get("rows")), _complete(record)
    reviews().judge(which, rows, name, body["verdict"])
    return responses.data(_after(project, record, name, finished), status=201)


@audit.delete("/api/audit/<int:which>/judgments")
def take_back(which: int) -> Response:
    """Remove judgments: ``project``, ``judge``, ``rows`` (comma-separated numbers)."""
    project = current_project()
    record = _audit(project, which)
    name = _judge(project, request.args.get("judge"))
    numbers = request.args.get("rows", "").split(",")
    rows = _rows(record, [int(number) if number.isascii() and number.isdigit() else -1 for number in numbers])
    finished = _complete(record)
    if not reviews().unjudge(which, rows, name):
        raise Refused(404, "There is no such judgment.")
    return responses.data(_after(project, record, name, finished))


@audit.post("/api/audit/<int:which>/finish")
def finish(which: int) -> Response:
    """Evaluate the audit with the present judgments: ``{"project"}``."""
    project = current_project()
    record = _audit(project, which)
    longest = max(reviews().judges(which).values(), default=0)
    if longest < min(audits.FINISH_FROM, len(record["sheet"])):
        raise Refused(409, f"At least {audits.FINISH_FROM} judgments of one judge are needed.")
    RequestStore(services().store).ask(project["id"], RESULT, {"audit": which})
    services().store.want(project["id"])
    return responses.data(_view(project, _audit(project, which)), status=202)


def _complete(record: Row) -> list[str]:
    return audits.complete(record["sheet"], reviews().judges(record["id"]))


def _after(project: Row, record: Row, judge: str, finished: list[str]) -> dict[str, Any]:
    """Reply after a changed judgment of `judge`; the judges in `finished` had judged every pair before it.

    Once one judge finishes, unfinished judges are ignored, so their judgments change nothing then.
    """
    which, still_finished = record["id"], _complete(record)
    requests, question = RequestStore(services().store), {"audit": which}
    requests.ask(project["id"], LOOK, question)
    if not still_finished:
        requests.withdraw(project["id"], RESULT, question)
    elif judge in {*finished, *still_finished}:
        requests.ask(project["id"], RESULT, question)
    services().store.want(project["id"])
    return _view(project, _audit(project, which))


def _view(project: Row, record: Row) -> dict[str, Any]:
    requests, question = RequestStore(services().store), {"audit": record["id"]}
    sheet, result, looks = (requests.find(record["project"], kind, question) for kind in (SHEET, RESULT, LOOK))
    judges = reviews().judges(record["id"])
    problem = next((row["problem"] for row in (sheet, result) if row and row["problem"]), None)
    summary = _summary(project, record)
    audited = summary.get("audit")
    if summary and audited is None and result is not None and result["result"] and result["wanted_at"] is None:
        problem = NOT_USED
    if not record["sheet"]:
        status = "failed" if problem else "drawing"
    elif result is None:
        status = "judging"
    else:
        status = "working" if result["wanted_at"] is not None else "judging" if problem else "done"
    return {
        "id": record["id"],
        "status": status,
        "problem": problem,
        "unused": audits.unused_judgments(audited),
        "wanted": record["wanted"],
        "n_pairs": len(record["sheet"]),
        "judges": [{"name": name, "n": n} for name, n in judges.items()],
        "created_at": moment(record["created_at"]),
        "created_by": record["created_by"],
        "looks": ((looks and looks["result"]) or {}).get("looks", []),
        "finish_from": min(audits.FINISH_FROM, len(record["sheet"])),
    }


def _result(project: Row, record: Row) -> dict[str, Any] | None:
    """The report's headline, and every coefficient with and without the audit."""
    request = RequestStore(services().store).find(project["id"], RESULT, {"audit": record["id"]})
    if request is None or request["result"] is None:
        return None
    summary = _summary(project, record)
    if not summary.get("audit"):
        return None
    coefficients = [
        {"key": key, "name": coefficient_title(key), "plain": by_measure(value), **value}
        for key, value in summary["coefficients"].items()
        if value.get("value") is not None and value.get("judgments")
    ]
    best = headline(summary)
    return {
        "headline": None if best is None else best[0],
        "coefficients": coefficients,
        "audit": summary["audit"],
    }


def _summary(project: Row, record: Row) -> dict[str, Any]:
    """The report on the audit's field; empty if the project no longer has the field."""
    controls = (project["summary"] or {}).get("controls") or {}
    summary: dict[str, Any] = controls.get(record["control"]) or {}
    return summary


def _audit(project: Row, which: int) -> Row:
    record = reviews().audit(which)
    if record is None or record["project"] != project["id"]:
        raise Refused(404, "There is no such audit.")
    return record


def _judge(project: Row, typed_name: Any) -> str:
    name = arguments.acting_name({"who": typed_name})
    if not name:
        raise Refused(400, "A judgment needs the name of the judge.")
    return name


def _rows(record: Row, numbers: Any) -> list[int]:
    rows = range(len(record["sheet"]))
    if not isinstance(numbers, list) or not numbers or not all(type(n) is int and n in rows for n in numbers):
        raise Refused(400, "rows is not a list of rows of the sheet.")
    return sorted(set(numbers))

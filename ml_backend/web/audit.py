"""The audit: its page, its pairs, the judgements."""

import time
from typing import Any

from flask import Blueprint, Response, render_template, request

from ml_backend.review import audits
from ml_backend.review.panel_payload import job_view, moment
from ml_backend.settings import effective
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web import visitors
from ml_backend.web.callers import Refused, json_body, project_number, services
from ml_backend.web.pages import page_files
from ml_backend.web.report import csv_response, job_of

audit = Blueprint("audit", __name__)
audit.register_error_handler(Refused, visitors.refusal)


@audit.get("/audit/<int:number>")
def show(number: int) -> Response:
    """The page, without data: its script requests them."""
    project = visitors.enter(number, "report")
    text = render_template(
        "audit.html",
        project=project,
        controls=visitors.fields(project),
        control=visitors.field(project, request.args.get("control")),
        default=audits.DEFAULT,
        fewest=audits.FEWEST,
        most=audits.MOST,
        who=visitors.person(project, {}),
        **page_files("pages.css", "audit.css", modules=("audit.js",)),
    )
    response = visitors.page(text)
    visitors.remember_given_key(response, project, "report")
    return response


@audit.get("/audit/<int:number>/<int:which>.csv")
def sheet(number: int, which: int) -> Response:
    """The sheet with one judge's judgements, as ``softirr audit apply`` reads it."""
    project = visitors.enter(number, "report")
    found = _audit(project, which)
    said = reviews().judgements(which, request.args.get("judge") or "")
    # No byte order mark: the sheet has the format of softirr audit sample.
    response = csv_response(audits.sheet_rows(found, said), for_people=False)
    response.headers["Content-Disposition"] = f'attachment; filename="audit-{number}-{which}.csv"'
    return response


@audit.get("/api/audit")
def state() -> Response:
    """The newest audit of a field: ``project``, ``control``; without numbers that could influence a judge."""
    project = visitors.enter(project_number(request.args.get("project")), "report")
    control = visitors.field(project, request.args.get("control"))
    newest = next((row for row in reviews().audits(project["id"]) if row["control"] == control), None)
    job = job_of(project)
    body: dict[str, Any] = {"control": control, "audit": None, "job": job_view(job)}
    if newest is not None:
        found = reviews().audit(newest["id"])
        assert found is not None
        body["audit"] = _view(found)
    return visitors.data(body)


@audit.post("/api/audit")
def draw() -> Response:
    """Request a sample: ``{"project", "control", "judgements", "who"}``."""
    body = json_body()
    project = visitors.enter(project_number(body.get("project")), "report")
    control = visitors.field(project, body.get("control"))
    if control is None:
        raise Refused(409, "The project has not been scored yet.")
    wanted = visitors.whole_number(body.get("judgements", audits.DEFAULT), "judgements")
    if not audits.FEWEST <= wanted <= audits.MOST:
        raise Refused(400, f"judgements is not between {audits.FEWEST} and {audits.MOST}.")
    chosen = effective(services().settings, connection=project["extra_params"], chosen=project["chosen"]).values
    who = visitors.person(project, body)
    number = audits.ask(reviews(), project["id"], control=control, measure=chosen.measure, wanted=wanted, who=who)
    services().wakeups.want(project["id"], "audit")
    return visitors.data({"audit": number}, status=202)


@audit.get("/api/audit/<int:which>")
def pairs(which: int) -> Response:
    """The pairs in the order of judging, with the judgements of one judge: ``project``, ``judge``.

    ``result=1`` adds the result, ``own=1`` this judge's progress and the judges' agreement; both need a judge who has judged every pair.
    """
    project = visitors.enter(project_number(request.args.get("project")), "report")
    found = _audit(project, which)
    judge = _judge(project, request.args.get("judge"))
    said = {row["place"]: row["verdict"] for row in reviews().judgements(which, judge)}
    shown = [
        {"place": place, "texts": [a, b], "verdict": said.get(place)}
        for place, (_, _, a, b) in enumerate(found["sheet"])
    ]
    body = {**_view(found), "judge": judge, "pairs": shown, "own": None, "result": None}
    # A judge with unjudged pairs sees neither the result nor the other judges' judgements.
    if len(said) >= len(shown) or request.args.get("result") == "1":
        body["result"] = _result(project, found)
    if len(said) >= len(shown) or request.args.get("own") == "1":
        body["own"] = audits.progress_of(reviews(), found, judge)
    return visitors.data(body)


@audit.post("/api/audit/<int:which>/judgements")
def judge(which: int) -> Response:
    """One judgement on one or several pairs: ``{"project", "judge", "places", "verdict"}``; a later judgement replaces an earlier one."""
    body = json_body()
    project = visitors.enter(project_number(body.get("project")), "report")
    found = _audit(project, which)
    name = _judge(project, body.get("judge"))
    if body.get("verdict") not in audits.VERDICTS:
        raise Refused(400, f"verdict is none of {', '.join(audits.VERDICTS)}.")
    places, before = _places(found, body.get("places")), _complete(found)
    reviews().judge(which, places, name, body["verdict"])
    if reviews().judges(which).get(name, 0) % audits.LOOK_EVERY == 0:
        reviews().update_audit(which, look_asked_at=time.time())
        services().wakeups.want(project["id"], "audit")
    return visitors.data(_after(project, found, name, before), status=201)


@audit.delete("/api/audit/<int:which>/judgements")
def take_back(which: int) -> Response:
    """Remove judgements: ``project``, ``judge``, ``places`` (comma-separated numbers)."""
    project = visitors.enter(project_number(request.args.get("project")), "report")
    found = _audit(project, which)
    name = _judge(project, request.args.get("judge"))
    given = [int(one) if one.isascii() and one.isdigit() else -1 for one in request.args.get("places", "").split(",")]
    places, before = _places(found, given), _complete(found)
    if not reviews().unjudge(which, places, name):
        raise Refused(404, "There is no such judgement.")
    return visitors.data(_after(project, found, name, before))


@audit.post("/api/audit/<int:which>/finish")
def finish(which: int) -> Response:
    """Evaluate the audit with the present judgements: ``{"project"}``."""
    body = json_body()
    project = visitors.enter(project_number(body.get("project")), "report")
    found = _audit(project, which)
    most = max(reviews().judges(which).values(), default=0)
    if most < min(audits.FINISH_FROM, len(found["sheet"])):
        raise Refused(409, f"At least {audits.FINISH_FROM} judgements of one judge are needed.")
    _work_out(project, which)
    return visitors.data(_view(_audit(project, which)), status=202)


def reviews() -> ReviewStore:
    """Audits and judgements."""
    return ReviewStore(services().store)


def _complete(found: Row) -> list[str]:
    return audits.complete(found["sheet"], reviews().judges(found["id"]))


def _after(project: Row, found: Row, judge: str, before: list[str]) -> dict[str, Any]:
    """Reply after a changed judgement of `judge`; the judges in `before` had judged every pair before the change.

    Once one judge finishes, unfinished judges are ignored, so their judgements change nothing then.
    """
    which, now = found["id"], _complete(found)
    if not now:
        reviews().update_audit(which, result=None, result_at=None, asked_at=None)
    elif judge in {*before, *now}:
        _work_out(project, which)
    return _view(_audit(project, which))


def _work_out(project: Row, which: int) -> None:
    """Request an evaluation of the audit; its last result stays until it is done."""
    reviews().update_audit(which, asked_at=time.time(), problem=None)
    services().wakeups.want(project["id"], "audit")


def _view(found: Row) -> dict[str, Any]:
    judges = reviews().judges(found["id"])
    if not found["sheet"]:
        status = "failed" if found["problem"] else "drawing"
    elif found["asked_at"] is not None:
        status = "working"
    elif found["result"] is not None:
        status = "done"
    else:
        status = "judging"
    return {
        "id": found["id"],
        "status": status,
        "problem": found["problem"],
        "wanted": found["wanted"],
        "n_pairs": len(found["sheet"]),
        "judges": [{"name": name, "n": n} for name, n in judges.items()],
        "created_at": moment(found["created_at"]),
        "created_by": found["created_by"],
        "looks": found["looks"] or [],
        "finish_from": min(audits.FINISH_FROM, len(found["sheet"])),
    }


def _result(project: Row, found: Row) -> dict[str, Any] | None:
    """The report's headline, and every coefficient with and without the audit."""
    if found["result"] is None:
        return None
    from ml_backend.report.headline import unaudited
    from ml_backend.review.headline import field_headline
    from softirr.report.page.sentences import NAMES

    result = found["result"]
    plain = unaudited(project, found["control"], found)
    coefficients = [
        {"key": key, "name": NAMES.get(key, key), "plain": plain.get(key), **value}
        for key, value in result["coefficients"].items()
        if value.get("value") is not None
    ]
    best = field_headline(project, found["control"], found)
    return {"headline": None if best is None else best["name"], "coefficients": coefficients, "audit": result["audit"]}


def _audit(project: Row, which: int) -> Row:
    found = reviews().audit(which)
    if found is None or found["project"] != project["id"]:
        raise Refused(404, "There is no such audit.")
    return found


def _judge(project: Row, given: Any) -> str:
    name = visitors.person(project, {"who": given})
    if not name:
        raise Refused(400, "A judgement needs the name of who judges.")
    return name


def _places(found: Row, given: Any) -> list[int]:
    rows = range(len(found["sheet"]))
    if not isinstance(given, list) or not given or not all(type(one) is int and one in rows for one in given):
        raise Refused(400, "places is not a list of rows of the sheet.")
    return sorted(set(given))

"""Audits of a project: drawing the sample, storing judgments, computing the audited coefficients.

Drawing and evaluating need the measure, so the worker does both on request; the pages only read and write rows.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ml_backend.review.project_work import ProjectWork
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.stored_answers import places
from ml_backend.store.database import Row, rows
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Store
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.report.headline import headline
from softirr.statistics.coefficients.registry import coefficient_title

FEWEST, MOST = 10, 2000
FINISH_FROM = 10  # fewest judgments with which an audit may end early
_OF_RESULT = ("coefficients", "expected_agreement", "audit", "warnings", "provenance", "headline")
VERDICTS = {
    "same": "same",
    "different": "different",
    "first": "first is more general",
    "second": "second is more general",
    "unsure": "can't tell",
}


def ask(reviews: ReviewStore, project: int, *, control: str, measure: str, wanted: int, who: str) -> int:
    """Request a sample; returns the audit's number."""
    seed = secrets.randbits(31)
    return reviews.ask_for_audit(
        project, control=control, measure=measure, seed=seed, wanted=wanted, created_by=who[:256]
    )


def complete(sheet: Sequence[Any], judges: Mapping[str, int]) -> list[str]:
    """Judges who have judged every pair."""
    return [judge for judge, n in judges.items() if sheet and n >= len(sheet)]


def run_asked(work: ProjectWork) -> int:
    """Draw and evaluate the requested audits; returns their number. A failure is stored as the audit's problem."""
    reviews = ReviewStore(work.store)
    asked = reviews.asked_audits(work.project["id"])
    for number in asked:
        work.check()
        work.report("audit", 0, None, 0)
        audit = reviews.audit(number)
        if audit is None:
            continue
        if audit["asked_at"] is None:
            _look(work, audit)
            continue
        try:
            values = _worked_out(work, audit) if audit["sheet"] else _drawn(work, audit)
        except InputError as error:
            values = {"problem": str(error), "result": None, "result_at": None}
        now = reviews.audit(number)
        if now is not None and now["asked_at"] == audit["asked_at"]:  # otherwise it was judged again meanwhile
            reviews.update_audit(number, **values, asked_at=None)
    return len(asked)


def _drawn(work: ProjectWork, audit: Row) -> dict[str, Any]:
    from softirr.audit.workflow import ONLY, draw_sheet

    answers: list[list[Any]] = []
    items: list[str] = []
    hashes: dict[str, str] = {}
    for row in _rows(work.store, work.project["id"]):
        hashes[str(row["number"])] = row["answers_hash"][:16]
        entry = row["answers"].get(audit["control"])
        at_places = places(row["number"], entry) if entry is not None else [(str(row["number"]), {})]
        items += [item for item, _ in at_places]
        answers += [[item, rater, list(texts)] for item, given in at_places for rater, texts in given.items()]
    kept = {"items": items, "answers": answers, "casefold": work.settings.casefold}
    kept |= {"policy": work.settings.policy.to_dict(), "terminologies": list(work.settings.terminologies)}
    with work.scorer.alone_with(audit["measure"], work.progress("audit")) as counted:
        sheet = draw_sheet(
            table_of(kept),
            _measure(work.scorer, audit, kept),
            judgments=audit["wanted"],
            seed=audit["seed"],
            cache=work.scorer.cache(),
            progress=counted,
        )
    rows = [[unit.id, ONLY, unit.text_a, unit.text_b] for unit in sheet.units]
    digest = hashlib.sha256(json.dumps(answers).encode()).hexdigest()
    return {"sheet": rows, "answers": kept, "answers_hash": digest, "drawn_from": hashes, "problem": None}


def _measure(scorer: Scorer, audit: Row, kept: Mapping[str, Any]) -> Any:
    """The audit's measure, with the terminologies and under the policy that its pairs were drawn with."""
    from softirr.meaning.policy.rules import Policy

    policy = Policy.from_dict(kept.get("policy") or {})
    return scorer.measure_under(audit["measure"], policy, kept.get("terminologies") or ())


def _result(work: ProjectWork, audit: Row, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """The report on the audit's field with the present answers, measure, policy and judgments, as the project's summary has it."""
    return work.scorer.summary(
        work.answers(),
        audit["control"],
        work.settings,
        decisions=work.store.decisions(audit["project"]),
        judgments=judged_sheets(ReviewStore(work.store), audit["project"], audit["control"]),
        what_if=False,
        progress=progress,
    )


def _worked_out(work: ProjectWork, audit: Row) -> dict[str, Any]:
    """The audit's result."""
    result = _published(work, audit, work.progress("audit"))
    kept = {name: result[name] for name in _OF_RESULT if name in result}
    return {"result": kept, "result_at": time.time(), "problem": None}


def _published(work: ProjectWork, audit: Row, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """The report on the audit's field with all judgments so far; its numbers are the project's at once."""
    result = _result(work, audit, progress)

    def change(project: Row) -> dict[str, Any]:
        summary = project["summary"]
        if not summary or audit["control"] not in summary["controls"]:
            return {}
        before = {name: value for name, value in summary["controls"][audit["control"]].items() if name != "audit"}
        report = {**before, **result, "reasons": _beside(before.get("reasons"), result)}
        controls = {**summary["controls"], audit["control"]: report}
        return {"summary": {**summary, "controls": controls}, "summary_at": time.time()}

    work.store.change_project(audit["project"], change)
    return result


def _beside(reasons: Mapping[str, Any] | None, result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Reasons found before, beside the headline with judgments.

    What a headline would be without an attribute is it plus a difference, which judgments do not change; one that was
    cut off at 1 is left out.
    """
    shown = headline(result)
    if reasons is None or shown is None:
        return None
    name, value = shown[0], shown[1]["value"]
    moved = [
        {**one, "value": min(1.0, value + one["value"] - one["instead_of"]), "instead_of": value}
        for one in reasons["what_if"]
        if one["coefficient"] == name and one["value"] < 1
    ]
    return {**reasons, "what_if": moved}


def _look(work: ProjectWork, audit: Row) -> None:
    """Add the value and the interval with the present judgments to the audit's looks."""
    reviews = ReviewStore(work.store)
    looks = list(audit["looks"] or ())
    result = _published(work, audit, lambda done, total: work.check())
    shown = headline(result)
    if shown is not None and result.get("audit"):
        coefficient = shown[1]
        look = {
            "judged": result["audit"]["judgments"],
            "value": coefficient["value"],
            "ci95": coefficient["ci95"],
            "needed": result["audit"]["needed_for_width"],
        }
        looks = [*(one for one in looks if one["judged"] != look["judged"]), look]
    now = reviews.audit(audit["id"])
    asked = None if now is None or now["look_asked_at"] == audit["look_asked_at"] else now["look_asked_at"]
    reviews.update_audit(audit["id"], looks=looks, look_asked_at=asked)


def judged_sheets(reviews: ReviewStore, project: int, control: str) -> list[Any]:
    """The judgments of all audits of a field, as sheets.

    Parameters
    ----------
    reviews : ReviewStore
    project : int
    control : str

    Returns
    -------
    list of softirr.audit.Judgments
    """
    sheets = []
    for row in reviews.audits(project):
        audit = reviews.audit(row["id"]) if row["control"] == control else None
        if audit is not None and audit["sheet"]:
            sheets += judged(reviews, audit)
    return [sheet for sheet in sheets if sheet.values]


def judged(reviews: ReviewStore, audit: Row) -> list[Any]:
    """The judges' sheets: once one judge has judged every pair, unfinished judges are ignored."""
    from softirr.audit.workflow import Judgments

    by_judge: dict[str, dict[tuple[str, int], str]] = {}
    texts = {(unit, pair): (text_a, text_b) for unit, pair, text_a, text_b in audit["sheet"]}
    for row in reviews.judgements(audit["id"]):
        if row["place"] < len(audit["sheet"]):
            unit, pair = audit["sheet"][row["place"]][:2]
            by_judge.setdefault(row["judge"], {})[unit, pair] = VERDICTS[row["verdict"]]
    done = complete(audit["sheet"], {judge: len(values) for judge, values in by_judge.items()})
    return [
        Judgments(judge, {key: by_judge[judge].get(key, "") for key in texts}, texts)
        for judge in sorted(done or by_judge)
    ]


def progress_of(reviews: ReviewStore, audit: Row, judge: str) -> dict[str, Any]:
    """Progress of one judge, and the judges' agreement for a judge who stops or is done.

    Returns
    -------
    dict
        ``n``, ``same``, ``different``, ``unsure`` (numbers of pairs), ``counts`` (whether the result is computed with
        them), and ``agreement`` (of all judges, on pairs that two or more judged; None where there are none).
    """
    from softirr.statistics.evidence.judged import judges_agreement

    by_judge: dict[str, dict[str, float]] = {}
    mine: Counter[str] = Counter()
    for row in reviews.judgements(audit["id"]):
        verdict = row["verdict"]
        if row["judge"] == judge:
            mine[verdict if verdict in ("same", "unsure") else "different"] += 1
        if verdict != "unsure":
            by_judge.setdefault(str(row["place"]), {})[row["judge"]] = float(verdict == "same")
    done, agreement = complete(audit["sheet"], reviews.judges(audit["id"])), judges_agreement(by_judge)
    return {
        "n": mine.total(),
        **{verdict: mine[verdict] for verdict in ("same", "different", "unsure")},
        "counts": not done or judge in done,
        "agreement": agreement and {**agreement, "name": coefficient_title("krippendorff_alpha")},
    }


def table_of(kept: Mapping[str, Any]) -> AnnotationTable:
    """The table of answers that a sample was drawn from."""
    rows = [Answer(item, rater, tuple(texts)) for item, rater, texts in kept["answers"]]
    return AnnotationTable.from_answers(rows, items=kept["items"], casefold=kept["casefold"])


def sheet_rows(audit: Row, judgements: Sequence[Row]) -> list[list[Any]]:
    """The sheet as ``softirr audit sample`` writes it, with one judge's judgments."""
    verdicts = {row["place"]: VERDICTS[row["verdict"]] for row in judgements}
    rows = [[*row, verdicts.get(place, "")] for place, row in enumerate(audit["sheet"])]
    return [["unit", "pair", "text_a", "text_b", "judgment"], *rows]


def _rows(store: Store, project: int) -> list[Row]:
    import sqlalchemy as sa

    from ml_backend.store.schema import tasks

    query = sa.select(tasks.c.number, tasks.c.answers, tasks.c.answers_hash).where(tasks.c.project == project)
    with store.engine.connect() as connection:
        return rows(connection.execute(query.order_by(tasks.c.number)))

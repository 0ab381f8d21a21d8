"""Audits of a project: drawing the sample, storing judgments, computing the audited coefficients.

Drawing and evaluating need the measure, so the worker does both on request; the pages only read and write rows.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ml_backend.review.requests import LOOK, RESULT, SHEET, ProjectWork, RequestStore
from ml_backend.scoring.scorer import ReportContent
from ml_backend.store.database import Row
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Store
from softirr.errors import InputError
from softirr.report.key_figures import headline
from softirr.statistics.coefficients.registry import coefficient_title

if TYPE_CHECKING:
    from softirr.report.reason_counts import ReasonSummary

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


def ask(store: Store, project: int, *, control: str, measure: str, n_judgments: int, who: str) -> int:
    """Request a sample; returns the audit's number."""
    seed = secrets.randbits(31)
    values = {"control": control, "measure": measure, "seed": seed, "wanted": n_judgments, "created_by": who[:256]}
    audit = ReviewStore(store).add_audit(project, **values)
    RequestStore(store).ask(project, SHEET, {"audit": audit})
    return audit


def complete(sheet: Sequence[Any], judges: Mapping[str, int]) -> list[str]:
    """Judges who have judged every pair."""
    return [judge for judge, n in judges.items() if sheet and n >= len(sheet)]


def draw(work: ProjectWork, question: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the pairs of an audit and store them; returns their number."""
    from softirr.audit import ONLY, draw_sheet

    reviews = ReviewStore(work.store)
    audit = _audit(reviews, question)
    settings, measure = work.settings, audit["measure"]
    with work.scorer.alone_with(measure, work.progress(SHEET)) as progress:
        sheet = draw_sheet(
            work.table(audit["control"]),
            work.scorer.measure_under(measure, settings.policy, settings.terminologies),
            judgments=audit["wanted"],
            seed=audit["seed"],
            cache=work.scorer.cache(),
            progress=progress,
        )
    reviews.update_audit(audit["id"], sheet=[[unit.id, ONLY, unit.text_a, unit.text_b] for unit in sheet.units])
    return {"pairs": len(sheet.units)}


def evaluate(work: ProjectWork, question: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the coefficients of an audit's field with all judgments; they are the project's at once."""
    audit = _audit(ReviewStore(work.store), question)
    result = _publish(work, audit["control"], work.progress(RESULT))
    return {name: result[name] for name in _OF_RESULT if name in result}


def look(work: ProjectWork, question: Mapping[str, Any]) -> dict[str, Any]:
    """Add the value and the interval with the present judgments to the earlier looks at an audit."""
    audit = _audit(ReviewStore(work.store), question)
    earlier = RequestStore(work.store).find(work.project["id"], LOOK, question)
    looks = list(((earlier or {}).get("result") or {}).get("looks", ()))
    result = _publish(work, audit["control"], lambda done, total: work.check())
    best = headline(result)
    if best is not None and result.get("audit"):
        judged, needed = result["audit"]["judgments"], result["audit"]["needed_for_width"]
        latest = {"judged": judged, "value": best[1]["value"], "ci95": best[1]["ci95"], "needed": needed}
        looks = [*(entry for entry in looks if entry["judged"] != judged), latest]
    return {"looks": looks}


def _audit(reviews: ReviewStore, question: Mapping[str, Any]) -> Row:
    audit = reviews.audit(question["audit"])
    if audit is None:
        raise InputError("The audit was removed.")
    return audit


def field_report(
    work: ProjectWork,
    control: str,
    progress: Callable[[int, int], None],
    *,
    reasons: ReasonSummary | None = None,
    what_if: bool = True,
) -> dict[str, Any]:
    """Return the report on a text field with the present answers, measure, policy, decisions and judgments.

    Parameters
    ----------
    reasons, what_if
        As in `ReportContent`.
    """
    project = work.project["id"]
    judgments = judged_sheets(ReviewStore(work.store), project, control)
    content = ReportContent(work.store.decisions(project), judgments, reasons, what_if)
    return work.scorer.summary(work.store.answers(project), control, work.preparation, content, progress=progress)


def _publish(work: ProjectWork, control: str, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Return the report on a field, and store its numbers."""
    project = work.project["id"]
    result = field_report(work, control, progress, what_if=False)

    def change(row: Row) -> dict[str, Any]:
        summary = row["summary"]
        if not summary or control not in summary["controls"]:
            return {}
        unaudited = {name: value for name, value in summary["controls"][control].items() if name != "audit"}
        report = {**unaudited, **result, "reasons": _with_judgments(unaudited.get("reasons"), result)}
        return {
            "summary": {**summary, "controls": {**summary["controls"], control: report}},
            "summary_at": time.time(),
        }

    work.store.change_project(project, change)
    return result


def _with_judgments(reasons: Mapping[str, Any] | None, result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return reasons that were found stored, for the headline with judgments.

    The headline without an attribute is the headline plus a difference, which judgments do not change; a value that was
    cut off at 1 is left out.
    """
    from softirr.report.what_if import up_to_one

    best = headline(result)
    if reasons is None or best is None:
        return None
    name, value = best[0], best[1]["value"]
    moved = [
        {
            **entry,
            "value": min(1.0, value + entry["value"] - entry["instead_of"]),
            "instead_of": value,
            "difference_ci95": up_to_one(entry.get("difference_ci95"), value),
        }
        for entry in reasons["what_if"]
        if entry["coefficient"] == name and entry["value"] < 1
    ]
    return {**reasons, "what_if": moved}


def judged_sheets(reviews: ReviewStore, project: int, control: str) -> list[Any]:
    """The judgments of all audits of a field, as sheets."""
    sheets = []
    for row in reviews.audits(project):
        audit = reviews.audit(row["id"]) if row["control"] == control else None
        if audit is not None and audit["sheet"]:
            sheets += judged(reviews, audit)
    return [sheet for sheet in sheets if sheet.values]


def judged(reviews: ReviewStore, audit: Row) -> list[Any]:
    """The judges' sheets: once one judge has judged every pair, unfinished judges are ignored."""
    from softirr.audit import Judgments

    by_judge: dict[str, dict[tuple[str, int], str]] = {}
    texts = {(unit, pair): (text_a, text_b) for unit, pair, text_a, text_b in audit["sheet"]}
    for row in reviews.judgments(audit["id"]):
        if row["row"] < len(audit["sheet"]):
            unit, pair = audit["sheet"][row["row"]][:2]
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
        them), and ``agreement`` (of all judges, on pairs that two or more judged; None without such pairs).
    """
    from softirr.statistics.evidence.judged import judges_agreement

    by_judge: dict[str, dict[str, float]] = {}
    counts: Counter[str] = Counter()
    for row in reviews.judgments(audit["id"]):
        verdict = row["verdict"]
        if row["judge"] == judge:
            counts[verdict if verdict in ("same", "unsure") else "different"] += 1
        if verdict != "unsure":
            by_judge.setdefault(str(row["row"]), {})[row["judge"]] = float(verdict == "same")
    done, agreement = complete(audit["sheet"], reviews.judges(audit["id"])), judges_agreement(by_judge)
    return {
        "n": counts.total(),
        **{verdict: counts[verdict] for verdict in ("same", "different", "unsure")},
        "counts": not done or judge in done,
        "agreement": agreement and {**agreement, "name": coefficient_title("krippendorff_alpha")},
    }


def unused_judgments(audit: Mapping[str, Any] | None) -> str:
    """Return how many judged pairs do not count as pairs of the project, and why; empty if all count.

    Parameters
    ----------
    audit : mapping or None
        The summary of the judgments in the report on the field.
    """
    from softirr.report.evidence import unused_sentence

    if not audit or not audit["unused"]:
        return ""
    return unused_sentence(audit["unused"], audit["judgments"], "the project")


def sheet_rows(audit: Row, judgments: Sequence[Row]) -> list[list[Any]]:
    """The sheet as ``softirr audit sample`` writes it, with one judge's judgments."""
    verdicts = {row["row"]: VERDICTS[row["verdict"]] for row in judgments}
    rows = [[*row, verdicts.get(number, "")] for number, row in enumerate(audit["sheet"])]
    return [["unit", "pair", "text_a", "text_b", "judgment"], *rows]

"""The report's headline with its sentence, and the coefficients with their audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.report.links import Links
from ml_backend.review.headline import field_headline, target_of
from ml_backend.review.panel_payload import moment
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from softirr.report.outlook import outlook
from softirr.report.page.sentences import EXPECTED, NAMES, TASKS, coefficient_rows, headline_sentence


def headline_of(project: Row, control: str, rows: Sequence[Mapping[str, Any]], audit: Row | None) -> dict[str, Any]:
    """The main coefficient of a field, audited where there is an audit, and its meaning in a sentence."""
    n = sum(row["agreement"] is not None for row in rows)
    summary = project["summary"]["controls"][control]
    found = field_headline(project, control, audit)
    if found is None:
        reason = (summary["coefficients"].get("krippendorff_alpha") or {}).get(
            "undefined"
        ) or "there is nothing to compare"
        left_out = " ".join(_said_of_the_run(project))
        return {
            "name": None,
            "value": None,
            "sentence": f"There is no agreement to report yet: {reason}. {left_out}".strip(),
        }
    key = found["name"]
    base = {**found, "key": key, "name": NAMES[key], "n_tasks": n}
    left_out = "".join(f" {said}" for said in _said_of_the_run(project))
    if not found["audited"] or audit is None:
        more = outlook(summary["coefficients"][key], n, items="tasks")
        return base | {
            "sentence": headline_sentence(key, found, summary, n, words=TASKS) + (f" {more}" if more else "") + left_out
        }
    result = audit["result"]
    judgements = result["audit"]["judgements"]
    said = headline_sentence(
        key, found, {**result, "n_raters": summary["n_raters"]}, n, words=TASKS, more="more judgements"
    )
    more = outlook(result["coefficients"][key], n, result["audit"], items="tasks")
    people = "one person" if result["audit"].get("judges", 1) == 1 else f"{result['audit']['judges']} people"
    return base | {
        "judgements": judgements,
        # use the audited observed and chance agreement too, so that the sentence is consistent
        "sentence": f"{said} This value is audited: {judgements:,} judgements of {people} about randomly drawn pairs stand behind it. "
        f"Without them it would read {found['plain']['value']:.2f}.{f' {more}' if more else ''}{left_out}",
    }


def target_line(project: Row, head: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The project's target for the charts: as the coefficient, and as the mean agreement that gives it with the agreement by chance as it is."""
    target = target_of(project)
    key = head.get("key")
    if target is None or key is None:
        return None
    expected = summary["expected_agreement"].get(EXPECTED.get(key, ""))
    observed = (
        target if key == "observed_agreement" else None if expected is None else expected + target * (1 - expected)
    )
    return {"key": key, "name": NAMES[key], "value": target, "observed": observed}


def _said_of_the_run(project: Row) -> list[str]:
    """Notes about excluded answers, and about another backend that writes the scores in Label Studio."""
    rival = (project["connection"] or {}).get("rival_note")
    return [*project["summary"].get("left_out", ()), *([rival] if rival else [])]


def coefficients(summary: Mapping[str, Any], links: Links) -> list[dict[str, Any]]:
    """Every coefficient with its meaning, its value expected by chance, and its tasks."""
    link = links.scored("All tasks with an agreement")
    return [{**row, "link": link} for row in coefficient_rows(summary, words=TASKS)]


def unaudited(project: Row, control: str, audit: Row) -> dict[str, float | None]:
    """The coefficients of a field without its audit; every page shows these values."""
    summary = ((project["summary"] or {}).get("controls") or {}).get(control) or {}
    now = {key: one.get("value") for key, one in (summary.get("coefficients") or {}).items()}
    return {**(audit["result"].get("audit", {}).get("plain") or {}), **now}


def audit_of(
    reviews: ReviewStore, project: Row, control: str, row: Row | None, rows: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """The newest audit with a result, and the number of tasks that changed since it was drawn."""
    if row is None:
        return None
    result = row["result"]
    plain = unaudited(project, control, row)
    now = {str(one["number"]): one["answers_hash"][:16] for one in rows}
    whole = reviews.audit(row["id"])
    then = (whole["drawn_from"] if whole else None) or {}
    return {
        "id": row["id"],
        "measure": row["measure"],
        "coefficients": {
            key: {"name": NAMES.get(key, key), "plain": plain.get(key), **value}
            for key, value in result["coefficients"].items()
            if value.get("value") is not None
        },
        **result.get("audit", {}),
        "plain": {key: plain.get(key) for key in result.get("audit", {}).get("plain", {})},
        "n_changed": sum(now.get(task) != then.get(task) for task in {*now, *then}),
        "finished_at": moment(row["result_at"]),
        "drawn_at": moment(row["created_at"]),
    }

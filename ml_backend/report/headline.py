"""The report's headline with its sentence, and the coefficients with their audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.report.formats import number
from ml_backend.report.links import Links
from ml_backend.review.headline import field_headline, target_of
from ml_backend.review.panel_payload import moment
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from softirr.report.outlook import outlook

NAMES = {
    "observed_agreement": "Observed agreement",
    "cohen_kappa": "Cohen’s kappa",
    "scott_pi": "Scott’s pi",
    "fleiss_kappa": "Fleiss’ kappa",
    "krippendorff_alpha": "Krippendorff’s alpha",
    "gwet_ac2": "Gwet’s AC2",
    "sigma": "Sigma",
    "ks": "KS",
}
MEANINGS = {
    "observed_agreement": "Mean equivalence of two answers to the same task; says nothing of chance.",
    "cohen_kappa": "Beyond chance, mean over pairs of annotators, each with their own habits.",
    "scott_pi": "Beyond chance, for exactly two annotators with habits in common.",
    "fleiss_kappa": "Beyond chance, any number of annotators with habits in common.",
    "krippendorff_alpha": "Beyond chance; copes with missing answers and small samples.",
    "gwet_ac2": "Beyond chance; stays high where nearly all answers are alike.",
    "sigma": "Share of same-task pairs more alike than 95% of different-task pairs (Braylan et al. 2022).",
    "ks": "Greatest gap between same-task and different-task pairs (Braylan et al. 2022).",
}
EXPECTED = {
    "cohen_kappa": "cohen",
    "fleiss_kappa": "fleiss",
    "scott_pi": "fleiss",
    "krippendorff_alpha": "krippendorff",
}


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
        return base | {"sentence": sentence(key, found, summary, n) + (f" {more}" if more else "") + left_out}
    result = audit["result"]
    judgements = result["audit"]["judgements"]
    said = sentence(key, found, {**result, "n_raters": summary["n_raters"]}, n, more="more judgements")
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


def sentence(
    name: str, coefficient: Mapping[str, Any], summary: Mapping[str, Any], n_tasks: int, *, more: str | None = None
) -> str:
    """The meaning of the headline as sentences; `more` says what would narrow a wide interval; by default the main cause of its width."""
    value, interval = coefficient["value"], coefficient.get("ci95")
    raters = summary["n_raters"]
    basis = f"over {n_tasks:,} {'task' if n_tasks == 1 else 'tasks'} answered by {raters} {'annotator' if raters == 1 else 'annotators'}"
    if name == "observed_agreement":
        return f"Two answers to the same task are equivalent at {value:.2f} on average, {basis}. Agreement beyond chance is not defined here."
    certain = ""
    items = coefficient.get("ci95_items")
    if interval:
        certain = f" (95% confidence: {number(interval[0])} to {number(interval[1])})"
    if value <= 0:
        text = "Annotators agree no more than chance would have it"
    elif interval and interval[0] <= 0:
        text = "Whether annotators agree beyond chance is not certain"
    else:
        text = "Annotators agree beyond chance"
    text += f": {NAMES[name]} is {number(value)}{certain}, {basis}."
    observed = summary["coefficients"].get("observed_agreement", {}).get("value")
    expected = summary["expected_agreement"].get(EXPECTED.get(name, ""))
    if observed is not None and expected is not None:
        text += f" Answers to the same task are equivalent at {observed:.2f} on average, where chance alone would give {expected:.2f}."
    if interval and items:
        text += (
            f" Nobody has audited this value, so the interval includes the errors of the measure, as they were on benchmark data. "
            f"If the measure made no errors, it would be {number(items[0])} to {number(items[1])}."
        )
    if more is None:
        more = "more tasks"
        if items and interval and items[1] - items[0] < (interval[1] - interval[0]) / 2:
            more = "an audit"
    if interval and interval[1] - interval[0] > 0.3:
        text += f" The interval is wide: {more} would make this more certain."
    return text


def coefficients(summary: Mapping[str, Any], links: Links) -> list[dict[str, Any]]:
    """Every coefficient with its meaning and its value expected by chance."""
    expected = summary["expected_agreement"]
    return [
        {
            "key": key,
            "name": NAMES.get(key, key),
            "meaning": MEANINGS.get(key, ""),
            **coefficient,
            "expected": expected.get(EXPECTED[key])
            if key in EXPECTED and coefficient.get("value") is not None
            else None,
            "link": links.scored("All tasks with an agreement"),
        }
        for key, coefficient in summary["coefficients"].items()
    ]


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

"""The report's headline with its sentence, and the coefficients with their audit."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.report.links import Links
from ml_backend.report.units import words_for
from ml_backend.review.agreement_words import chance_by_measure
from ml_backend.review.headline import field_headline, target_of
from ml_backend.review.misfits import misfits_of
from ml_backend.review.moments import moment
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from softirr.report.headline import by_measure, expected_agreement, is_exact
from softirr.report.next_step import next_step
from softirr.report.page.sentences import PLACES, TASKS, Words, coefficient_rows, headline_sentence
from softirr.statistics.coefficients.registry import coefficient_title


def headline_of(project: Row, control: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The main coefficient of a field, and its meaning in a sentence."""
    n_tasks = sum(row["agreement"] is not None for row in rows)
    words = words_for(project, control)
    n_places = sum(place["agreement"] is not None for row in rows for place in row["places"]) if words is PLACES else 0
    n, items = n_places or n_tasks, f"{words.item}s"
    summary = project["summary"]["controls"][control]
    shown, notes = field_headline(project, control), _notes_of_the_run(project)
    if shown is None:
        return {"name": None, "value": None, "sentence": _why_nothing(summary, rows), "next": None, "notes": notes}
    key = shown["name"]
    raters = statistics.median(len(row["raters"]) for row in rows if row["agreement"] is not None) if n_tasks else 2
    expected = expected_agreement(summary, key)
    step = next_step(
        summary["coefficients"][key],
        n,
        items=items,
        expected=expected,
        raters=raters,
        pairs=None if n_places else _to_judge(rows),
        exact=is_exact(summary),
    )
    return {
        **shown,
        "key": key,
        "name": coefficient_title(key),
        "n_tasks": n_tasks,
        "n_places": n_places or None,
        "sentence": headline_sentence(key, shown, summary, n, words=words, fits=not misfits_of(project, control)),
        "next": step,
        "next_audits": step is not None and "judge" in step,
        "notes": notes,
    }


def _to_judge(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Pairs of texts that can be judged; None where there are so many that the number does not matter."""
    pairs = [row["to_judge"] for row in rows]
    return None if None in pairs else sum(pairs)


def _why_nothing(summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Why a field has no agreement."""
    if not rows:
        return "This project is empty: it has no tasks yet."
    if not any(row["raters"] for row in rows):
        return "Nobody has answered a task of this project yet."
    reason = (summary["coefficients"].get("krippendorff_alpha") or {}).get("undefined") or "there is nothing to compare"
    return f"There is no agreement to report yet: {TASKS.adapt(reason)}."


def target_line(project: Row, head: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The project's target for the charts.

    As the coefficient, and as the mean agreement that gives it with the agreement by chance as it is.
    """
    target = target_of(project)
    key = head.get("key")
    if target is None or key is None:
        return None
    expected = chance_by_measure(summary, key)
    observed = (
        target if key == "observed_agreement" else None if expected is None else expected + target * (1 - expected)
    )
    return {"key": key, "name": coefficient_title(key), "value": target, "observed": observed}


def _notes_of_the_run(project: Row) -> list[str]:
    """Notes about excluded answers, and about another backend that writes the scores in Label Studio."""
    rival = (project["connection"] or {}).get("rival_note")
    return [*project["summary"].get("left_out", ()), *([rival] if rival else [])]


def coefficients(summary: Mapping[str, Any], links: Links, words: Words = TASKS) -> list[dict[str, Any]]:
    """Every coefficient with its meaning, its value expected by chance, and its tasks."""
    link = links.scored("All tasks with an agreement")
    return [{**row, "link": link} for row in coefficient_rows(summary, words=words)]


def audit_of(
    reviews: ReviewStore, project: Row, control: str, row: Row | None, rows: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """The newest audit with a result, and the number of tasks that changed since it was drawn."""
    if row is None:
        return None
    summary = project["summary"]["controls"][control]
    now = {str(one["number"]): one["answers_hash"][:16] for one in rows}
    whole = reviews.audit(row["id"])
    then = (whole["drawn_from"] if whole else None) or {}
    return {
        "id": row["id"],
        "measure": row["measure"],
        "coefficients": judged_coefficients(summary),
        **(summary.get("audit") or {}),
        "n_changed": sum(now.get(task) != then.get(task) for task in {*now, *then}),
        "finished_at": moment(row["result_at"]),
        "drawn_at": moment(row["created_at"]),
    }


def judged_coefficients(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The coefficients of a field that judgments correct, each with its value by the measure alone."""
    return {
        key: {"name": coefficient_title(key), "plain": by_measure(value), **value}
        for key, value in summary["coefficients"].items()
        if value.get("value") is not None and value.get("judgments")
    }

"""The score of a task: the agreement of its texts, of all its fields or of one of them, as the lead chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.project_settings import LOWEST, MEAN, TEXTS, ProjectSettings
from ml_backend.scoring.details import mean
from ml_backend.scoring.other_fields import FieldFit, agreements_of_tasks

Row = Mapping[str, Any]


def counts_fields(settings: ProjectSettings) -> bool:
    """Whether scores may depend on more than the mean of the texts."""
    return settings.score != TEXTS


def chosen_score(summary: Mapping[str, Any] | None) -> str:
    """The option `score` of a project at its last summary."""
    option = ((summary or {}).get("settings") or {}).get("score") or {}
    return str(option.get("value") or TEXTS)


def counted_fields(details: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The fields that the score of a task is the mean of.

    Parameters
    ----------
    details : mapping
        Details of a scored task (`Scorer.task_details`, `scored_by`).

    Returns
    -------
    dict
        ``agreement``, ``pairs`` and, of texts, the rest of their details.
    """
    fields = details["controls"]
    return {name: fields[name] for name in details.get("counted", fields) if name in fields}


def counting(fits: Mapping[str, FieldFit], settings: ProjectSettings) -> dict[str, FieldFit]:
    """The fits of the fields that may count in a score."""
    return {name: fit for name, fit in fits.items() if settings.score in (MEAN, LOWEST, name)}


def scored_by(
    rows: Sequence[Row],
    details: Mapping[int, Mapping[str, Any]],
    fits: Mapping[str, FieldFit],
    settings: ProjectSettings,
) -> dict[int, dict[str, Any]]:
    """Details of tasks with the score that the settings choose.

    Parameters
    ----------
    rows : sequence of mapping
        ``number`` and ``fields``, the answers to controls without texts.
    details : mapping
        Details of the tasks' texts, by number (`Scorer.task_details`).
    fits : mapping
        Fits of the controls without texts (`other_fields.fits_of`).

    Returns
    -------
    dict
        The details by number. ``controls`` also has the agreement, pairs and ``kind`` of each control without texts;
        ``counted`` contains the names of the fields that the score is the mean of.
    """
    if not counts_fields(settings):
        return {row["number"]: dict(details[row["number"]]) for row in rows}
    stored = [(row["number"], row["fields"] or {}) for row in rows]
    fits_that_count = counting(fits, settings)
    of_tasks = {name: agreements_of_tasks(stored, name, fit, settings) for name, fit in fits_that_count.items()}
    scored = {}
    for number, _ in stored:
        fields = {name: entry for name, entry in details[number]["controls"].items() if "kind" not in entry}
        for name, fit in fits_that_count.items():
            if compared := of_tasks[name].get(number):
                fields[name] = {"kind": fit.kind, **compared}
        agreements = {name: entry["agreement"] for name, entry in fields.items() if entry["agreement"] is not None}
        names = _counted(agreements, settings.score)
        score = mean(agreements[name] for name in names)
        scored[number] = {**details[number], "agreement": score, "controls": fields, "counted": names}
    return scored


def _counted(agreements: Mapping[str, float], score: str) -> list[str]:
    """The fields that the score is the mean of."""
    if score == MEAN:
        return list(agreements)
    if score == LOWEST:
        return sorted(agreements, key=lambda name: agreements[name])[:1]
    return [score] if score in agreements else []

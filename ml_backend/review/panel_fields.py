"""The fields of a task that are no text in the panel: choices, ratings, numbers and the like, one line each."""

from __future__ import annotations

from typing import Any

from ml_backend.review.headline import field_headline
from ml_backend.review.rater_names import name_of
from ml_backend.scoring.other_fields import field_of_task, fits_of
from ml_backend.settings import ProjectSettings
from ml_backend.store.store import Row
from softirr.answers.kinds import find_kind

__all__ = ["fields_of"]


def fields_of(project: Row, task: Row, settings: ProjectSettings, *, about_people: bool = True) -> list[dict[str, Any]]:
    """The fields of a task that are no text and that anybody answered, in the order of the report.

    Returns
    -------
    list of dict
        ``name``, ``kind``, ``agreement``, ``agreed`` (values or null), ``agreed_by`` (``median`` or ``majority``),
        ``raters`` (id and name), ``values``: ``values`` and the ``raters`` who gave them, the most frequent first, and
        ``headline`` (None where the project has texts, whose headlines the panel shows).
    """
    stored = (task["facts"] or {}).get("fields") or {}
    listed = []
    for name, fit in fits_of(project["summary"]).items():
        if name not in stored:
            continue
        field = field_of_task(task["number"], stored, name, fit, settings)
        by_values: dict[tuple[str, ...], list[str]] = {}
        for rater, values in field.answers.items():
            by_values.setdefault(values, []).append(rater)
        if not by_values:
            continue
        listed.append(
            {
                "name": name,
                "kind": fit.kind,
                "agreement": field.agreement,
                "headline": field_headline(project, name, about_people=about_people),
                "agreed": None if field.agreed is None else list(field.agreed),
                "agreed_by": find_kind(fit.kind).agreed_by,
                "raters": [{"id": rater, "name": name_of(project["raters"], rater)} for rater in field.answers],
                "values": [
                    {"values": list(values), "raters": raters}
                    for values, raters in sorted(by_values.items(), key=lambda one: -len(one[1]))
                ],
            }
        )
    return listed

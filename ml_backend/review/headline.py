"""The headline of a project, the same in the terminal, the panel, the report and the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.review.misfits import misfits_of
from ml_backend.review.rater_names import name_of
from ml_backend.settings import Settings, effective
from softirr.numbers import in_terminal
from softirr.report.headline import headline, headline_facts, is_exact

__all__ = ["field_headline", "headline_lines", "target_of", "text_fields"]


def target_of(project: Mapping[str, Any]) -> float | None:
    """The coefficient that a project wants to reach, if it set one."""
    return effective(Settings(), connection=project["extra_params"], chosen=project["chosen"]).values.target


def text_fields(project: Mapping[str, Any]) -> list[str]:
    """The scored fields of a project that are texts; in a project without any, `controls` are its other fields."""
    reports = (project["summary"] or {}).get("controls") or {}
    return [name for name, report in reports.items() if not is_exact(report)]


def field_headline(project: Mapping[str, Any], control: str, *, about_people: bool = True) -> dict[str, Any] | None:
    """The headline of one field of a project; None while no answers can be compared.

    Parameters
    ----------
    project : mapping
        A row of the store.
    about_people : bool
        Whether it says who pulls the coefficient down; annotators do not see it.

    Returns
    -------
    dict or None
        As of :func:`softirr.report.headline.headline_facts`.
    """
    summary = ((project["summary"] or {}).get("controls") or {}).get(control)
    if headline(summary) is None:
        return None
    return headline_facts(
        summary,
        target=None if summary is None else target_of(project),
        name_of=lambda rater: name_of(project["raters"], rater),
        fits=not misfits_of(project, control),
        about_people=about_people,
    )


def headline_lines(project: Mapping[str, Any]) -> list[str]:
    """The headline of each field for a terminal; the field is named where there are several."""
    controls = list((project["summary"] or {}).get("controls") or ())
    lines: list[str] = []
    for control in controls:
        best = field_headline(project, control)
        sentences = best["sentences"] if best else ["There is no agreement to report yet."]
        lines += [f"Field {control}: {sentences[0]}", *sentences[1:]] if len(controls) > 1 else sentences
    return [in_terminal(line) for line in lines]

"""The target of a project, its text fields, and its verdict for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.labelstudio.config import is_repeated
from ml_backend.project_settings import ProjectSettings, effective
from ml_backend.settings import Settings
from softirr.numbers import in_terminal, straight_apostrophes
from softirr.report.key_figures import is_exact
from softirr.report.view import Names, verdict_of


def target_of(project: Mapping[str, Any]) -> float | None:
    """The coefficient that a project wants to reach, if it set one."""
    return _settings(project).target


def part_of_tasks(project: Mapping[str, Any], field: str) -> str:
    """The word for the parts of a task that a field's coefficients count; empty if they count tasks."""
    control: Mapping[str, Any] = next((control for control in project["controls"] if control["name"] == field), {})
    if is_repeated(field) or (control.get("per_region") and control.get("shows") == "chat"):
        return "turn"
    return "region" if _settings(project).regions == "matched" and field in text_fields(project) else ""


def _settings(project: Mapping[str, Any]) -> ProjectSettings:
    return effective(Settings(), connection=project["extra_params"], command_options=project["chosen"]).values


def report_target(project: Mapping[str, Any]) -> dict[str, Any]:
    """The target of a project as the view of a report reads it; empty if the project set none."""
    target = target_of(project)
    return {} if target is None else {"target": {"value": target, "source": "set for this project"}}


def text_fields(project: Mapping[str, Any]) -> list[str]:
    """The scored fields of a project that are texts; in a project without any, `controls` are its other fields."""
    reports = (project["summary"] or {}).get("controls") or {}
    return [name for name, report in reports.items() if not is_exact(report)]


def headline_lines(project: Mapping[str, Any]) -> list[str]:
    """The verdict on each field for a terminal; the field is named if there are several."""
    summaries = (project["summary"] or {}).get("controls") or {}
    lines: list[str] = []
    for control, summary in summaries.items():
        names = Names(item="task", rater="annotator", part_word=part_of_tasks(project, control))
        verdict = verdict_of({**summary, **report_target(project)}, names)
        lines += [f"Field {control}: {verdict.sentence}" if len(summaries) > 1 else verdict.sentence]
        lines += [straight_apostrophes(verdict.basis)] if verdict.basis else []
    return [in_terminal(line) for line in lines]


def misfits_of(project: Mapping[str, Any]) -> list[str]:
    """Return why the measure does not fit the texts of a project; each sentence once."""
    reports = ((project["summary"] or {}).get("controls") or {}).values()
    return list(dict.fromkeys(sentence for report in reports for sentence in report.get("misfits") or ()))

"""The target of a project, its text fields, its verdict for a terminal, and notes on the result of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ml_backend.labelstudio.config import is_repeated
from ml_backend.labelstudio.history import NO_SUCH_CONTROL, OTHER_CONFIG
from ml_backend.project_settings import MISSING_OPTION, ProjectSettings, effective
from ml_backend.review.rater_names import name_of
from ml_backend.settings import Settings
from softirr.answers.missing import MarkCounts
from softirr.numbers import in_terminal, plural, straight_apostrophes
from softirr.report.key_figures import is_exact
from softirr.report.view import Names, verdict_of

MOST_EXCLUDED = 1000
"""Answers left out that a summary lists."""


def target_of(project: Mapping[str, Any]) -> float | None:
    """The coefficient that a project wants to reach, if it set one."""
    return _settings(project).target


def part_of_tasks(project: Mapping[str, Any], field: str) -> str:
    """The word for the parts of a task that a field's coefficients count; empty if they count tasks."""
    if is_repeated(field):
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


def misfits_of(project: Mapping[str, Any], control: str | None = None) -> list[str]:
    """Return why the measure does not fit the texts of a project's field, or of all fields; each sentence once."""
    fields = (project["summary"] or {}).get("controls") or {}
    reports = fields.values() if control is None else [fields[control]] if control in fields else []
    return list(dict.fromkeys(sentence for report in reports for sentence in report.get("misfits") or ()))


@dataclass(frozen=True)
class Note:
    """A sentence about a problem, and one about its solution."""

    what: str
    fix: str


_LEFT_OUT = {
    NO_SUCH_CONTROL: Note(
        "{} given while the label config did not have one of its TextAreas: missing there, and listed in the report.",
        "Have the tasks answered again if these answers should count.",
    ),
    OTHER_CONFIG: Note(
        "{} given under another label config, to a TextArea that it no longer has: missing, and listed in the report.",
        "Rename the TextArea back if it is the same question.",
    ),
}


def note_on_types(counts: Mapping[str, int]) -> list[Note]:
    """Return a note that names and counts the types of results that are not compared; none without such results.

    Parameters
    ----------
    counts : mapping
        Type -> number of results.
    """
    if not counts:
        return []
    types = ", ".join(f"{n:,} of type {type_}" for type_, n in counts.items())
    return [Note(f"Results that are not compared: {types}.", "Texts, choices and ratings on regions are compared.")]


def notes_of_reports(reports: Collection[Mapping[str, Any]], raters: Mapping[str, str]) -> list[Note]:
    """Notes of texts that may mean that an answer is missing, and of answers given under another label config.

    Parameters
    ----------
    reports : collection of mapping
        The report of each control (`Scorer.summary`).
    raters : mapping
        User id -> name.
    """
    notes = [note for report in reports for note in _notes_of_marks(report, raters)]
    excluded = [entry for report in reports for entry in report.get("excluded", ())]
    for reason, note in _LEFT_OUT.items():
        if n := len({(entry["item"], entry["rater"]) for entry in excluded if entry["reason"].startswith(reason)}):
            count = ("" if n < MOST_EXCLUDED else "At least ") + plural(n, "answer was", "answers were")
            notes.append(Note(note.what.format(count), note.fix))
    return notes


def _notes_of_marks(report: Mapping[str, Any], raters: Mapping[str, str]) -> Iterator[Note]:
    """Notes of texts that mean, or may mean, that an answer is missing."""
    if counts := report.get("missing_marks"):
        names = {rater: name_of(raters, rater) for rater in (*counts["missing"], *counts["doubtful"])}
        yield from (Note(*note) for note in MarkCounts(**counts).notes(names=names, option=MISSING_OPTION))

"""Notes for people about the result of a run."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ml_backend.labelstudio.history import NO_SUCH_CONTROL, OTHER_CONFIG
from ml_backend.project_settings import MISSING_OPTION
from ml_backend.review.rater_names import name_of
from ml_backend.scoring.details import MOST_EXCLUDED
from softirr.answers.missing import MarkCounts
from softirr.numbers import plural


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

"""Marks for a missing answer that are answers in a project: "-" is one if another answer to the control is "+"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from softirr.answers.missing import MissingMarks

__all__ = ["opposites_in", "opposites_of"]


def opposites_in(entries: Iterable[Mapping[str, Any]], marks: MissingMarks) -> frozenset[str]:
    """Return the texts in stored answers to a control whose opposites are marks for a missing answer.

    Parameters
    ----------
    entries : iterable of mapping
        As `answers.task_answers` returns them for the control.
    marks : MissingMarks
        Marks that the project chose.
    """
    if not marks.opposites:
        return frozenset()
    return marks.opposites_in(text for entry in entries for texts in entry["answers"].values() for text in texts)


def opposites_of(project: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return these texts for each control that has some, from the project's row."""
    return {control["name"]: frozenset(texts) for control in project["controls"] if (texts := control.get("opposites"))}

"""Surveys: the further header rows of Qualtrics and SurveyMonkey."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import Any

from softirr.tables.gathered import Request
from softirr.tables.registry import Example, Format, Ways
from softirr.tables.rows import Rows

__all__ = ["FORMATS"]


def _is_qualtrics(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    return len(first) > 1 and any(str(cell).startswith('{"ImportId"') for cell in first[1].values())


def _without_questions(table: Rows, request: Request) -> Rows:
    """The rows without the questions' texts and the import ids."""
    _, table = table.peek(0)
    rows = iter(table.rows)
    next(rows), next(rows)
    return replace(table, rows=rows)


_ANSWER = {"", "response", "open-ended response"}
"""What the second header row of SurveyMonkey says where a question has one column."""


def _is_surveymonkey(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    named = columns[0].casefold().replace("_", " ") == "respondent id"
    return (
        named
        and bool(first)
        and not first[0][columns[0]]
        and any(str(cell or "").strip() for cell in first[0].values())
    )


def _with_subheader(table: Rows, request: Request) -> Rows:
    """The rows, with columns named after the question and the part of it."""
    (first, *_), table = table.peek(1)
    rows = iter(table.rows)
    next(rows)
    names: list[str] = []
    question = ""
    for name, part in zip_longest(table.columns, first[1][: len(table.columns)], fillvalue=""):
        question = name or question
        own = str(part or "").strip()
        names.append(question if own.casefold() in _ANSWER else f"{question} / {own}")
    return replace(table, columns=tuple(names), rows=rows)


FORMATS = (
    Format(
        "qualtrics",
        (
            Example(
                "Qualtrics",
                "CSV",
                "qualtrics.csv --rater ResponseId --items 'Q*'",
                "a row for each respondent, a column for each item; the second and third header row are left out",
            ),
            Example("LimeSurvey", "6, CSV", "limesurvey.csv --rater token --items 'case*'", "as Qualtrics"),
            Example(
                "Google Forms", "CSV", "google.csv --rater 'Email Address' --items 'What do you see*'", "as Qualtrics"
            ),
            Example("Microsoft Forms", "XLSX", "forms.xlsx --rater Name --items 'Picture*'", "as Qualtrics"),
        ),
        table=Ways(_is_qualtrics, _without_questions),
    ),
    Format(
        "surveymonkey",
        (
            Example(
                "SurveyMonkey",
                "CSV or XLSX",
                "surveymonkey.csv --rater 'Respondent ID' --items 'What do you see*'",
                "as Qualtrics; the second header row is joined with the first",
            ),
        ),
        table=Ways(_is_surveymonkey, _with_subheader),
    ),
)

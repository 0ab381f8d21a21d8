"""Surveys: the further header rows of Qualtrics and SurveyMonkey."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

from softirr.answers.forms import form_of
from softirr.answers.gathered import Request
from softirr.answers.layout import listed
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows
from softirr.plural import plural

__all__ = ["FORMATS"]


def _is_qualtrics(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    form = form_of(columns)
    return _has_import_ids(first) or (form is not None and form.tool == "Qualtrics" and _has_texts(first))


def _has_import_ids(first: list[dict[str, Any]]) -> bool:
    """Whether the third row of a CSV file has the import ids."""
    return len(first) > 1 and any(str(cell).startswith('{"ImportId"') for cell in first[1].values())


def _has_texts(first: list[dict[str, Any]]) -> bool:
    """Whether the second row has the names of the columns again, in words: Start Date for StartDate."""
    return bool(first) and any(
        " " in str(cell) and str(cell).replace(" ", "") == name for name, cell in first[0].items()
    )


def _without_questions(table: Rows, request: Request) -> Rows:
    """The rows without the texts and import ids of questions, and without private columns that no option names."""
    shown, table = table.peek(2)
    form = form_of(table.columns)
    import_ids = dict(zip(table.columns, map(str, shown[1][1]), strict=False)) if len(shown) > 1 else {}
    has_ids = any(cell.startswith('{"ImportId"') for cell in import_ids.values())
    layout = request.options.layout
    named = {*layout.items, *layout.raters, *layout.text, layout.item, layout.rater, *request.fields.names}
    left = [
        name for name in table.columns if form and form.is_beside(name) and name not in named and name != "ResponseId"
    ]
    kept = [i for i, name in enumerate(table.columns) if name not in left]
    rows = list(islice(table.rows, 2 if has_ids else 1, None))
    given = [row for row, is_test in zip(rows, _are(table, rows, "Status", _TESTS), strict=True) if not is_test]
    notes = [f"Columns that Qualtrics adds to the questions were left out: {listed(left)}."] if left else []
    if n := len(rows) - len(given):
        tests = plural(
            n, "response of the survey's preview or test was", "responses of the survey's preview or test were"
        )
        notes.append(f"{tests} left out.")
    if (n := sum(_are(table, given, "Finished", _UNFINISHED))) and not layout.raters:
        notes.append(
            f"{plural(n, 'unfinished response counts', 'unfinished responses count')} (Finished is False): to leave "
            f"{'it' if n == 1 else 'them'} out, remove the {'row' if n == 1 else 'rows'}."
        )
    return replace(
        table,
        columns=tuple(table.columns[i] for i in kept),
        rows=((number, [cells[i] for i in kept if i < len(cells)]) for number, cells in given),
        notes=(*table.notes, *notes),
        questions=tuple(name for name, cell in import_ids.items() if _OPEN.search(cell)),
    )


def _are(table: Rows, rows: Sequence[tuple[int, Sequence[Any]]], column: str, values: frozenset[str]) -> list[bool]:
    """Whether a column of each row, where there is such a column, has one of these values."""
    at = table.columns.index(column) if column in table.columns else None
    return [at is not None and len(cells) > at and str(cells[at]).strip().casefold() in values for _, cells in rows]


_TESTS, _UNFINISHED = frozenset(["survey preview", "survey test", "1", "2"]), frozenset(["false", "0"])
"""Kinds of responses that are no answers, and what Finished says of unfinished ones, as labels and as numbers."""
_OPEN = re.compile(r'"QID\d+_TEXT"')
"""Import ids of open questions; ``QID4_3_TEXT`` is the text beside a choice."""
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
    Format("qualtrics", table=Ways(_is_qualtrics, _without_questions)),
    Format("surveymonkey", table=Ways(_is_surveymonkey, _with_subheader)),
)

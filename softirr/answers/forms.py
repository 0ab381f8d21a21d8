"""Forms of survey tools: which of their columns are no questions, and which can name the respondent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from softirr.answers.data_files import data_file
from softirr.text import normalize

__all__ = ["Form", "form_of", "is_person"]

_OF_CODE = re.compile(r"([\w\[\]-]+)\. \S")
"""LimeSurvey's headings of code and question, such as ``token. Access code``."""
_PERSON = re.compile(
    r"(what is )?(your |the |full |coder|rater|annotator|reviewer|reader|participant|interviewer|respondent|assessor)?"
    r"('?s)?[ _]?"
    r"(name|initials|code|id|number|coder|rater|annotator|reviewer|reader|participant|assessor)\??"
    r"|(ihr |ihre )?(name|kürzel|codierer|kodierer)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Form:
    """The responses to a form, as a tool exports them.

    Attributes
    ----------
    tool : str
    ids : tuple of str
        Columns that can name a respondent, the best one first.
    beside : frozenset of str
        All columns that the tool adds to the questions.
    submitted : frozenset of str
        Columns with the date of a finished response, empty for an unfinished one.
    """

    tool: str
    ids: tuple[str, ...]
    beside: frozenset[str]
    submitted: frozenset[str] = frozenset()

    def is_beside(self, column: str) -> bool:
        """Whether the tool adds this column to the questions."""
        return _code(column) in self.beside

    def submitted_column(self, columns: Sequence[str]) -> int | None:
        """Number of the column with the date of a finished response; None if the tool or the export has none."""
        return next((i for i, column in enumerate(columns) if _code(column) in self.submitted), None)

    def id_columns(self, columns: Sequence[str]) -> list[int]:
        """Numbers of the columns that can name a respondent, the best one first."""
        codes = [_code(column) for column in columns]
        return [codes.index(name) for name in self.ids if name in codes]


def form_of(columns: Sequence[str]) -> Form | None:
    """The form whose responses a table has, by the columns that its tool adds.

    Parameters
    ----------
    columns : sequence of str

    Returns
    -------
    Form or None

    Examples
    --------
    >>> form_of(["Id", "Start time", "Completion time", "Email", "Name", "What do you see?"]).tool
    'Microsoft Forms'
    >>> form_of(["item", "rater", "text"]) is None
    True
    """
    codes = {_code(column) for column in columns}
    for tool, known in data_file("forms").items():
        if len(codes & set(known["marks"])) >= known["least"] and (known["least"] > 1 or _first(columns, known)):
            beside = frozenset([*known["marks"], *known["ids"], *known["beside"]])
            return Form(tool, tuple(known["ids"]), beside, frozenset(known.get("submitted", ())))
    return None


def is_person(column: str) -> bool:
    """Whether a question asks who answers.

    Parameters
    ----------
    column : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_person("Your name"), is_person("Coder ID"), is_person("Name of the disease")
    (True, True, False)
    """
    return bool(_PERSON.fullmatch(normalize(column)))


def _first(columns: Sequence[str], known: Mapping[str, Any]) -> bool:
    """Whether the first column is the only mark of a tool."""
    return bool(columns) and _code(columns[0]) in known["marks"]


def _code(column: str) -> str:
    name = normalize(column, casefold=True)
    heading = _OF_CODE.match(name)
    return heading[1] if heading else name

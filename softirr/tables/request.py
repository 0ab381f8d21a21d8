"""What a reader is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from softirr.errors import InputError
from softirr.tables.fields import ItemFields
from softirr.tables.layout import Layout, listed
from softirr.tables.period import Period
from softirr.tables.rows import Gathered
from softirr.tables.table import AnnotationTable, Reading

__all__ = ["Records", "Request", "chosen_texts", "gathered_tables", "in_order"]

Records = Iterator[tuple[int, dict[str, Any]]]
"""Line, or number, and content of each record of a file."""


@dataclass(frozen=True)
class Request:
    """How an input is to be read.

    Attributes
    ----------
    name : str
        Of the input, for messages.
    layout : Layout
    controls : sequence of str
        TextAreas of a Label Studio export.
    casefold, predictions_as_raters : bool
    fields : ItemFields
        What to read about the items beside the answers.
    period : Period
        Answers of a Label Studio export that count, by when they were last changed.
    sha256 : callable
        Gives the hash of the input once it is read.
    """

    name: str
    layout: Layout = field(default_factory=Layout)
    controls: Sequence[str] = ()
    casefold: bool = False
    predictions_as_raters: bool = False
    fields: ItemFields = field(default_factory=lambda: ItemFields(()))
    sha256: Callable[[], str | None] = lambda: None
    period: Period = field(default_factory=Period)

    @property
    def texts(self) -> tuple[str, ...]:
        """Columns or fields of texts that are asked for by name."""
        said = self.layout.text
        return tuple(self.controls) or tuple(part for one in said for part in one.split(","))

    def gathered(self, *, empty: str = "none", repeats: str = "last") -> Gathered:
        """A store of answers under the options given, else under what is usual for the format."""
        return Gathered(empty=self.layout.empty or empty, repeats=self.layout.repeats or repeats)

    def line(self, number: int) -> str:
        """Where a record stands."""
        return f"{self.name}, line {number}"


def chosen_texts(request: Request, found: Sequence[str], what: str) -> tuple[str, ...]:
    """The fields to read: those asked for, or the only one.

    Parameters
    ----------
    request : Request
    found : sequence of str
        Fields of texts that the input has.
    what : str
        What the tool calls them, for messages.

    Returns
    -------
    tuple of str

    Raises
    ------
    InputError
        If there are none, or several and none is asked for, or one that is not there.
    """
    if not found:
        raise InputError(f"{request.name} has no {what} with texts.")
    for wanted in request.texts:
        if wanted not in found:
            raise InputError(f"{request.name} has no {what} {wanted!r}; it has {listed(found)}.")
    if request.texts:
        return request.texts
    if len(found) > 1:
        raise InputError(f"{request.name} has several {what}s ({listed(found)}): choose with --text {found[0]}.")
    return tuple(found)


def gathered_tables(
    request: Request, format: str, gathered: Mapping[str, Gathered], *, n_rows: int, notes: Sequence[str] = ()
) -> dict[str, AnnotationTable]:
    """The tables of the answers that a reader has gathered, one for each field of texts.

    Parameters
    ----------
    request : Request
    format : str
        Such as ``prodigy``.
    gathered : mapping of str to Gathered
        By field.
    n_rows : int
        Records that were read.
    notes : sequence of str
        What the reader could not tell for sure.

    Returns
    -------
    dict of str to AnnotationTable

    Raises
    ------
    InputError
        If fields of the items are asked for, which this reader has not gathered.
    """
    if request.fields.names and not request.fields.by_item():
        raise InputError(
            f"{request.name}: fields of items can be read from tables, JSONL and Label Studio's JSON only."
        )
    return {
        name: AnnotationTable.from_answers(
            one.answers(),
            items=one.items,
            excluded=one.excluded,
            casefold=request.casefold,
            input_sha256=request.sha256(),
            warnings=notes,
            fields=request.fields.by_item(),
            reading=Reading(format, (("text", name),), n_rows, one.blank, one.repeated, one.empty),
        )
        for name, one in gathered.items()
    }


def in_order(answers: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Answers by date, which stands first in each; those without one keep their place in the file, before the others.

    Parameters
    ----------
    answers : list of tuple

    Returns
    -------
    list of tuple
    """
    return sorted(answers, key=lambda one: str(one[0] or ""))

"""What a reader is asked for, the answers that it gathers, and the tables that it hands back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softirr.answers.item_fields import ItemFields
from softirr.answers.layout import listed
from softirr.answers.read_options import ReadOptions
from softirr.answers.table import NEWER_DUPLICATE, OLDER_DUPLICATE, AnnotationTable, Answer, Excluded, Reading
from softirr.errors import InputError
from softirr.text import normalize

__all__ = [
    "Gathered",
    "NoValue",
    "Records",
    "Request",
    "Tables",
    "chosen_fields",
    "chosen_texts",
    "gathered_tables",
    "in_order",
]

Records = Iterator[tuple[int, Any]]
"""Line, or number, and content of each record of a file."""
Tables = dict[str, AnnotationTable]
"""A table for each field of texts."""


@dataclass(frozen=True)
class NoValue:
    """A cell of a workbook whose value is not known: it is a missing answer, never an empty one.

    Attributes
    ----------
    place : str
        Such as ``C4``.
    reason : str
        Such as ``error #N/A``.
    """

    place: str
    reason: str


class Gathered:
    """Answers as they are read, one field of them.

    Parameters
    ----------
    empty : {"missing", "none"}
        What an answer without a text is, where the input could mean either.
    repeats : {"set", "first", "last", "refuse"}
    """

    def __init__(self, *, empty: str, repeats: str) -> None:
        self.blank = self.repeated = 0
        self.empty = empty
        self._repeats = repeats
        self._items: dict[str, int] = {}
        self._raters: dict[str, int] = {}
        self._texts: dict[int, str | tuple[str, ...]] = {}
        self.excluded: list[Excluded] = []
        self.no_values: list[NoValue] = []

    def add(self, item: str, rater: str, texts: str | tuple[str, ...] | NoValue | None, place: str = "") -> None:
        """Keep an answer; None is an empty cell.

        Raises
        ------
        InputError
            If the rater has answered the item before, and that is to be refused.
        """
        item, rater = normalize(item), normalize(rater)
        at = self._items.setdefault(item, len(self._items))
        if isinstance(texts, NoValue):
            self.no_values.append(texts)
            self.excluded.append(Excluded(item, rater, texts.reason))
            return
        if texts is None:
            self.blank += 1
            if self.empty == "missing":
                return
            texts = ()
        key = at << 32 | self._raters.setdefault(rater, len(self._raters))
        before = self._texts.get(key)
        if before is None:
            self._texts[key] = texts
            return
        self.repeated += 1
        if self._repeats == "refuse":
            raise InputError(
                f"{place}: rater {rater!r} has two answers for item {item!r}: say with --repeats whether they are a set, "
                "or the first or last one counts."
            )
        if self._repeats == "set":
            self._texts[key] = (*_several(before), *_several(texts))
            return
        self.excluded.append(Excluded(item, rater, OLDER_DUPLICATE if self._repeats == "last" else NEWER_DUPLICATE))
        if self._repeats == "last":
            self._texts[key] = texts

    def miss(self, item: str) -> None:
        """Note an item without an answer."""
        self._items.setdefault(normalize(item), len(self._items))

    def drop(self, item: str, rater: str, reason: str | None = None) -> None:
        """Note an item that the rater did not answer; an earlier answer of the rater is taken back.

        Parameters
        ----------
        item, rater : str
        reason : str, optional
            Why an answer does not count, where there is one.
        """
        item, rater = normalize(item), normalize(rater)
        at = self._items.setdefault(item, len(self._items))
        if rater in self._raters and self._texts.pop(at << 32 | self._raters[rater], None) is not None:
            self.excluded.append(Excluded(item, rater, OLDER_DUPLICATE))
        if reason is not None:
            self.excluded.append(Excluded(item, rater, reason))

    @property
    def is_full_grid(self) -> bool:
        """Whether every rater has a row for every item."""
        return len(self._texts) == len(self._items) * len(self._raters)

    @property
    def n_raters(self) -> int:
        """Number of raters with an answer."""
        return len(self._raters)

    @property
    def compared(self) -> bool:
        """Whether any item has answers of two raters."""
        items = np.fromiter((key >> 32 for key in self._texts), dtype=np.int64, count=len(self._texts))
        return len(items) > len(np.unique(items))

    @property
    def n_identical(self) -> int:
        """Number of items with answers of two raters or more, if the answers to each item are the same; else 0."""
        first: dict[int, str | tuple[str, ...]] = {}
        several = set[int]()
        for key, texts in self._texts.items():
            item = key >> 32
            if item not in first:
                first[item] = texts
            elif first[item] == texts:
                several.add(item)
            else:
                return 0
        return len(several)

    def table(
        self,
        request: Request,
        format: str,
        columns: tuple[tuple[str, str], ...],
        n_rows: int,
        notes: Iterable[str],
    ) -> AnnotationTable:
        """The table of the answers; the store is empty afterwards."""
        read = Reading(format, columns, n_rows, self.blank, self.repeated, self.empty)
        return AnnotationTable.from_answers(
            self._answers(),
            items=self._items,
            excluded=self.excluded,
            casefold=request.options.casefold,
            input_sha256=request.sha256(),
            warnings=notes,
            fields=request.fields.by_item(),
            reading=read,
        )

    def _answers(self) -> Iterator[Answer]:
        """The answers, in order of appearance."""
        items, raters = list(self._items), list(self._raters)
        for key, texts in self._texts.items():
            yield Answer(items[key >> 32], raters[key & 0xFFFFFFFF], _several(texts))
        self._texts = {}


def _several(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return texts if isinstance(texts, tuple) else (texts,)


@dataclass(frozen=True)
class Request:
    """How an input is to be read.

    Attributes
    ----------
    name : str
        Of the input, for messages.
    options : ReadOptions
    fields : ItemFields
        What to read about the items beside the answers.
    sha256 : callable
        Gives the hash of the input once it is read.
    """

    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    fields: ItemFields = field(default_factory=lambda: ItemFields(()))
    sha256: Callable[[], str | None] = lambda: None

    @property
    def texts(self) -> tuple[str, ...]:
        """Columns or fields of texts that are asked for by name."""
        names = self.options.layout.text
        return tuple(self.options.controls) or tuple(part for one in names for part in one.split(","))

    @property
    def names_columns(self) -> bool:
        """Whether the user names columns: a tool's records are then read as a table.

        A text alone names a tool's field.
        """
        options = self.options
        return bool(options.item or options.rater or options.raters or options.items)

    def gathered(self, *, empty: str = "none", repeats: str = "last") -> Gathered:
        """A store of answers under the options given, else under what is usual for the format."""
        return Gathered(empty=self.options.empty or empty, repeats=self.options.repeats or repeats)

    def line(self, number: int) -> str:
        """Where a record is."""
        return f"{self.name}, line {number}"

    def checked(
        self, records: Records, is_it: Callable[[Mapping[str, Any]], bool], expected: str
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Place and content of each record.

        Raises
        ------
        InputError
            If one is no object, or not of the format.
        """
        for number, record in records:
            if not isinstance(record, Mapping) or not is_it(record):
                raise InputError(f"{self.line(number)}: expected {expected}.")
            yield self.line(number), record


def chosen_texts(request: Request, names: Sequence[str], what: str) -> tuple[str, ...]:
    """The fields to read: those asked for, or the only one.

    Parameters
    ----------
    request : Request
    names : sequence of str
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
    if not names:
        raise InputError(f"{request.name} has no {what} with texts.")
    for wanted in request.texts:
        if wanted not in names:
            raise InputError(f"{request.name} has no {what} {wanted!r}; it has {listed(names)}.")
    if request.texts:
        return request.texts
    if len(names) > 1:
        raise InputError(f"{request.name} has several {what}s ({listed(names)}): choose with --text {names[0]}.")
    return tuple(names)


def chosen_fields(request: Request, texts: Sequence[str], kinds: Mapping[str, str], what: str) -> tuple[str, ...]:
    """The fields to read: those asked for, or the only text and, where kinds of fields are read, all others.

    Parameters
    ----------
    request : Request
    texts : sequence of str
        Fields of texts that the input has.
    kinds : mapping of str to str
        Its other fields, with their kind.
    what : str
        What the tool calls fields of texts, for messages.

    Returns
    -------
    tuple of str

    Raises
    ------
    InputError
        As by :func:`chosen_texts`.
    """
    if request.options.kind is None:
        if kinds and not texts:
            raise InputError(
                f"{request.name} has no {what} with texts. softirr score compares its other fields: "
                f"{listed(list(kinds))}."
            )
        return chosen_texts(request, texts, what)
    if request.texts:
        return chosen_texts(request, [*texts, *kinds], what)
    if len(texts) > 1:
        raise InputError(
            f"{request.name} has several {what}s ({listed(texts)}): choose with --text {texts[0]}, or give a kind to "
            f"each field to compare, as --field {texts[0]}=text --field {texts[1]}=nominal."
        )
    return (*(chosen_texts(request, texts, what) if texts or not kinds else ()), *kinds)


def gathered_tables(
    request: Request,
    format: str,
    gathered: Mapping[str, Gathered],
    *,
    n_rows: int,
    notes: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> Tables:
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
    notes : iterable of str
        What the reader could not tell for sure.
    kinds : mapping of str to str, optional
        Kinds of fields that are no texts.

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
    notes = tuple(notes)
    tables = {name: one.table(request, format, (("text", name),), n_rows, notes) for name, one in gathered.items()}
    return {name: replace(table, kind=(kinds or {}).get(name, table.kind)) for name, table in tables.items()}


def in_order(answers: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Answers by date, which is the first value of each.

    Those without a date keep their place in the file, before the others.

    Parameters
    ----------
    answers : list of tuple

    Returns
    -------
    list of tuple
    """
    return sorted(answers, key=lambda one: str(one[0] or ""))

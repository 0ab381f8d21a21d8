"""Answers to items: as an input has them, as a table has them, and answers that do not count, with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from softirr.answers.regions import Region
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.text import normalize

SKIPPED = "skipped"
DRAFT = "draft, not submitted"
COPIED = "copied from a prediction"
COPIED_AND_EDITED = "copied from a prediction and edited"
AGREED = "the agreed answer, which is nobody’s own answer"
OLDER_DUPLICATE = "older answer of the same rater"
NEWER_DUPLICATE = "another answer of the same rater"
NO_RATER = "no annotator named"
TAKEN_BACK = "taken back"
"""Reason of an entry without an answer, which takes back an earlier one and is not listed itself."""
MODEL = "model:"
"""Prefix of the names of raters that are models."""
REFERENCE = "reference"
"""The rater who is what models are graded against, and no person."""
TURN, REGION = "/", "#"
"""Marks between a task and the number of a part of it that is an item: a turn of a dialogue, or matched regions."""


def part_of(task: str, mark: str, number: int) -> str:
    """Return the name of a part of a task that is an item, such as ``7/0`` for the first turn of task 7."""
    return f"{task}{mark}{number}"


def whole_of(item: str) -> str:
    """Return the task that an item is a part of, or the item itself.

    Examples
    --------
    >>> whole_of(part_of("7", TURN, 0)), whole_of("7")
    ('7', '7')
    """
    return re.sub(rf"[{TURN}{REGION}]\d+$", "", item)


@dataclass(frozen=True)
class Answer:
    """Texts of a rater about an item; ``texts=()`` is a submitted, empty answer.

    A string is one text: ``Answer("1", "ann", "fever")`` is ``Answer("1", "ann", ("fever",))``. If texts were split,
    ``written`` has them as they were.

    Raises
    ------
    InputError
        If a text is not a string, such as the NaN of a data frame.
    """

    item: str
    rater: str
    texts: tuple[str, ...]
    written: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        is_single = isinstance(self.texts, str) or not isinstance(self.texts, Iterable)
        texts_of_answer = (self.texts,) if is_single else tuple(self.texts)
        for text in texts_of_answer:
            if not isinstance(text, str):
                raise InputError(
                    f"An answer has {text!r}, which is not a text: leave out an answer that is missing, "
                    "and give () for an empty one."
                )
        object.__setattr__(self, "texts", texts_of_answer)


@dataclass(frozen=True)
class Excluded(JsonObject):
    """An answer to an item that does not count, with the reason (such as ``skipped``); the rater may be empty."""

    item: str
    rater: str
    reason: str


class RawAnswer(NamedTuple):
    """Texts of a rater in a field of an item.

    Attributes
    ----------
    item, rater : str
        In normal form. The rater is empty if the input names nobody.
    texts : tuple of str or None
        Texts or values as they were written; None for a blank cell, which may be missing or empty.
    reason : str
        Why the answer does not count, or empty.
    regions : tuple of (Region, tuple of str)
        Regions with their texts; empty if the answer is about the whole item.
    line : int
        Line, row or number of the record, for messages.
    turn : int or None
        Number of a turn of a dialogue, which is the item then.
    """

    item: str
    rater: str
    texts: tuple[str, ...] | None
    reason: str = ""
    regions: tuple[tuple[Region, tuple[str, ...]], ...] = ()
    line: int = 0
    turn: int | None = None


@dataclass
class RawField:
    """The raw answers to one field.

    Attributes
    ----------
    kind : str
        Kind of the field, if the input shows it.
    answers : list of RawAnswer
        Answers in the order of the input.
    items : dict
        Ids of all items, also of those without an answer, in the order of the input.
    blank : {"missing", "none"}
        Default meaning of a blank cell: a missing answer, or an answer without text.
    repeats : {"set", "first", "last", "refuse"}
        Default meaning of several answers of a rater to an item.
    is_separate : bool
        Whether each text is one value, so that lists in a text are not split.
    columns : tuple of (str, str)
        Role and name of each column that was read; by default the field itself.
    is_merged : bool
        Whether the reader has chosen one answer of each rater, so that several rows are its parts.
    from_cells : bool
        Whether blank answers are cells of a table, which a note explains.
    notes_repeats : bool
        Whether a note explains repeated rows.
    may_be_source : str
        Name of a column that may have the texts that raters were shown, if nobody named it.
    notes : list of str
        Sentences about what is not certain.
    """

    name: str = ""
    kind: str = "text"
    answers: list[RawAnswer] = field(default_factory=list)
    items: dict[str, None] = field(default_factory=dict)
    blank: str = "none"
    repeats: str = "last"
    is_separate: bool = False
    columns: tuple[tuple[str, str], ...] = ()
    is_merged: bool = False
    from_cells: bool = False
    notes_repeats: bool = False
    may_be_source: str = ""
    notes: list[str] = field(default_factory=list)

    def add(self, item: str, rater: str, texts: tuple[str, ...] | None, line: int = 0, reason: str = "") -> None:
        """Add an answer; one that does not count, for a reason, takes back the rater's earlier answer to the item."""
        self.add_item(item)
        self.answers.append(RawAnswer(normalize(item), normalize(rater), texts, reason, (), line))

    def add_item(self, item: str) -> None:
        """Add an item, which may have no answer."""
        self.items.setdefault(normalize(item))


@dataclass
class RawInput:
    """The raw answers of an input.

    Attributes
    ----------
    format : str
        Such as ``csv`` or ``label-studio``.
    n_rows : int
        Number of rows, records or tasks.
    location : callable
        Returns the place of a line in words, such as ``answers.csv, line 3``.
    rater_names : dict of str to str
        Names of raters by their ids, if the input has both.
    notes : sequence of str
        Sentences about what is not certain in any field.
    """

    format: str
    fields: dict[str, RawField]
    n_rows: int = 0
    location: Callable[[int], str] = str
    rater_names: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

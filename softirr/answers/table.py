"""Who wrote what about which item: the table that everything is computed from.

Missing is not empty (docs/explanation/definitions.md): a rater who gave no answer has no row; a rater who submitted
nothing has the empty answer ``()``. ``AnnotationTable.excluded`` lists whatever a reader leaves out, with the reason.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from softirr.answers.origin import Reading
from softirr.answers.splitting import Split
from softirr.errors import InputError, Note
from softirr.plural import plural
from softirr.text import normalize, normalize_lines

__all__ = [
    "AGREED",
    "COPIED",
    "COPIED_AND_EDITED",
    "DRAFT",
    "MODEL",
    "NEWER_DUPLICATE",
    "NO_RATER",
    "OLDER_DUPLICATE",
    "REFERENCE",
    "SKIPPED",
    "AnnotationTable",
    "Answer",
    "Excluded",
    "Reading",
    "Split",
]

SKIPPED = "skipped"
DRAFT = "draft, not submitted"
COPIED = "copied from a prediction"
COPIED_AND_EDITED = "copied from a prediction and edited"
AGREED = "the agreed answer, which is nobody’s own answer"
OLDER_DUPLICATE = "older answer of the same rater"
NEWER_DUPLICATE = "another answer of the same rater"
NO_RATER = "no annotator named"
MODEL = "model:"
"""What the names of raters that are models begin with."""
REFERENCE = "reference"
"""The rater who is what models are graded against, and no person."""

_MANY, _LONG = 6, 24


@dataclass(frozen=True)
class Answer:
    """What one rater wrote about one item; ``texts=()`` is a submitted, empty answer.

    A plain string is one text: ``Answer("1", "ann", "fever")`` is ``Answer("1", "ann", ("fever",))``. If texts were split,
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
        texts: Any = (self.texts,) if isinstance(self.texts, str) else self.texts
        parts = tuple(texts) if isinstance(texts, Iterable) else (texts,)
        for part in parts:
            if not isinstance(part, str):
                raise InputError(
                    f"An answer has {part!r}, which is not a text: leave out an answer that is missing, "
                    "and give () for an empty one."
                )
        object.__setattr__(self, "texts", parts)


def _answer(entry: Answer | Sequence[Any], number: int) -> Answer:
    """An entry of :meth:`AnnotationTable.from_answers` as an answer."""
    if isinstance(entry, Answer):
        return entry
    if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 3:
        raise InputError(f"Entry {number} is not an Answer or (item, rater, texts): {entry!r}.")
    item, rater, texts = entry
    return Answer(str(item), str(rater), texts)


@dataclass(frozen=True)
class Excluded:
    """An answer that does not count, and why.

    Attributes
    ----------
    item, rater : str
        Of the answer; the rater is empty where none is named.
    reason : str
        For example ``skipped``.
    """

    item: str
    rater: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class AnnotationTable:
    """Items x raters -> answer, as arrays over the answers that were given.

    Attributes
    ----------
    items, raters : tuple of str
        Ids in order of first appearance; items without an answer are kept.
    texts : tuple of str
        Distinct normalized texts, sorted: an item's result does not depend on what else is in the table.
    answers : tuple of tuple of int
        Distinct answers, each a sorted tuple of indices into `texts`; ``()`` is the empty answer.
    item, rater, answer : ndarray of int64, shape (n,)
        One entry per given answer, sorted by item, then rater: indices into `items`, `raters` and `answers`.
    excluded : tuple of Excluded
        Answers that don't count, with the reason.
    casefold : bool
        Whether texts that differ only in case are one text.
    ignore_harakat : bool
        Whether texts that differ only in Arabic vowel signs are one text.
    input_sha256 : str or None
        Of the file that was read; None for a table made of answers or of a data frame.
    warnings : tuple of str
        What a reader could not tell for sure, one sentence each.
    fields : dict of str to tuple of str
        Fields of the items that were asked for, such as their site: a value for each of `items`, empty where it is
        missing.
    written : tuple of tuple of str
        The texts of each entry as they were written, in order and with their line breaks; empty texts are left out.
    split : Split or None
        How texts were split, where they were.
    reading : Reading or None
        How the input was read; None for a table made of answers.
    marks : str or None
        Which texts were taken for marks of a missing answer (:mod:`softirr.answers.missing`); None where no reader has
        looked for them.
    weights : ndarray of float, shape (number of items,), optional
        How much each item counts; None counts each once. See :func:`softirr.answers.weights.weighted`.
    kind : str
        Kind of the field: ``text``, or how other values are compared. See :mod:`softirr.answers.kinds`.
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    texts: tuple[str, ...]
    answers: tuple[tuple[int, ...], ...]
    item: NDArray[np.int64]
    rater: NDArray[np.int64]
    answer: NDArray[np.int64]
    excluded: tuple[Excluded, ...] = ()
    casefold: bool = False
    ignore_harakat: bool = False
    input_sha256: str | None = None
    warnings: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    written: tuple[tuple[str, ...], ...] = ()
    split: Split | None = None
    reading: Reading | None = None
    marks: str | None = None
    weights: NDArray[np.float64] | None = None
    kind: str = "text"

    def __post_init__(self) -> None:
        object.__setattr__(self, "warnings", tuple(map(Note, self.warnings)))

    @classmethod
    def from_answers(
        cls,
        answers: Iterable[Answer | Sequence[Any]],
        *,
        items: Iterable[str] = (),
        raters: Iterable[str] = (),
        excluded: Iterable[Excluded] = (),
        casefold: bool = False,
        ignore_harakat: bool = False,
        input_sha256: str | None = None,
        warnings: Iterable[str] = (),
        fields: Mapping[str, Mapping[str, str]] | None = None,
        reading: Reading | None = None,
    ) -> Self:
        """Build the table; texts are normalized, and empty or repeated texts within one answer are folded away.

        Parameters
        ----------
        answers : iterable of Answer or (item, rater, texts)
        items : iterable of str
            Ids that exist whether answered or not; they come first, in this order.
        raters : iterable of str
            Names in the order that the table has; those without an answer are left out.
        casefold : bool
            Texts that differ only in case are one text.
        ignore_harakat : bool
            Texts that differ only in Arabic vowel signs are one text.
        input_sha256 : str, optional
            Of the file that the answers stand in.
        warnings : iterable of str
            What is not certain, one sentence each; the report repeats them.
        fields : dict of str to dict of str to str, optional
            Fields of the items: item -> field -> value.
        reading : Reading, optional
            How the answers were read.

        Raises
        ------
        InputError
            If one rater answers one item twice, or an entry is not an answer.

        Examples
        --------
        >>> rows = [("1", "ann", "fever"), ("1", "bob", ("high fever", "cough")), ("2", "ann", ())]
        >>> table = AnnotationTable.from_answers(rows)
        >>> table.items, table.raters, table.texts
        (('1', '2'), ('ann', 'bob'), ('cough', 'fever', 'high fever'))
        """
        item_ids = {name: index for index, name in enumerate(dict.fromkeys(items))}
        rater_ids = {name: index for index, name in enumerate(dict.fromkeys(raters))}
        texts: set[str] = set()
        answer_ids: dict[tuple[str, ...], int] = {}
        rows: dict[tuple[int, int], int] = {}
        written: dict[tuple[int, int], tuple[str, ...]] = {}
        for number, entry in enumerate(answers, start=1):
            given = _answer(entry, number)
            folded = {text: normalize(text, casefold=casefold, ignore_harakat=ignore_harakat) for text in given.texts}
            key = tuple(sorted({text for text in folded.values() if text}))
            texts.update(key)
            place = item_ids.setdefault(given.item, len(item_ids)), rater_ids.setdefault(given.rater, len(rater_ids))
            if place in rows:
                raise InputError(f"Rater {given.rater!r} has two answers for item {given.item!r}.")
            rows[place] = answer_ids.setdefault(key, len(answer_ids))
            if given.written is not None:
                folded = {text: normalize(text) for text in given.written}
            written[place] = tuple(
                # one string object where nothing was folded: a table keeps no text twice
                short if short == text else normalize_lines(text)
                for text, short in folded.items()
                if short
            )
        order = sorted(rows)
        used = sorted({rater for _, rater in order})
        numbers = {rater: number for number, rater in enumerate(used)}
        names = tuple(rater_ids)
        text_ids = {text: index for index, text in enumerate(sorted(texts))}
        return cls(
            items=tuple(item_ids),
            raters=tuple(names[rater] for rater in used),
            texts=tuple(text_ids),
            answers=tuple(tuple(text_ids[text] for text in key) for key in answer_ids),
            item=np.array([item for item, _ in order], dtype=np.int64),
            rater=np.array([numbers[rater] for _, rater in order], dtype=np.int64),
            answer=np.array([rows[place] for place in order], dtype=np.int64),
            excluded=tuple(excluded),
            casefold=casefold,
            ignore_harakat=ignore_harakat,
            input_sha256=input_sha256,
            warnings=tuple(warnings),
            fields=_columns(item_ids, fields or {}),
            written=tuple(written[place] for place in order),
            reading=reading,
        )

    def part(self, *, items: Iterable[str] | None = None, raters: Iterable[str] | None = None) -> Self:
        """The table of some items and raters only; items that are left without an answer stay.

        Parameters
        ----------
        items, raters : iterable of str, optional
            Ids to keep; None keeps all.

        Examples
        --------
        >>> rows = [("1", "ann", "fever"), ("1", "bob", "high fever"), ("2", "ann", ())]
        >>> table = AnnotationTable.from_answers(Answer(*row) for row in rows)
        >>> table.part(raters=["ann"]).texts
        ('fever',)
        """
        kept_items = set(self.items if items is None else items)
        kept_raters = set(self.raters if raters is None else raters)
        rows = [
            Answer(self.items[i], self.raters[r], self.texts_of(a), written)
            for i, r, a, written in zip(
                self.item.tolist(), self.rater.tolist(), self.answer.tolist(), self.written, strict=True
            )
            if self.items[i] in kept_items and self.raters[r] in kept_raters
        ]
        kept = type(self).from_answers(
            rows,
            items=(name for name in self.items if name in kept_items),
            casefold=self.casefold,
            ignore_harakat=self.ignore_harakat,
            fields={
                item: {name: values[number] for name, values in self.fields.items()}
                for number, item in enumerate(self.items)
                if item in kept_items
            },
        )
        return replace(
            kept,
            split=self.split,
            marks=self.marks,
            kind=self.kind,
            weights=None if self.weights is None else self.weights[[name in kept_items for name in self.items]],
        )

    def __repr__(self) -> str:
        """The table in three lines, whatever its size."""
        sets = "" if self.is_single else ", some of several texts or none"
        return (
            f"<AnnotationTable: {plural(len(self.items), 'item')}, {plural(len(self.raters), 'rater')}, "
            f"{plural(len(self.item), 'answer')}{sets}\n items:  {_shown(self.items)}\n raters: {_shown(self.raters)}>"
        )

    @property
    def sha256(self) -> str:
        """Hash of the input: of the file that was read, else of the answers."""
        if self.input_sha256 is not None:
            return self.input_sha256
        rows = zip(self.item.tolist(), self.rater.tolist(), self.answer.tolist(), strict=True)
        entries = [[self.items[i], self.raters[r], self.texts_of(a)] for i, r, a in rows]
        return hashlib.sha256(json.dumps([sorted(self.items), sorted(entries)]).encode()).hexdigest()

    @property
    def is_single(self) -> bool:
        """Whether every answer has exactly one text: no sets, no empty answers."""
        return all(len(answer) == 1 for answer in self.answers)

    def was_split(self, row: int) -> bool:
        """Whether the answer of an entry has more texts than its rater wrote."""
        return self.split is not None and len(self.answers[self.answer[row]]) > len(self.written[row])

    def texts_of(self, answer: int) -> tuple[str, ...]:
        """Texts of the distinct answer number `answer`."""
        return tuple(self.texts[text] for text in self.answers[answer])


def _columns(items: Iterable[str], fields: Mapping[str, Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Field -> a value for each item."""
    ids: Sequence[str] = tuple(items)
    names = dict.fromkeys(name for values in fields.values() for name in values)
    return {name: tuple(fields.get(item, {}).get(name, "") for item in ids) for name in names}


def _shown(names: Sequence[str]) -> str:
    """The first names, in one line."""
    shown = ", ".join(repr(name if len(name) <= _LONG else name[: _LONG - 1] + "…") for name in names[:_MANY])
    return (shown or "none") + (", …" if len(names) > _MANY else "")

"""The table of answers, from which everything is computed: item, rater and texts.

Missing is not empty (docs/explanation/definitions.md): a rater who gave no answer has no row; a rater who submitted
nothing has the empty answer ``()``. ``AnnotationTable.excluded`` lists whatever a reader leaves out, with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from softirr.answers.answer import Answer, Excluded
from softirr.answers.splitting import Split
from softirr.errors import InputError, Note
from softirr.numbers import plural
from softirr.text import normalize, normalize_lines, shortened

_MANY, _LONG = 6, 24


@dataclass(frozen=True)
class Reading:
    """How a table was read.

    Attributes
    ----------
    format : str or None
        Such as ``csv`` or ``label-studio``; None for a table made of answers.
    columns : tuple of (str, str)
        Role (item, rater, text, or a rater's or an item's name) and name of each column or field that was read.
    n_rows : int
        Rows, records or tasks.
    n_blank : int
        Empty cells, whatever they count as.
    n_repeated : int
        Rows beyond the first of one rater on one item.
    blank_is : {"missing", "none"}
        Meaning of an empty cell.
    """

    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    n_rows: int = 0
    n_blank: int = 0
    n_repeated: int = 0
    blank_is: str = "none"


def _answer(entry: Answer | Sequence[Any], number: int) -> Answer:
    """An entry of :meth:`AnnotationTable.from_answers` as an answer."""
    if isinstance(entry, Answer):
        return entry
    if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 3:
        raise InputError(f"Entry {number} is not an Answer or (item, rater, texts): {entry!r}.")
    item, rater, texts = entry
    return Answer(str(item), str(rater), texts)


@dataclass(frozen=True, eq=False, repr=False)
class AnnotationTable:
    """Items x raters -> answer, as arrays with an entry for each answer.

    Attributes
    ----------
    items, raters : tuple of str
        Ids in order of first appearance; items without an answer are kept.
    texts : tuple of str
        Distinct normalized texts, sorted, so that the result of an item does not depend on other items.
    answers : tuple of tuple of int
        Distinct answers, each a sorted tuple of indices into `texts`; ``()`` is the empty answer.
    item, rater, answer : ndarray of int64, shape (n,)
        Indices into `items`, `raters` and `answers`, sorted by item, then rater.
    excluded : tuple of Excluded
        Answers that don't count, with the reason.
    casefold, ignore_harakat : bool
        Whether texts that differ only in case, or in Arabic vowel signs, are the same text.
    input_sha256 : str or None
        Hash of the file that was read; None for answers and data frames.
    warnings : tuple of str
        Sentences about what is not certain.
    written : tuple of tuple of str
        Texts of each entry as they were written, with their line breaks and without empty texts.
    split : Split or None
        Splitting of the texts, if they were split.
    reading : Reading or None
        How the input was read; None for a table made of answers.
    marks : str or None
        Option of the marks for a missing answer (:mod:`softirr.answers.missing`); None if no reader has looked for
        them.
    weights : ndarray of float, shape (number of items,), optional
        Weight of each item; None counts each once. See :func:`softirr.answers.weights.weighted`.
    kind : str
        Kind of the field, such as ``text``. See :mod:`softirr.answers.kinds`.
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
    ) -> Self:
        """Build the table; texts are normalized, and empty or repeated texts of an answer are dropped.

        Parameters
        ----------
        answers : iterable of Answer or (item, rater, texts)
            At most one for each item and rater.
        items : iterable of str
            Ids of all items, answered or not; they come first, in this order.
        raters : iterable of str
            Names in the order of the table; those without an answer are left out.
        excluded : iterable of Excluded
            Answers that do not count, with the reason.
        casefold, ignore_harakat : bool
            Whether texts that differ only in case, or in Arabic vowel signs, are the same text.

        Raises
        ------
        InputError
            If a rater answers an item twice, or an entry is not an answer.

        Examples
        --------
        >>> rows = [("1", "ann", "fever"), ("1", "bob", ("high fever", "cough")), ("2", "ann", ())]
        >>> table = AnnotationTable.from_answers(rows)
        >>> table.items, table.raters, table.texts
        (('1', '2'), ('ann', 'bob'), ('cough', 'fever', 'high fever'))
        """
        item_ids = {name: index for index, name in enumerate(dict.fromkeys(items))}
        rater_ids = {name: index for index, name in enumerate(dict.fromkeys(raters))}
        answer_ids: dict[tuple[str, ...], int] = {}
        form_of = cache(partial(normalize, casefold=casefold, ignore_harakat=ignore_harakat))  # each text once
        rows: dict[tuple[int, int], tuple[int, tuple[str, ...]]] = {}
        for number, entry in enumerate(answers, start=1):
            answer = _answer(entry, number)
            key = tuple(sorted({form for text in answer.texts if (form := form_of(text))}))
            cell = item_ids.setdefault(answer.item, len(item_ids)), rater_ids.setdefault(answer.rater, len(rater_ids))
            if cell in rows:
                raise InputError(f"Rater {answer.rater!r} has two answers for item {answer.item!r}.")
            rows[cell] = answer_ids.setdefault(key, len(answer_ids)), _as_written(answer, form_of)
        cells = sorted(rows)
        item, rater = np.array(cells, dtype=np.int64).reshape(-1, 2).T.copy()
        answering, rater = np.unique(rater, return_inverse=True)
        names = tuple(rater_ids)
        text_ids = {text: index for index, text in enumerate(sorted({text for key in answer_ids for text in key}))}
        return cls(
            items=tuple(item_ids),
            raters=tuple(names[rater_id] for rater_id in answering.tolist()),
            texts=tuple(text_ids),
            answers=tuple(tuple(text_ids[text] for text in key) for key in answer_ids),
            item=item,
            rater=rater,
            answer=np.array([rows[cell][0] for cell in cells], dtype=np.int64),
            excluded=tuple(excluded),
            casefold=casefold,
            ignore_harakat=ignore_harakat,
            written=tuple(rows[cell][1] for cell in cells),
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
        item_names = set(self.items if items is None else items)
        rater_names = set(self.raters if raters is None else raters)
        cells = zip(self.item.tolist(), self.rater.tolist(), self.answer.tolist(), self.written, strict=True)
        table = type(self).from_answers(
            (
                Answer(self.items[i], self.raters[r], self.texts_of(a), original_texts)
                for i, r, a, original_texts in cells
                if self.items[i] in item_names and self.raters[r] in rater_names
            ),
            items=(name for name in self.items if name in item_names),
            casefold=self.casefold,
            ignore_harakat=self.ignore_harakat,
        )
        is_in_part = [name in item_names for name in self.items]
        return replace(
            table,
            split=self.split,
            marks=self.marks,
            kind=self.kind,
            weights=None if self.weights is None else self.weights[is_in_part],
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


def _as_written(answer: Answer, form_of: Callable[[str], str]) -> tuple[str, ...]:
    """Return the texts of an answer as they were written, with their line breaks and without empty ones."""
    texts, form_of = (answer.texts, form_of) if answer.written is None else (answer.written, normalize)
    forms = ((text, form_of(text)) for text in dict.fromkeys(texts))
    # the same string object if nothing differs: a table stores no text twice
    return tuple(form if form == text else normalize_lines(text) for text, form in forms if form)


def _shown(names: Sequence[str]) -> str:
    """The first names, in one line."""
    names_shown = ", ".join(repr(shortened(name, _LONG)) for name in names[:_MANY])
    return (names_shown or "none") + (", …" if len(names) > _MANY else "")

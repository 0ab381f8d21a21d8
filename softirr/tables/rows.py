"""Rows of any table as answers: long (a row per text), wide (a column per rater) or a survey (a column per item)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from softirr.errors import InputError
from softirr.tables.fields import ItemFields
from softirr.tables.layout import Layout, Places, listed, places, suggestion
from softirr.tables.table import NEWER_DUPLICATE, OLDER_DUPLICATE, AnnotationTable, Answer, Excluded, Reading

__all__ = ["Gathered", "Rows", "identifier", "is_missing", "pooled", "row_name", "rows_tables", "texts_of_cell"]

_SAMPLE = 200


@dataclass(frozen=True)
class Rows:
    """A table before anybody has said which columns are what.

    Attributes
    ----------
    name : str
        Of the input, for messages.
    format : str
        Such as ``csv``.
    columns : tuple of str
        The header.
    rows : iterable of (int, sequence)
        Number and cells of each row; a row may be shorter than the header.
    unit : str
        What the numbers count: line or row.
    delimiter : str or None
        What separates the cells of a text file.
    notes : tuple of str
        What the reader could not tell for sure.
    """

    name: str
    format: str
    columns: tuple[str, ...]
    rows: Iterable[tuple[int, Sequence[Any]]]
    unit: str = "row"
    delimiter: str | None = None
    notes: tuple[str, ...] = ()

    def place(self, number: int) -> str:
        """Where a row stands."""
        return f"Row {number}" if self.format == "frame" else f"{self.name}, {self.unit} {number}"


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

    def add(self, item: str, rater: str, texts: str | tuple[str, ...] | None, place: str = "") -> None:
        """Keep an answer; None is an empty cell.

        Raises
        ------
        InputError
            If the rater has answered the item before, and that is to be refused.
        """
        at = self._items.setdefault(item, len(self._items))
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
                f"{place}: rater {rater!r} has two answers for item {item!r}: say with --repeats whether they are a set, or the first or "
                "last one counts."
            )
        if self._repeats == "set":
            self._texts[key] = (before if isinstance(before, tuple) else (before,)) + (
                texts if isinstance(texts, tuple) else (texts,)
            )
            return
        self.excluded.append(Excluded(item, rater, OLDER_DUPLICATE if self._repeats == "last" else NEWER_DUPLICATE))
        if self._repeats == "last":
            self._texts[key] = texts

    def drop(self, item: str, rater: str, reason: str | None = None) -> None:
        """Note an item that the rater did not answer; an earlier answer of the rater is taken back.

        Parameters
        ----------
        item, rater : str
        reason : str, optional
            Why an answer does not count, where there is one.
        """
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
    def compared(self) -> bool:
        """Whether any item has answers of two raters."""
        items = np.fromiter((key >> 32 for key in self._texts), dtype=np.int64, count=len(self._texts))
        return len(items) > len(np.unique(items))

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def items(self) -> tuple[str, ...]:
        """Items in order of appearance, answered or not."""
        return tuple(self._items)

    @property
    def raters(self) -> tuple[str, ...]:
        """Raters with an answer."""
        return tuple(self._raters)

    def answers(self) -> Iterator[Answer]:
        """The answers, in order of appearance; the store is empty afterwards."""
        items, raters = list(self._items), list(self._raters)
        for key, texts in self._texts.items():
            yield Answer(items[key >> 32], raters[key & 0xFFFFFFFF], texts if isinstance(texts, tuple) else (texts,))
        self._texts = {}


def rows_tables(
    table: Rows,
    layout: Layout,
    *,
    casefold: bool,
    fields: ItemFields,
    sha256: Any = lambda: None,
    frame: bool = False,
) -> dict[str, AnnotationTable]:
    """The answers of a table, one :class:`AnnotationTable` for each field of texts.

    Parameters
    ----------
    table : Rows
    layout : Layout
    casefold : bool
    fields : ItemFields
        What to read about the items beside the answers.
    sha256 : callable
        Gives the hash of the input once it is read.
    frame : bool
        The table is a data frame, whose empty texts are missing also in the columns item, rater and text.

    Returns
    -------
    dict of str to AnnotationTable

    Raises
    ------
    InputError
        If the columns can't be told, or a cell can't be used; the message says where, and what would work.
    """
    rows = iter(table.rows)
    sample = list(islice(rows, _SAMPLE))
    found = places(table.columns, layout, table.name)
    if found is None:
        raise _cant_tell(table, [cells for _, cells in sample])
    empty = layout.empty or ("none" if found.standard and not frame else "missing")
    repeats = layout.repeats or ("set" if found.kind == "long" else "refuse")
    if found.kind == "survey" and fields.names:
        raise InputError(f"{table.name} has a row for each rater, so it has no fields of items.")
    gathered = {
        name: Gathered(empty=empty, repeats=repeats) for name in (found.groups if found.kind == "long" else ("",))
    }
    n_rows, n_short = 0, 0
    read = _long if found.kind == "long" else _grid
    for short in read(replace(table, rows=chain(sample, rows)), found, gathered, fields):
        n_rows += 1
        n_short += short
    if not n_rows:
        raise InputError(f"{table.name} has a header but no answers.")
    read_already = {i for at in (found.item, found.rater, *found.groups.values()) for i in at}
    fields.require(table.name, (name for i, name in enumerate(table.columns) if i not in read_already))
    if found.guessed and not any(one.compared for one in gathered.values()):
        words = suggestion(table.columns, [cells for _, cells in sample])
        read_as = " ".join(f"--{role} {table.columns[at[0]]}" for role, at in _roles(found).items())
        other = (
            f" Perhaps {words} does."
            if words and words != read_as
            else " Name the columns with --item, --rater and --text."
        )
        raise InputError(f"{table.name}, read with {read_as}, has no item with answers of two raters.{other}")
    return {
        field: AnnotationTable.from_answers(
            one.answers(),
            items=one.items,
            excluded=one.excluded,
            casefold=casefold,
            input_sha256=sha256(),
            warnings=(
                *table.notes,
                *_warnings(table, found, one, layout, field if len(gathered) > 1 else "", n_short, frame),
            ),
            fields=fields.by_item(),
            reading=Reading(table.format, _columns(table, found, field), n_rows, one.blank, one.repeated, empty),
        )
        for field, one in gathered.items()
    }


def _long(table: Rows, found: Places, gathered: Mapping[str, Gathered], wanted: ItemFields) -> Iterator[int]:
    last = max(*found.item, *found.rater, *(i for at in found.groups.values() for i in at))
    fields = list(found.groups.items())
    single = fields[0][1][0] if len(fields) == 1 and len(fields[0][1]) == 1 else None
    swallowing = _Swallowed(table, found) if table.delimiter and found.kind == "long" else None
    for number, cells in table.rows:
        if len(cells) <= last:
            missing = (
                "expected item, rater and text"
                if found.standard
                else f"the row ends before the column {table.columns[last]!r}"
            )
            raise InputError(f"{table.place(number)}: {missing}.")
        item = row_name(cells, found.item, table, number, "item", found.standard)
        rater = row_name(cells, found.rater, table, number, "rater", found.standard)
        if wanted.names:
            wanted.add(table.place(number), item, dict(zip(table.columns, cells, strict=False)))
        if single is not None:
            value = cells[single]
            if swallowing is not None:
                swallowing.see(number, rater, value)
            gathered[fields[0][0]].add(item, rater, _texts(value, table, number, single), table.place(number))
        else:
            for field, at in fields:
                gathered[field].add(item, rater, pooled(cells, at, table, number), table.place(number))
        yield 0
    if swallowing is not None:
        swallowing.check()


def _grid(table: Rows, found: Places, gathered: Mapping[str, Gathered], wanted: ItemFields) -> Iterator[int]:
    """Wide tables, and surveys, which are wide tables turned round."""
    (one,) = gathered.values()
    survey = found.kind == "survey"
    named = found.rater if survey else found.item
    role = "rater" if survey else "item"
    for number, cells in table.rows:
        if len(cells) <= max(named):
            raise InputError(f"{table.place(number)}: the row ends before the column {table.columns[max(named)]!r}.")
        name = row_name(cells, named, table, number, role)
        if wanted.names:
            wanted.add(table.place(number), name, dict(zip(table.columns, cells, strict=False)))
        for label, at in found.groups.items():
            item, rater = (label, name) if survey else (name, label)
            one.add(item, rater, pooled(cells, at, table, number), table.place(number))
        yield int(len(cells) < len(table.columns))


def pooled(cells: Sequence[Any], at: tuple[int, ...], table: Rows, number: int) -> str | tuple[str, ...] | None:
    """The texts of one or several cells as one answer; None if all are empty.

    Parameters
    ----------
    cells : sequence
        Of a row.
    at : tuple of int
        Columns.
    table : Rows
    number : int
        Of the row.

    Returns
    -------
    str, tuple of str or None
    """
    if len(at) == 1:
        return _texts(cells[at[0]] if at[0] < len(cells) else None, table, number, at[0])
    found = [_texts(cells[i] if i < len(cells) else None, table, number, i) for i in at]
    if all(texts is None for texts in found):
        return None
    return tuple(
        text for texts in found if texts is not None for text in (texts if isinstance(texts, tuple) else (texts,))
    )


def _texts(value: Any, table: Rows, number: int, column: int) -> str | tuple[str, ...] | None:
    if type(value) is str:
        return value if value and not value.isspace() else None
    return texts_of_cell(value, f"{table.place(number)}, column {table.columns[column]!r},")


def row_name(
    cells: Sequence[Any], at: tuple[int, ...], table: Rows, number: int, role: str, standard: bool = False
) -> str:
    """Name of an item or rater in a row.

    Parameters
    ----------
    cells : sequence
        Of a row.
    at : tuple of int
        Columns.
    table : Rows
    number : int
        Of the row.
    role : str
        item or rater.
    standard : bool
        The column has that name.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it is missing.
    """
    parts = []
    for i in at:
        value = cells[i]
        if type(value) is str:
            name = value.strip()
        elif is_missing(value):
            name = ""
        else:
            # 1.0, which a column of numbers with gaps has, is 1
            whole = isinstance(value, float | np.floating) and float(value).is_integer()
            name = str(int(value) if whole else value).strip()
        if not name:
            what = f"the {role}" if standard and table.delimiter else f"{table.columns[i]}"
            raise InputError(f"{table.place(number)}: {what} is missing.")
        if table.delimiter and name.count('"') % 2:
            raise InputError(
                f"{table.place(number)}: a quote stands within the item or the rater: a separator is lost."
            )
        parts.append(identifier(table.place, number, role, name))
    return parts[0] if len(parts) == 1 else " / ".join(parts)


def identifier(place: Any, number: int, role: str, given: str) -> str:
    """Name of an item or rater without the white space around it: what looks the same has to be the same.

    A byte order mark inside a file is a trace of two files pasted together.

    Parameters
    ----------
    place : callable
        Gives the place of a row by its number.
    number : int
        Of the row.
    role : str
        item or rater.
    given : str

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it holds a byte order mark.
    """
    if "\ufeff" in given:
        raise InputError(f"{place(number)}: the {role} holds a byte order mark: paste files together without it.")
    return given.strip()


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NaT or pandas.NA.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    if value is None:
        return True
    if isinstance(value, Iterable):  # a text, or several
        return False
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA can't say
        return True


def texts_of_cell(value: Any, place: str) -> tuple[str, ...] | None:
    """The texts of a cell: a text, or a list, tuple, set or array of texts; None where it is missing.

    Parameters
    ----------
    value : object
    place : str
        For messages.

    Returns
    -------
    tuple of str, or None

    Raises
    ------
    InputError
        Begins with `place`.
    """
    if is_missing(value):
        return None
    parts = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    for part in parts:
        if not isinstance(part, str):
            raise InputError(f"{place} holds {part!r}, which is not a text.")
    return parts


class _Swallowed:
    """Finds an answer over several lines that has swallowed whole rows: a quote was opened and closed rows later."""

    def __init__(self, table: Rows, found: Places) -> None:
        self._table, self._item, self._rater = table, found.item[0], found.rater[0]
        self._long: list[tuple[int, str]] = []
        self._raters: set[str] = set()

    def see(self, number: int, rater: str, value: Any) -> None:
        """Note a row."""
        self._raters.add(rater)
        if isinstance(value, str) and ("\n" in value or "\r" in value):
            self._long.append((number, value))

    def check(self) -> None:
        """Refuse the table if an answer holds a row."""
        for end, answer in self._long:
            lines = re.split(r"\r\n|\r|\n", answer)
            for number, line in enumerate(lines[1:], start=end - len(lines) + 2):
                cells = line.split(self._table.delimiter)
                if len(cells) > max(self._item, self._rater) and cells[self._rater].strip() in self._raters:
                    raise InputError(
                        f"{self._table.place(number)}: a row stands inside the quotes of the answer before it: a quote is not closed."
                    )


def _cant_tell(table: Rows, sample: Sequence[Sequence[Any]]) -> InputError:
    words = suggestion(table.columns, sample)
    advice = f"use {words}" if words else "name them with --item, --rater and --text, or with --item and --raters"
    kind = {
        "csv": ", and is none of: Label Studio JSON export, JSONL, CSV with the header item,rater,text",
        "json": ", and is no Label Studio JSON export (entry 1 is not a task with annotations)",
    }.get(table.format, "")
    return InputError(f"{table.name} has the columns {listed(table.columns)}{kind}: {advice}.")


def _roles(found: Places) -> dict[str, tuple[int, ...]]:
    text = next(iter(found.groups.values()))
    return {"item": found.item, "rater": found.rater, "text": text}


def _columns(table: Rows, found: Places, field: str) -> tuple[tuple[str, str], ...]:
    """Role and name of each column that was read."""
    names = table.columns
    said = [("item", i) for i in found.item] + [("rater", i) for i in found.rater]
    if found.kind == "long":
        said += [("text", i) for i in found.groups[field]]
    else:
        said += [(label, i) for label, at in found.groups.items() for i in at]
    return tuple((role, names[i]) for role, i in said)


def _warnings(
    table: Rows, found: Places, one: Gathered, layout: Layout, field: str, n_short: int, frame: bool
) -> Iterator[str]:
    of = f" of {field}" if field else ""
    if found.guessed:
        read_as = ", ".join(f"{role} = {table.columns[at[0]]}" for role, at in _roles(found).items())
        yield f"The columns were told by their names: {read_as}. The options --item, --rater and --text choose others."
    if one.blank and layout.empty is None and not (found.standard and not frame):
        yield (
            f"{one.blank:,} empty cells{of} count as not asked. If they mean that the rater found nothing, say --empty none."
        )
    if one.blank and layout.empty is None and found.standard and not frame and one.is_full_grid:
        yield (
            f"{one.blank:,} of the texts are empty and count as answers that found nothing, and every rater has a row for every item, as in a wide "
            "table that was made long. If an empty text means that the rater was not asked, say --empty missing."
        )
    if one.repeated and layout.repeats is None and found.kind == "long" and not found.standard:
        yield (
            f"{one.repeated:,} rows{of} repeat a rater and an item and count as a set of texts. If they are later versions, say --repeats last."
        )
    if n_short:
        yield f"{n_short:,} rows are shorter than the header: what they lack counts as empty."

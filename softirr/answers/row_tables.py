"""Rows of any table as answers: long (a row per text), wide (a column per rater) or a survey (a column per item)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.gathered import Gathered, Request, Tables
from softirr.answers.item_fields import ItemFields
from softirr.answers.kinds import AUTO
from softirr.answers.layout import Layout, Places, UnknownColumns, listed, places
from softirr.answers.rows import AboveFooter, Rows, pooled, row_name
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["blank_cells", "read_long", "rows_tables", "same_texts"]


_LEAST = 3
"""Columns of a long table without any other column."""
_FEW = 3
"""Items on which all raters may well agree."""
_SHOWN = 10


def rows_tables(table: Rows, request: Request, layout: Layout | None = None) -> Tables:
    """The answers of a table, one :class:`AnnotationTable` for each field of texts.

    Parameters
    ----------
    table : Rows
    request : Request
    layout : Layout, optional
        What a reader knows about the columns; the options say it by default.

    Returns
    -------
    dict of str to AnnotationTable

    Raises
    ------
    InputError
        If the columns are not certain, or a cell can't be used; the message says where, and what would work.
    """
    layout, fields = layout or request.options.layout, request.fields
    table = replace(table, has_values=request.options.kind not in (None, AUTO))
    columns = places(table.columns, layout, table.name)
    if columns is None:
        raise UnknownColumns(table.name, table.columns)
    standard = columns.standard and table.blank != "missing"
    empty = layout.empty or ("none" if standard else "missing")
    repeats = layout.repeats or ("set" if columns.kind == "long" else "refuse")
    if columns.kind == "survey" and fields.names:
        raise InputError(f"{table.name} has a row for each rater, so it has no fields of items.")
    names = columns.groups if columns.kind == "long" else ("",)
    gathered = {name: Gathered(empty=empty, repeats=repeats) for name in names}
    read = read_long if columns.kind == "long" else _grid
    above = AboveFooter(table.rows, len(table.columns))
    rows = replace(table, rows=above, blank="" if layout.empty else table.blank)
    short = [*read(rows, columns, gathered, fields)]
    if not short:
        raise InputError(f"{table.name} has a header but no answers.")
    fields.require(table.name, (name for i, name in enumerate(table.columns) if i not in columns.taken))
    several = len(gathered) > 1
    notes = (*rows.notes, *_footer(above.left_out))
    return {
        field: one.table(
            request,
            table.format,
            _columns(table, columns, field),
            len(short),
            (*notes, *_warnings(table, columns, one, layout, field if several else "", sum(short))),
        )
        for field, one in gathered.items()
    }


def blank_cells(n: int, of: str = "") -> str:
    """A note about empty cells of a format in which they may mean either.

    Parameters
    ----------
    n : int
    of : str
        Name of the field, with "of" before it.

    Returns
    -------
    str
    """
    count, they = ("counts", "it means") if n == 1 else ("count", "they mean")
    return (
        f"{plural(n, 'empty cell')}{of} {count} as not asked. If {they} that the rater found nothing, say --empty none."
    )


def same_texts(one: Gathered, column: str) -> Iterator[str]:
    """A sentence where all answers to each item are the same: the column may have the texts that raters were shown.

    Parameters
    ----------
    one : Gathered
        Answers of a table that has other columns, too; no column was named.
    column : str

    Yields
    ------
    str
    """
    if (n := one.n_identical) > _FEW:
        yield (
            f"All raters of each of {n:,} items have the same {column}. If this is the text that they were shown, name "
            "the column of their answers with --text."
        )


def _footer(left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        yield (
            f"{plural(len(left_out), 'row')} below the table {'was' if len(left_out) == 1 else 'were'} left out: "
            f"{listed(left_out)}."
        )


def read_long(
    table: Rows,
    columns: Places,
    gathered: Mapping[str, Gathered],
    wanted: ItemFields,
    *,
    is_of_one_rater: bool = False,
) -> Iterator[int]:
    """Gather the answers of a table with a row for each of them.

    Parameters
    ----------
    table : Rows
    columns : Places
    gathered : mapping of str to Gathered
        A store for each of the fields of `columns`.
    wanted : ItemFields
    is_of_one_rater : bool
        The column of the raters is not in the file.

    Yields
    ------
    int
        0 for each row.

    Raises
    ------
    InputError
        If a row names no item or rater, or ends before a column that is read.
    """
    last = max(*columns.item, *columns.rater, *(i for at in columns.groups.values() for i in at))
    fields = [(gathered[name], at) for name, at in columns.groups.items()]
    null_is_missing = columns.standard and table.blank == "null missing"
    quotes = _Swallowed(table, columns) if table.delimiter and not is_of_one_rater else None
    for number, cells in table.rows:
        place = table.place(number)
        if len(cells) <= last:
            ends = f"the row ends before the column {table.columns[last]!r}"
            raise InputError(f"{place}: {'expected item, rater and text' if columns.standard else ends}.")
        item = row_name(cells, columns.item, table, number, "item", columns.standard)
        rater = row_name(cells, columns.rater, table, number, "rater", columns.standard)
        if wanted.names:
            wanted.add(place, item, dict(zip(table.columns, cells, strict=False)))
        for one, at in fields:
            if quotes is not None:
                quotes.see(number, rater, cells[at[0]])
            if null_is_missing and cells[at[0]] is None:
                one.miss(item)
            else:
                _add(one, item, rater, cells, at, table, number)
        yield 0
    if quotes is not None:
        quotes.check()


def _grid(table: Rows, columns: Places, gathered: Mapping[str, Gathered], wanted: ItemFields) -> Iterator[int]:
    """Wide tables, and surveys, which are wide tables turned round."""
    survey = columns.kind == "survey"
    named, role = (columns.rater, "rater") if survey else (columns.item, "item")
    for number, cells in table.rows:
        place = table.place(number)
        if len(cells) <= max(named):
            raise InputError(f"{place}: the row ends before the column {table.columns[max(named)]!r}.")
        name = row_name(cells, named, table, number, role)
        if wanted.names:
            wanted.add(place, name, dict(zip(table.columns, cells, strict=False)))
        for label, at in columns.groups.items():
            item, rater = (label, name) if survey else (name, label)
            _add(gathered[""], item, rater, cells, at, table, number)
        yield int(len(cells) < len(table.columns))


def _add(
    one: Gathered, item: str, rater: str, cells: Sequence[Any], at: tuple[int, ...], table: Rows, number: int
) -> None:
    one.add(item, rater, pooled(cells, at, table, number), table.place(number))


class _Swallowed:
    """Finds an answer over several lines that has swallowed whole rows: a quote was opened and closed rows later."""

    def __init__(self, table: Rows, columns: Places) -> None:
        self._table, self._item, self._rater = table, columns.item[0], columns.rater[0]
        self._long: list[tuple[int, str]] = []
        self._raters: set[str] = set()

    def see(self, number: int, rater: str, value: Any) -> None:
        """Note a row."""
        self._raters.add(rater)
        if isinstance(value, str) and ("\n" in value or "\r" in value):
            self._long.append((number, value))

    def check(self) -> None:
        """Refuse the table if an answer contains a row."""
        for end, answer in self._long:
            lines = re.split(r"\r\n|\r|\n", answer)
            for number, line in enumerate(lines[1:], start=end - len(lines) + 2):
                cells = line.split(self._table.delimiter)
                if len(cells) > max(self._item, self._rater) and cells[self._rater].strip() in self._raters:
                    raise InputError(
                        f"{self._table.place(number)}: this row is inside the quotes of the previous answer: close that quote."
                    )


def _roles(columns: Places) -> dict[str, tuple[int, ...]]:
    text = next(iter(columns.groups.values()))
    return {"item": columns.item, "rater": columns.rater, "text": text}


def _columns(table: Rows, columns: Places, field: str) -> tuple[tuple[str, str], ...]:
    """Role and name of each column that was read."""
    read = [("item", i) for i in columns.item] + [("rater", i) for i in columns.rater]
    if columns.kind == "long":
        read += [("text", i) for i in columns.groups[field]]
    else:
        read += [(label, i) for label, at in columns.groups.items() for i in at]
    return tuple((role, table.columns[i]) for role, i in read)


def _warnings(table: Rows, columns: Places, one: Gathered, layout: Layout, field: str, n_short: int) -> Iterator[str]:
    of = f" of {field}" if field else ""
    standard = columns.standard and table.blank != "missing"
    if columns.guessed:
        read_as = ", ".join(f"{role} = {table.columns[at[0]]}" for role, at in _roles(columns).items())
        yield (
            f"The columns were recognized by their names: {read_as}. The options --item, --rater and --text choose others."
        )
    if columns.kind == "long" and not layout.says_columns and len(table.columns) > _LEAST:
        yield from same_texts(one, next(iter(columns.groups)))
    if one.blank and layout.empty is None and not standard:
        yield blank_cells(one.blank, of)
    if one.blank and layout.empty is None and standard and one.is_full_grid:
        yield (
            f"{plural(one.blank, 'text is empty and counts as an answer', 'texts are empty and count as answers')} that "
            "found nothing, and every rater has a row for every item, as in a wide table that was made long. If an empty "
            "text means that the rater was not asked, say --empty missing."
        )
    for role, at in (("items", columns.item), ("raters", columns.rater)):
        if mixed := [table.columns[i] for i in at if i in table.mixed]:
            yield (
                f"The {role} in {listed(mixed)} are a mix of texts and numbers: '1' and 1.0 count as one, '01' as another. "
                "Write each id one way."
            )
    if one.no_values:
        shown = ", ".join(f"{cell.place} ({cell.reason})" for cell in one.no_values[:_SHOWN])
        more = f" and {len(one.no_values) - _SHOWN:,} more" if len(one.no_values) > _SHOWN else ""
        yield (
            f"{plural(len(one.no_values), f'cell{of} contains no value and counts', f'cells{of} contain no value and count')} as missing: {shown}{more}. If they have values in "
            "Excel, open the workbook there, save it, and read it again."
        )
    if one.repeated and layout.repeats is None and columns.kind == "long" and (table.is_joined or not columns.standard):
        yield (
            f"{plural(one.repeated, f'row{of} repeats', f'rows{of} repeat')} a rater and an item. The rows of a "
            "rater and an item count as a set of texts. If later rows are later versions, say --repeats last."
        )
    if n_short:
        yield f"{plural(n_short, 'row is', 'rows are')} shorter than the header: the missing cells count as empty."

"""REDCap's exports as CSV: checkbox fields, repeating instruments, and records that two people entered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.gathered import Request
from softirr.answers.layout import Layout, listed
from softirr.answers.registry import Format, Ways
from softirr.answers.row_tables import rows_tables
from softirr.answers.rows import Rows
from softirr.errors import InputError
from softirr.text import is_blank

__all__ = ["FORMATS"]

_CHECKBOX = re.compile(r"(?P<field>.+?)(?:___(?P<code>\w+)| \(choice=(?P<label>.+)\))")
_CHECKED, _UNCHECKED = ("1", "Checked"), ("0", "Unchecked", "")
_INSTRUMENT = ("redcap_repeat_instrument", "Repeat Instrument")
_ENTRY = "entry"
_RATED = re.compile(r"(.+?)[-_]([^\W\d_][\w.]*)")
"""An id of an item and a rater, such as ``1-ann``."""
_PEEKED = 50
"""Rows whose ids are looked at."""
_TWO_ENTRIES = re.compile(r"(.+)--([12])")


def _is_it(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    boxes = [name for name in columns if _CHECKBOX.fullmatch(name)]
    checked = bool(boxes) and all(str(row.get(name) or "") in _CHECKED + _UNCHECKED for row in first for name in boxes)
    two = bool(first) and all(_TWO_ENTRIES.fullmatch(str(row.get(columns[0]) or "")) for row in first)
    return checked or (two and not request.options.rater) or any(name in columns for name in _INSTRUMENT)


def _read(table: Rows, request: Request) -> Any:
    """A checkbox field is a set of the choices that are checked; rows of other instruments are left out."""
    table = _with_sets(table)
    table = _of_instrument(table, request)
    first, table = table.peek(_PEEKED)
    options = request.options
    if options.rater or options.raters or options.items or (options.item or table.columns[0]) != table.columns[0]:
        return table
    ids = [str(cells[0] or "").strip() for _, cells in first]
    layout = Layout(table.columns[0], _ENTRY, options.layout.text, (), (), options.empty, options.repeats)
    if ids and _TWO_ENTRIES.fullmatch(ids[0]):
        table = _with_entries(table)
    elif _name_raters(ids):
        table = _with_raters(table, ids[0])
    else:
        return table
    if not layout.text and "text" not in table.columns:
        raise InputError(
            f"{table.name} has ids such as {ids[0]}, which name the item and the rater: name the field of the answers "
            f"with --text; it has {listed(table.columns[1:-1])}."
        )
    return rows_tables(table, request, layout)


def _name_raters(ids: Sequence[str]) -> bool:
    """Whether ids such as ``1-ann`` name the item and the rater: two raters or more, with an item in common."""
    parts = [_RATED.fullmatch(one) for one in ids]
    named = [(part[1], part[2]) for part in parts if part]
    items, raters = {item for item, _ in named}, {rater for _, rater in named}
    return len(named) == len(ids) > len(items) > 0 and 1 < len(raters) < len(ids) and len(set(named)) == len(ids)


def _with_sets(table: Rows) -> Rows:
    boxes = [_CHECKBOX.fullmatch(name) for name in table.columns]
    fields = list(dict.fromkeys(box["field"] for box in boxes if box))
    kept = [i for i, box in enumerate(boxes) if box is None]
    places = {
        field: [(i, box["code"] or box["label"]) for i, box in enumerate(boxes) if box and box["field"] == field]
        for field in fields
    }

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        for number, cells in table.rows:
            whole = [*cells, *[None] * (len(table.columns) - len(cells))]
            sets = [[choice for i, choice in places[field] if str(whole[i]) in _CHECKED] for field in fields]
            yield number, [*(whole[i] for i in kept), *(own or None for own in sets)]

    return replace(table, columns=(*(table.columns[i] for i in kept), *fields), rows=rows()) if fields else table


def _of_instrument(table: Rows, request: Request) -> Rows:
    """The rows that name a rater: other rows are of the record or of another instrument."""
    rater = request.options.rater
    if rater not in table.columns or not any(name in table.columns for name in _INSTRUMENT):
        return table
    place = table.columns.index(rater)
    rows = (
        (number, cells)
        for number, cells in table.rows
        if not (_is_blank(cells, place) and _is_other(table, cells, request))
    )
    note = f"Rows without {rater}, which belong to the record or to another instrument, are left out."
    return replace(table, rows=rows, notes=(*table.notes, note))


def _is_other(table: Rows, cells: Sequence[Any], request: Request) -> bool:
    """Whether a row has none of the texts that are asked for."""
    asked = [table.columns.index(name) for name in request.texts if name in table.columns]
    return bool(asked) and all(_is_blank(cells, i) for i in asked)


def _is_blank(cells: Sequence[Any], place: int) -> bool:
    return place >= len(cells) or is_blank(str(cells[place] or ""))


def _with_entries(table: Rows) -> Rows:
    """Double data entry: ``7--1`` and ``7--2`` are the two entries of the record 7."""

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        for number, cells in table.rows:
            record = _TWO_ENTRIES.fullmatch(str(cells[0]))
            yield number, [record[1] if record else cells[0], *cells[1:], f"entry {record[2]}" if record else "merged"]

    return replace(
        table,
        columns=(*table.columns, _ENTRY),
        rows=rows(),
        notes=(*table.notes, "The two entries of a record (double data entry) are its raters."),
    )


def _with_raters(table: Rows, example: str) -> Rows:
    """Ids that name the item and the rater: ``1-ann`` is the record of ann for the item 1."""

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        for number, cells in table.rows:
            record = _RATED.fullmatch(str(cells[0] or "").strip())
            if record is None:
                raise InputError(f"{table.place(number)}: the id {cells[0]!r} names no rater, as {example!r} does.")
            yield number, [record[1], *cells[1:], record[2]]

    note = f"Ids such as {example} name the item and the rater. If they do not, name the raters' column with --rater."
    return replace(table, columns=(*table.columns, _ENTRY), rows=rows(), notes=(*table.notes, note))


FORMATS = (Format("redcap", table=Ways(_is_it, _read)),)

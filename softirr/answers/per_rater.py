"""Several tables with the answers of one rater each: the sheets of a workbook, or the files of a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from softirr.answers.gathered import Gathered, Request, Tables, gathered_tables
from softirr.answers.layout import Layout, Places, listed, places, places_by_names
from softirr.answers.row_tables import blank_cells, read_long, same_texts
from softirr.answers.rows import Rows
from softirr.errors import InputError
from softirr.text import normalize

__all__ = ["per_rater_tables"]

_RATER = "\0rater"
"""A column of no table: the file or sheet is the rater."""
_LEAST = 2
"""Columns of a rater's table without any other column."""


def per_rater_tables(tables: Mapping[str, Rows], request: Request, format: str, notes: Sequence[str]) -> Tables:
    """The answers of several tables.

    Parameters
    ----------
    tables : mapping of str to Rows
        By rater.
    request : Request
    format : str
    notes : sequence of str

    Returns
    -------
    dict of str to AnnotationTable

    Raises
    ------
    InputError
        If the columns of a table are not certain, or a cell can't be used.
    """
    layout, fields = request.options.layout, request.fields
    gathered: dict[str, Gathered] = {}
    names: dict[str, str] = {}
    n_rows = 0
    first: tuple[str, ...] = ()
    for rater, table in tables.items():
        if layout.raters or layout.items or layout.rater:
            raise InputError(f"{table.name} is the table of one rater: name its columns with --item and --text.")
        columns = _columns(table, layout, first)
        first = first or table.columns
        stores = {
            name: gathered.setdefault(
                names.setdefault(normalize(name, casefold=True), name), request.gathered(empty="missing", repeats="set")
            )
            for name in columns.groups
        }
        rows = ((number, [rater, *cells]) for number, cells in table.rows)
        whole = replace(table, columns=(_RATER, *table.columns), rows=rows)
        n_rows += sum(1 for _ in read_long(whole, columns, stores, fields, is_of_one_rater=True))
    fields.require(request.name, (name for table in tables.values() for name in table.columns))
    blank = sum(one.blank for one in gathered.values())
    if blank and request.options.empty is None:
        notes = [*notes, blank_cells(blank)]
    if not layout.says_columns and any(len(table.columns) > _LEAST for table in tables.values()):
        notes = [*notes, *(note for name, one in gathered.items() for note in same_texts(one, name))]
    return gathered_tables(request, format, gathered, n_rows=n_rows, notes=notes)


def _columns(table: Rows, layout: Layout, first: tuple[str, ...]) -> Places:
    """Columns of the item and of each field of texts.

    A table of two columns has the same columns as the first table, in any order.
    """
    plain = {name.casefold() for name in table.columns}
    if layout.says_columns or {"item", "text"} <= plain:
        return _placed(table, replace(layout, rater=_RATER))
    columns = places_by_names(("rater", *table.columns))
    if columns is None and len(table.columns) == 2:
        item, text = first if len(first) == 2 else table.columns
        if {item.casefold(), text.casefold()} == plain:
            return _placed(table, Layout(item, _RATER, (text,)))
        raise InputError(
            f"{table.name} has the columns {listed(table.columns)}, and another table {listed(first)}: write each column one way."
        )
    if columns is None:
        raise InputError(
            f"{table.name} has the columns {listed(table.columns)}: name them with --item and --text. If it "
            "has all raters, join the tables into one."
        )
    return columns


def _placed(table: Rows, layout: Layout) -> Places:
    columns = places((_RATER, *table.columns), layout, table.name)
    assert columns is not None
    return columns

"""Workbooks with several sheets: which sheet is the table, or whether each sheet has the answers of one rater."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from softirr.answers.layout import Layout, columns_by_names, find_columns, is_role, listed
from softirr.answers.raw import RawInput
from softirr.answers.read_options import ReadOptions
from softirr.answers.request import NoValue, Request
from softirr.answers.row_tables import per_rater_input
from softirr.answers.rows import Rows, below_title, numbered_columns, refuse_numbers_as_header
from softirr.errors import InputError, option
from softirr.text import normalize

__all__ = ["Book", "Cell", "book_content", "table_below_title"]

Cell = str | NoValue | None

_RATER = "rater"
_EVERY = "*"
"""Every sheet of a workbook."""


@dataclass(frozen=True)
class Book:
    """A workbook of any program.

    Attributes
    ----------
    name : str
        Name of the input, for messages.
    format : str
        Such as ``xlsx``.
    titles, visible, tables : sequence of str
        All sheets, the visible sheets, and the visible sheets with a table.
    rows : callable
        Gives the rows of a sheet.
    """

    name: str
    format: str
    titles: Sequence[str]
    visible: Sequence[str]
    tables: Sequence[str]
    rows: Callable[[str], Rows]


def book_content(book: Book, request: Request) -> Rows | RawInput:
    """The rows of one sheet or of all, or the tables of a workbook with a sheet for each rater.

    Raises
    ------
    InputError
        If the sheet does not exist, or if none has a table.
    """
    sheet_name = request.options.sheet
    if sheet_name not in (None, _EVERY):
        if sheet_name not in book.titles:
            raise InputError(f"{book.name} has no sheet {sheet_name!r}; it has {', '.join(book.titles)}.")
        return book.rows(sheet_name)
    if not book.tables:
        raise InputError(f"{book.name} has no sheet with a table in its first 200 rows.")
    if len(book.tables) == 1:
        (first,) = book.tables
        has_choice = sheet_name is None and any(title != first for title in book.visible)
        return _noted(book.rows(first), _choice_note(book, first) if has_choice else "")
    sheets = {title: replace(book.rows(title), name=f"{book.name}, sheet {title!r}") for title in book.tables}
    layout = request.options.layout
    first = book.tables[0] if sheet_name == _EVERY else _chosen(sheets, layout)
    columns = _plain(sheets[first])
    alike = {title: rows for title, rows in sheets.items() if _is_alike(rows, sheets[first], layout)}
    other_sheets = [title for title in sheets if title not in alike]
    if sheet_name == _EVERY:
        if other_sheets:
            raise InputError(
                f"{book.name}: the sheets {listed(other_sheets)} have different columns from {first!r}: choose one "
                f"sheet with {option('sheet')}, "
                "or delete them."
            )
        return replace(sheets[first], name=book.name, rows=_joined(alike, columns), notes=(), is_joined=True)
    if len(alike) > 1 and _is_per_rater(sheets[first].columns, layout):
        sheet_list = listed(tuple(alike))
        notes = [f"Each sheet has the answers of one rater: {sheet_list}. {option('sheet')} chooses one sheet."]
        if other_sheets:
            notes.append(f"These sheets have other columns and were not read: {listed(other_sheets)}.")
        return per_rater_input(alike, request, book.format, notes)
    if len(alike) > 1:
        note = (
            f"Only the sheet {first!r} was read. Of the same columns: {listed(list(alike)[1:])}. "
            f"{option('sheet', '*')} reads all as one table."
        )
    else:
        note = _choice_note(book, first)
    return _noted(sheets[first], note)


def _choice_note(book: Book, sheet_name: str) -> str:
    """Say which sheet was read, and which other visible sheets can be chosen."""
    other_sheets = [repr(title) for title in book.visible if title != sheet_name]
    return f"The sheet {sheet_name!r} was read; {option('sheet')} chooses another of {', '.join(other_sheets)}."


def _chosen(sheets: Mapping[str, Rows], layout: Layout) -> str:
    """Return the sheet to read: the first with the columns of the layout, or the first of those with a rater each.

    A list of codes or of instructions may come before the table.
    """
    readable = [title for title, rows in sheets.items() if _has_columns(rows.columns, layout)]
    if readable:
        return readable[0]
    groups = Counter(tuple(sorted(_plain(rows))) for rows in sheets.values())
    per_rater = (
        title
        for title, rows in sheets.items()
        if groups[tuple(sorted(_plain(rows)))] > 1 and _is_per_rater(rows.columns, layout)
    )
    return next(per_rater, next(iter(sheets)))


def _has_columns(columns: Sequence[str], layout: Layout) -> bool:
    """Whether a sheet has the columns of the layout; without any, whether the names of its columns are obvious."""
    try:
        return find_columns(columns, layout, "") is not None
    except InputError:
        return False


def _is_alike(rows: Rows, first: Rows, layout: Layout) -> bool:
    """Whether a sheet has the columns of the first sheet, or the item and the text of the layout."""
    if layout.item and layout.text and not layout.rater:
        return _has_columns((*rows.columns, _RATER), replace(layout, rater=_RATER))
    return sorted(_plain(rows)) == sorted(_plain(first))


def _noted(rows: Rows, note: str) -> Rows:
    return replace(rows, notes=(*rows.notes, note)) if note else rows


def _plain(rows: Rows) -> list[str]:
    return [normalize(name, casefold=True) for name in rows.columns]


def _joined(sheets: Mapping[str, Rows], columns: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
    """The rows of several sheets, with the columns in the order of the first one."""
    for rows in sheets.values():
        names = _plain(rows)
        order = [names.index(name) for name in columns] if len(set(names)) == len(names) else range(len(names))
        yield from ((number, [cells[i] for i in order]) for number, cells in rows.rows)


def _is_per_rater(columns: Sequence[str], layout: Layout) -> bool:
    """Whether a table of these columns lacks only the rater, so that each sheet of these columns has one rater."""
    if layout.raters or layout.items or layout.rater or any(is_role("rater", name) for name in columns):
        return False
    return layout.names_columns or len(columns) == 2 or columns_by_names((*columns, "rater")) is not None


def table_below_title(
    rows: Iterator[tuple[int, list[Cell]]], merged: Sequence[Any], name: str, options: ReadOptions
) -> tuple[tuple[str, ...], Iterator[tuple[int, list[Cell]]]]:
    """The header, below a title if there is one, and the rows after it; a header over two rows is put together.

    Parameters
    ----------
    rows : iterator of (int, list)
        Number and texts of each row that is not blank.
    merged : sequence
        Areas of merged cells, with ``min_row``, ``max_row``, ``min_col`` and ``max_col``, from 1.
    name : str
        Name of the input, for messages.
    options : ReadOptions
        Whether there is a header, and whether the user names columns.

    Raises
    ------
    InputError
        If the sheet is empty.
    """
    first, later_rows = below_title(rows)
    if not first:
        raise InputError(f"{name} is empty.")
    if options.header == "none":
        columns = numbered_columns(len(first[0][1]))
        padded_rows = ((n, [*row, *[None] * (len(columns) - len(row))]) for n, row in chain(first, later_rows))
        return columns, _filled(padded_rows, merged)
    if not options.layout.names_columns:
        refuse_numbers_as_header(name, first[0][1], first[1:])
    (number, cells), n_header_rows = first[0], 0
    areas = [area for area in merged if area.min_row == number]
    if any(area.max_col > area.min_col for area in areas) and len(first) > 1:
        above, below = list(cells), first[1][1]
        for area in areas:
            for column in range(area.min_col - 1, min(area.max_col, len(above))):
                above[column] = cells[area.min_col - 1]
        pairs = list(zip(above, below, strict=True))
        cells, n_header_rows = [lower or upper for upper, lower in pairs], 1
        if len(set(cells)) < len(cells):
            cells = [" ".join(text for text in pair if isinstance(text, str)) for pair in pairs]
    first = first[n_header_rows:]
    width = len(cells)
    while width and cells[width - 1] is None and all(row[width - 1] is None for _, row in first):
        width -= 1
    names = tuple(cell.strip() if isinstance(cell, str) else "" for cell in cells[:width])
    padded = ((n, [*row, *[None] * (width - len(row))]) for n, row in chain(first[1:], later_rows))
    return names, _filled(padded, merged)


def _filled(rows: Iterator[tuple[int, list[Cell]]], merged: Sequence[Any]) -> Iterator[tuple[int, list[Cell]]]:
    """Rows in which each row of cells that are merged downward has their value, as a person reads it."""
    begins: dict[tuple[int, int], int] = {
        (area.min_row, area.min_col - 1): area.max_row
        for area in merged
        if area.max_row > area.min_row and area.min_col == area.max_col
    }
    columns = {column for _, column in begins}
    running: dict[int, tuple[int, Cell]] = {}
    for number, cells in rows:
        for column in columns:
            if (last := begins.get((number, column))) is not None:
                running[column] = (last, cells[column])
            elif column in running and number <= running[column][0]:
                cells[column] = running[column][1]
        yield number, cells

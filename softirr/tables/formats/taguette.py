"""Taguette (version 1.4): a project as SQLite, or its highlights as a table. Neither names the coder: one file for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.tables.archives import Folder
from softirr.tables.gathered import Request, Tables, gathered_tables
from softirr.tables.registry import Example, Format, Ways
from softirr.tables.rows import Rows, row_name
from softirr.tables.segments import Segment, needs_coders, segment_tables
from softirr.tables.source import Source, stored
from softirr.tables.sqlite import has_tables, query

__all__ = ["FORMATS"]

_TABLES = ("highlights", "highlight_tags", "tags", "documents")
_CODES = """
    SELECT documents.name, tags.path, highlights.start_offset, highlights.end_offset
    FROM highlights
    JOIN highlight_tags ON highlight_tags.highlight_id = highlights.id
    JOIN tags ON tags.id = highlight_tags.tag_id
    JOIN documents ON documents.id = highlights.document_id
"""
_COLUMNS = ("id", "document", "tag", "content")


def _is_database(source: Source) -> bool:
    if not source.start.startswith(b"SQLite format 3\0"):
        return False
    with stored(source) as path:
        return has_tables(path, *_TABLES)


def _refuse(source: Source, request: Request) -> Tables:
    raise needs_coders(source.name, "the SQLite file of a project of Taguette")


def _databases(folder: Folder) -> list[Path]:
    return [path for path in folder.files if has_tables(path, *_TABLES)]


def _read_databases(folder: Folder, request: Request) -> Tables:
    segments = [
        Segment(str(document), path.stem, str(code), int(start), int(end))
        for path in _databases(folder)
        for document, code, start, end in query(path, _CODES)
    ]
    return segment_tables(segments, request, "taguette")


def _is_table(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    return tuple(name.casefold() for name in columns) == _COLUMNS and not request.names_columns


def _refuse_table(table: Rows, request: Request) -> Tables:
    raise needs_coders(table.name, "the highlights of a project of Taguette")


def _is_folder_of_tables(folder: Folder) -> bool:
    return len(folder.tables) > 1 and all(_highlights(folder, path) is not None for path in folder.tables)


def _highlights(folder: Folder, path: Path) -> Rows | None:
    try:
        content = folder.open(path)
    except InputError:
        return None
    plain = tuple(name.casefold() for name in content.columns) if isinstance(content, Rows) else ()
    return content if isinstance(content, Rows) and plain == _COLUMNS else None


def _read_tables(folder: Folder, request: Request) -> Tables:
    """A table has no places, so an item is a passage that two coders marked from the same character to the same character."""
    gathered = request.gathered(repeats="set")
    n_rows = 0
    for path in folder.tables:
        if (table := _highlights(folder, path)) is None:
            continue
        for number, cells in table.rows:
            n_rows += 1
            if len(cells) < len(_COLUMNS):
                raise InputError(f"{table.place(number)}: the row ends before the column {table.columns[-1]!r}.")
            document, code, passage = (row_name(cells, (column,), table, number, "item") for column in (1, 2, 3))
            gathered.add(f"{document}: {passage}", path.stem, code, table.place(number))
    notes = (
        "An item is a passage that coders marked in the same words. Give the SQLite files of the projects to compare passages that "
        "overlap.",
    )
    return gathered_tables(request, "taguette", {"code": gathered}, n_rows=n_rows, notes=notes)


FORMATS = (
    Format(
        "taguette",
        (
            Example(
                "Taguette",
                "1.4, SQLite",
                "taguette",
                "a folder with the project of each coder; passages, coders, and names of tags; `--overlap` as for REFI-QDA",
            ),
        ),
        file=Ways(_is_database, _refuse),
        folder=Ways(lambda folder: len(_databases(folder)) > 1, _read_databases),
        table=Ways(_is_table, _refuse_table),
    ),
    Format(
        "taguette-highlights",
        (
            Example(
                "Taguette highlights",
                "1.4, CSV or XLSX",
                "highlights",
                "a folder with the highlights of each coder; an item is a passage that coders marked in the same words",
            ),
        ),
        folder=Ways(_is_folder_of_tables, _read_tables),
    ),
)

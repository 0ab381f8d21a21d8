"""Taguette (version 1.4): a project as SQLite. It does not name the coder: one file for each."""

from __future__ import annotations

from pathlib import Path

from softirr.answers.archives import Folder
from softirr.answers.gathered import Request, Tables
from softirr.answers.registry import Format, Ways
from softirr.answers.segments import Segment, numbered, one_coder, same_names, segment_tables
from softirr.answers.source import Source
from softirr.answers.sqlite import has_tables, is_database, query
from softirr.errors import InputError

__all__ = ["FORMATS"]

_TABLES = ("highlights", "highlight_tags", "tags", "documents")
_CODES = """
    SELECT documents.id, tags.path, highlights.start_offset, highlights.end_offset
    FROM highlights
    JOIN highlight_tags ON highlight_tags.highlight_id = highlights.id
    JOIN tags ON tags.id = highlight_tags.tag_id
    JOIN documents ON documents.id = highlights.document_id
"""
_DOCUMENTS = "SELECT id, name FROM documents ORDER BY id"


def _refuse(source: Source, request: Request) -> Tables:
    raise InputError(one_coder(source.name, "the SQLite file of a project of Taguette"))


def _databases(folder: Folder) -> list[Path]:
    return [path for path in folder.files if has_tables(path, *_TABLES)]


def _read_databases(folder: Folder, request: Request) -> Tables:
    paths = _databases(folder)
    documents = {path: [(key, str(name)) for key, name in query(path, _DOCUMENTS)] for path in paths}
    segments = [
        Segment(names[document], path.stem, str(code), start, end)
        for path in paths
        for names in [numbered(documents[path])]
        for document, code, start, end in query(path, _CODES)
    ]
    definitions = {
        str(code): " ".join(str(text).split())
        for path in paths
        for code, text in query(path, "SELECT path, description FROM tags")
        if text and str(text).strip()
    }
    notes = same_names([name for _, name in of] for of in documents.values())
    return segment_tables(segments, request, "taguette", definitions, notes=notes)


FORMATS = (
    Format(
        "taguette",
        file=Ways(lambda source: is_database(source, *_TABLES), _refuse),
        folder=Ways(lambda folder: len(_databases(folder)) > 1, _read_databases),
    ),
)

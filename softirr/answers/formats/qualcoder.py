"""QualCoder's projects (version 3).

The database ``data.qda`` in the folder of a project, in which several coders may work.
"""

from __future__ import annotations

from pathlib import Path

from softirr.answers.archives import Folder
from softirr.answers.gathered import Request, Tables
from softirr.answers.registry import Format, Ways
from softirr.answers.segments import Segment, check_coders, own_coders, segment_tables
from softirr.answers.source import Source, stored
from softirr.answers.sqlite import is_database, query

__all__ = ["FORMATS"]

_TABLES = ("code_text", "code_name", "source")
_CODES = """
    SELECT source.name, code_text.owner, code_name.name, code_text.pos0, code_text.pos1
    FROM code_text JOIN code_name ON code_name.cid = code_text.cid JOIN source ON source.id = code_text.fid
"""


def _read(source: Source, request: Request) -> Tables:
    with stored(source) as path:
        return _of_coders(_segments(path), request, _definitions(path))


def _read_folder(folder: Folder, request: Request) -> Tables:
    """A project, or a project for each coder."""
    paths = folder.called("data.qda")
    if len(paths) == 1:
        return _of_coders(_segments(paths[0]), request, _definitions(paths[0]))
    every, notes = own_coders({path.parent.stem: _segments(path) for path in paths})
    definitions = {code: memo for path in reversed(paths) for code, memo in _definitions(path).items()}
    return segment_tables(every, request, "qualcoder", definitions, notes=notes)


def _definitions(path: Path) -> dict[str, str]:
    """Memos of codes."""
    rows = query(path, "SELECT name, memo FROM code_name")
    return {str(name): " ".join(str(memo).split()) for name, memo in rows if memo and str(memo).strip()}


def _of_coders(segments: list[Segment], request: Request, definitions: dict[str, str]) -> Tables:
    check_coders(segments, request.name, "a project of QualCoder")
    return segment_tables(segments, request, "qualcoder", definitions)


def _segments(path: Path) -> list[Segment]:
    rows = query(path, _CODES)
    return [
        Segment(str(document), str(owner or "").strip(), str(code), start, end)
        for document, owner, code, start, end in rows
        if start is not None and end is not None
    ]


FORMATS = (
    Format(
        "qualcoder",
        file=Ways(lambda source: is_database(source, *_TABLES), _read),
        folder=Ways(lambda folder: bool(folder.called("data.qda")), _read_folder),
    ),
)

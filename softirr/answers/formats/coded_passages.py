"""Tables with a row for each coded passage, from programs of qualitative data analysis.

Where the table does not name the coder, there is one table for each coder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softirr.answers.archives import Folder
from softirr.answers.data_files import data_file
from softirr.answers.gathered import NoValue, Request, Tables, gathered_tables
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows, row_name
from softirr.answers.segments import ITEM_NOTE, Segment, one_coder, segment_tables
from softirr.errors import InputError
from softirr.text import is_blank, normalize

__all__ = ["FORMATS"]

_PATH = "hierarchical name"
"""NVivo's column of a code with the folders above it: ``Codes\\\\Stress\\\\Work stress``."""
_MARKS = "○●◆◇ "
"""Before a code in lists of ATLAS.ti."""
_COMPARISON = {"kappa", "agreement (%)"}
"""Columns of NVivo's coding comparison."""
_LIST = re.compile(r"\s*[\n\r;]+\s*")
_SEVERAL = {"codes": _LIST, "kodes": _LIST, "códigos": _LIST, "codes applied combined": re.compile(r"\s*,\s+")}
"""Between the codes of a column with this name."""
_BOX, _APPLIED = re.compile(r"Code: (.+) Applied"), ("true", "yes", "1")
"""Dedoose's column of one code, and what it has where the code was applied."""


@dataclass(frozen=True)
class _Passage:
    document: str
    coder: str
    codes: tuple[str, ...]
    content: str
    start: int | None
    end: int | None


def _places(columns: Sequence[str]) -> dict[str, int] | None:
    """Columns by what they have; None if this is no table of coded passages."""
    plain = [normalize(name, casefold=True) for name in columns]
    at = {
        role: next((plain.index(name) for name in names if name in plain), -1)
        for role, names in data_file("passage_columns").items()
    }
    has_place = at["start"] >= 0 and at["end"] >= 0
    return at if at["document"] >= 0 and at["code"] >= 0 and (has_place or at["content"] >= 0) else None


def _is_it(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    return (_places(columns) is not None or _is_comparison(columns)) and not request.names_columns


def _is_comparison(columns: Sequence[str]) -> bool:
    return {normalize(name, casefold=True) for name in columns} >= _COMPARISON


def _read(table: Rows, request: Request) -> Tables:
    if _is_comparison(table.columns):
        raise InputError(
            f"{table.name} is a coding comparison of NVivo, which has results and no codes of passages: export the "
            "project as REFI-QDA (QDPX), or the coding references of each coder."
        )
    passages = list(_passages(table, ""))
    if len({one.coder for one in passages if one.coder}) < 2:
        raise InputError(one_coder(table.name, "the table of coded passages"))
    return _tables(passages, request)


def _opened(folder: Folder, path: Path) -> Rows | None:
    try:
        content = folder.open(path)
    except InputError:
        return None
    return content if isinstance(content, Rows) and _places(content.columns) is not None else None


def _is_folder(folder: Folder) -> bool:
    """Whether each table of a folder is one of coded passages."""
    return len(folder.tables) > 1 and all(_opened(folder, path) is not None for path in folder.tables)


def _read_folder(folder: Folder, request: Request) -> Tables:
    tables = ((path.stem, _opened(folder, path)) for path in folder.tables)
    return _tables([one for coder, table in tables if table is not None for one in _passages(table, coder)], request)


def _passages(table: Rows, coder: str) -> Iterator[_Passage]:
    at = _places(table.columns)
    assert at is not None
    needed = [at["document"], at["code"], *([at["content"]] if at["start"] < 0 else [at["start"], at["end"]])]
    heading = normalize(table.columns[at["code"]], casefold=True)
    boxes = {box[1]: i for i, name in enumerate(table.columns) if (box := _BOX.fullmatch(name))}
    several = _SEVERAL.get(heading)
    # MAXQDA, which has groups of documents, writes the codes above a code before it: "Stress > Work stress"
    path = "\\" if heading == _PATH else " > " if at["group"] >= 0 else None
    for number, cells in table.rows:
        if len(cells) <= max(needed):
            raise InputError(f"{table.place(number)}: the row ends before the column {table.columns[max(needed)]!r}.")
        own = {role: _cell(cells, place) for role, place in at.items()}
        codes = [code for code, place in boxes.items() if _cell(cells, place).casefold() in _APPLIED]
        if not boxes:
            codes = several.split(own["code"]) if several else [own["code"]]
        codes = [_code(code, path) for code in codes if not is_blank(code)]
        yield _Passage(
            row_name(cells, (at["document"],), table, number, "item") if codes else "",
            coder or normalize(own["coder"]),
            tuple(codes),
            normalize(own["content"]),
            _number(own["start"]),
            _number(own["end"]),
        )


def _code(name: str, path: str | None) -> str:
    """The name of a code without the codes above it."""
    return normalize(name.strip(_MARKS).rpartition(path)[2] if path else name.strip(_MARKS))


def _cell(cells: Sequence[Any], place: int) -> str:
    value = cells[place] if 0 <= place < len(cells) else None
    return "" if value is None or isinstance(value, NoValue) else str(value)


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,12}", text.strip()) else None


def _tables(passages: Sequence[_Passage], request: Request) -> Tables:
    n_all, passages = len(passages), [one for one in passages if one.codes and one.coder]
    n_left = n_all - len(passages)
    left_out = (f"Passages without a code or a coder, left out: {n_left:,}.",) if n_left else ()
    if _has_characters(passages):
        segments = (
            Segment(one.document, one.coder, code, one.start or 0, one.end or 0)
            for one in passages
            for code in one.codes
        )
        return segment_tables(segments, request, "coded-passages", notes=left_out)
    gathered = request.gathered(repeats="set")
    for one in passages:
        if not one.content:
            raise InputError(
                f"{request.name} has passages of {one.document!r} without their words or places in characters: "
                "export the content of the passages, too, or the project as QDPX."
            )
        gathered.add(f"{one.document}: {one.content}", one.coder, one.codes)
    notes = (
        f"{ITEM_NOTE} that coders marked in the same words. Give the projects (QDPX, or SQLite of Taguette) to "
        "compare passages that overlap.",
        *left_out,
    )
    return gathered_tables(
        request, "coded-passages", {"code": gathered}, n_rows=len(passages), notes=notes, overlap=1.0
    )


def _has_characters(passages: Sequence[_Passage]) -> bool:
    """Whether places are characters: in paragraphs or pages, a passage of many words is as long as one of one word."""
    return all(
        one.start is not None and one.end is not None and one.end - one.start >= len(one.content.split())
        for one in passages
    ) and any(one.end != one.start for one in passages)


FORMATS = (Format("coded-passages", folder=Ways(_is_folder, _read_folder), table=Ways(_is_it, _read)),)

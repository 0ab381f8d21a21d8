"""Folders and ZIP archives with a file or a folder for each rater: tables, doccano, Potato, brat and UIMA CAS."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.tables.json_values import json_rows
from softirr.tables.layout import Layout, listed, places, told_by_names
from softirr.tables.request import Records, Request, gathered_tables
from softirr.tables.rows import Gathered, Rows, pooled, row_name
from softirr.tables.source import Source
from softirr.tables.table import AnnotationTable
from softirr.tables.tools.brat import brat_tables
from softirr.tables.tools.cas import cas_tables
from softirr.tables.tools.doccano import is_doccano, keep_doccano
from softirr.tables.tools.potato import is_potato, is_state, line_answers, state_answers, states_tables

__all__ = ["folder_sha256", "folder_tables", "unpacked"]

_TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".json", ".jsonl")
_NOT_RATERS = ("INITIAL_CAS", "CURATION_USER")
_LARGEST = 8 << 30
_FILE = "\0file"

Open = Callable[[Path], "Rows | Records"]


def folder_tables(folder: Path, request: Request, opened: Open) -> dict[str, AnnotationTable]:
    """The answers of a folder; the name of a file or folder is the name of a rater.

    Parameters
    ----------
    folder : Path
    request : Request
    opened : callable
        Gives the rows or the records of a file.

    Returns
    -------
    dict of str to AnnotationTable

    Raises
    ------
    InputError
        If it has no files that are known, or one of them can't be used.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not _hidden(path, folder))
    states = [path for path in files if path.name == "user_state.json"]
    lines = [path for path in files if path.name == "annotated_instances.jsonl"]
    if states:
        answers = (answer for path in states for answer in state_answers(_state(path), path.parent.name, str(path)))
        return states_tables(answers, request)
    if lines:
        of = ((path, replace(request, name=str(path))) for path in lines)
        return states_tables(
            (
                answer
                for path, one in of
                for answer in line_answers(_records(opened(path), path), one, path.parent.name)
            ),
            request,
        )
    if found := [path for path in files if path.suffix == ".ann"]:
        return brat_tables(((path.stem, _rater(path, folder), path) for path in found), request)
    if found := [path for path in files if path.suffix == ".xmi" or (path.suffix == ".json" and _is_cas(path))]:
        types = next((path for path in files if path.name.casefold() == "typesystem.xml"), None)
        return cas_tables(_of_documents(found, folder), types, request)
    found = [path for path in files if path.parent == folder and path.suffix.casefold() in _TABLES]
    if len(found) < 2:
        raise InputError(
            f"{request.name} is a folder without a file for each rater (CSV, XLSX, JSONL and the like), and without files of doccano, Potato, brat or "
            "INCEpTION."
        )
    return _of_files(found, request, opened)


def _of_files(files: Sequence[Path], request: Request, opened: Open) -> dict[str, AnnotationTable]:
    gathered: dict[str, Gathered] = {}
    n, format = 0, "folder"
    for path in files:
        content = opened(path)
        of = replace(request, name=str(path))
        if isinstance(content, Rows):
            n += _keep_rows(content, path.stem, of, gathered)
            continue
        first, records = _peek(content, path)
        if is_doccano(first):
            format = "doccano"
            n += keep_doccano(records, of, gathered.setdefault("label", request.gathered(repeats="set")), path.stem)
        elif is_potato(first):
            raise InputError(f"{path}: files of Potato stand in a folder for each annotator.")
        else:
            n += _keep_rows(json_rows(str(path), records, "jsonl"), path.stem, of, gathered)
    blank = sum(one.blank for one in gathered.values())
    notes = [f"Each file holds the answers of one rater: {listed([path.stem for path in files])}."]
    if blank and request.layout.empty is None and format == "folder":
        notes.append(
            f"{blank:,} empty cells count as not asked. If they mean that the rater found nothing, say --empty none."
        )
    return gathered_tables(request, format, gathered, n_rows=n, notes=notes)


def _keep_rows(table: Rows, rater: str, request: Request, gathered: dict[str, Gathered]) -> int:
    """Add the answers of one rater's table: columns of items and of texts."""
    layout = request.layout
    if layout.raters or layout.items or layout.rater:
        raise InputError(f"{table.name} is the file of one rater: say its columns with --item and --text.")
    found = _columns(table, layout)
    n = 0
    for number, cells in table.rows:
        n += 1
        if len(cells) <= max(*found[0], *(i for at in found[1].values() for i in at)):
            raise InputError(f"{table.place(number)}: the row ends before the last column that is read.")
        item = row_name(cells, found[0], table, number, "item")
        for field, at in found[1].items():
            one = gathered.setdefault(field, request.gathered(empty="missing", repeats="set"))
            one.add(item, rater, pooled(cells, at, table, number), table.place(number))
    return n


def _columns(table: Rows, layout: Layout) -> tuple[tuple[int, ...], Mapping[str, tuple[int, ...]]]:
    """Columns of the item and of each field of texts."""
    plain = [name.casefold() for name in table.columns]
    if layout.says_columns or {"item", "text"} <= set(plain):
        # the rater is the file: a column of no other table stands for it
        found = places((*table.columns, _FILE), replace(layout, rater=_FILE), table.name)
    else:
        found = told_by_names((*table.columns, "rater"))
        if found is None and len(table.columns) == 2:
            return (0,), {table.columns[1]: (1,)}
    if found is None:
        raise InputError(f"{table.name} has the columns {listed(table.columns)}: name them with --item and --text.")
    return found.item, found.groups


def _peek(records: Records, path: Path) -> tuple[dict[str, Any], Records]:
    first = next(records, None)
    if first is None:
        raise InputError(f"{path} is empty.")
    if not isinstance(first[1], Mapping):
        raise InputError(f"{path}, line {first[0]}: expected an object.")

    def every() -> Iterator[tuple[int, dict[str, Any]]]:
        yield first
        yield from records

    return dict(first[1]), every()


def _records(content: Rows | Records, path: Path) -> Records:
    if isinstance(content, Rows):
        raise InputError(f"{path} holds no JSON lines.")
    return content


def _state(path: Path) -> Mapping[str, Any]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not valid JSON.") from None
    if not is_state(state):
        raise InputError(f"{path} is no user_state.json of Potato: it has no instance_id_to_label_to_value.")
    return dict(state)


def _is_cas(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"%TYPES"' in file.read(65536) or b"%FEATURE_STRUCTURES" in file.read(65536)


def _rater(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).parts
    if len(parts) < 2:
        raise InputError(f"{folder} has files of documents, but no folder for each annotator.")
    return parts[-2]


def _of_documents(files: Sequence[Path], folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Document, annotator and file: INCEpTION has a folder for each document, other tools one for each annotator."""
    for path in files:
        if path.stem in _NOT_RATERS:
            continue
        outer = _rater(path, folder)
        by_document = path.parent.parent.name == "annotation"
        yield (outer, path.stem, path) if by_document else (path.stem, outer, path)


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in path.relative_to(folder).parts)


def folder_sha256(folder: Path) -> str:
    """Hash of the names and contents of a folder's files.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    str
    """
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not _hidden(path, folder)):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return whole.hexdigest()


@contextmanager
def unpacked(source: Source) -> Iterator[Path]:
    """A ZIP archive as a folder that is removed afterwards; archives in it are unpacked, too, as INCEpTION exports them.

    Parameters
    ----------
    source : Source

    Yields
    ------
    Path

    Raises
    ------
    InputError
        If it is damaged, or far too large.
    """
    with tempfile.TemporaryDirectory(prefix="softirr-") as made:
        folder = Path(made)
        try:
            _unpack(zipfile.ZipFile(source.seekable()), folder, source.name)
            for path in sorted(folder.rglob("*.zip")):
                with zipfile.ZipFile(path) as inner:
                    _unpack(inner, path.parent, source.name)
        except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError):
            raise InputError(f"{source.name} is a damaged or encrypted ZIP archive.") from None
        inside = [path for path in folder.iterdir() if not path.name.startswith("__MACOSX")]
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _unpack(archive: zipfile.ZipFile, folder: Path, name: str) -> None:
    if sum(info.file_size for info in archive.infolist()) > _LARGEST:
        raise InputError(f"{name} would take more than {_LARGEST >> 30} GiB unpacked: unpack it yourself.")
    archive.extractall(folder)  # names that lead out of the folder are cut

"""A folder or ZIP archive with a table for each rater, named after the rater."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from softirr.answers.answer import RawInput
from softirr.answers.archives import TABLES, Folder
from softirr.answers.json_values import json_rows
from softirr.answers.layout import columns_by_names
from softirr.answers.registry import Format, Request, Ways
from softirr.answers.row_tables import per_rater_input
from softirr.answers.rows import Rows
from softirr.errors import InputError
from softirr.text import listed

_INSTRUCTIONS = ("readme", "read me", "liesmich")
"""Beginnings of the names of files that have no answers."""


def _read(folder: Folder, request: Request) -> RawInput:
    paths = [path for path in folder.tables if not path.stem.casefold().startswith(_INSTRUCTIONS)]
    tables_by_folder = _of_subfolders(folder) if not paths else {}
    if len(paths) < 2 and not tables_by_folder:
        names = [path.relative_to(folder.path).as_posix() for path in folder.files]
        if len(paths) == 1:
            raise InputError(
                f"{folder.name} has one table, {paths[0].name}, and no file for each rater: give this file "
                "itself, or a file for each rater."
            )
        inside = f"it has {listed(names)}" if names else "it is empty"
        raise InputError(
            f"{folder.name} is a folder or ZIP archive without a file for each rater (CSV, XLSX, JSONL and the "
            f"like): {inside}."
        )
    tables: dict[str, Rows] = {}
    for rater, path in tables_by_folder.items() or ((path.stem, path) for path in paths):
        content = folder.open(path)
        if rater in tables:
            raise InputError(
                f"{folder.name} has two files of the rater {rater}: {listed([path.name for path in paths])}."
            )
        tables[rater] = content if isinstance(content, Rows) else json_rows(str(path), content, "jsonl")
    unrelated = _other_tables(tables, request)
    tables = {rater: table for rater, table in tables.items() if rater not in unrelated}
    notes = [f"Each {'folder' if tables_by_folder else 'file'} has the answers of one rater: {listed(tuple(tables))}."]
    if unrelated:
        notes.append(f"These files have other columns and were not read: {listed(unrelated)}.")
    return per_rater_input(tables, request, "folder", notes)


def _of_subfolders(folder: Folder) -> dict[str, Path]:
    """Return the only table of each subfolder, by the name of the subfolder; empty if some have several."""
    tables_by_folder: dict[str, Path] = {}
    for path in folder.ending(*TABLES):
        folders = path.relative_to(folder.path).parts
        if len(folders) != 2 or folders[0] in tables_by_folder:
            return {}
        tables_by_folder[folders[0]] = path
    return tables_by_folder if len(tables_by_folder) > 1 else {}


def _other_tables(tables: Mapping[str, Rows], request: Request) -> list[str]:
    """Tables such as a list of codes: without known columns and any column of the others, which have them."""
    if request.options.names_columns:
        return []
    folded = {name: {column.casefold() for column in table.columns} for name, table in tables.items()}
    recognized = [name for name, table in tables.items() if columns_by_names((*table.columns, "rater")) is not None]
    columns = {column for name in recognized for column in folded[name]}
    return (
        [name for name in tables if name not in recognized and not folded[name] & columns]
        if len(recognized) > 1
        else []
    )


FORMATS = (Format("folder", folder=Ways(lambda folder: True, _read), is_general=True),)

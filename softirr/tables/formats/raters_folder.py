"""A folder or ZIP archive with a table for each rater, named after the rater."""

from __future__ import annotations

from softirr.errors import InputError
from softirr.tables.archives import Folder
from softirr.tables.foreign import foreign_archive
from softirr.tables.gathered import Request, Tables
from softirr.tables.json_values import json_rows
from softirr.tables.layout import listed
from softirr.tables.per_rater import per_rater_tables
from softirr.tables.registry import Example, Format, Ways
from softirr.tables.rows import Rows

__all__ = ["FORMATS"]


def _read(folder: Folder, request: Request) -> Tables:
    paths = folder.tables
    if len(paths) < 2:
        names = [path.relative_to(folder.path).as_posix() for path in folder.files]
        if (what := foreign_archive(names)) is not None:
            raise InputError(f"{folder.name} is {what}.")
        if len(paths) == 1:
            raise InputError(
                f"{folder.name} has one table, {paths[0].name}, and no file for each rater: give this file "
                "itself, or a file for each rater."
            )
        inside = f"it has {listed(names)}" if names else "it is empty"
        raise InputError(
            f"{folder.name} is a folder or ZIP archive without a file for each rater (CSV, XLSX, JSONL and the like), and "
            f"none of the projects that docs/reference/formats.md lists: {inside}."
        )
    tables: dict[str, Rows] = {}
    for path in paths:
        content = folder.open(path)
        if path.stem in tables:
            raise InputError(
                f"{folder.name} has two files of the rater {path.stem}: {listed([one.name for one in paths])}."
            )
        tables[path.stem] = content if isinstance(content, Rows) else json_rows(str(path), content, "jsonl")
    return per_rater_tables(
        tables, request, "folder", [f"Each file has the answers of one rater: {listed(tuple(tables))}."]
    )


FORMATS = (
    Format(
        "folder",
        (
            Example(
                "folder",
                "",
                "raters --item case --text finding",
                "a table for each rater, of any kind above, named after the rater",
            ),
        ),
        folder=Ways(lambda folder: True, _read),
        is_general=True,
    ),
)

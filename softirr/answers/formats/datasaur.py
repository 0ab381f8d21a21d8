"""Datasaur's export of all files of a row labeling project: ``DOCUMENT-NAME`` has the tables of a labeler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from softirr.answers.archives import Folder
from softirr.answers.gathered import Gathered, Records, Request, Tables, chosen_texts, gathered_tables
from softirr.answers.layout import listed
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows, pooled, row_name
from softirr.errors import InputError

__all__ = ["FORMATS"]

_LABELER = "DOCUMENT-"
_BESIDE = {"labeler", "label status", "label_status", "line"}
"""Columns that Datasaur adds beside questions."""


def _labelers(folder: Folder) -> dict[str, dict[str, Path]]:
    """The files of each labeler, by their place in the labeler's folder."""
    labelers: dict[str, dict[str, Path]] = {}
    for path in folder.files:
        first, *rest = path.relative_to(folder.path).parts
        if first.startswith(_LABELER) and rest:
            labelers.setdefault(first.removeprefix(_LABELER), {})["/".join(rest)] = path
    return labelers


def _is_it(folder: Folder) -> bool:
    return bool(_labelers(folder))


def _read(folder: Folder, request: Request) -> Tables:
    """The answers to the questions, which are the columns that the original tables in ``ROOT`` do not have."""
    labelers = _labelers(folder)
    if len(labelers) < 2:
        raise InputError(
            f"{request.name} has the work of one labeler: export all files of a project with several labelers."
        )
    questions = _questions(folder, next(iter(labelers.values())), request)
    gathered = {name: request.gathered(empty="missing") for name in chosen_texts(request, questions, "question")}
    n_rows, is_single = 0, len({name for files in labelers.values() for name in files}) == 1
    for labeler, files in labelers.items():
        for name, path in files.items():
            n_rows += _keep(_table(folder, path), labeler, "row" if is_single else name, gathered, request)
    notes = (f"Each folder has the answers of one rater: {listed(tuple(labelers))}. The reviewer's copy is not read.",)
    return gathered_tables(request, "datasaur", gathered, n_rows=n_rows, notes=notes)


def _questions(folder: Folder, files: dict[str, Path], request: Request) -> Sequence[str]:
    """Columns of a labeler's tables that the tables in ``ROOT`` lack."""
    questions: dict[str, None] = {}
    for name, path in files.items():
        columns = _table(folder, path).columns
        original = folder.path / "ROOT" / name
        if request.texts:
            questions |= dict.fromkeys(columns)
        elif original in folder.files:
            known = {*_table(folder, original).columns}
            questions |= dict.fromkeys(one for one in columns if one not in known and one.casefold() not in _BESIDE)
        else:
            raise InputError(
                f"{path} has the columns {listed(columns)}, and ROOT/{name}, which shows which are questions, is not "
                "there: name the column of a question with --text."
            )
    return tuple(questions)


def _table(folder: Folder, path: Path) -> Rows:
    content = folder.open(path)
    if not isinstance(content, Rows):
        raise InputError(f"{path} is no table: export the project as CSV.")
    return content


def _is_schema(record: Mapping[str, Any]) -> bool:
    data = record.get("data")
    return isinstance(data, Mapping) and bool({"rowAnswers", "documentAnswers", "spanLabels"} & data.keys())


def _refuse(records: Records, request: Request) -> Tables:
    raise InputError(f"{request.name} is a file in Datasaur's schema: export all files of the project as CSV.")


def _keep(table: Rows, labeler: str, document: str, gathered: dict[str, Gathered], request: Request) -> int:
    """Add the answers of a table; gives the number of its rows. An item is a row, or what the option ``item`` names."""
    by = request.options.item
    for name in (*gathered, *([by] if by else [])):
        if name not in table.columns:
            raise InputError(f"{table.name} has no column {name!r}; it has {listed(table.columns)}.")
    n = 0
    for n, (number, cells) in enumerate(table.rows, start=1):
        item = row_name(cells, (table.columns.index(by),), table, number, "item") if by else f"{document} {n}"
        for name, one in gathered.items():
            one.add(item, labeler, pooled(cells, (table.columns.index(name),), table, number), table.place(number))
    return n


FORMATS = (Format("datasaur", folder=Ways(_is_it, _read), records=Ways(_is_schema, _refuse)),)

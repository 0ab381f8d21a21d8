"""doccano's exports of texts (sequence to sequence) and of categories.

One file for each annotator (version 1.8), or annotators' numbers (version 1.0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from softirr.answers.answer import RawField, RawInput
from softirr.answers.kinds import TEXT
from softirr.answers.readers.table_folders import Folder
from softirr.answers.registry import Format, Request, Ways, chosen_fields, is_empty, tool_input, unread_fields
from softirr.answers.rows import Records
from softirr.errors import InputError
from softirr.text import listed

_NAME = "label"
_READ = frozenset({"id", "text", "label", "annotations"})
"""Keys of an example: its text, and its answers."""


def _is_it(record: Mapping[str, Any]) -> bool:
    """Whether a line is an example with texts by doccano."""
    if "text" not in record or "id" not in record or "annotation_id" in record:
        return False
    return isinstance(record.get("label"), list) or (
        isinstance(record.get("annotations"), list) and "data" not in record
    )


def _read(records: Records, request: Request) -> RawInput:
    """The answers of a file that names annotators, as version 1.0 wrote it."""
    return _input({None: records}, request)


def _is_folder(folder: Folder) -> bool:
    tables = folder.tables
    return bool(tables) and all(
        path.suffix in (".json", ".jsonl") and _is_it(folder.first_record(path)) for path in tables
    )


def _read_folder(folder: Folder, request: Request) -> RawInput:
    """The answers of a folder with a file for each annotator, or with one file that names annotators."""
    paths = folder.tables
    files = {path if len(paths) > 1 else None: cast(Records, folder.open(path)) for path in paths}
    return _input(files, request)


def _input(files: Mapping[Path | None, Records], request: Request) -> RawInput:
    """The answers of files by one rater each, or of the input with annotators in it.

    Labels with a number are categories. Values of keys that softirr does not read, such as comments, are counted.
    """
    field = RawField(_NAME, repeats="set", is_separate=True)
    categories, unread = Counter[tuple[str, str]](), Counter[str]()
    n = 0
    for path, records in files.items():
        of_file = request if path is None else replace(request, name=str(path))
        n += _keep(records, of_file, field, path.stem if path else None, (categories, unread))
    kinds = {_NAME: "set" if max(categories.values()) > 1 else "nominal"} if categories else {}
    chosen_fields(request, [] if kinds else [_NAME], kinds, "label")
    field.kind = kinds.get(_NAME, TEXT)
    raters = [path.stem for path in files if path is not None]
    notes = [f"Each file has the answers of one rater: {listed(raters)}."] if raters else []
    return tool_input(request, "doccano", {_NAME: field}, n, [*notes, *unread_fields(unread, "keys", request)])


def _keep(
    records: Records,
    request: Request,
    field: RawField,
    rater: str | None,
    counts: tuple[Counter[tuple[str, str]], Counter[str]],
) -> int:
    """Add the examples of a file, by one rater or with annotators in it; gives their number."""
    (categories, unread), n = counts, 0
    expected = "an example of doccano, with id"
    for line, record in request.checked(records, lambda record: record.get("id") not in (None, ""), expected):
        location = request.line(line)
        n += 1
        for key, value in record.items():
            if key not in _READ and not is_empty(value):
                unread[str(key)] += len(value) if isinstance(value, list) else 1
        item = str(record["id"])
        if rater is not None and isinstance(record.get("label"), list):
            field.add(item, rater, _texts(record["label"], location), line)
        elif isinstance(record.get("annotations"), list):
            field.add_item(item)
            for entry in record["annotations"]:
                if not isinstance(entry, Mapping) or entry.get("user") in (None, ""):
                    raise InputError(f"{location}: an annotation names no user.")
                user, label = str(entry["user"]), entry.get("label")
                is_category = "text" not in entry and "start_offset" not in entry and isinstance(label, int | str)
                if is_category != bool(categories) and field.answers:
                    raise InputError(f"{location}: some annotations are texts and others categories.")
                if is_category:
                    categories[item, user] += 1
                field.add(item, user, (str(label),) if is_category else _texts([entry.get("text")], location), line)
        elif rater is None and isinstance(record.get("label"), list):
            _texts(record["label"], location)
            raise InputError(
                f"{request.name} is doccano's file of one annotator, or of a project whose annotators share their "
                "annotations: give the folder or ZIP archive with a file for each annotator."
            )
        else:
            raise InputError(f"{location}: expected an example of doccano, with a list of labels.")
    return n


def _texts(values: list[Any], location: str) -> tuple[str, ...] | None:
    for value in values:
        if not isinstance(value, str):
            raise InputError(
                f"{location}: a label is no text: only exports of texts (sequence to sequence) can be read."
            )
    return tuple(value for value in values if value.strip()) or None


FORMATS = (Format("doccano", records=Ways(_is_it, _read), folder=Ways(_is_folder, _read_folder)),)

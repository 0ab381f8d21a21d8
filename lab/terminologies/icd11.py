"""ICD-11: WHO's simple tabulation (tab- or comma-separated text) and synonyms as JSON in the same folder.

The JSON is a mapping of a code, foundation URI or linearization URI to its synonyms (strings, or the label objects of
WHO's ICD API), or a list of entities of that API. It is expected next to the tabulation as ``synonyms.json`` or with
the tabulation's own name, or given after a comma: ``TABULATION,SYNONYMS``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.terminologies.obographs import parsed_json
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.meaning.terminology.text_files import lines, opened
from softirr.plural import plural

__all__ = ["read"]

_DASHES = re.compile(r"(-\s?)*")


def read(path: Path, builder: Builder, synonyms: Path | None = None) -> None:
    """Fill the builder from a simple tabulation and its synonyms.

    Parameters
    ----------
    path : Path
        The tabulation.
    synonyms : Path, optional
        JSON of codes and their synonyms, or of entities.

    Raises
    ------
    InputError
        If a file is damaged; the message names the line or the entry.
    """
    aliases: dict[str, str] = {}
    open_parents: list[tuple[int, str]] = []
    for line, row in _rows(path):
        title = _DASHES.sub("", row["title"], count=1)
        depth = row["title"].removesuffix(title).count("-")
        id = row["code"] or row["block"] or row["uri"] or row["release"]
        if not id:
            raise InputError(f"{path}, line {line}: an entry has neither a code nor a BlockId nor a URI.")
        if id in builder:
            continue  # an entry shown a second time, under another parent
        builder.concept(id, title.strip(), line)
        while open_parents and open_parents[-1][0] >= depth:
            open_parents.pop()
        if open_parents:
            builder.parent(id, open_parents[-1][1])
        open_parents.append((depth, id))
        for alias in (row["code"], row["uri"], row["release"], row["block"]):
            if alias:
                aliases.setdefault(_tail(alias), id)
    synonym_file = synonyms or next((p for p in synonym_files(path) if p.is_file()), None)
    if synonym_file is not None:
        for key, text in _synonyms(synonym_file):
            builder.synonym(aliases.get(_tail(key), key), text)


def synonym_files(path: Path) -> tuple[Path, Path]:
    """Where the synonyms of a tabulation are looked for."""
    return path.with_suffix(".json"), path.parent / "synonyms.json"


_COLUMNS = {"title": ("title", "titleen"), "code": ("code",), "block": ("blockid",), "uri": ("foundation uri",)}
_KINDS = ("chapter", "block", "category", "window", "")
_RELEASE = ("linearization uri", "linearization (release) uri")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    source = lines(path)
    number, header = next(source, (1, ""))
    delimiter = "\t" if "\t" in header else ","
    names = [name.strip().casefold() for name in next(csv.reader([header], delimiter=delimiter), [])]
    columns = {
        key: _first(names, accepted)
        for key, accepted in (*_COLUMNS.items(), ("release", _RELEASE), ("kind", ("classkind",)))
    }
    if columns["title"] is None or columns["code"] is None:
        raise InputError(
            f"{path}, line {number}: the header has neither id and name, as a list of concepts has, nor Code and Title, "
            "as WHO's tabulation of ICD-11 has."
        )
    for number, line in source:
        if not line.strip():
            continue
        try:
            cells = next(csv.reader([line], delimiter=delimiter, strict=True))
        except csv.Error as error:
            raise InputError(f"{path}, line {number}: not a valid row ({error}).") from None
        if len(cells) <= max(column for column in columns.values() if column is not None):
            raise InputError(f"{path}, line {number}: {plural(len(cells), 'column')} instead of {len(names)}.")
        row = {key: "" if column is None else cells[column].strip() for key, column in columns.items()}
        if row["kind"].casefold() not in _KINDS:
            raise InputError(
                f"{path}, line {number}: the ClassKind is {row['kind']!r}: a column is missing or too many."
            )
        yield number, row


def _first(names: list[str], columns: tuple[str, ...]) -> int | None:
    return next((names.index(name) for name in columns if name in names), None)


def _tail(alias: str) -> str:
    """The number at the end of a URI; http and https, with and without a release, are one entity."""
    if "/" not in alias:
        return alias
    segments = [segment for segment in alias.split("/") if segment]
    return "/".join(segments[-2:]) if not segments[-1].isdigit() else segments[-1]


def _synonyms(path: Path) -> Iterator[tuple[str, str]]:
    with opened(path) as file:
        content = parsed_json(path, file.read())
    if isinstance(content, dict):
        entries = list(content.items())
    elif isinstance(content, list):
        entries = [(_entity_id(entity), entity) for entity in content]
    else:
        raise InputError(f"{path}, line 1: neither a mapping of codes to synonyms nor a list of entities.")
    for number, (id, value) in enumerate(entries, start=1):
        if not id:
            raise InputError(f"{path}, entry {number}: an entity has neither a code nor an @id.")
        if not isinstance(value, list | dict):
            raise InputError(f"{path}, entry {number}: the synonyms of {id} are not a list.")
        for text in _texts(value):
            yield str(id), text


def _entity_id(entity: Any) -> str:
    if not isinstance(entity, dict):
        return ""
    return str(entity.get("code") or entity.get("@id") or entity.get("id") or "")


def _texts(value: Any) -> Iterator[str]:
    """Strings in a list of strings, of label objects, or in the synonym fields of an API entity."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
    elif isinstance(value, dict):
        if "@value" in value:
            yield from _texts(value["@value"])
        elif "label" in value:
            yield from _texts(value["label"])
        else:
            for key in ("synonym", "synonyms", "indexTerm", "inclusion"):
                yield from _texts(value.get(key, []))

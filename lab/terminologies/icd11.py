"""ICD-11: WHO's simple tabulation (tab- or comma-separated text) and synonyms as JSON.

The JSON maps a code, foundation URI or linearization URI to its synonyms: strings, or the label objects of WHO's ICD
API. Its path follows the path of the tabulation after a comma: ``TABULATION,SYNONYMS``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from lab.terminologies.obographs import parsed_json
from lab.terminologies.source import SourceBuilder
from softirr.errors import InputError
from softirr.meaning.terminology.readers import lines, opened
from softirr.numbers import plural

_DASHES = re.compile(r"(-\s?)*")


def read(path: Path, builder: SourceBuilder, synonyms: Path | None = None) -> None:
    """Fill the builder from a simple tabulation and its synonyms.

    Parameters
    ----------
    path : Path
        The tabulation.
    synonyms : Path, optional
        JSON of codes and their synonyms.

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
        for alias in filter(None, (row["code"], row["uri"], row["release"], row["block"])):
            aliases.setdefault(_tail(alias), id)
    if synonyms is not None:
        for key, text in _synonyms(synonyms):
            builder.synonym(aliases.get(_tail(key), key), text)


_COLUMNS = {"title": ("title", "titleen"), "code": ("code",), "block": ("blockid",), "uri": ("foundation uri",)}
_KINDS = ("chapter", "block", "category", "window", "")
_RELEASE = ("linearization uri", "linearization (release) uri")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    source = lines(path)
    number, header = next(source, (1, ""))
    delimiter = "\t" if "\t" in header else ","
    names = [name.strip().casefold() for name in next(csv.reader([header], delimiter=delimiter), [])]
    columns = {
        key: next((names.index(name) for name in accepted if name in names), None)
        for key, accepted in (*_COLUMNS.items(), ("release", _RELEASE), ("kind", ("classkind",)))
    }
    if columns["title"] is None or columns["code"] is None:
        raise InputError(
            f"{path}, line {number}: the header has neither id and name (a list of concepts) nor Code and Title (WHO's "
            "tabulation of ICD-11)."
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


def _tail(alias: str) -> str:
    """The number at the end of a URI; http and https, with and without a release, are one entity."""
    if "/" not in alias:
        return alias
    segments = [segment for segment in alias.split("/") if segment]
    return "/".join(segments[-2:]) if not segments[-1].isdigit() else segments[-1]


def _synonyms(path: Path) -> Iterator[tuple[str, str]]:
    with opened(path) as file:
        content = parsed_json(path, file.read())
    if not isinstance(content, dict):
        raise InputError(f"{path}, line 1: not a mapping of codes to synonyms.")
    for key, labels in content.items():
        if not isinstance(labels, list):
            raise InputError(f"{path}: the synonyms of {key} are not a list.")
        for label in labels:
            text = label["label"] if isinstance(label, dict) and "label" in label else label
            text = text["@value"] if isinstance(text, dict) and "@value" in text else text
            if not isinstance(text, str):
                raise InputError(f"{path}: a synonym of {key} is not a text.")
            yield key, text

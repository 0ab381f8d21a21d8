"""A folder with ``concepts.tsv`` (id, name) and optionally ``synonyms.tsv`` (id, synonym, scope) and ``is_a.tsv`` (child, parent).

A codebook (``softirr codebook``) is one table instead: id, name, synonym, a row for each text of a concept. Without
synonyms it is a list of names. Columns of synonyms may have other names (``synonym_columns.json``); one that is named
in the plural contains several, separated by ``;`` or ``|``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from softirr.answers.cells import cell_text
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import SCOPES, Builder, lines
from softirr.meaning.terminology.table_lines import read_table
from softirr.text import normalize

__all__ = ["find", "is_codebook", "read"]

_CODEBOOK = ("id", "name")
_SEPARATORS = re.compile(r"\s*[;|]\s*")


def find(folder: Path, stem: str) -> Path | None:
    """``STEM.tsv`` or ``STEM.csv`` in the folder, or either with ``.gz``.

    Parameters
    ----------
    folder : Path
    stem : str

    Returns
    -------
    Path or None
    """
    names = (f"{stem}{suffix}" for suffix in (".tsv", ".tsv.gz", ".csv", ".csv.gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def is_codebook(path: Path) -> bool:
    """Whether a file is a table with the columns id and name, as a codebook has them.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    _, header = next(lines(path), (1, ""))
    names = [name.strip().strip('"').casefold() for name in header.split("\t" if "\t" in header else ",")]
    return set(_CODEBOOK) <= set(names)


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from the folder or codebook ``path``.

    Parameters
    ----------
    path : Path
    builder : Builder

    Raises
    ------
    InputError
        If a table is missing or damaged, or a scope is unknown.
    """
    if path.is_file():
        _read_codebook(path, builder)
        return
    concepts = find(path, "concepts")
    if concepts is None:
        raise InputError(f"{path} has no concepts.tsv.")
    builder.place = str(concepts)
    read_synonyms = _Synonyms(concepts)
    for line, row in read_table(concepts, ("id", "name")):
        # a section and its only code may share an id
        builder.concept(row["id"].strip(), row["name"], line, replace=True)
        for text in read_synonyms(line, row):
            builder.synonym(row["id"].strip(), text)
    read_synonyms.check()
    synonyms = find(path, "synonyms")
    if synonyms is not None:
        for line, row in read_table(synonyms, ("id", "synonym")):
            scope = row.get("scope", "").strip().upper() or "EXACT"
            if scope not in SCOPES:
                raise InputError(f"{synonyms}, line {line}: the scope {scope} is none of {', '.join(sorted(SCOPES))}.")
            builder.synonym(row["id"].strip(), row["synonym"], scope)
    is_a = find(path, "is_a")
    if is_a is not None:
        for _, row in read_table(is_a, ("child", "parent")):
            builder.parent(row["child"].strip(), row["parent"].strip())


def _read_codebook(path: Path, builder: Builder) -> None:
    names: dict[str, str] = {}
    read_synonyms = _Synonyms(path)
    for line, given in read_table(path):
        row = {column.casefold(): cell for column, cell in given.items()}
        id, name = row["id"].strip(), cell_text(row["name"])
        if id not in names:
            builder.concept(id, name, line)
            names[id] = name
        elif names[id] != name:
            raise InputError(f"{path}, line {line}: the concept {id} has another name here than above.")
        for text in read_synonyms(line, row):
            if text != name:
                builder.synonym(id, text)
    read_synonyms.check()


class _Synonyms:
    """Reads the synonyms in a row of concepts, whatever their columns are called."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._separated = False
        self._commas: tuple[int, str] | None = None

    def __call__(self, line: int, row: Mapping[str, str]) -> list[str]:
        """The synonyms of a row."""
        cells: list[str] = []
        for column, cell in row.items():
            kind = _kind_of(column)
            if kind == "one":
                cells.append(cell_text(cell))
            elif kind == "several":
                parts = _SEPARATORS.split(cell_text(cell))
                self._separated |= len(parts) > 1
                if len(parts) == 1 and "," in cell and self._commas is None:
                    self._commas = line, column
                cells += parts
        return [text.strip() for text in cells if text.strip()]

    def check(self) -> None:
        """Refuse a column of several synonyms whose separator is not certain."""
        if self._commas is not None and not self._separated:
            line, column = self._commas
            raise InputError(
                f"{self._path}, line {line}: the column {column!r} contains commas, which may be part of a name: separate synonyms with ; or |, or call "
                "the column synonym and give each a row of its own."
            )


def _kind_of(column: str) -> str | None:
    """Whether a cell of a column has one synonym or several; None for another column."""
    plain = re.sub(r"[ _-]*\d+$", "", normalize(column, casefold=True))
    return next((kind for kind, names in _columns().items() if plain in names), None)


@cache
def _columns() -> dict[str, list[str]]:
    """Names of columns of synonyms."""
    names: dict[str, list[str]] = json.loads(
        files("softirr.meaning.terminology").joinpath("synonym_columns.json").read_text("utf-8")
    )
    return names

"""A table of concepts: id, name, and optionally synonym and parent, one row or more for each concept.

Columns of synonyms may have other names (``synonym_columns.json``). A column that is named in the plural, such as
synonyms or parents, contains several values, separated by ``;`` or ``|``. A parent is the id of a concept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from softirr.answers.sheets import cell_text
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.meaning.terminology.text_files import lines, read_table
from softirr.text import normalize

_COLUMNS = ("id", "name")
_PARENT, _PARENTS = "parent", "parents"
_SEPARATORS = re.compile(r"\s*[;|]\s*")


def is_concept_table(path: Path) -> bool:
    """Whether a file is a table with the columns id and name."""
    _, header = next(lines(path), (1, ""))
    names = [name.strip().strip('"').casefold() for name in header.split("\t" if "\t" in header else ",")]
    return set(_COLUMNS) <= set(names)


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from a table.

    Raises
    ------
    InputError
        If the table is damaged, a concept has two names, or the separator of several synonyms is not certain.
    """
    names: dict[str, str] = {}
    synonym_columns = SynonymColumns(path)
    for line, cells in read_table(path):
        row = {column.casefold(): cell for column, cell in cells.items()}
        id, name = row["id"].strip(), cell_text(row["name"])
        if id not in names:
            builder.concept(id, name, line)
            names[id] = name
        elif names[id] != name:
            raise InputError(f"{path}, line {line}: the concept {id} has another name here than above.")
        for text in synonym_columns.read(line, row):
            if text != name:
                builder.synonym(id, text)
        for parent in (cell_text(row.get(_PARENT, "")), *_SEPARATORS.split(cell_text(row.get(_PARENTS, "")))):
            if parent.strip():
                builder.parent(id, parent.strip())
    synonym_columns.check()


class SynonymColumns:
    """Reads the synonyms in the rows of a table, whatever their columns are called."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._separated = False
        self._commas: tuple[int, str] | None = None

    def read(self, line: int, row: Mapping[str, str]) -> list[str]:
        """The synonyms of a row."""
        cells: list[str] = []
        for column, cell in row.items():
            kind = _kind_of(column)
            if kind == "one":
                cells.append(cell_text(cell))
            elif kind == "several":
                synonyms = _SEPARATORS.split(cell_text(cell))
                self._separated |= len(synonyms) > 1
                if len(synonyms) == 1 and "," in cell and self._commas is None:
                    self._commas = line, column
                cells += synonyms
        return [text.strip() for text in cells if text.strip()]

    def check(self) -> None:
        """Refuse a column of several synonyms with an uncertain separator."""
        if self._commas is not None and not self._separated:
            line, column = self._commas
            raise InputError(
                f"{self._path}, line {line}: the column {column!r} contains commas, which may be part of a name: "
                "separate synonyms with ; or |, or call the column synonym and give each a row of its own."
            )


def _kind_of(column: str) -> str | None:
    """Whether a cell of a column has one synonym or several; None for another column."""
    folded = re.sub(r"[ _-]*\d+$", "", normalize(column, casefold=True))
    return next((kind for kind, names in _synonym_columns().items() if folded in names), None)


@cache
def _synonym_columns() -> dict[str, list[str]]:
    """Names of columns of synonyms."""
    names: dict[str, list[str]] = json.loads(
        files("softirr.meaning.terminology").joinpath("synonym_columns.json").read_text("utf-8")
    )
    return names

"""Readers of terminologies: tables of concepts, and OBO files.

A table has the columns id, name, and optionally synonym and parent, one row or more for each concept. Columns of
synonyms may have other names (``synonym_columns.json``). A column that is named in the plural, such as synonyms or
parents, contains several values, separated by ``;`` or ``|``. A parent is the id of a concept.

OBO 1.2 and 1.4 are flat files: HPO, Disease Ontology, Cell Ontology, OAE and the like. The reader handles the few tags
that are needed. The strict parser of fastobo (used by pronto) rejects published releases, such as the Human Phenotype
Ontology of 2016, for a single synonym without an xref list.
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
_STANZA = re.compile(r"\[(\w+)\]\s*$")
_TAG = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)$")
_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(EXACT|BROAD|NARROW|RELATED)?')
_ESCAPE = re.compile(r"\\(.)")


def is_concept_table(path: Path) -> bool:
    """Whether a file is a table with the columns id and name."""
    _, header = next(lines(path), (1, ""))
    names = [name.strip().strip('"').casefold() for name in header.split("\t" if "\t" in header else ",")]
    return set(_COLUMNS) <= set(names)


def read_concept_table(path: Path, builder: Builder) -> None:
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


_ESCAPES = {"n": " ", "t": " ", "W": " "}
# older files give the scope in the tag
_OLD_SCOPES = {"exact_synonym": "EXACT", "broad_synonym": "BROAD", "narrow_synonym": "NARROW"}


def read_obo(path: Path, builder: Builder) -> None:
    """Fill the builder from an OBO file; obsolete terms and links other than ``is_a`` are skipped.

    Raises
    ------
    InputError
        If the file is damaged; the message names the line.
    """
    term: _Term | None = None
    stanza: str | None = None
    header = False
    number = 0
    for number, line in lines(path):
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        if match := _STANZA.match(text):
            _flush(term, builder)
            stanza = match.group(1)
            term = _Term(path, number) if stanza == "Term" else None
            continue
        tag = _TAG.match(text)
        if tag is None:
            raise InputError(f"{path}, line {number}: neither a stanza nor a tag with a value, as an OBO file has.")
        if stanza is None:
            header = header or tag.group(1) == "format-version"
        elif term is not None:
            term.add(tag.group(1), tag.group(2), number)
    _flush(term, builder)
    if stanza is None and not header:
        raise InputError(f"{path}, line {max(number, 1)}: the end of the file, and no OBO stanza before it.")


class _Term:
    """One [Term] stanza."""

    def __init__(self, path: Path, line: int) -> None:
        self._path, self.line = path, line
        self.id = self.name = ""
        self.obsolete = False
        self.synonyms: list[tuple[str, str]] = []
        self.parents: list[str] = []

    def add(self, tag: str, value: str, line: int) -> None:
        if tag == "id":
            self.id = _bare(value)
        elif tag == "name":
            self.name = _unescape(_without_comment(value))
        elif tag == "is_obsolete":
            self.obsolete = _bare(value).casefold() == "true"
        elif tag == "is_a":
            self.parents.append(_bare(value))
        elif tag == "synonym" or tag in _OLD_SCOPES:
            match = _SYNONYM.match(value)
            if match is None:
                raise InputError(f"{self._path}, line {line}: a synonym without closed quotation marks.")
            self.synonyms.append((_unescape(match.group(1)), match.group(2) or _OLD_SCOPES.get(tag, "RELATED")))


def _flush(term: _Term | None, builder: Builder) -> None:
    if term is None or term.obsolete:
        return
    if not term.id:
        raise InputError(f"{builder.place}, line {term.line}: a term has no id.")
    if not term.name:
        return  # a frame that only adds links to a term of another ontology
    builder.concept(term.id, term.name, term.line)
    for text, scope in term.synonyms:
        builder.synonym(term.id, text, scope)
    for parent in term.parents:
        builder.parent(term.id, parent)


def _bare(value: str) -> str:
    """The first word of a value: no trailing modifier, no comment."""
    return re.split(r"\s", value.strip(), maxsplit=1)[0]


def _without_comment(value: str) -> str:
    return re.split(r"(?<!\\)!", value, maxsplit=1)[0].strip()


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match.group(1), match.group(1)), text)

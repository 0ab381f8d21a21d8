"""Readers of terminologies: tables of concepts, and OBO files.

A table has the columns id, name, and optionally synonym and parent, one row or more for each concept. Columns of
synonyms may have other names (``synonym_columns.json``). A column that is named in the plural, such as synonyms or
parents, contains several values, separated by ``;`` or ``|``. A parent is the id of a concept.

OBO 1.2 and 1.4 are flat files: HPO, Disease Ontology, Cell Ontology, OAE and the like. The reader handles the few tags
that are needed. The strict parser of fastobo (used by pronto) rejects published releases, such as the Human Phenotype
Ontology of 2016, for a single synonym without an xref list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from softirr.answers.sheets import cell_text
from softirr.errors import InputError
from softirr.json_object import data_file
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
    commas: tuple[int, str] | None = None
    is_separated = False
    for line, cells in read_table(path):
        row = {column.casefold(): cell for column, cell in cells.items()}
        id, name = row["id"].strip(), cell_text(row["name"])
        if id not in names:
            builder.concept(id, name, line)
            names[id] = name
        elif names[id] != name:
            raise InputError(f"{path}, line {line}: the concept {id} has another name here than above.")
        for column, kind in ((column, _kind_of(column)) for column in row):
            text = cell_text(row[column])
            synonyms = _SEPARATORS.split(text) if kind == "several" else [text] if kind == "one" else []
            is_separated |= len(synonyms) > 1
            if kind == "several" and len(synonyms) == 1 and "," in text:
                commas = commas or (line, column)
            for synonym in map(str.strip, synonyms):
                if synonym != name:
                    builder.synonym(id, synonym)
        for parent in (cell_text(row.get(_PARENT, "")), *_SEPARATORS.split(cell_text(row.get(_PARENTS, "")))):
            if parent.strip():
                builder.parent(id, parent.strip())
    if commas is not None and not is_separated:
        line, column = commas
        raise InputError(
            f"{path}, line {line}: the column {column!r} contains commas, which may be part of a name: separate "
            "synonyms with ; or |, or call the column synonym and give each a row of its own."
        )


def _kind_of(column: str) -> str | None:
    """Whether a cell of a column has one synonym or several; None for another column."""
    folded = re.sub(r"[ _-]*\d+$", "", normalize(column, casefold=True))
    columns = data_file("softirr.meaning.terminology", "synonym_columns")
    return next((kind for kind, names in columns.items() if folded in names), None)


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
    stanza: str | None = None
    tags: list[_Tag] = []
    header = False
    number = start = 0
    for number, line in lines(path):
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        if match := _STANZA.match(text):
            _add_term(builder, stanza, start, tags)
            stanza, start, tags = match[1], number, []
        elif (tag := _TAG.match(text)) is None:
            raise InputError(f"{path}, line {number}: neither a stanza nor a tag with a value, as an OBO file has.")
        elif stanza is None:
            header = header or tag[1] == "format-version"
        else:
            tags.append((tag[1], tag[2], number))
    _add_term(builder, stanza, start, tags)
    if stanza is None and not header:
        raise InputError(f"{path}, line {max(number, 1)}: the end of the file, and no OBO stanza before it.")


_Tag = tuple[str, str, int]
"""Tag, value and line number."""


def _add_term(builder: Builder, stanza: str | None, line: int, tags: Sequence[_Tag]) -> None:
    """Add the concept of a [Term] stanza that begins at a line."""
    if stanza != "Term":
        return
    synonyms = []
    for tag, value, number in tags:
        if tag == "synonym" or tag in _OLD_SCOPES:
            match = _SYNONYM.match(value)
            if match is None:
                raise InputError(f"{builder.place}, line {number}: a synonym without closed quotation marks.")
            synonyms.append((_unescape(match[1]), match[2] or _OLD_SCOPES.get(tag, "RELATED")))
    last = {tag: value for tag, value, _ in tags}
    if _bare(last.get("is_obsolete", "")).casefold() == "true":
        return
    id, name = _bare(last.get("id", "")), _unescape(re.split(r"(?<!\\)!", last.get("name", ""), maxsplit=1)[0].strip())
    if not id:
        raise InputError(f"{builder.place}, line {line}: a term has no id.")
    if not name:
        return  # a frame that only adds links to a term of another ontology
    builder.concept(id, name, line)
    for text, scope in synonyms:
        builder.synonym(id, text, scope)
    for tag, value, _ in tags:
        if tag == "is_a":
            builder.parent(id, _bare(value))


def _bare(value: str) -> str:
    """The first word of a value: no trailing modifier, no comment."""
    return re.split(r"\s", value.strip(), maxsplit=1)[0]


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match.group(1), match.group(1)), text)

"""Readers of text files and tables, gzipped or not, and of terminologies: tables of concepts, and OBO files.

A table has the columns id, name, and optionally synonym and parent, one row or more for each concept. Columns of
synonyms may have other names (``synonym_columns.json``). A column that is named in the plural, such as synonyms or
parents, contains several values, separated by ``;`` or ``|``. A parent is the id of a concept.

OBO 1.2 and 1.4 are flat files: HPO, Disease Ontology, Cell Ontology, OAE and the like. The reader handles the few tags
that are needed. The strict parser of fastobo (used by pronto) rejects published releases, such as the Human Phenotype
Ontology of 2016, for a single synonym without an xref list.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from softirr.answers.sheets import cell_text
from softirr.errors import InputError
from softirr.json_object import data_file
from softirr.meaning.terminology.concepts import Builder
from softirr.numbers import plural
from softirr.text import normalize

LARGEST = 1 << 31
"""Bytes, unpacked, of the largest file that is read."""
_SEPARATORS = re.compile(r"\s*[;|]\s*")
_STANZA = re.compile(r"\[(\w+)\]\s*$")
_TAG = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)$")
_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(EXACT|BROAD|NARROW|RELATED)?')
_ESCAPE = re.compile(r"\\(.)")
_Tag = tuple[str, str, int]
"""Tag, value and line number."""
_ESCAPES = {"n": " ", "t": " ", "W": " "}
# older files give the scope in the tag
_OLD_SCOPES = {"exact_synonym": "EXACT", "broad_synonym": "BROAD", "narrow_synonym": "NARROW"}


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedIOBase]:
    """The bytes of a file, unpacked if it ends in ``.gz``; a damaged archive or an unreadable file is an InputError.

    Raises
    ------
    InputError
        Also for errors that show up while the caller reads.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path} is a damaged gzip file.") from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}.") from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 text file with their numbers, from 1, without line ends.

    Raises
    ------
    InputError
        If the file can't be read or is not UTF-8 text.
    """
    with opened(path) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError(f"{path} is larger than {LARGEST >> 30} GB, the largest terminology that softirr reads.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {number}: a byte that does not belong in UTF-8 text.") from None
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        if "\0" in line:
            raise InputError(f"{path}, line {number}: the file is not text: it contains a zero byte.")
        yield number, line.removesuffix("\n")


def read_table(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a header, each with its line number.

    Parameters
    ----------
    path : Path
        Tab-separated if it ends in ``.tsv`` or its header contains a tab, else comma-separated; ``.gz`` is unpacked.
    columns : sequence of str
        Required columns.

    Raises
    ------
    InputError
        If the file can't be read, is damaged or not UTF-8 text, lacks a column, or has a row with another length than
        its header.
    """
    text = read_text(path)
    header, _, _ = text.partition("\n")
    if not header.strip():
        raise InputError(f"{path} is empty.")
    tabs = path.name.removesuffix(".gz").endswith(".tsv") or "\t" in header
    # Exported tab-separated tables have bare quotation marks, which quote only cells with line ends.
    bare = tabs and all(line.count("\t") == header.count("\t") for line in text.split("\n") if line.strip("\r"))
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_NONE if bare or '"' not in text else csv.QUOTE_MINIMAL,
    )
    try:
        names = [name.strip() for name in next(reader)]
        missing = [name for name in columns if name not in names]
        if missing:
            raise InputError(f"{path}, line 1: the header has no column {missing[0]!r}.")
        for row in reader:
            if not row:
                continue
            if len(row) != len(names):
                raise InputError(
                    f"{path}, line {reader.line_num}: {plural(len(row), 'column')} instead of {len(names)}."
                )
            yield reader.line_num, dict(zip(names, map(_unquoted, row) if bare else row, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not a valid row ({error}).") from None


def _unquoted(cell: str) -> str:
    """A cell without its quotation marks; the marks quote it only where every inner mark is doubled."""
    inner = cell[1:-1]
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"' or '"' in inner.replace('""', ""):
        return cell
    return inner.replace('""', '"')


def read_text(path: Path) -> str:
    """The whole of a UTF-8 text file, gzipped or not.

    Raises
    ------
    InputError
        If the file can't be read or is not UTF-8 text.
    """
    return "\n".join(line for _, line in lines(path))


def is_concept_table(path: Path) -> bool:
    """Whether a file is a table with the columns id and name."""
    _, header = next(lines(path), (1, ""))
    names = [name.strip().strip('"').casefold() for name in header.split("\t" if "\t" in header else ",")]
    return {"id", "name"} <= set(names)


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
        for parent in (cell_text(row.get("parent", "")), *_SEPARATORS.split(cell_text(row.get("parents", "")))):
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

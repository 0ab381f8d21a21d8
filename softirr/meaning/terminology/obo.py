"""OBO 1.2 and 1.4 flat files: HPO, Disease Ontology, Cell Ontology, OAE and the like.

This reader handles the few tags that are needed. The strict parser of fastobo (used by pronto) rejects published
releases, such as the Human Phenotype Ontology of 2016, for a single synonym without an xref list.
"""

from __future__ import annotations

import re
from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.meaning.terminology.text_files import lines

_STANZA = re.compile(r"\[(\w+)\]\s*$")
_TAG = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)$")
_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(EXACT|BROAD|NARROW|RELATED)?')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": " ", "t": " ", "W": " "}
# older files give the scope in the tag
_OLD_SCOPES = {"exact_synonym": "EXACT", "broad_synonym": "BROAD", "narrow_synonym": "NARROW"}


def read(path: Path, builder: Builder) -> None:
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

"""SNOMED CT, from the snapshot files of a release in format RF2.

Active concepts, their descriptions, and is-a relationships.

The preferred name is the preferred synonym of the language reference set that comes with the descriptions (the first
one by file name), else the fully specified name without its tag: "Appendicitis (disorder)" is "Appendicitis".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.meaning.terminology.readers import lines
from softirr.numbers import plural

_FILES = {
    "concept": re.compile(r"x?sct2_Concept_Snapshot.*\.txt", re.IGNORECASE),
    "description": re.compile(r"x?sct2_Description_Snapshot.*\.txt", re.IGNORECASE),
    "relationship": re.compile(r"x?sct2_Relationship_Snapshot.*\.txt", re.IGNORECASE),
    "language": re.compile(r"x?der2_cRefset_Language\w*Snapshot.*\.txt", re.IGNORECASE),
}
_FULLY_SPECIFIED, _SYNONYM = "900000000000003001", "900000000000013009"
_PREFERRED = "900000000000548007"
_IS_A = "116680003"
_TAG = re.compile(r"\s*\([^()]*\)\s*$")


def find(folder: Path) -> dict[str, list[Path]]:
    """The snapshot files below a folder, by kind.

    Returns
    -------
    dict of str to list of Path
        Sorted; empty if the concept file is missing.
    """
    by_kind: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.txt")):
        for what, pattern in _FILES.items():
            if pattern.fullmatch(path.name):
                by_kind.setdefault(what, []).append(path)
    return by_kind if "concept" in by_kind else {}


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from the folder of a release.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    files = find(path)
    for what in ("concept", "description"):
        if what not in files:
            raise InputError(f"{path} has no file sct2_{what.capitalize()}_Snapshot.")
    active = {id for file in files["concept"] for _, (id, *_) in _active(file, ("id",))}
    preferred = {
        description
        for file in files.get("language", [])[:1]
        for _, (description, acceptability) in _active(file, ("referencedComponentId", "acceptabilityId"))
        if acceptability == _PREFERRED
    }
    full: dict[str, tuple[str, int, Path]] = {}
    names: dict[str, str] = {}
    synonyms: list[tuple[str, str]] = []
    for file in files["description"]:
        for line, (id, concept, kind, term) in _active(file, ("id", "conceptId", "typeId", "term")):
            if concept not in active:
                continue
            if kind == _FULLY_SPECIFIED:
                full.setdefault(concept, (term, line, file))
            elif kind == _SYNONYM:
                synonyms.append((concept, term))
                if id in preferred:
                    names.setdefault(concept, term)
    for concept, (term, line, file) in full.items():
        builder.place = str(file)
        bare = _TAG.sub("", term) or term
        builder.concept(concept, names.get(concept, bare), line)
        builder.synonym(concept, bare)
        builder.synonym(concept, term)
    for concept, term in synonyms:
        builder.synonym(concept, term)
    for file in files.get("relationship", []):
        builder.place = str(file)
        for _, (child, parent, kind) in _active(file, ("sourceId", "destinationId", "typeId")):
            if kind == _IS_A:
                builder.parent(child, parent)


def _active(path: Path, names: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The wanted columns of the active rows of a release file."""
    source = lines(path)
    _, header = next(source, (1, ""))
    columns = header.split("\t")
    missing = [name for name in ("active", *names) if name not in columns]
    if missing:
        raise InputError(f"{path}, line 1: no file of format RF2, its header has no column {missing[0]}.")
    active, indices = columns.index("active"), [columns.index(name) for name in names]
    for number, line in source:
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise InputError(f"{path}, line {number}: {plural(len(cells), 'column')} instead of {len(columns)}.")
        if cells[active] == "1":
            yield number, tuple(cells[index] for index in indices)

"""A folder of tables: ``concepts.tsv`` (id, name), ``synonyms.tsv`` (id, synonym, scope), ``is_a.tsv`` (child, parent).

Only the first is required.
"""

from __future__ import annotations

from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import SAME_MEANING, Builder
from softirr.meaning.terminology.readers import read_table

SCOPES = SAME_MEANING | {"NARROW", "BROAD", "RELATED", "INCLUDES"}
"""Every scope."""


def find(folder: Path, stem: str) -> Path | None:
    """``STEM.tsv`` or ``STEM.csv`` in the folder, or either with ``.gz``."""
    names = (f"{stem}{suffix}" for suffix in (".tsv", ".tsv.gz", ".csv", ".csv.gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from a folder.

    Raises
    ------
    InputError
        If a table is missing or damaged, or a scope is unknown.
    """
    concepts = find(path, "concepts")
    if concepts is None:
        raise InputError(f"{path} has no concepts.tsv.")
    builder.place = str(concepts)
    for line, row in read_table(concepts, ("id", "name")):
        # a section and its only code may share an id
        builder.concept(row["id"].strip(), row["name"], line, replace=True)
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

"""A folder of tables: ``concepts.tsv`` (id, name), ``synonyms.tsv`` (id, synonym, scope), ``is_a.tsv`` (child, parent).

Only the first is required.
"""

from __future__ import annotations

from pathlib import Path

from lab.terminologies.source import SAME_MEANING, SourceBuilder
from softirr.errors import InputError
from softirr.meaning.terminology.readers import read_table
from softirr.numbers import plural

SCOPES = SAME_MEANING | {"NARROW", "BROAD", "RELATED", "INCLUDES"}
"""Every scope."""


def find(folder: Path, stem: str) -> Path | None:
    """``STEM.tsv`` or ``STEM.csv`` in the folder, or either with ``.gz``."""
    names = (f"{stem}{suffix}" for suffix in (".tsv", ".tsv.gz", ".csv", ".csv.gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def read(path: Path, builder: SourceBuilder) -> None:
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
    names: dict[str, tuple[str, int]] = {}
    n_rows = 0
    for line, row in read_table(concepts, ("id", "name")):
        names[row["id"].strip()] = row["name"], line  # a section and its only code may share an id
        n_rows += 1
    for id, (name, line) in names.items():
        builder.concept(id, name, line)
    if n_repeated := n_rows - len(names):
        builder.notes.append(
            f"{plural(n_repeated, 'concept is', 'concepts are')} listed twice in {concepts}: the later name counts."
        )
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

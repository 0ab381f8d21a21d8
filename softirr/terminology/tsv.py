"""A folder with ``concepts.tsv`` (id, name) and optionally ``synonyms.tsv`` (id, synonym, scope) and ``is_a.tsv`` (child, parent).

A codebook (``softirr codebook``) is one table instead: id, name, synonym, a row for each text of a concept. Without synonyms it is a list of names.
"""

from __future__ import annotations

from pathlib import Path

from softirr.errors import InputError
from softirr.tables.cells import cell_text
from softirr.terminology.base import SCOPES, Builder, lines
from softirr.terminology.tables import read_table

__all__ = ["find", "is_codebook", "read"]

_CODEBOOK = ("id", "name")


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
    names = [name.strip().strip('"') for name in header.split("\t" if "\t" in header else ",")]
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


def _read_codebook(path: Path, builder: Builder) -> None:
    names: dict[str, str] = {}
    for line, row in read_table(path, _CODEBOOK):
        id, name, text = row["id"].strip(), cell_text(row["name"]), cell_text(row.get("synonym", ""))
        if id not in names:
            builder.concept(id, name, line)
            names[id] = name
        elif names[id] != name:
            raise InputError(f"{path}, line {line}: the concept {id} has another name here than above.")
        if text and text != name:
            builder.synonym(id, text)

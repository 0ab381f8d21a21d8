"""A folder with ``concepts.tsv`` (id, name), and where there are any ``synonyms.tsv`` (id, synonym, scope) and ``is_a.tsv`` (child, parent)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from softirr.errors import InputError
from softirr.experiments.terminology.base import Builder, lines


def find(folder: Path, stem: str) -> Path | None:
    """``STEM.tsv`` or ``STEM.tsv.gz`` in the folder."""
    return next((path for path in (folder / f"{stem}.tsv", folder / f"{stem}.tsv.gz") if path.is_file()), None)


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from the folder ``path``."""
    concepts = find(path, "concepts")
    if concepts is None:
        raise InputError(f"{path} has no concepts.tsv.")
    for line, (id, name) in rows(concepts, ("id", "name")):
        builder.place = str(concepts)
        builder.concept(id, name, line, replace=True)  # a section and its only code may share an id
    synonyms = find(path, "synonyms")
    if synonyms is not None:
        for _, (id, text, scope) in rows(synonyms, ("id", "synonym", "scope")):
            builder.synonym(id, text, scope or "EXACT")
    is_a = find(path, "is_a")
    if is_a is not None:
        for _, (child, parent) in rows(is_a, ("child", "parent")):
            builder.parent(child, parent)


def rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The wanted columns of a tab-separated file with a header, with line numbers."""
    places: list[int] = []
    width = 0
    for number, line in lines(path):
        cells = line.split("\t")
        if number == 1:
            missing = [name for name in columns if name not in cells]
            if missing:
                raise InputError(f"{path}, line 1: the header has no column {missing[0]!r}.")
            places, width = [cells.index(name) for name in columns], len(cells)
        elif line:
            if len(cells) != width:
                raise InputError(f"{path}, line {number}: {len(cells)} columns instead of {width}.")
            yield number, tuple(cells[place].strip() for place in places)
    if not places:
        raise InputError(f"{path} is empty.")

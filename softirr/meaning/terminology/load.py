"""Loading of a terminology: a table of concepts, or an OBO file."""

from __future__ import annotations

from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology import concept_table, obo
from softirr.meaning.terminology.concepts import Builder, Terminology

__all__ = ["load", "name_of", "named_path"]

_TABLES = (".csv", ".tsv", ".txt")


def load(source: str, *, name: str | None = None) -> Terminology:
    """Read a terminology.

    Parameters
    ----------
    source : str
        ``PATH`` or ``NAME=PATH`` of a table with the columns id and name (CSV, TSV or text), or of an OBO file; either
        may be gzipped.
    name : str, optional
        Name of the terminology; by default NAME, else the file's name without its suffix.

    Raises
    ------
    InputError
        If the terminology can't be read; the message names the file and, where possible, the line.
    """
    label, path = named_path(source)
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    builder = Builder(name or label or stem_of(path), str(path))
    if suffix == ".obo":
        obo.read(path, builder)
    elif suffix in _TABLES and path.is_file():
        if not concept_table.is_concept_table(path):
            raise InputError(f"{path}, line 1: a table of concepts needs the columns id and name.")
        concept_table.read(path, builder)
    else:
        raise InputError(
            f"{path} is not a terminology that softirr reads: name an OBO file, or a table with the columns id and name."
        )
    return builder.build()


def named_path(source: str) -> tuple[str, Path]:
    """Split ``[NAME=]PATH`` into the name, empty if there is none, and the path.

    Raises
    ------
    InputError
        If the path does not exist.
    """
    name, path = _split(source)
    if not Path(path).exists():
        raise InputError(f"{path} does not exist.")
    return name, Path(path)


def name_of(source: str) -> str:
    """The name of a terminology by default, from a source as for :func:`load`; the path need not exist."""
    name, path = _split(source)
    return name or stem_of(Path(path))


def stem_of(path: Path) -> str:
    """The name of a file without its suffixes, or of a folder."""
    return path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem


def _split(source: str) -> tuple[str, str]:
    """Name and path; an equals sign in a folder's name does not end a name."""
    name, equals, path = source.partition("=")
    return (name, path) if equals and "/" not in name and "\\" not in name else ("", source)

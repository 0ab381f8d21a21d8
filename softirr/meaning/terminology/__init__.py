"""Terminologies: concepts, their names, and their is-a relations, loaded from a table or an OBO file."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder, Terminology
from softirr.meaning.terminology.readers import is_concept_table, read_concept_table, read_obo

_TABLES = (".csv", ".tsv", ".txt")


def load(source: str) -> Terminology:
    """Read a terminology.

    Parameters
    ----------
    source : str
        ``PATH`` or ``NAME=PATH`` of a table with the columns id and name (CSV, TSV or text), or of an OBO file; either
        may be gzipped. By default, the name is the file's without its suffix.

    Raises
    ------
    InputError
        If the terminology can't be read; the message names the file and, where possible, the line.
    """
    _, path = named_path(source)
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    builder = Builder(name_of(source), str(path))
    if suffix == ".obo":
        read_obo(path, builder)
    elif suffix in _TABLES and path.is_file():
        if not is_concept_table(path):
            raise InputError(f"{path}, line 1: a table of concepts needs the columns id and name.")
        read_concept_table(path, builder)
    else:
        raise InputError(
            f"{path} is not a terminology that softirr reads: name an OBO file, or a table with the columns id and "
            "name."
        )
    with open(path, "rb") as file:
        return replace(builder.build(), sha256=hashlib.file_digest(file, "sha256").hexdigest())


def opened_terminology(source: str) -> Terminology:
    """The terminology of a source, read once per process until its file changes; see :func:`load`."""
    state = named_path(source)[1].stat()
    return _opened(source, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _opened(source: str, size: int, changed_ns: int) -> Terminology:
    return load(source)


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
    return name or Path(path.removesuffix(".gz")).stem


def _split(source: str) -> tuple[str, str]:
    """Name and path; an equals sign in a folder's name does not end a name."""
    name, equals, path = source.partition("=")
    return (name, path) if equals and "/" not in name and "\\" not in name else ("", source)

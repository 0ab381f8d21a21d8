"""Databases of SQLite, which some tools use as their project files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from softirr.answers.source import Source, stored
from softirr.errors import InputError

__all__ = ["has_tables", "is_database", "query"]

_BEGINNING = b"SQLite format 3\0"


def is_database(source: Source, *names: str) -> bool:
    """Whether an input is a database with these tables.

    Parameters
    ----------
    source : Source
    *names : str

    Returns
    -------
    bool
    """
    if not source.start.startswith(_BEGINNING):
        return False
    with stored(source) as path:
        return has_tables(path, *names)


def has_tables(path: Path, *names: str) -> bool:
    """Whether a file is a database with these tables.

    Parameters
    ----------
    path : Path
    *names : str

    Returns
    -------
    bool
    """
    with path.open("rb") as file:
        if file.read(len(_BEGINNING)) != _BEGINNING:
            return False
    try:
        return set(names) <= {name for (name,) in query(path, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    except InputError:
        return False


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query; the file is opened for reading only.

    Parameters
    ----------
    path : Path
    sql : str

    Returns
    -------
    list of tuple

    Raises
    ------
    InputError
        If the database is damaged or lacks a table or column.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return database.execute(sql).fetchall()
    except sqlite3.Error as error:
        raise InputError(f"{path} is a damaged or unknown database ({error}).") from None

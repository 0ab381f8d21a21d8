"""Former stores that ``softirr-ls restore`` kept beside the present one, and the erasing of a project in them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["AsideErased", "aside_name", "erase_aside"]

_MARK = ".before-restore-"


@dataclass(frozen=True)
class AsideErased:
    """What was done about a project in the former stores.

    Attributes
    ----------
    erased : tuple of Path
        Files from which the project was erased.
    left : tuple of Path
        Files that can't be read or written, so they may still hold it.
    """

    erased: tuple[Path, ...]
    left: tuple[Path, ...]


def aside_name(store: Path, moment: str) -> Path:
    """The name under which a restore keeps the former store.

    Parameters
    ----------
    store : Path
    moment : str
        When it was moved aside.

    Returns
    -------
    Path
    """
    return store.with_name(f"{store.name}{_MARK}{moment}")


def erase_aside(store: Path, server: str, number: int) -> AsideErased:
    """Erase a project from all former stores of a store, so that the bytes of its texts are gone from their files.

    Parameters
    ----------
    store : Path
        File of the present store.
    server : str
        Address of Label Studio.
    number : int
        The project's id there.

    Returns
    -------
    AsideErased
    """
    erased, left = [], []
    for file in _former_stores(store):
        try:
            if _erase(file, server, number):
                erased.append(file)
        except (sqlite3.Error, OSError, UnicodeDecodeError):
            left.append(file)
    return AsideErased(tuple(erased), tuple(left))


def _former_stores(store: Path) -> Iterator[Path]:
    for file in sorted(store.parent.glob(f"{store.name}{_MARK}*")):
        if not file.name.endswith(("-wal", "-shm", "-journal")):
            yield file


def _erase(file: Path, server: str, number: int) -> bool:
    """Whether the file held the project.

    It may have been made by an earlier version, so its own tables are looked at.
    """
    with contextlib.closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys=ON")
        numbers = connection.execute(
            "SELECT id FROM projects WHERE server = ? AND number = ?", (server, number)
        ).fetchall()
        for (project,) in numbers:
            connection.execute("BEGIN IMMEDIATE")
            for table in _tables_of_projects(connection):
                connection.execute(f'DELETE FROM "{table}" WHERE project = ?', (project,))  # noqa: S608 - its own names
            connection.execute("DELETE FROM projects WHERE id = ?", (project,))
            connection.execute("COMMIT")
        if numbers:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode=DELETE")  # no log stays beside the file
        return bool(numbers)


def _tables_of_projects(connection: sqlite3.Connection) -> list[str]:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [
        name
        for name in tables
        if any(column[1] == "project" for column in connection.execute(f'PRAGMA table_info("{name}")'))
    ]

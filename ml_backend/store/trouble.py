"""What keeps a store or its disk from working, in one sentence."""

import errno
import os
import shutil
import sqlite3
import time
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from softirr.errors import SoftirrError

RESTORE = "Restore a backup, as the page Operate of the documentation shows."
DAMAGED = f"The store is damaged. {RESTORE}"
FULL = "The disk is full: make room in the folder SOFTIRR_DATA."
LITTLE_ROOM = 200 * 1024 * 1024
"""Bytes on the disk below which a run may fail."""


def sqlite_file(engine: Engine) -> Path | None:
    """Return the file of a SQLite store; None for PostgreSQL and for a store in memory."""
    name = engine.url.database
    return Path(name) if engine.dialect.name == "sqlite" and name and name != ":memory:" else None


def refuse_lost_file(file: Path) -> None:
    """Raise if a store was made here and is gone: an empty one would hide that decisions and audits are lost.

    Raises
    ------
    SoftirrError
    """
    marker = _marker(file)
    if not marker.exists() or (file.exists() and file.stat().st_size > 0):
        return
    state = "is empty" if file.exists() else "is gone"
    raise SoftirrError(
        f"The store {file} {state}, though one was made here. {RESTORE} To start with an empty one, delete {marker}."
    )


def mark(file: Path) -> None:
    """Note in a second file that this file is a store."""
    marker = _marker(file)
    if not marker.exists():
        marker.write_text(f"softirr made a store here at {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}.\n")


def _marker(file: Path) -> Path:
    return file.with_name(f"{file.name}.made")


def disk_problem(folder: Path) -> str | None:
    """Return what keeps a process from writing in the folder, with what to do; None if nothing does."""
    if not os.access(folder, os.W_OK):
        return f"The folder {folder} may not be written: check who owns it."
    free = shutil.disk_usage(folder).free
    if free < LITTLE_ROOM:
        return f"The disk of {folder} has {free // 2**20} MB left: make room."
    try:
        probe = folder / f".write-{os.getpid()}"
        probe.write_bytes(b"\0" * 4096)
        probe.unlink()
    except OSError as error:
        return f"The folder {folder} can't be written ({error.strerror})."
    return None


def store_trouble(error: BaseException | None) -> str | None:
    """Return what is wrong with the store or its disk if that caused the error; None for an error of another kind."""
    while error is not None:
        cause = getattr(error, "orig", error)
        if isinstance(cause, sqlite3.Error) and (sentence := _known_trouble(cause)):
            return sentence
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            return FULL
        if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError):
            return trouble_sentence(error)
        error = error.__cause__
    return None


def trouble_sentence(error: Exception) -> str:
    """Return what is wrong with the store and what to do, without any of its contents."""
    cause = getattr(error, "orig", error)
    if isinstance(cause, UnicodeDecodeError):  # not even SQLite's message about the damage can be read
        return DAMAGED
    if not isinstance(cause, sqlite3.Error):
        return "The store can't be used: is the database running, and may it be written?"
    return _known_trouble(cause) or "The store can't be used: the log of softirr-ls serve says more."


def _known_trouble(cause: sqlite3.Error) -> str | None:
    match getattr(cause, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return DAMAGED
        case sqlite3.SQLITE_FULL:
            return FULL
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return "The store may not be written: check who owns the folder SOFTIRR_DATA and its files."
        case sqlite3.SQLITE_IOERR:
            return "The disk can't be read or written: check it and the room on it."
        case sqlite3.SQLITE_CANTOPEN:
            return "The store can't be opened: check SOFTIRR_DATA, its permissions and the room on its disk."
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "The store is busy: try again in a moment."
    if "disk is full" in str(cause):
        return FULL
    if "no such table" in str(cause) or "no such column" in str(cause):
        return f"The store lacks tables that this version needs. {RESTORE}"
    return DAMAGED if "decode" in str(cause) else None

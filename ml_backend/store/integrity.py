"""Whether a store is whole: what is looked at before it is used, and by ``softirr-ls check`` and ``doctor``."""

import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ml_backend.store import schema
from softirr.errors import SoftirrError
from softirr.plural import plural

__all__ = [
    "OLDER",
    "RESTORE",
    "disk_problem",
    "examine",
    "mark",
    "missing_columns",
    "problems",
    "refuse_lost_file",
    "sqlite_file",
    "store_trouble",
    "trouble_sentence",
]

RESTORE = "Restore a backup with softirr-ls restore FILE."
OLDER = "The store was made by an earlier softirr: softirr-ls serve upgrades it."
FULL = "The disk is full: make room in the folder SOFTIRR_DATA."
LITTLE_ROOM = 200 * 1024 * 1024  # bytes on the disk below which a job may fail


def sqlite_file(engine: Engine) -> Path | None:
    """The file of a SQLite store; None for PostgreSQL and for a store in memory."""
    name = engine.url.database
    return Path(name) if engine.dialect.name == "sqlite" and name and name != ":memory:" else None


def refuse_lost_file(file: Path) -> None:
    """Raise if a store was here and is gone: started as a new one, it would hide that decisions and audits are lost.

    Raises
    ------
    SoftirrError
    """
    marker = _marker(file)
    if not marker.exists() or (file.exists() and file.stat().st_size > 0):
        return
    state = "is empty" if file.exists() else "is gone"
    raise SoftirrError(f"The store {file} {state}, though one was made here. {RESTORE} To start anew, delete {marker}.")


def mark(file: Path) -> None:
    """Note beside the file that it is a store."""
    marker = _marker(file)
    if not marker.exists():
        marker.write_text(f"softirr made a store here at {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}.\n")


def _marker(file: Path) -> Path:
    return file.with_name(f"{file.name}.made")


def problems(engine: Engine, *, thorough: bool = False) -> Iterator[str]:
    """What is wrong with a store, one sentence each.

    Parameters
    ----------
    thorough : bool
        Compare indexes with tables too (SQLite's integrity_check rather than quick_check).

    Raises
    ------
    sqlalchemy.exc.SQLAlchemyError
        If it can't be read; `ml_backend.store.database.trouble_sentence` puts that into words.
    """
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            pragma = "integrity_check" if thorough else "quick_check"
            first = connection.exec_driver_sql(f"PRAGMA {pragma}(1)").scalar()
            if first != "ok":
                yield f"The store is damaged. {RESTORE}"
                return
        missing = missing_columns(connection)
        if missing and _is_older(connection):
            yield OLDER
            return
        if missing:
            yield f"The store lacks {', '.join(missing[:3])}, which this version needs. {RESTORE}"
            return
        revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        if revision is None or revision > _newest_revision():
            yield "The store was made by a newer softirr: upgrade this one."
            return
        if engine.dialect.name == "sqlite":
            yield from _unreadable_values(connection)


def examine(engine: Engine, folder: Path) -> list[str]:
    """All that is wrong with a store and its disk, one sentence each; never raises for a damaged store."""
    sentences = []
    file = sqlite_file(engine)
    try:
        if file is not None:
            refuse_lost_file(file)
            if not file.exists():
                return [f"There is no store at {file} yet: softirr-ls serve makes it."]
            if not os.access(file, os.W_OK):
                sentences.append(f"The file {file} may not be written: check who owns it.")
        sentences += problems(engine, thorough=True)
    except SoftirrError as error:
        sentences.append(str(error))
    except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
        sentences.append(trouble_sentence(error))
    problem = disk_problem(folder) if folder.is_dir() else None
    return [*sentences, problem] if problem else sentences


def missing_columns(connection: Connection) -> list[str]:
    """Tables, and columns of tables, that this version needs and the store lacks."""
    inspector = sa.inspect(connection)
    there = set(inspector.get_table_names())
    missing = []
    for table in schema.metadata.sorted_tables:
        if table.name not in there:
            missing.append(table.name)
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        missing += [f"{table.name}.{column.name}" for column in table.columns if column.name not in columns]
    return missing


def _is_older(connection: Connection) -> bool:
    if not sa.inspect(connection).has_table("alembic_version"):
        return False
    revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return revision is not None and revision < _newest_revision()


def _newest_revision() -> str:
    folder = Path(__file__).parent / "migrations" / "versions"
    return max(file.stem.partition("_")[0] for file in folder.glob("[0-9]*.py"))


def _unreadable_values(connection: Connection) -> Iterator[str]:
    for table in schema.metadata.sorted_tables:
        for column in table.columns:
            if not isinstance(column.type, sa.JSON):
                continue
            bad = sa.func.json_valid(sa.cast(column, sa.Text)) == 0
            n = connection.scalar(sa.select(sa.func.count()).select_from(table).where(column.is_not(sa.null()), bad))
            if n:
                yield f"{plural(n, 'row')} of {table.name}.{column.name} can't be read: the store is damaged. {RESTORE}"


def disk_problem(folder: Path) -> str | None:
    """What keeps a process from writing in the folder, in one sentence with the way out."""
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
    """What is wrong with the store or its disk, in one sentence, if that caused the error.

    Parameters
    ----------
    error : BaseException or None

    Returns
    -------
    str or None
        None for an error of another kind, whose traceback says where it comes from.
    """
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
    """What is wrong with the store and what to do, without any of its contents."""
    cause = getattr(error, "orig", error)
    if isinstance(cause, UnicodeDecodeError):  # not even SQLite's message about the damage can be read
        return f"The store is damaged. {RESTORE}"
    if not isinstance(cause, sqlite3.Error):
        return "The store can't be used: is the database running, and may it be written?"
    return _known_trouble(cause) or "The store can't be used: softirr-ls check says what is wrong with it."


def _known_trouble(cause: sqlite3.Error) -> str | None:
    match getattr(cause, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"The store is damaged. {RESTORE}"
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
    return f"The store is damaged. {RESTORE}" if "decode" in str(cause) else None

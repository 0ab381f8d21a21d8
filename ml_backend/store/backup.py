"""Backing up a store into one file and restoring it: ``softirr-ls backup`` and ``restore``."""

import contextlib
import hashlib
import json
import os
import sqlite3
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ml_backend.store.former_stores import aside_name
from ml_backend.store.integrity import OLDER, problems, sqlite_file, trouble_sentence
from ml_backend.store.process_locks import others_alive
from ml_backend.store.schema import projects
from ml_backend.store.store import Store
from softirr import __version__
from softirr.errors import InputError, SoftirrError

__all__ = ["back_up", "restore"]

FORMAT = 1
STORE, MANIFEST = "softirr.sqlite3", "manifest.json"
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError)
"""What reading a file raises that is cut, changed, or no backup.

No archive, a broken stream, a missing part, no JSON, another compression.
"""


def back_up(store: Store, target: Path) -> dict[str, Any]:
    """Write a consistent copy of a store into a file; the backend may be running.

    The file contains annotators' texts and the secret from which all keys are derived.

    Returns
    -------
    dict
        The backup's manifest.

    Raises
    ------
    SoftirrError
    """
    source = _file_of(store, "back up", "pg_dump --format=custom --file=softirr.dump DATABASE")
    if target.exists():
        raise InputError(f"{target} already exists: choose another name.")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".softirr-backup-") as folder:
            copy = Path(folder) / STORE
            _copy(source, copy)
            _verify(copy, f"The store {source}")
            manifest = _manifest(copy)
            packed = Path(folder) / "packed"
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
                archive.write(copy, STORE)
            os.replace(packed, target)
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise SoftirrError(f"The backup could not be written: {_reason(error)}.") from None
    return manifest


def restore(store: Store, source: Path, folder: Path) -> dict[str, Any]:
    """Replace a store by a backup; the present store is kept under another name.

    Parameters
    ----------
    folder : Path
        SOFTIRR_DATA, which contains the marks of running processes.

    Returns
    -------
    dict
        The backup's manifest and ``"aside"``, the path of the former store (null if there was none).

    Raises
    ------
    SoftirrError
        If the backup can't be restored; nothing is changed.
    """
    target = _file_of(store, "restore", "pg_restore --clean --dbname=DATABASE softirr.dump")
    store.close()
    if others_alive(folder):
        raise SoftirrError("The backend is running: stop softirr-ls serve first.")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".softirr-restore-") as place:
            manifest, copy = _unpack(source, Path(place))
            fresh = Store(f"sqlite:///{copy}")
            try:
                fresh.migrate()
                _look_at_everything_again(fresh)
            finally:
                fresh.close()
            _flatten(copy)
            aside = _move_aside(target)
            os.replace(copy, target)
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise SoftirrError(f"The backup could not be restored: {_reason(error)}.") from None
    store.migrate()
    return manifest | {"aside": str(aside) if aside else None}


def _file_of(store: Store, verb: str, instead: str) -> Path:
    file = sqlite_file(store.engine)
    if file is None:
        raise InputError(f"The store is in PostgreSQL: to {verb}, use {instead}.")
    return file


def _copy(source: Path, copy: Path) -> None:
    if not source.exists():
        raise SoftirrError(f"There is no store at {source}.")
    with (
        contextlib.closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True, timeout=30)) as there,
        contextlib.closing(sqlite3.connect(copy)) as here,
    ):
        there.backup(here)
    _flatten(copy)


def _flatten(file: Path) -> None:
    """Merge the write-ahead log into the database file."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def _verify(file: Path, name: str) -> None:
    engine = sa.create_engine(f"sqlite:///{file}", hide_parameters=True)
    try:
        problem = next(problems(engine, thorough=True), None)
    except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
        problem = trouble_sentence(error)
    finally:
        engine.dispose()
    if problem and problem != OLDER:  # restoring it upgrades it
        raise SoftirrError(f"{name} is not complete: {problem}")


def _manifest(copy: Path) -> dict[str, Any]:
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        revision = connection.execute("select version_num from alembic_version").fetchone()[0]
        n_projects = connection.execute("select count(*) from projects").fetchone()[0]
        n_tasks = connection.execute("select count(*) from tasks").fetchone()[0]
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    what = {"format": FORMAT, "made_at": moment, "softirr": __version__, "schema": revision}
    return what | {"projects": n_projects, "tasks": n_tasks, "sha256": _sha256(copy)}


def _unpack(source: Path, place: Path) -> tuple[dict[str, Any], Path]:
    refused = SoftirrError(
        f"{source} is not a complete backup of softirr: it is truncated, changed, or from another program."
    )
    if not source.is_file():
        raise InputError(f"There is no file {source}.")
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            copy = Path(archive.extract(STORE, place))
    except DAMAGED:
        raise refused from None
    if not isinstance(manifest, dict) or manifest.get("sha256") != _sha256(copy):
        raise refused
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise refused
    return manifest, copy


def _look_at_everything_again(store: Store) -> None:
    """Mark the stored state of Label Studio as outdated, because Label Studio changed after the backup."""
    with store.engine.begin() as connection:
        values = {"lease_owner": None, "lease_until": None, "pulled_at": None, "watermark": None, "checked_at": None}
        connection.execute(sa.update(projects).values(**values))


def _move_aside(target: Path) -> Path | None:
    if not target.exists():
        return None
    aside = aside_name(target, time.strftime("%Y%m%d-%H%M%S"))
    for end in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{target}{end}", f"{aside}{end}")
    return aside


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _reason(error: Exception) -> str:
    return (
        (error.strerror or type(error).__name__) if isinstance(error, OSError) else trouble_sentence(error).rstrip(".")
    )

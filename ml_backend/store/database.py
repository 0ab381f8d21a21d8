"""The connection to the database: SQLite (WAL) by default, PostgreSQL by URL, and the way to the present schema."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine

from ml_backend.store.files import make_private_folder
from softirr.errors import InputError, SoftirrError


class Database:
    """A database by its URL. Several processes may use one.

    Parameters
    ----------
    url : str
        SQLAlchemy URL, ``sqlite:///...`` or ``postgresql+psycopg://...``.
    """

    def __init__(self, url: str):
        self.url = url
        self.engine = _engine(url)

    def migrate(self) -> None:
        """Bring the database to the present schema; nothing is lost.

        Raises
        ------
        SoftirrError
            If the database can't be reached or written.
        """
        try:
            self._migrate()
        except sa.exc.SQLAlchemyError as error:
            where = self.engine.url.render_as_string(hide_password=True)
            raise SoftirrError(f"The database {where} can't be used. {trouble_sentence(error)}") from None

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.engine.connect().execution_options(write=True) as connection:
            if connection.dialect.name == "postgresql":  # one process migrates, the others wait for it
                connection.execute(sa.text("SELECT pg_advisory_lock(7331010)"))
                connection.commit()
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            finally:
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.text("SELECT pg_advisory_unlock(7331010)"))
                    connection.commit()

    def close(self) -> None:
        """Give back the connections."""
        self.engine.dispose()

    @contextlib.contextmanager
    def _read(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def _write(self) -> Iterator[Connection]:
        with self.engine.connect().execution_options(write=True) as connection, connection.begin():
            yield connection

    def _upsert(self, table: sa.Table) -> Any:
        return (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table)


RESTORE = "Restore a backup with softirr-ls restore FILE."


def trouble_sentence(error: sa.exc.SQLAlchemyError) -> str:
    """What is wrong with the store and what to do, without a word of what it holds."""
    cause = getattr(error, "orig", None)
    if not isinstance(cause, sqlite3.Error):
        return "The store can't be used: is the database running, and may it be written?"
    match getattr(cause, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"The store is damaged. {RESTORE}"
        case sqlite3.SQLITE_FULL:
            return "The disk is full: make room in the folder SOFTIRR_DATA."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return "The store may not be written: check who owns the folder SOFTIRR_DATA and its files."
        case sqlite3.SQLITE_IOERR:
            return "The disk can't be read or written: check it and the room on it."
        case sqlite3.SQLITE_CANTOPEN:
            return "The store can't be opened: check SOFTIRR_DATA, its permissions and the room on its disk."
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "The store is busy: try again in a moment."
    if "no such table" in str(cause) or "no such column" in str(cause):
        return f"The store lacks tables that this version needs. {RESTORE}"
    if "decode" in str(cause):
        return f"The store is damaged. {RESTORE}"
    return "The store can't be used: softirr-ls check says what is wrong with it."


def _engine(url: str) -> Engine:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise InputError("SOFTIRR_DATABASE_URL is not a database address.") from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError("SOFTIRR_DATABASE_URL: only sqlite and postgresql are supported.")
    if parsed.get_backend_name() == "postgresql":
        try:
            return sa.create_engine(parsed, hide_parameters=True, pool_pre_ping=True, pool_size=10, max_overflow=20)
        except ImportError:
            raise InputError("PostgreSQL needs the extra: pip install 'softirr[postgres]'.") from None
    if parsed.database:
        folder = Path(parsed.database).parent
        try:
            make_private_folder(folder)
        except OSError as error:
            raise InputError(f"The folder {folder} can't be made ({error.strerror}): check SOFTIRR_DATA.") from None
    # The values are hidden in errors: they are annotators' texts.
    engine = sa.create_engine(parsed, hide_parameters=True, connect_args={"timeout": 30})

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, see below
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock at once: upgrading a read lock can fail however long one waits.
        immediate = connection.get_execution_options().get("write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine

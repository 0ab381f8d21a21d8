"""The connection to the database, SQLite (WAL) or PostgreSQL, and its files, which only their owner can read."""

import contextlib
import logging
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, CursorResult, Engine

from ml_backend.store import trouble, upgrade
from softirr.errors import InputError, SoftirrError

log = logging.getLogger(__name__)

OURS = ("*.sqlite3", "*.sqlite3-*", "*.sqlite3.*", "*.zip", "*.json", "*.lock")
FOR_OTHERS = 0o077
AT_ONCE = 500
"""Values that one query names at most."""
MIGRATION_LOCK = 7331010
"""PostgreSQL's advisory lock of the process that creates or upgrades the tables."""


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may enter."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def keep_private(folder: Path) -> list[str]:
    """Make new files of this process readable by their owner only, and restrict a folder and its files the same way.

    Returns
    -------
    list of str
        Names of the restricted files; also logged.
    """
    if os.name == "nt":  # on Windows users can't read other users' folders
        return []
    os.umask(FOR_OTHERS)
    if not folder.is_dir():
        return []
    closed = []
    for path in (folder, *(file for pattern in OURS for file in folder.glob(pattern))):
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(path.lstat().st_mode)
            if path.is_symlink() or not mode & FOR_OTHERS:
                continue
            try:
                path.chmod(mode & ~FOR_OTHERS)
            except OSError as error:
                log.warning("%s can be read by other users and could not be closed (%s)", path, error.strerror)
                continue
            closed.append(path.name)
    if closed:
        log.warning(
            "%s could be read by other users of this machine; closed now: %s", folder, ", ".join(sorted(set(closed)))
        )
    return closed


Row = Mapping[str, Any]
"""A row by the names of its columns."""


def rows(result: sa.Result[Any]) -> list[Row]:
    """Return all rows of a result."""
    # SQLAlchemy's rows also take columns as keys, so that their type is not a mapping from names alone.
    return cast(list[Row], list(result.mappings()))


def in_parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Return the values in parts that one query can name."""
    return (values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE))


class Tables:
    """Reads and writes tables of a store's database. Each call is a short transaction.

    Parameters
    ----------
    store : Tables
        Whose database it is.
    """

    engine: Engine

    def __init__(self, store: "Tables"):
        self.engine = store.engine

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a connection in a transaction that writes, for several statements that belong together."""
        with self.engine.connect().execution_options(write=True) as connection, connection.begin():
            yield connection

    def rows(self, query: sa.Executable) -> list[Row]:
        """Return all rows of a query."""
        with self.engine.connect() as connection:
            return rows(connection.execute(query))

    def row(self, query: sa.Executable) -> Row | None:
        """Return the first row of a query; None if it has none."""
        return next(iter(self.rows(query)), None)

    def scalars(self, query: sa.Executable) -> list[Any]:
        """Return the first column of a query."""
        with self.engine.connect() as connection:
            return list(connection.scalars(query))

    def scalar(self, query: sa.Executable) -> Any:
        """Return the first value of a query; None if it has none."""
        with self.engine.connect() as connection:
            return connection.scalar(query)

    def execute(self, statement: Any, values: Any = None) -> CursorResult[Any]:
        """Execute a statement that writes, with one row of values or several."""
        with self.writing() as connection:
            return connection.execute(statement, values)

    def insert(self, table: sa.Table, **values: Any) -> int:
        """Insert a row; returns its number."""
        key = self.execute(sa.insert(table).values(**values)).inserted_primary_key
        assert key is not None
        return int(key[0])

    def upsert(self, table: sa.Table, keys: Sequence[str] = (), **values: Any) -> Any:
        """Return an insert; with `keys`, it replaces the values of a row that has the same ones."""
        insert = (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table).values(**values)
        replaced = {name: insert.excluded[name] for name in values if name not in keys}
        return insert.on_conflict_do_update(index_elements=keys, set_=replaced) if keys else insert


class Database(Tables):
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
        """Create the tables in an empty database, and upgrade the tables of release 0.2.0.

        Raises
        ------
        SoftirrError
            If the database can't be reached or written, or belongs to another release.
        """
        where = self.engine.url.render_as_string(hide_password=True)
        file = trouble.sqlite_file(self.engine)
        if file is not None:
            trouble.refuse_lost_file(file)
        try:
            with self.writing() as connection:
                if connection.dialect.name == "postgresql":  # one process upgrades, the others wait for it
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
                upgrade.bring_up_to_date(connection)
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
            raise SoftirrError(f"The database {where} can't be used. {self._trouble(error)}") from None
        except upgrade.WrongRelease as error:
            raise SoftirrError(f"The database {where} {error}") from None
        if file is not None:
            trouble.mark(file)

    def verify(self) -> None:
        """Check whether the store is damaged and whether it can be written.

        Raises
        ------
        SoftirrError
        """
        if self.engine.dialect.name != "sqlite":
            return
        try:
            is_sound = self.scalar(sa.text("PRAGMA quick_check(1)")) == "ok"
            with self.writing() as connection:  # a full disk and a read-only file show only now
                connection.exec_driver_sql("PRAGMA user_version = 1")
            problem = None if is_sound else trouble.DAMAGED
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
            problem = self._trouble(error)
        if problem:
            raise SoftirrError(f"The database {self.engine.url.render_as_string(hide_password=True)}: {problem}")

    def _trouble(self, error: Exception) -> str:
        """Return the sentence for an error; a full disk is recognized whichever error SQLite reports."""
        file = trouble.sqlite_file(self.engine)
        problem = trouble.disk_problem(file.parent) if file is not None and file.parent.is_dir() else None
        return problem or trouble.trouble_sentence(error)

    def erase_what_is_free(self) -> None:
        """Rewrite the database so that deleted content is removed from its files.

        Raises
        ------
        SoftirrError
        """
        try:
            if self.engine.dialect.name == "postgresql":
                with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.exec_driver_sql("VACUUM FULL")
                return
            with contextlib.closing(self.engine.raw_connection()) as raw:  # outside of any transaction
                raw.cursor().execute("VACUUM")
                busy = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            sentence = trouble.trouble_sentence(error)
            raise SoftirrError(f"What was deleted is still in the file. {sentence}") from None
        if busy:
            raise SoftirrError("What was deleted is still in the log of the database: run this again in a moment.")

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


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
    return _sqlite_engine(parsed)


def _sqlite_engine(url: sa.URL) -> Engine:
    # Errors hide the values, which are annotators' texts.
    engine = sa.create_engine(url, hide_parameters=True, connect_args={"timeout": 30})

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # `begin` below starts transactions
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock at once: upgrading a read lock can fail whatever the timeout.
        immediate = connection.get_execution_options().get("write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine

"""The connection to the database, SQLite (WAL) or PostgreSQL, and the migration to the present schema."""

import contextlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, CursorResult, Engine

from ml_backend.store import integrity
from ml_backend.store.integrity import RESTORE, trouble_sentence
from ml_backend.store.permissions import make_private_folder
from softirr.errors import InputError, SoftirrError
from softirr.plural import plural

log = logging.getLogger(__name__)

FIRST_REVISION = "0020"
"""The earliest migration that is kept; earlier migrations are squashed into it."""

AT_ONCE = 500
"""Values that one query names at most."""

Row = Mapping[str, Any]
"""A row by the names of its columns."""


def rows(result: sa.Result[Any]) -> list[Row]:
    """All rows of a result."""
    # SQLAlchemy's rows also take columns as keys, so that their type is no mapping from names alone.
    return cast(list[Row], list(result.mappings()))


def in_parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The values in parts that one query can name."""
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
        """A connection in a transaction that writes, for several statements that belong together."""
        with self.engine.connect().execution_options(write=True) as connection, connection.begin():
            yield connection

    def rows(self, query: sa.Executable) -> list[Row]:
        """All rows of a query."""
        with self.engine.connect() as connection:
            return rows(connection.execute(query))

    def row(self, query: sa.Executable) -> Row | None:
        """The first row of a query; None if it has none."""
        return next(iter(self.rows(query)), None)

    def scalars(self, query: sa.Executable) -> list[Any]:
        """The first column of a query."""
        with self.engine.connect() as connection:
            return list(connection.scalars(query))

    def scalar(self, query: sa.Executable) -> Any:
        """The first value of a query; None if it has none."""
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
        """An insert; with `keys`, it replaces the values of a row that has the same ones."""
        insert = (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table).values(**values)
        others = {name: insert.excluded[name] for name in values if name not in keys}
        return insert.on_conflict_do_update(index_elements=keys, set_=others) if keys else insert


class Database(Tables):
    """A database by its URL. Several processes may use one.

    Parameters
    ----------
    url : str
        SQLAlchemy URL, ``sqlite:///...`` or ``postgresql+psycopg://...``.
    folder : Path, optional
        Folder for the marks of processes that use the store; by default the folder of a SQLite file.
    """

    def __init__(self, url: str, folder: Path | None = None):
        self.url = url
        self.engine = _engine(url)
        file = integrity.sqlite_file(self.engine)
        self.folder = folder or (file.parent if file is not None else None)

    def migrate(self) -> None:
        """Bring the database to the present schema; nothing is lost.

        Raises
        ------
        SoftirrError
            If the database can't be reached or written.
        """
        from alembic.util.exc import CommandError

        where = self.engine.url.render_as_string(hide_password=True)
        file = integrity.sqlite_file(self.engine)
        if file is not None:
            integrity.refuse_lost_file(file)
        try:
            self._migrate()
            with self.engine.connect() as connection:
                missing = integrity.missing_columns(connection)
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
            raise SoftirrError(f"The database {where} can't be used. {self._trouble(error)}") from None
        except CommandError:
            raise SoftirrError(f"The database {where} was made by a newer softirr: upgrade this one.") from None
        if missing:
            raise SoftirrError(f"The database {where} lacks {', '.join(missing[:3])}. {RESTORE}")
        if file is not None:
            integrity.mark(file)

    def verify(self) -> None:
        """Check the integrity of the whole store and whether it can be written.

        Raises
        ------
        SoftirrError
            Names the first problem.
        """
        try:
            problem = next(integrity.problems(self.engine), None)
            if self.engine.dialect.name == "sqlite":
                with self.writing() as connection:  # a full disk and a read-only file show only now
                    connection.exec_driver_sql("PRAGMA user_version = 1")
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
            problem = self._trouble(error)
        if problem:
            raise SoftirrError(f"The database {self.engine.url.render_as_string(hide_password=True)}: {problem}")

    def _trouble(self, error: Exception) -> str:
        """The sentence for an error; a full disk is recognized whichever error SQLite reports."""
        file = integrity.sqlite_file(self.engine)
        problem = integrity.disk_problem(file.parent) if file is not None and file.parent.is_dir() else None
        return problem or trouble_sentence(error)

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
            raise SoftirrError(f"What was deleted is still in the file. {trouble_sentence(error)}") from None
        if busy:
            raise SoftirrError("What was deleted is still in the log beside the file: run this again in a moment.")

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
                before = _revision(connection)
                _forget_squashed_revision(connection)
                command.upgrade(config, "head")
                _log_migration(connection, before)
            finally:
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.text("SELECT pg_advisory_unlock(7331010)"))
                    connection.commit()

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


def _revision(connection: Connection) -> str | None:
    """The revision of the schema; None for a new store."""
    revision = None
    if sa.inspect(connection).has_table("alembic_version"):
        revision = connection.execute(sa.select(sa.table("alembic_version", sa.column("version_num")))).scalar()
    connection.commit()
    return revision


def _log_migration(connection: Connection, before: str | None) -> None:
    """Log what an existing store kept when its schema changed.

    A warning, so that a command without a log prints it on standard error, whichever command opens the store first.
    """
    after = _revision(connection)
    if before is None or before == after:
        return
    kept = [
        plural(connection.execute(sa.select(sa.func.count()).select_from(sa.table(name))).scalar_one(), noun)
        for name, noun in (
            ("projects", "project"),
            ("decisions", "decision"),
            ("audits", "audit"),
            ("audit_judgements", "judgment"),
        )
    ]
    connection.commit()
    log.warning(
        "migrated the store from revision %s to %s and kept %s, %s, %s and %s; "
        "projects are read and scored again, and softirr-ls doctor checks each of them",
        before,
        after,
        *kept,
    )


def _forget_squashed_revision(connection: Connection) -> None:
    """Let the first migration run on a store of a revision that was squashed into it: it adds what the store lacks."""
    if sa.inspect(connection).has_table("alembic_version"):
        version = sa.table("alembic_version", sa.column("version_num"))
        connection.execute(sa.delete(version).where(version.c.version_num < FIRST_REVISION))
    connection.commit()


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
    # Errors hide the values, which are annotators' texts.
    engine = sa.create_engine(parsed, hide_parameters=True, connect_args={"timeout": 30})

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, see below
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock at once: upgrading a read lock can fail whatever the timeout.
        immediate = connection.get_execution_options().get("write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine

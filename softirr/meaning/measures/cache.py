"""Stores of scored pairs, so that a model scores each pair once.

The key of a pair consists of the hash of the model's content and the hashes of both texts; texts are never stored. The
value is P(first ⇒ second) and P(second ⇒ first) (a symmetric measure stores the same number twice).
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError

__all__ = ["MemoryCache", "PairCache", "PostgresCache", "SQLiteCache", "Store", "open_cache", "text_hash"]

HASH_BYTES = 16
_LOG = logging.getLogger("softirr")
_AT_ONCE = 10_000
"""Keys of one database query."""


def text_hash(text: str) -> bytes:
    """Hash of a normalized text, 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=HASH_BYTES).digest()


@runtime_checkable
class PairCache(Protocol):
    """A store of scored pairs. The first hash of a pair is never greater than the second."""

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Values of the pairs, shape (n, 2), and whether each is known, shape (n,); unknown ones are 0."""
        ...

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """Store values of shape (n, 2); a later value replaces an earlier one."""
        ...

    def close(self) -> None:
        """Lets go of files and connections."""
        ...


class Store:
    """Base class of the stores, which are context managers."""

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """As :meth:`PairCache.get`."""
        keys = _keys(model, pairs)
        indices: dict[bytes, list[int]] = {}
        for index, key in enumerate(keys):
            indices.setdefault(key, []).append(index)
        stored = self._read(list(indices))
        return _answer(pairs, ((index, value) for key, *value in stored for index in indices[bytes(key)]))

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """As :meth:`PairCache.put`."""
        # the last of equal keys stays; sorted keys prevent deadlocks of two writers
        rows = dict(zip(_keys(model, pairs), values.tolist(), strict=True))
        if rows:
            self._write([(key, *rows[key]) for key in sorted(rows)])

    def close(self) -> None:
        """Lets go of files and connections."""

    def _read(self, keys: list[bytes]) -> list[Any]:
        return []

    def _write(self, rows: list[tuple[bytes, float, float]]) -> None:
        """Store rows (key, forward, backward)."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class MemoryCache(Store):
    """Scored pairs in this process's memory."""

    def __init__(self) -> None:
        self._values: dict[str, dict[tuple[bytes, bytes], tuple[float, float]]] = {}

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """As :meth:`PairCache.get`."""
        values = self._values.get(model, {})
        return _answer(pairs, ((index, values[pair]) for index, pair in enumerate(pairs) if pair in values))

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """As :meth:`PairCache.put`."""
        self._values.setdefault(model, {}).update(zip(pairs, map(tuple, values.tolist()), strict=True))

    def close(self) -> None:
        """Delete all scored pairs."""
        self._values.clear()


class SQLiteCache(Store):
    """Scored pairs in an SQLite file that several processes and threads may use at once.

    A damaged file is renamed to ``FILE.damaged`` with a warning and replaced by an empty one, so its pairs are scored
    again. On a full disk a warning is logged and scoring continues.

    Parameters
    ----------
    path
        The file; it and its folder are made when missing.

    Raises
    ------
    InputError
        If the file can't be made or opened.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).expanduser()
        self._lock = threading.RLock()
        self._full = False
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._open_or_rebuild()
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(f"The cache file {self._path} can't be opened for writing.") from error

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    def _read(self, keys: list[bytes]) -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(keys), _AT_ONCE):
            batch = keys[start : start + _AT_ONCE]
            query = f"SELECT pair, forward, backward FROM scored_pairs WHERE pair IN ({','.join('?' * len(batch))})"  # noqa: S608 - question marks only
            rows.extend(self._guarded(partial(self._fetch, query, batch)))
        return rows

    def _fetch(self, query: str, keys: list[bytes]) -> list[Any]:
        # looked up at each call, because the connection is replaced after damage
        return self._connection.execute(query, keys).fetchall()

    def _write(self, rows: list[tuple[bytes, float, float]]) -> None:
        def write() -> list[Any]:
            # take the write lock at once: upgrading a read lock can fail whatever the timeout
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany("INSERT OR REPLACE INTO scored_pairs VALUES (?, ?, ?)", rows)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            return []

        try:
            self._guarded(write)
        except sqlite3.OperationalError:
            if not self._full:
                self._full = True
                _LOG.warning(
                    "Scored pairs can't be written to the cache file %s and are kept in memory only.", self._path
                )

    def _guarded(self, work: Callable[[], list[Any]]) -> list[Any]:
        with self._lock:
            try:
                result = work()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._connection.close()
                self._open_or_rebuild(check=True)
                result = work()
            return result

    def _open_or_rebuild(self, *, check: bool = False) -> None:
        try:
            self._connection = self._open(check)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            _LOG.warning("The cache file %s is damaged; it is put aside, and pairs are scored anew.", self._path)
            aside = self._path.with_name(f"{self._path.name}.damaged")
            for ending in ("-wal", "-shm"):
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
            if self._path.exists():
                os.replace(self._path, aside)
            self._connection = self._open(check=False)

    def _open(self, check: bool) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=120, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if check and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("database disk image is malformed")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS scored_pairs (pair BLOB PRIMARY KEY, forward REAL NOT NULL, backward REAL NOT NULL) "
                "WITHOUT ROWID"
            )
        except BaseException:
            connection.close()
            raise
        return connection


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether a file is damaged, as opposed to locked, read-only or on a full disk."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return type(error) is sqlite3.DatabaseError or "no such" in str(error)


class PostgresCache(Store):
    """Scored pairs in a table ``softirr_scored_pairs`` of a PostgreSQL database, for several machines.

    Parameters
    ----------
    url
        ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Raises
    ------
    InputError
        If the driver is not installed or the database can't be reached.
    """

    def __init__(self, url: str) -> None:
        import sqlalchemy as sa

        self._text = sa.text
        try:
            address = sa.make_url(url).set(drivername="postgresql+psycopg")
            self._engine = sa.create_engine(address, pool_pre_ping=True)
            with self._engine.begin() as connection:
                # two processes that start together must not both create the table
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('softirr_scored_pairs'))"))
                connection.execute(
                    sa.text(
                        "CREATE TABLE IF NOT EXISTS softirr_scored_pairs (pair bytea PRIMARY KEY, "
                        "forward double precision NOT NULL, backward double precision NOT NULL)"
                    )
                )
        except ImportError as error:
            raise InputError("A cache in PostgreSQL needs its driver; install softirr[postgres].") from error
        except sa.exc.SQLAlchemyError as error:
            raise InputError("The database of the cache can't be reached or used; check its URL.") from error

    def close(self) -> None:
        """Closes the connections."""
        self._engine.dispose()

    def _read(self, keys: list[bytes]) -> list[Any]:
        query = self._text("SELECT pair, forward, backward FROM softirr_scored_pairs WHERE pair = ANY(:keys)")
        rows: list[Any] = []
        with self._engine.connect() as connection:
            for start in range(0, len(keys), _AT_ONCE):
                rows.extend(connection.execute(query, {"keys": keys[start : start + _AT_ONCE]}).fetchall())
        return rows

    def _write(self, rows: list[tuple[bytes, float, float]]) -> None:
        query = self._text(
            "INSERT INTO softirr_scored_pairs SELECT * FROM unnest(CAST(:keys AS bytea[]), CAST(:forward AS float8[]), "
            "CAST(:backward AS float8[])) ON CONFLICT (pair) DO UPDATE SET forward = EXCLUDED.forward, backward = EXCLUDED.backward"
        )
        with self._engine.begin() as connection:
            for start in range(0, len(rows), _AT_ONCE):
                keys, forward, backward = map(list, zip(*rows[start : start + _AT_ONCE], strict=True))
                connection.execute(query, {"keys": keys, "forward": forward, "backward": backward})


def open_cache(url: str | None = None) -> Store:
    """The store of scored pairs at a URL.

    Parameters
    ----------
    url : str, optional
        ``none`` (this process's memory only), a file, ``sqlite:///FILE`` or ``postgresql://...``. None means the
        environment variable SOFTIRR_CACHE, else a file in the user's cache folder (where that can't be written: memory
        only, with a warning).

    Raises
    ------
    InputError
        If a store that `url` or SOFTIRR_CACHE names can't be used.
    """
    url = url or os.environ.get("SOFTIRR_CACHE") or None
    if url is None:
        from platformdirs import user_cache_path

        try:
            return SQLiteCache(user_cache_path("softirr") / "pairs.sqlite")
        except InputError as error:
            _LOG.warning("%s Scored pairs are kept in memory only.", error)
            return MemoryCache()
    if url == "none":
        return MemoryCache()
    if url.startswith(("postgresql:", "postgres:", "postgresql+")):
        return PostgresCache(url)
    scheme, separator, path = url.partition("://")
    if separator and scheme != "sqlite":
        raise InputError(f"A cache can't be at {scheme}://...; use none, a file, sqlite:///FILE or postgresql://...")
    return SQLiteCache(path.removeprefix("/") if separator else url)


def _keys(model: str, pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Key of each pair: the hash of the model's key and the hashes of both texts."""
    base = hashlib.blake2b(model.encode("utf-8"), digest_size=HASH_BYTES)
    keys = []
    for first, second in pairs:
        key = base.copy()
        key.update(first + second)
        keys.append(key.digest())
    return keys


def _answer(
    pairs: list[tuple[bytes, bytes]], stored: Iterable[tuple[int, Any]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values = np.zeros((len(pairs), 2), dtype=np.float64)
    is_known = np.zeros(len(pairs), dtype=bool)
    for index, value in stored:
        values[index] = value
        is_known[index] = True
    return values, is_known

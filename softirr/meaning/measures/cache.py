"""The store of scored pairs, in SQLite, so that a model scores each pair once.

The key of a pair consists of the hash of the model's content and the hashes of both texts; texts are never stored. The
value is P(first ⇒ second) and P(second ⇒ first) (a symmetric measure stores the same number twice).
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np

from softirr.errors import InputError
from softirr.meaning.measures.arrays import Bools, Floats

HASH_BYTES = 16
ROWS_AT_ONCE = 10_000
"""Number of keys of one database query."""

_LOG = logging.getLogger("softirr")
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Codes of errors of SQLite."""


def text_hash(text: str) -> bytes:
    """Hash of a normalized text, 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=HASH_BYTES).digest()


class PairCache:
    """Scored pairs in an SQLite file that several processes and threads may use at once, or in memory.

    A damaged file is renamed to ``FILE.damaged`` with a warning and replaced by an empty one, so its pairs are scored
    again. On a full disk a warning is logged and scoring continues.

    Parameters
    ----------
    path
        The file; it and its folder are made when missing. By default this process's memory.

    Raises
    ------
    InputError
        If the file can't be made or opened.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        self.path = Path(path).expanduser()
        self._lock = threading.RLock()
        self._full = False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open_or_rebuild()
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(f"The cache file {self.path} can't be opened for writing.") from error

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> tuple[Floats, Bools]:
        """Values of the pairs, shape (n, 2), and whether each is known, shape (n,); unknown ones are 0.

        The first hash of a pair is never greater than the second.
        """
        values, is_known = np.zeros((len(pairs), 2), dtype=np.float64), np.zeros(len(pairs), dtype=bool)
        for start in range(0, len(pairs), ROWS_AT_ONCE):
            batch = slice(start, start + ROWS_AT_ONCE)
            keys = _keys(model, pairs[batch])
            rows = self._guarded(self._read, keys)
            values[batch] = [rows.get(key, (0.0, 0.0)) for key in keys]
            is_known[batch] = [key in rows for key in keys]
        return values, is_known

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: Floats) -> None:
        """Store values of shape (n, 2); a later value replaces an earlier one."""
        # the last of equal keys stays; sorted keys prevent deadlocks of two writers
        rows = dict(zip(_keys(model, pairs), values.tolist(), strict=True))
        try:
            self._guarded(self._write, [(key, *rows[key]) for key in sorted(rows)])
        except sqlite3.OperationalError:
            if not self._full:
                self._full = True
                _LOG.warning(
                    "Scored pairs can't be written to the cache file %s and are kept in memory only.", self.path
                )

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, keys: list[bytes]) -> dict[bytes, list[float]]:
        marks = ",".join("?" * len(keys))
        query = f"SELECT pair, forward, backward FROM scored_pairs WHERE pair IN ({marks})"  # noqa: S608
        return {key: directions for key, *directions in self._connection.execute(query, keys)}

    def _write(self, rows: list[tuple[bytes, float, float]]) -> None:
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO scored_pairs VALUES (?, ?, ?)", rows)

    def _guarded(self, work: Callable[[list[Any]], Any], rows: list[Any]) -> Any:
        with self._lock:
            try:
                return work(rows)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._connection.close()
                self._open_or_rebuild(check=True)
                return work(rows)

    def _open_or_rebuild(self, *, check: bool = False) -> None:
        try:
            self._connection = self._open(check)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            _LOG.warning("The cache file %s is damaged; it is put aside, and pairs are scored anew.", self.path)
            aside = self.path.with_name(f"{self.path.name}.damaged")
            for ending in ("-wal", "-shm"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
            if self.path.exists():
                os.replace(self.path, aside)
            self._connection = self._open(check=False)

    def _open(self, check: bool) -> sqlite3.Connection:
        # take the write lock at once: upgrading a read lock can fail whatever the timeout
        connection = sqlite3.connect(self.path, timeout=120, isolation_level="IMMEDIATE", check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if check and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("database disk image is malformed")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS scored_pairs "
                "(pair BLOB PRIMARY KEY, forward REAL NOT NULL, backward REAL NOT NULL) WITHOUT ROWID"
            )
        except BaseException:
            connection.close()
            raise
        return connection


def _keys(model: str, pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Key of each pair: the hash of the model's key and the hashes of both texts."""
    base = hashlib.blake2b(model.encode("utf-8"), digest_size=HASH_BYTES)
    keys = []
    for first, second in pairs:
        key = base.copy()
        key.update(first + second)
        keys.append(key.digest())
    return keys


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether a file is damaged, as opposed to locked, read-only or on a full disk."""
    code = getattr(error, "sqlite_errorcode", None)  # the error of `_open` has none
    return type(error) is sqlite3.DatabaseError if code is None else code & 0xFF in _DAMAGED


def open_cache(url: str | None = None) -> PairCache:
    """The store of scored pairs at a URL.

    Parameters
    ----------
    url : str, optional
        ``none`` (this process's memory only), a file, or ``sqlite:///FILE``. None means the
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
            return PairCache(user_cache_path("softirr") / "pairs.sqlite")
        except InputError as error:
            _LOG.warning("%s Scored pairs are kept in memory only.", error)
            return PairCache()
    if url == "none":
        return PairCache()
    scheme, separator, path = url.partition("://")
    if separator and scheme != "sqlite":
        raise InputError(f"A cache can't be at {scheme}://...; use none, a file or sqlite:///FILE.")
    return PairCache(path.removeprefix("/") if separator else url)

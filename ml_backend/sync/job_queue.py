"""The queue that carries wake-ups, in a SQLite file or in Redis.

The queue only saves time: the store keeps the pending work, and the scorer's timer finds it there. So no failure of the
queue stops the work. A damaged file is moved aside and created again, an unreachable queue is tried again after a
pause, and messages of other programs are dropped: messages are JSON, which runs no code.
"""

import contextlib
import json
import logging
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

from huey import Huey, RedisHuey, SqliteHuey
from huey.exceptions import HueyException
from huey.registry import Message
from huey.serializer import Serializer
from huey.storage import SqliteStorage

from ml_backend.settings import Settings
from ml_backend.store.integrity import store_trouble
from ml_backend.store.permissions import make_private_folder

__all__ = ["Queue", "make_queue"]

log = logging.getLogger(__name__)

PAUSE = 0.2  # seconds until a failed queue is read again; doubles with each failure
LONGEST_PAUSE = 5.0
LONGEST_MESSAGE = 4096  # bytes; ours have about 100
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class Queue(Huey):
    """A huey queue that records errors on reading instead of raising them.

    Attributes
    ----------
    read_trouble, write_trouble : str
        Why the queue could not be read, or written, the last time; empty if it could.
    """

    read_trouble: str = ""
    write_trouble: str = ""
    _failures: int = 0

    @property
    def trouble(self) -> str:
        """Reason why this process can't use the queue; empty if it can."""
        return self.read_trouble or self.write_trouble

    def dequeue(self) -> Any:
        """The next task, or None; None after a pause where the queue fails."""
        try:
            task = super().dequeue()
        except (UnreadableMessage, HueyException):
            log.warning("a message on the queue is not one of ours and was dropped")
            return None
        except Exception as error:  # noqa: BLE001 - whatever the queue's trouble: the timer does its work meanwhile
            self._note(read=_reason(error))
            self._failures += 1
            time.sleep(min(LONGEST_PAUSE, PAUSE * 2.0 ** min(self._failures, 10)))
            return None
        self._failures = 0
        self._note(read="")
        return task

    def enqueue(self, task: Any) -> Any:
        """Put a task on the queue; raises if that fails."""
        try:
            result = super().enqueue(task)
        except Exception as error:
            self._note(write=_reason(error))
            raise
        self._note(write="")
        return result

    def read_schedule(self, timestamp: Any = None) -> list[Any]:
        """Tasks that are due: none, because the queue schedules nothing."""
        return []

    def _note(self, *, read: str | None = None, write: str | None = None) -> None:
        before = self.trouble
        self.read_trouble = self.read_trouble if read is None else read
        self.write_trouble = self.write_trouble if write is None else write
        if self.trouble and not before:
            log.warning("the queue can't be used (%s); the timer finds what is to be done", self.trouble)
        elif before and not self.trouble:
            log.warning("the queue can be used again")


def _reason(error: Exception) -> str:
    return (store_trouble(error) or type(error).__name__).rstrip(".")


class _SqliteQueue(Queue, SqliteHuey):
    pass


class _RedisQueue(Queue, RedisHuey):
    pass


def make_queue(settings: Settings) -> Queue:
    """Queue in Redis if REDIS_URL is set, else in a SQLite file; results are not kept, the store has them."""
    options: dict[str, Any] = {"results": False, "store_none": False, "utc": True, "serializer": JsonSerializer()}
    if settings.redis_url:
        return _RedisQueue("softirr", url=settings.redis_url, **options)
    make_private_folder(settings.data)
    file = str(settings.queue_file)
    return _SqliteQueue("softirr", filename=file, fsync=False, storage_class=_SelfMendingStorage, **options)


class UnreadableMessage(ValueError):
    """A message of the queue is not one of this backend."""


class JsonSerializer(Serializer):
    """Serializes messages as JSON.

    With pickle, huey's default, anyone who can write to the queue can run code in the scorer.
    """

    def _serialize(self, data: Any) -> bytes:
        return json.dumps({"id": data.id, "name": data.name, "args": list(data.args)}).encode()

    def _deserialize(self, data: bytes) -> Message:
        try:
            if len(data) > LONGEST_MESSAGE:
                raise UnreadableMessage
            message = json.loads(bytes(data))
            identifier, name, arguments = message["id"], message["name"], message["args"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise UnreadableMessage from None
        whole = isinstance(arguments, list) and all(type(one) is int for one in arguments)
        if not (isinstance(identifier, str) and isinstance(name, str) and whole and len(arguments) == 1):
            raise UnreadableMessage
        return Message(identifier, name, None, 0, 0, None, tuple(arguments), {})


class _SelfMendingStorage(SqliteStorage):
    """A SQLite queue file, created again when it is damaged, emptied or deleted, also under a running process."""

    _conn: sqlite3.Connection | None

    def __init__(self, *arguments: Any, **options: Any):
        self._file: tuple[int, int] | None = None
        self._mending = threading.Lock()
        # No write-ahead log: a process that closes a replaced file would delete the log of the new file.
        super().__init__(*arguments, **(options | {"create_tables": False, "journal_mode": "truncate"}))

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection to the present file."""
        if self._conn is not None and self._file != _identity(self.filename):
            self._drop_connection()
        if self._conn is None:
            self._conn = self._create_connection()
            for statement in self.ddl:
                self._conn.execute(statement)
            self._file = _identity(self.filename)
        return self._conn

    def sql(self, *arguments: Any, **options: Any) -> Any:
        """Execute one statement; where the file is damaged, again on a new file."""
        return self._mended(super().sql, *arguments, **options)

    def dequeue(self) -> Any:
        """The oldest message, or None."""
        return self._mended(super().dequeue)

    def _mended(self, function: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except sqlite3.DatabaseError as error:
            if not self._mend(error):
                raise
            return function(*arguments, **options)

    def _mend(self, error: sqlite3.DatabaseError) -> bool:
        """Remove the file if it is damaged, so that a new one is created."""
        damaged = (getattr(error, "sqlite_errorcode", 0) & 0xFF) in DAMAGED
        lacks_tables = "no such table" in str(error) or "no such column" in str(error)
        if not damaged and not lacks_tables:
            return False
        with self._mending:
            file = self._file or _identity(self.filename)
            with self.lock:
                self._drop_connection()
            if file is not None and file == _identity(self.filename):
                aside = _move_aside(Path(self.filename))
                log.warning("the queue file was damaged: moved to %s and made anew; nothing is lost", aside.name)
        return True

    def _drop_connection(self) -> None:
        if self._conn is not None:
            with contextlib.suppress(sqlite3.Error):
                self._conn.close()
        self._conn = self._file = None


def _move_aside(file: Path) -> Path:
    aside = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    for end in ("-wal", "-shm", ""):  # a leftover log would be applied to the new file
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{file}{end}", f"{aside}{end}")
    return aside


def _identity(filename: str) -> tuple[int, int] | None:
    try:
        state = os.stat(filename)
    except OSError:
        return None
    return state.st_dev, state.st_ino

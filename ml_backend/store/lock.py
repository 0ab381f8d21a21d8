"""The lock of the one worker of a store, and the way for a command to have a project to itself."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import sqlalchemy as sa
from filelock import FileLock, Timeout

from ml_backend.store.store import Store
from ml_backend.store.trouble import sqlite_file
from softirr.errors import SoftirrError

WORKER_LOCK = 7331011
"""PostgreSQL's advisory lock of the worker."""
HOLD_SECONDS, PATIENCE = 120.0, 60.0
LOOK_EVERY = 0.2


class WorkerLock:
    """The lock that the one worker of a store has while it runs; the system releases it when the process ends."""

    def __init__(self, store: Store):
        file = sqlite_file(store.engine)
        self._engine = store.engine
        self._file = None if file is None else FileLock(f"{file}.worker", timeout=0, mode=0o600, thread_local=False)
        self._connection: sa.Connection | None = None

    def acquire(self) -> bool:
        """Take the lock; False if another process has it."""
        if self._file is not None:
            try:
                self._file.acquire()
            except Timeout:
                return False
            return True
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if not connection.scalar(sa.select(sa.func.pg_try_advisory_lock(WORKER_LOCK))):
            connection.close()
            return False
        self._connection = connection
        return True

    def is_held(self) -> bool:
        """Whether this process still has the lock: PostgreSQL releases it when the connection breaks."""
        if self._file is not None:
            return bool(self._file.is_locked)
        if self._connection is None:
            return False
        try:
            self._connection.scalar(sa.select(1))
        except sa.exc.SQLAlchemyError:
            self.release()
            return False
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._file is not None:
            self._file.release()
        if self._connection is not None:
            with contextlib.suppress(sa.exc.SQLAlchemyError):
                self._connection.scalar(sa.select(sa.func.pg_advisory_unlock(WORKER_LOCK)))
            self._connection.invalidate()
            self._connection.close()
            self._connection = None


@contextlib.contextmanager
def alone(store: Store, project: int) -> Iterator[None]:
    """Have a project to oneself: no worker reads or writes it inside the ``with`` statement.

    Raises
    ------
    SoftirrError
        If the worker does not stop in time.
    """
    lock = WorkerLock(store)
    if lock.acquire():
        try:
            yield
        finally:
            lock.release()
        return
    store.hold(project, HOLD_SECONDS)
    try:
        end = time.monotonic() + PATIENCE
        while (store.run_of(project) or {}).get("state") == "running":
            if time.monotonic() > end:
                raise SoftirrError("softirr-ls serve is working on this project: try again in a moment.")
            time.sleep(LOOK_EVERY)
        yield
    finally:
        store.release(project)

"""A lock that lets one thread at a time use a model, and lets short work interrupt long work."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any


class ModelLock:
    """A lock that lets its holder give way to waiting threads.

    Computing a project's coefficients may keep a model busy for minutes; an annotator's edit needs it for a moment.
    Long work calls `yield_to_waiting` between two batches.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._waiting = 0

    @property
    def is_held(self) -> bool:
        """Whether a thread has the lock or waits for it."""
        return self._taken or self._waiting > 0

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Wait for the lock and hold it inside the ``with`` statement. The lock is not reentrant."""
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not self._taken)
                self._taken = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()

    def yield_to_waiting(self) -> None:
        """Release the lock until every waiting thread has had it. Only the holder may call this."""
        with self._changed:
            if not self._waiting:
                return
            self._taken = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._taken and not self._waiting)
            self._taken = True

    def yielding_progress(self, progress: Callable[[int, int], Any] | None) -> Callable[[int, int], None]:
        """Wrap `progress` so that each call also lets the waiting threads go first."""

        def report(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            self.yield_to_waiting()

        return report

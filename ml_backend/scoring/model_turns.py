"""One thread at a time at a model, and short work in between long work."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Turns:
    """A lock whose holder can let those who wait go first.

    A project's coefficients may keep a model busy for minutes; an annotator's edit needs it for a moment. The long work calls `give_way` between
    two batches.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._waiting = 0

    @contextlib.contextmanager
    def mine(self) -> Iterator[None]:
        """Wait for the turn, and have it inside the ``with`` statement. It can't be taken twice by one thread."""
        self._take()
        try:
            yield
        finally:
            self._end()

    def give_way(self) -> None:
        """Let all who wait have their turn first; for who has it."""
        with self._changed:
            if not self._waiting:
                return
            self._taken = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._taken and not self._waiting)
            self._taken = True

    def between(self, progress: Callable[[int, int], Any] | None) -> Callable[[int, int], None]:
        """`progress`, which also gives way each time it is called."""

        def report(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            self.give_way()

        return report

    def _take(self) -> None:
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not self._taken)
                self._taken = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._taken = False
            self._changed.notify_all()

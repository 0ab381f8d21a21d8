"""Annotators' latest changes, processed during long work on a project."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from ml_backend.worker.project_run import ProjectRun, Stopped
from ml_backend.worker.reading import TaskReader

ATTEND_EVERY = 1.0
"""Minimum number of seconds between two looks at annotators' changes during long work."""
_PAUSE = 4
"""Pause after a look, as a multiple of the time that it took."""

Found = TypeVar("Found")


class LatestChanges:
    """Processes annotators' latest changes during long work of one run.

    The request for an update stays, so that another run follows: it compares the whole project, and serves whatever
    else was requested.

    Parameters
    ----------
    process : callable
        Scores and writes these tasks, which were just read.
    """

    def __init__(self, run: ProjectRun, reader: TaskReader, process: Callable[[Sequence[int]], None]):
        self._run, self._reader, self._process = run, reader, process
        self._attended_at, self._pause = time.monotonic(), ATTEND_EVERY

    def attend(self, *, first: Callable[[], None] = lambda: None) -> None:
        """Process annotators' latest changes, if a request was made since the run began.

        Parameters
        ----------
        first : callable
            Called before reading, because tasks that are read again must be scored again.
        """
        started_at = time.monotonic()
        if started_at - self._attended_at < self._pause or not self._run.store.is_due(self._run.project):
            return
        self._attended_at = math.inf  # reading attends to changes too, but not while this does
        first()
        numbers = self._reader.find_newest()
        self._reader.read_each(numbers)
        self._process(numbers)
        self._attended_at = time.monotonic()
        # the request stays, so a slow Label Studio would be asked without a break
        self._pause = max(ATTEND_EVERY, _PAUSE * (self._attended_at - started_at))

    def beside(self, work: Callable[[Callable[[], None]], Found]) -> Found:
        """Run long work in a separate thread, and process annotators' changes in the meantime.

        Parameters
        ----------
        work : callable
            Gets a function to call often, which raises when the work is broken off.
        """
        broken_off = threading.Event()

        def check() -> None:
            if broken_off.is_set():
                raise Stopped
            self._run.check()

        with ThreadPoolExecutor(1, thread_name_prefix="beside") as pool:
            working = pool.submit(work, check)
            try:
                while not wait([working], timeout=ATTEND_EVERY / 2).done:
                    self._run.check()
                    self.attend()
            except BaseException:
                broken_off.set()
                raise
            return working.result()

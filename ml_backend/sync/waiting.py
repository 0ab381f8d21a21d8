"""Changes of annotators that are processed between two steps of long work, so that nobody waits for a large project."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

__all__ = ["Stopped", "Waiting"]

LOOK_EVERY = 0.5
"""Seconds between two checks for changes."""

Found = TypeVar("Found")


class Stopped(Exception):
    """The process is about to end; finished work is recorded and the rest is pending in the store."""


class Waiting:
    """Looks for announced changes while long work runs, and has them processed.

    Parameters
    ----------
    take : callable
        Returns whether a change was announced since the last call; it then counts as processed.
    process : callable
        Reads, scores and writes the tasks that changed; returns whether there may be more of them.
    want : callable
        Asks for another run after this one.
    check : callable
        Called often; raises `Stopped` to break off.

    Attributes
    ----------
    is_more : bool
        Whether there were more changes than could be processed between two steps.
    """

    def __init__(
        self,
        *,
        take: Callable[[], bool],
        process: Callable[[], bool],
        want: Callable[[], object],
        check: Callable[[], None],
    ):
        self._take, self._process, self._want, self._check = take, process, want, check
        self._looked_at = time.monotonic()
        self._served = 0  # number of times that changes were processed
        self.is_more = False

    def serve(self, *, first: Callable[[], None] = lambda: None) -> None:
        """Process a bounded number of changes, if some were announced and the last check was a moment ago.

        Parameters
        ----------
        first : callable
            What has to be done before, if somebody waits: tasks that are read again have to be scored again.
        """
        if time.monotonic() - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = time.monotonic()
        if self._take():
            first()
            self.is_more |= self._process()
            self._served += 1

    def beside(self, work: Callable[[Callable[[], None]], Found]) -> Found:
        """Run long work in a separate thread, and process annotators' changes in the meantime.

        Parameters
        ----------
        work : callable
            Gets a function to call often, which raises when the work is to be broken off.

        Returns
        -------
        object
            What the work returns.
        """
        broken_off = threading.Event()

        def check() -> None:
            if broken_off.is_set():
                raise Stopped
            self._check()

        served = self._served
        with ThreadPoolExecutor(1, thread_name_prefix="beside") as pool:
            working = pool.submit(work, check)
            try:
                while not wait([working], timeout=LOOK_EVERY / 2).done:
                    self._check()
                    self.serve()
            except BaseException:
                broken_off.set()
                raise
            result = working.result()
        if self._served > served:
            self._want()  # the check of the whole project, with its counts, follows this run
        return result

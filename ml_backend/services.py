"""The services that the parts of one process share, made from the settings, and its thread for small writes."""

import functools
import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from ml_backend.labelstudio.client import Client
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import Settings
from ml_backend.store.store import Store

log = logging.getLogger(__name__)

MOST_WAITING = 10_000


class Background:
    """Runs functions one after the other in a separate thread.

    Only hints are lost when the process is killed; the regular check of each project replaces them.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Callable[[], None], Hashable]] = []
        self._number = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._keys: set[Hashable] = set()

    def do(self, function: Callable[[], None], *, delay: float = 0.0, key: Hashable = None) -> None:
        """Queue `function`; it runs at the earliest `delay` seconds from now.

        Parameters
        ----------
        key : hashable, optional
            Another function with the key of a waiting one is dropped.
        """
        with self._changed:
            if key in self._keys:
                return
            if len(self._waiting) >= MOST_WAITING:
                log.warning("too many hints at once, one is dropped")
                return
            if key is not None:
                self._keys.add(key)
            heapq.heappush(self._waiting, (time.monotonic() + delay, next(self._number), function, key))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="background", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting or self._waiting[0][0] > time.monotonic():
                    self._changed.wait(self._waiting[0][0] - time.monotonic() if self._waiting else None)
                *_, function, key = heapq.heappop(self._waiting)
                self._keys.discard(key)  # before the call, because later changes need another call
            try:
                function()
            except Exception as error:  # noqa: BLE001 - one failed hint must not end the thread
                log.warning("a hint could not be noted (%s)", type(error).__name__)


class Services:
    """Store and scorer of one process; each is made on first use."""

    def __init__(self, settings: Settings):
        self.settings = settings

    @functools.cached_property
    def store(self) -> Store:
        """The database."""
        return Store(self.settings.database_url)

    @functools.cached_property
    def background(self) -> Background:
        """Where requests leave what they need not wait for."""
        return Background()

    @functools.cached_property
    def scorer(self) -> Scorer:
        """The loaded measures."""
        return Scorer(self.settings.cache_url)

    def client(self, **options: Any) -> Client:
        """A new connection to Label Studio."""
        return Client(self.settings.label_studio_url, self.settings.api_key, **options)

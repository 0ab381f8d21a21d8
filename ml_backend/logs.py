"""Logging to standard error: one line per event with its time and request, without tokens and annotation texts."""

import contextvars
import logging
import re
import secrets
import sys
import threading
import time
from typing import Any

MOST_ALIKE = 5  # lines of one kind that are written within WINDOW seconds
WINDOW = 60.0

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")
_USABLE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


def begin_request(header: str | None) -> str:
    """Name of the request that this thread serves from now on: the caller's if it is a plain one, else a new one."""
    name = header if header and _USABLE_ID.fullmatch(header) else secrets.token_hex(8)
    request_id.set(name)
    return name


def set_up_logging(level: str) -> None:
    """Set up the process's logging; lines below this level are not written."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Text())
    handler.addFilter(Thinned())
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old.formatter, _Text):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    # httpx logs each request's full address at INFO.
    for name in ("httpx", "httpcore", "waitress"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # warns at each request that all threads are busy


def where_only(error: Exception) -> tuple[type[BaseException], BaseException, Any]:
    """``exc_info`` of an error with its traceback and without its message, which may quote an answer."""
    return RuntimeError, RuntimeError(type(error).__name__), error.__traceback__


class Thinned(logging.Filter):
    """Lets few warnings of one kind through: a server that is away must not fill a disk with lines about it.

    The next line of that kind contains the number of omitted lines.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, str], tuple[float, int]] = {}  # time of the first, and their number
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        if record.levelno < logging.WARNING:
            return True
        kind = record.name, str(record.msg)[:200]
        now = time.monotonic()
        with self._lock:
            if len(self._kinds) > 1000:
                self._kinds.clear()
            begun, n = self._kinds.get(kind, (now, 0))
            if now - begun >= WINDOW:
                if n > MOST_ALIKE:
                    text = f"{record.getMessage()} ({n - MOST_ALIKE} more like this since the last one)"
                    record.msg, record.args = text, ()
                begun, n = now, 0
            self._kinds[kind] = begun, n + 1
        return n < MOST_ALIKE


class _Text(logging.Formatter):
    """``2026-11-23T10:30:18Z WARNING ml_backend.worker [request]: message``."""

    converter = staticmethod(time.gmtime)

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s]: %(message)s", "%Y-%m-%dT%H:%M:%SZ")

    def format(self, record: logging.LogRecord) -> str:
        record.request = request_id.get()
        return super().format(record)

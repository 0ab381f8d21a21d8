"""One web process: ``python -m ml_backend.web_process``.

waitress reads requests in one thread that never waits for a client, and hands only complete ones to its worker threads:
a client that sends half a request keeps a socket busy, not a thread. In addition, this module bounds the time that a
request may take to arrive, limits the size of requests without a secret, and answers ``/health`` in a separate thread.
"""

import base64
import contextlib
import copy
import logging
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from ml_backend.app import create_app
from ml_backend.auth.keys import CONNECTION_USER, Keys
from ml_backend.logs import set_up_logging
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.subprocess_env import follow_parent
from ml_backend.web.request_limits import SMALL_BODY, KnownSecrets

log = logging.getLogger("ml_backend.web_process")  # __name__ is __main__ here

LISTEN_FD = "SOFTIRR_LISTEN_FD"  # number of the listening socket that the parent process opened
ARRIVES_WITHIN = 30.0  # seconds for a request of anybody to arrive
BIG_ARRIVES_WITHIN = 120.0  # and for one that carries a secret
IDLE = 20  # seconds after which an unused connection is closed
MOST_CONNECTIONS = 900  # in each process; below 1024, the usual limit on open files
SPARE_CONNECTIONS = 50
HEALTH_PATHS = frozenset({"/health"})


def main() -> None:
    """Serve until SIGTERM."""
    os.umask(0o077)
    settings = Settings.from_environment()
    set_up_logging(settings.log_level)
    services = Services(settings)
    known_secrets = KnownSecrets(lambda: secrets_of_programs(services))
    known_secrets.start()
    server = make_server(create_app(services=services), settings, known_secrets, _inherited_socket())

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which stops us
    follow_parent(lambda: os.kill(os.getpid(), signal.SIGTERM) if sys.platform != "win32" else os._exit(0))
    server.run()


def make_server(
    app: Any, settings: Settings, known_secrets: KnownSecrets, listening: socket.socket | None = None
) -> TcpWSGIServer:
    """The server; it listens already, ``run()`` serves."""
    options: dict[str, Any] = {"sockets": [listening]} if listening else {"listen": f"{settings.host}:{settings.port}"}
    adjustments = Adjustments(
        **options,
        threads=settings.web_threads,
        connection_limit=MOST_CONNECTIONS,
        channel_timeout=IDLE,
        cleanup_interval=1,
        max_request_header_size=64 * 1024,
        max_request_body_size=settings.largest_body,
        asyncore_use_poll=hasattr(select, "poll"),
        ident="softirr",
        clear_untrusted_proxy_headers=False,
    )
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(adjustments.threads)
    socket_address = listening or adjustments.listen[0]
    info = (
        (socket_address.family, socket_address.type, socket_address.proto, socket_address.getsockname())
        if isinstance(socket_address, socket.socket)
        else socket_address
    )
    bounded = type("_Parser", (_Parser,), {"secrets": known_secrets, "largest": settings.largest_body})
    channel = type("_Channel", (_Channel,), {"parser_class": bounded})
    server = _Server(
        app, {}, True, listening, dispatcher=dispatcher, adj=adjustments, sockinfo=info, bind_socket=listening is None
    )
    server.channel_class = channel
    return server


class _Parser(HTTPRequestParser):
    """Decides by the headers how much of the body is read."""

    secrets: KnownSecrets
    largest: int
    adj: Adjustments
    has_secret = False

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        headers = self.headers
        self.has_secret = self.secrets.knows(headers.get("AUTHORIZATION"), headers.get("X_SOFTIRR_TOKEN"))
        if not self.has_secret:
            self.adj = copy.copy(self.adj)
            self.adj.max_request_body_size = min(SMALL_BODY, self.largest)


class _Channel(HTTPChannel):
    """A connection; knows since when its present request has been arriving."""

    arriving_since: float | None = None

    def received(self, data: bytes) -> bool:
        if self.arriving_since is None:
            self.arriving_since = time.time()
        result = bool(super().received(data))
        if self.request is None:
            self.arriving_since = None
        return result

    def is_late(self, now: float) -> bool:
        """Whether the request takes too long to arrive, at whatever speed."""
        if self.arriving_since is None or self.request is None:
            return False
        limit = BIG_ARRIVES_WITHIN if getattr(self.request, "has_secret", False) else ARRIVES_WITHIN
        return now - self.arriving_since > limit


class _Server(TcpWSGIServer):
    """Closes connections with incomplete requests, and keeps a thread for ``/health``."""

    def __init__(self, *arguments: Any, **options: Any):
        self._health = ThreadedTaskDispatcher()
        self._health.set_thread_count(1)
        super().__init__(*arguments, **options)

    def add_task(self, task: Any) -> None:
        requests = getattr(task, "requests", None)
        first = requests[0] if requests else None
        if first is not None and getattr(first, "path", None) in HEALTH_PATHS and not first.query:
            self._health.add_task(task)
        else:
            self.task_dispatcher.add_task(task)

    def maintenance(self, now: float) -> None:
        super().maintenance(now)
        for channel in list(self.active_channels.values()):
            if channel.is_late(now):
                channel.will_close = True

    def handle_accept(self) -> None:
        with contextlib.suppress(BlockingIOError):  # another process of ours took the connection
            super().handle_accept()
        if len(self.active_channels) >= MOST_CONNECTIONS - SPARE_CONNECTIONS:
            waiting = [channel for channel in self.active_channels.values() if not channel.requests]
            if waiting:  # the oldest has had its chance; a new client may be an honest one
                min(waiting, key=lambda channel: channel.last_activity).handle_close()


def secrets_of_programs(services: Services) -> Iterator[str]:
    """Right values of the headers Authorization and X-Softirr-Token: of the operator, and of each project."""
    settings = services.settings
    if settings.basic_auth_user and settings.basic_auth_pass:
        yield _basic(settings.basic_auth_user, settings.basic_auth_pass)
    keys = Keys(services.store.secret())
    for row in services.store.connected(settings.label_studio_url):
        yield _basic(CONNECTION_USER, keys.password(row["number"], generation=row["key_round"]))
        if row["webhook_secret"]:
            yield row["webhook_secret"]


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _inherited_socket() -> socket.socket | None:
    number = os.environ.get(LISTEN_FD)
    return socket.socket(fileno=int(number)) if number else None


if __name__ == "__main__":
    main()

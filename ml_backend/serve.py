"""``softirr-ls serve``: web processes and one worker process, started and stopped together."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from types import FrameType
from typing import Any

from ml_backend.logs import set_up_logging
from ml_backend.settings import Settings
from ml_backend.store.database import keep_private
from ml_backend.store.store import Store, is_connected
from ml_backend.subprocess_env import WATCH_PARENT, child_environment, python_module
from softirr.errors import InputError

log = logging.getLogger(__name__)

STOP_WITHIN = 20.0
RESTART_PAUSE = 1.0
LONGEST_RESTART_PAUSE = 30.0
LIVED_LONG = 60.0


def serve(settings: Settings) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status.

    A process that ends unexpectedly (out of memory, killed) is started again and continues its work.
    """
    set_up_logging(settings.log_level)
    keep_private(settings.data)
    store = Store(settings.database_url)
    store.migrate()
    store.verify()
    _warn_of_connections_without_secret(store)
    store.close()
    stop = threading.Event()

    def ask_to_stop(number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    environment = _environment(settings)
    with contextlib.ExitStack() as stack:
        # Several processes take requests from one socket; on Windows a socket can't be handed on so.
        listening = stack.enter_context(_listen(settings)) if os.name != "nt" else None
        n_web = settings.web_workers if listening else 1
        children = [_Child("web", "ml_backend.web_process", environment, listening) for _ in range(n_web)]
        children.append(_Child("worker", "ml_backend.worker", environment))
        for child in children:
            child.start()
        log.info("serving on http://%s:%d", settings.host, settings.port)
        try:
            while not stop.wait(0.3):
                for child in children:
                    child.restart_if_ended()
        finally:
            for child in children:
                child.end()
            for child in children:
                child.wait()
    return 0


def _warn_of_connections_without_secret(store: Store) -> None:
    for row in store.projects():
        connection = row["connection"]
        if connection and (
            not is_connected(connection) or (connection["mode"] == "connected" and "secret_round" not in connection)
        ):
            log.warning("project %d: its connection carries no secret, run softirr-ls connect again", row["number"])


def _environment(settings: Settings) -> dict[str, str]:
    """The variables of the child processes."""
    return child_environment() | {
        WATCH_PARENT: str(os.getpid()),
        "SOFTIRR_DATA": str(settings.data.absolute()),
        "SOFTIRR_DATABASE_URL": settings.database_url,
        "HOST": settings.host,
        "PORT": str(settings.port),
        "LOG_LEVEL": settings.log_level,
    }


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family, backlog=1024)
    except OSError as error:
        address = f"{settings.host}:{settings.port}"
        raise InputError(
            f"Can't listen on {address} ({error.strerror}): choose another with --port or --host."
        ) from None
    listening.setblocking(False)
    return listening


class _Child:
    """A child process that is started again when it ends unexpectedly."""

    def __init__(
        self,
        name: str,
        module: str,
        environment: dict[str, str],
        listening: socket.socket | None = None,
    ):
        self.name, self._module, self._environment = name, module, environment
        self._listening = listening
        self._process: subprocess.Popen[bytes] | None = None
        self._not_before, self._pause = 0.0, RESTART_PAUSE

    def start(self) -> None:
        """Start the process."""
        environment = self._environment
        options: dict[str, Any] = {}
        if self._listening is not None:
            environment = environment | {"SOFTIRR_LISTEN_FD": str(self._listening.fileno())}
            options = {"pass_fds": (self._listening.fileno(),)}
        self._started = time.monotonic()
        # A separate session: Ctrl-C in the terminal reaches only this process, which stops its children in order.
        self._process = subprocess.Popen(
            python_module(self._module), env=environment, start_new_session=True, **options
        )

    def restart_if_ended(self) -> None:
        """Start it again, after a pause that grows while it ends at once."""
        now = time.monotonic()
        if self._process is not None and self._process.poll() is not None:
            log.warning("the %s process ended with status %d, starting it again", self.name, self._process.returncode)
            lived = now - self._started
            self._pause = RESTART_PAUSE if lived > LIVED_LONG else min(LONGEST_RESTART_PAUSE, 2 * self._pause)
            self._process, self._not_before = None, now + self._pause
        elif self._process is None and now >= self._not_before:
            self.start()

    def end(self) -> None:
        """Ask it to end."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()

    def wait(self) -> None:
        """Until it has ended, by force after a while."""
        if self._process is None:
            return
        try:
            self._process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

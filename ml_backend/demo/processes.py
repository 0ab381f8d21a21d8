"""Programs that the demo starts, and free ports for them."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

NO_PORT = "No free port was found on this machine."


class ServerError(RuntimeError):
    """A program of the demo is missing, didn't start or gave an unexpected answer; the message is for the user."""


def free_port(*preferred: int) -> int:
    """The first of the preferred ports that nothing listens on, else any free one."""
    for port in _free_ports(*preferred):
        return port
    raise ServerError(NO_PORT)


def _free_ports(*preferred: int) -> Iterator[int]:
    for port in (*preferred, 0):
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
                bound = int(probe.getsockname()[1])
        except OSError:
            continue
        if not _answers_as_localhost(bound):
            yield bound


def _answers_as_localhost(port: int) -> bool:
    """Whether a program listens on the IPv6 loopback only: browsers would connect to it at ``localhost``."""
    with contextlib.suppress(OSError), socket.create_connection(("::1", port), timeout=1):
        return True
    return False


def _die_with_parent() -> None:
    """On Linux, end the child when the parent is killed."""
    import ctypes

    pr_set_pdeathsig = 1
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


class Process:
    """A program that writes to a log file and is stopped together with its child processes."""

    def __init__(
        self, command: Sequence[str | os.PathLike[str]], *, environment: Mapping[str, str], log: Path, name: str
    ):
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            # A separate session: Ctrl-C in the terminal reaches only the parent, which stops its children in order.
            self._popen = subprocess.Popen(
                [os.fspath(argument) for argument in command],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._popen.pid

    def running(self) -> bool:
        """Whether the process has not ended."""
        return self._popen.poll() is None

    def wait(self) -> int:
        """Wait for its end and return the exit status."""
        return self._popen.wait()

    def last_words(self, lines: int = 12) -> str:
        """Last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) or "(none)"

    def wait_until(
        self, ready: Callable[[], bool], *, timeout: float, waiting: Callable[[float], None] | None = None
    ) -> None:
        """Wait until `ready`; `waiting` is called with the seconds so far, about every ten seconds."""
        start = reported = time.monotonic()
        while not ready():
            now = time.monotonic()
            if not self.running():
                raise ServerError(
                    f"{self.name} ended with status {self._popen.returncode}. Last lines of its "
                    f"log:\n{self.last_words()}"
                )
            if now - start > timeout:
                raise ServerError(
                    f"{self.name} was not ready after {timeout:.0f} s. Last lines of its log:\n{self.last_words()}"
                )
            if waiting and now - reported > 10:
                reported = now
                waiting(now - start)
            time.sleep(0.2)

    def stop(self, patience: float = 10) -> None:
        """Stop it."""
        """Terminate the program and its own children, then kill what is left."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(patience)
                if sign == signal.SIGTERM:
                    # Children that outlived their parent are in its group still.
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(self._popen.pid, signal.SIGKILL)
                return

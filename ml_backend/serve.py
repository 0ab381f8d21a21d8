"""``softirr-ls serve``: a production web server and one scorer process, started and stopped together."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

from ml_backend.logs import set_up_logging
from ml_backend.settings import Settings
from ml_backend.store.store import Store

log = logging.getLogger(__name__)

STOP_WITHIN = 20.0
RESTART_PAUSE = 1.0


def serve(settings: Settings) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status.

    The scorer process is started again when it ends unexpectedly (out of memory, killed); what it was doing goes on.
    """
    set_up_logging(settings.log_level)
    store = Store(settings.database_url)
    store.migrate()
    store.close()
    stop = threading.Event()

    def ask_to_stop(number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    environment = os.environ | {
        "SOFTIRR_WATCH_PARENT": "1",
        "SOFTIRR_DATA": str(settings.data),
        "HOST": settings.host,
        "PORT": str(settings.port),
        "LOG_LEVEL": settings.log_level,
    }
    web = _start(_web_command(settings), environment)
    scorer = _start([sys.executable, "-m", "ml_backend.worker"], environment)
    log.info("serving on http://%s:%d", settings.host, settings.port)
    status = 0
    try:
        while not stop.wait(0.3):
            if web.poll() is not None:
                log.error("the web server ended with status %d", web.returncode)
                status = 1
                break
            if scorer.poll() is not None:
                log.warning("the scorer process ended with status %d, starting it again", scorer.returncode)
                stop.wait(RESTART_PAUSE)
                scorer = _start([sys.executable, "-m", "ml_backend.worker"], environment)
    finally:
        _end(web, signal.SIGTERM)
        _end(scorer, signal.SIGINT)  # huey: let the jobs come to their next stop
        _wait(web)
        _wait(scorer)
    return status


def _web_command(settings: Settings) -> list[str]:
    if sys.platform == "win32":
        listen = f"--listen={settings.host}:{settings.port}"
        return [sys.executable, "-m", "waitress", listen, "--threads=8", "--call", "ml_backend.app:create_app"]
    return [
        *(sys.executable, "-m", "gunicorn", "ml_backend.app:create_app()"),
        *("--bind", f"{settings.host}:{settings.port}"),
        *("--worker-class", "gthread", "--workers", str(settings.web_workers), "--threads", str(settings.web_threads)),
        *("--timeout", "120", "--graceful-timeout", "10", "--keep-alive", "5"),
        *("--log-level", "warning"),
        *("--worker-tmp-dir", "/dev/shm") * os.path.isdir("/dev/shm"),
    ]


def _start(command: list[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    # A session of its own: Ctrl-C in the terminal reaches us alone, and we stop the rest in order.
    return subprocess.Popen(command, env=environment, start_new_session=True, preexec_fn=_die_with_parent)


def _die_with_parent() -> None:
    """On Linux, have the kernel end the child when this process is killed outright."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _end(process: "subprocess.Popen[bytes]", number: int) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)


def _wait(process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + STOP_WITHIN
    try:
        process.wait(max(0.1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

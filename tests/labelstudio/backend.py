"""Our own commands as a user runs them, against the Label Studio of these tests."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import requests

from ml_backend.auth.keys import CONNECTION_USER
from ml_backend.cli import main as ls_main
from ml_backend.demo.processes import Process, free_port
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.store import Store
from tests.programs import printed, run_here, run_program

KEPT_SECRET = {"auth_method": "BASIC_AUTH", "basic_auth_user": CONNECTION_USER, "basic_auth_pass": ""}
"""Label Studio's form sends this for a connection without a new password."""
WITHIN = 90.0  # seconds after which a condition that was waited for counts as never coming true


def eventually(condition: Callable[[], Any], *, what: str, within: float = WITHIN) -> Any:
    """Wait until `condition` gives something true, and give that."""
    end = time.monotonic() + within
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, f"never came true within {within:.0f} s: {what}"
        time.sleep(0.1)


class Commands:
    """``softirr-ls`` with a separate state folder.

    Parameters
    ----------
    folder : Path
        Store, queue and logs.
    url, token : str
        Label Studio's address and token for our processes.
    """

    def __init__(self, folder: Path, url: str, token: str, *, environment: Mapping[str, str] | None = None):
        self.folder, self.url = folder, url
        folder.mkdir(parents=True, exist_ok=True)
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("SOFTIRR_", "LABEL_STUDIO_"))
        }
        for name in ("PORT", "HOST", "BASIC_AUTH_USER", "BASIC_AUTH_PASS", "LOG_LEVEL"):
            inherited.pop(name, None)
        self.environment = {
            **inherited,
            "LABEL_STUDIO_URL": url,
            "LABEL_STUDIO_API_KEY": token,
            "SOFTIRR_DATA": str(folder),
            "SOFTIRR_MEASURE": "indel",
            "SOFTIRR_RECONCILE_SECONDS": "2",
            "WORKERS": "1",
            "OMP_NUM_THREADS": "1",
            **(environment or {}),
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "ml_backend", *arguments]

    def run(self, *arguments: str, timeout: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        variables = {**self.environment, **environment}
        return run_program(*self.command(*arguments), environment=variables, timeout=timeout, status=None)

    def here(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        """Run a command in this process, which saves starting another one: exit status, output, errors."""
        environ_before = dict(os.environ)
        try:
            os.environ.clear()
            os.environ.update({**self.environment, **environment})
            return run_here(ls_main, *arguments)
        finally:
            os.environ.clear()
            os.environ.update(environ_before)

    def json(self, *arguments: str, may_find: bool = False) -> Any:
        """Output of a command with ``--json``; the command has to succeed."""
        status, printed, errors = self.here(*arguments, "--json")
        assert status == 0 or (may_find and status == 1), errors
        return json.loads(printed)

    def sync(self, project: int, *options: str) -> dict[str, int]:
        return self.json("sync", "--project", str(project), *options)

    def doctor(self, project: int | None = None, *options: str) -> list[dict[str, Any]]:
        project_option = () if project is None else ("--project", str(project))
        return self.json("doctor", *project_option, *options, may_find=True)

    @property
    def database_url(self) -> str:
        return self.environment.get("SOFTIRR_DATABASE_URL") or f"sqlite:///{self.folder / 'softirr.sqlite3'}"

    def store(self) -> Store:
        return Store(self.database_url)

    @contextlib.contextmanager
    def serve(self, *, wait: bool = True) -> Iterator[Serving]:
        """``softirr-ls serve`` on a free port until the block ends."""
        serving = Serving(self, free_port())
        try:
            if wait:
                serving.wait_until_up()
            yield serving
        finally:
            serving.stop()


class Serving:
    """A running backend."""

    def __init__(self, commands: Commands, port: int):
        self.commands, self.port = commands, port
        self.url = f"http://127.0.0.1:{port}"
        self.log = commands.folder / "serve.log"
        self.process = Process(
            commands.command("serve", "--port", str(port)),
            environment=commands.environment,
            log=self.log,
            name="softirr-ls serve",
        )

    def healthy(self) -> bool:
        with contextlib.suppress(requests.RequestException):
            return requests.get(f"{self.url}/health", timeout=5).ok
        return False

    def wait_until_up(self) -> None:
        self.process.wait_until(self.healthy, timeout=120)

    def stop(self) -> None:
        self.process.stop(patience=30)

    def kill(self) -> None:
        """Kill all our processes at once, as the kernel does when memory runs out."""
        for pid in (*descendants(self.process.pid), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def descendants(pid: int) -> list[int]:
    """Processes that `pid` started, directly or not."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    pids: list[int] = []
    waiting = [pid]
    while waiting:
        children = [child for child, parent in parents.items() if parent == waiting[0]]
        waiting = waiting[1:] + children
        pids += children
    return pids


def score_of_export(export: Path, *options: str) -> dict[str, float | None]:
    """Task -> agreement, as ``softirr score`` gives it for a JSON export."""
    report = json.loads(printed("score", str(export), "--measure", "indel", "--json", *options))
    return {item["id"]: item["agreement"] for item in report["items"]}


def differences(predictions: list[dict[str, Any]], expected: Mapping[str, float | None]) -> list[str]:
    """Problems of a project's predictions, given the agreement that each task should carry."""
    scores_of: dict[str, list[Any]] = {}
    for prediction in predictions:
        if prediction["model_version"] == MODEL_VERSION:
            scores_of.setdefault(str(prediction["task"]), []).append(prediction["score"])
    wrong = [f"task {task} carries {scores}" for task, scores in scores_of.items() if len(scores) != 1]
    for task in sorted({*scores_of, *expected}, key=int):
        expected_score, have = expected.get(task), scores_of.get(task, [])
        if expected_score is None and have:
            wrong.append(f"task {task} carries {have}, and should carry none")
        elif expected_score is not None and (len(have) != 1 or have[0] is None or abs(have[0] - expected_score) > 1e-9):
            wrong.append(f"task {task} carries {have}, and should carry {expected_score}")
    return wrong


def wrong(ls: Any, project: int, folder: Path, *options: str) -> list[str]:
    """Predictions of a project that differ from ``softirr score`` of a fresh export."""
    return differences(ls.predictions(project), score_of_export(ls.export_file(project, folder), *options))


def right(ls: Any, project: int, folder: Path) -> None:
    """Wait until the predictions equal ``softirr score``."""
    eventually(lambda: not wrong(ls, project, folder), what="predictions equal softirr score")

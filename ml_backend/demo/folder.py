"""The folder of a demo, with a record of its ports, users and projects."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ml_backend.demo.processes import ServerError


class DemoFolder:
    """Folder with ``demo.json`` (the record), ``label-studio/`` and ``softirr/``.

    Attributes
    ----------
    state : dict
        Content of the record; empty before the first start is complete.
    """

    def __init__(self, path: Path):
        self.path = path
        self.state: dict[str, Any] = {}

    def open(self, stack: contextlib.ExitStack, *, fresh: bool) -> None:
        """Lock the folder until the stack is closed; an incomplete folder of an interrupted first start is removed."""
        foreign = self.path.exists() and not (self.path / "lock").exists() and any(self.path.iterdir())
        if foreign:
            raise ServerError(f"{self.path} is not empty and not a demo's folder: name another one with --folder.")
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)  # it contains an access token
        stack.enter_context(self._lock())
        with contextlib.suppress(FileNotFoundError, ValueError):
            self.state = json.loads((self.path / "demo.json").read_text(encoding="utf-8"))
        if fresh or not self.state:
            self.state = {}
            for name in ("label-studio", "softirr"):
                shutil.rmtree(self.path / name, ignore_errors=True)
            (self.path / "demo.json").unlink(missing_ok=True)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        lock, process = FileLock(self.path / "lock", timeout=0, thread_local=False), self.path / "process"
        try:
            lock.acquire()
        except Timeout:
            number = process.read_text(encoding="utf-8") if process.is_file() else "unknown"
            raise ServerError(
                f"A demo runs in {self.path} already (process {number}): stop it with Ctrl-C first, or name another "
                "folder with --folder."
            ) from None
        try:
            process.write_text(str(os.getpid()), encoding="utf-8")
            yield
        finally:
            lock.release()

    def save(self) -> None:
        """Write the record, which contains an access token."""
        path = self.path / "demo.json"
        path.write_text(json.dumps(self.state, indent=1), encoding="utf-8")
        path.chmod(0o600)

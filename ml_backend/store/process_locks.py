"""Detection of running processes that share a folder: each locks a file there while it runs.

Process ids do not identify processes across containers, which reuse ids and change host names. The kernel releases the
lock when a process ends, in every container.
"""

import contextlib
import secrets
import time
from pathlib import Path

from filelock import FileLock, Timeout

from ml_backend.store.permissions import make_private_folder

__all__ = ["Presence", "is_alive", "others_alive"]

FORGOTTEN_AFTER = 24 * 3600.0  # seconds for which the file of a dead process is kept: its leases may name it


class Presence:
    """Mark of this process in a folder.

    Attributes
    ----------
    token : str
        Name of the mark.
    """

    def __init__(self, folder: Path):
        self._folder = folder / "alive"
        make_private_folder(self._folder)
        self.token = secrets.token_hex(6)
        self._lock = _lock(self._folder / f"{self.token}.lock")
        self._lock.acquire()
        for old in self._folder.glob("*.lock"):
            with contextlib.suppress(OSError):
                if time.time() - old.stat().st_mtime > FORGOTTEN_AFTER and is_alive(folder, old.stem) is False:
                    old.unlink()

    def end(self) -> None:
        """Remove the mark."""
        self._lock.release()
        with contextlib.suppress(OSError):
            (self._folder / f"{self.token}.lock").unlink()


def is_alive(folder: Path, token: str) -> bool | None:
    """Whether the process with this mark is running; None if the folder has no mark of that name."""
    file = folder / "alive" / f"{token}.lock"
    if not token.isalnum() or not file.is_file():
        return None
    try:
        with _lock(file):
            return False
    except Timeout:
        return True
    except OSError:
        return None


def others_alive(folder: Path, own: str | None = None) -> bool:
    """Whether another process uses the folder now."""
    tokens = {file.stem for file in (folder / "alive").glob("*.lock")} - {own}
    return any(is_alive(folder, token) for token in tokens)


def _lock(file: Path) -> FileLock:
    """A lock that is not waited for, and that any thread of the process may release."""
    return FileLock(file, timeout=0, mode=0o600, thread_local=False)

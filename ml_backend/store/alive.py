"""Detection of running processes that share a folder: each holds a lock on a file there while it runs.

Process ids do not identify processes across containers, which reuse ids and change host names. The kernel releases the lock when
a process ends, in every container.
"""

import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import IO

from ml_backend.store.files import make_private_folder

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
        self._file = (self._folder / f"{self.token}.lock").open("a")
        _try_lock(self._file)
        for old in self._folder.glob("*.lock"):
            with contextlib.suppress(OSError):
                if time.time() - old.stat().st_mtime > FORGOTTEN_AFTER and is_alive(folder, old.stem) is False:
                    old.unlink()

    def end(self) -> None:
        """Remove the mark."""
        self._file.close()
        with contextlib.suppress(OSError):
            (self._folder / f"{self.token}.lock").unlink()


def is_alive(folder: Path, token: str) -> bool | None:
    """Whether the process with this mark is running; None if the folder has no mark of that name."""
    if not token.isalnum():
        return None
    try:
        with (folder / "alive" / f"{token}.lock").open("r+") as file:
            return not _try_lock(file)
    except OSError:
        return None


def others_alive(folder: Path, own: str | None = None) -> bool:
    """Whether another process uses the folder now."""
    tokens = {file.stem for file in (folder / "alive").glob("*.lock")} - {own}
    return any(is_alive(folder, token) for token in tokens)


def _try_lock(file: IO[str]) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

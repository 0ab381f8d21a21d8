"""Permissions of files with annotators' texts, which only their owner can read."""

import contextlib
import logging
import os
import stat
from pathlib import Path

log = logging.getLogger(__name__)

OURS = ("*.sqlite3", "*.sqlite3-*", "*.sqlite3.*", "*.zip", "*.json", "*.lock")
FOR_OTHERS = 0o077


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may enter."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def keep_private(folder: Path) -> list[str]:
    """Make new files of this process readable by their owner only, and restrict a folder and its files the same way.

    Returns
    -------
    list of str
        Names of the restricted files; also logged.
    """
    if os.name == "nt":  # on Windows users can't read other users' folders
        return []
    os.umask(FOR_OTHERS)
    if not folder.is_dir():
        return []
    closed = []
    for path in (folder, *(file for pattern in OURS for file in folder.glob(pattern))):
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(path.lstat().st_mode)
            if path.is_symlink() or not mode & FOR_OTHERS:
                continue
            try:
                path.chmod(mode & ~FOR_OTHERS)
            except OSError as error:
                log.warning("%s can be read by other users and could not be closed (%s)", path, error.strerror)
                continue
            closed.append(path.name)
    if closed:
        log.warning(
            "%s could be read by other users of this machine; closed now: %s", folder, ", ".join(sorted(set(closed)))
        )
    return closed

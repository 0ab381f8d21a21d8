"""Marks of processes that share a folder, and locks that two programs cannot hold at a time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ml_backend.demo import Demo
from ml_backend.demo.processes import ServerError
from ml_backend.store.process_locks import Presence, is_alive, others_alive
from ml_backend.subprocess_env import child_environment

CHILD = """
import sys, pathlib
from ml_backend.store.process_locks import Presence
mark = Presence(pathlib.Path(sys.argv[1]))
print(mark.token, flush=True)
sys.stdin.read()
"""


def test_a_process_is_alive_until_it_ends_however_it_ends(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        token = child.stdout.readline().strip()
        assert is_alive(tmp_path, token) is True
        assert is_alive(tmp_path, token) is True, "looking does not take the lock"
        assert others_alive(tmp_path)
    finally:
        child.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        child.communicate(timeout=60)
    assert is_alive(tmp_path, token) is False
    assert not others_alive(tmp_path)


def test_the_own_mark_is_no_other_process(tmp_path: Path) -> None:
    mark = Presence(tmp_path)
    assert is_alive(tmp_path, mark.token) is True
    assert others_alive(tmp_path) and not others_alive(tmp_path, mark.token)
    mark.end()
    assert is_alive(tmp_path, mark.token) is None
    assert list((tmp_path / "alive").iterdir()) == []


@pytest.mark.parametrize("token", ["0123456789ab", "", "../alive", "a/b"])
def test_a_mark_that_is_not_there_is_unknown_and_is_not_made(tmp_path: Path, token: str) -> None:
    mark = Presence(tmp_path)
    assert is_alive(tmp_path, token) is None
    assert [path.stem for path in (tmp_path / "alive").iterdir()] == [mark.token]
    mark.end()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_only_the_owner_may_read_a_mark(tmp_path: Path) -> None:
    mark = Presence(tmp_path)
    (file,) = (tmp_path / "alive").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    mark.end()


def open_demo(folder: Path, stack: contextlib.ExitStack) -> None:
    Demo(folder, measure=None, stack=stack).open(fresh=False)


def test_a_second_demo_in_a_folder_names_the_first_ones_process(tmp_path: Path) -> None:
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        open_demo(tmp_path, first)
        with pytest.raises(ServerError, match=rf"already \(process {os.getpid()}\)"):
            open_demo(tmp_path, second)
    with contextlib.ExitStack() as again:
        open_demo(tmp_path, again)

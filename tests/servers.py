"""Database servers for tests, started from Debian's packages and stopped again."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def postgres(home: Path) -> Iterator[str]:
    """URL of a PostgreSQL server that keeps its files in `home`: ``SOFTIRR_TEST_POSTGRES_URL``, else one started here.

    Not in pytest's own folder: as root the server runs as another user, and every pytest closes that folder to others.
    """
    if url := os.environ.get("SOFTIRR_TEST_POSTGRES_URL"):
        yield url
        return
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("PostgreSQL is not installed")
    binaries = programs[-1].parent
    as_user: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no runuser")
        as_user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(home, "postgres")
    port, data = free_port(), home / "data"

    def run(program: str, *arguments: str | Path) -> None:
        command = [*as_user, binaries / program, "-D", data, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    run("initdb", "-A", "trust", "-U", "postgres", "-N")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={home} -c fsync=off"
    run("pg_ctl", "-w", "-o", options, "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")  # nothing in it is to be kept

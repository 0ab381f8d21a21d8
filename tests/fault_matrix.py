"""Damage a store in several ways, and record how the backend reports each at its next start.

``python tests/fault_matrix.py > docs/results/fault-matrix.md`` writes the page.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ml_backend.store.database import keep_private
from ml_backend.store.store import Store
from tests.programs import run_program

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Fault:
    """Damage to a store, and words that the message may contain."""

    name: str
    do: Callable[[Path], bool | None]  # gets the database file; False if it can't be done here
    way_out: tuple[str, ...]
    undo: Callable[[Path], None] = lambda file: None


@dataclass(frozen=True)
class Outcome:
    """Exit status and messages of ``softirr-ls serve`` on the damaged store."""

    status: int
    errors: str


def make_store(folder: Path, url: str = "http://localhost:8080", number: int = 1, text: str = "dry cough") -> None:
    """A store with one project, some tasks and a decision."""
    folder.mkdir(parents=True, exist_ok=True)
    keep_private(folder)
    store = Store(f"sqlite:///{folder / 'softirr.sqlite3'}")
    store.migrate()
    project = store.ensure_project(url, number)["id"]
    answers = {"findings": {"answers": {"1": [text], "2": [text, "fever"]}, "excluded": []}}
    common = {"n_annotations": 2, "answers": answers, "prediction_hash": "", "updated_at": None}
    store.put_read(project, [{"number": 1, "answers_hash": "a", **common}])
    store.decide(project, text, "fever", same=False)
    store.secret()
    store.close()


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    generator = random.Random(0)
    for _ in range(200):
        data[generator.randrange(len(data))] ^= 0xFF
    file.write_bytes(data)


def _change(function: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def do(file: Path) -> None:
        file.write_bytes(function(file.read_bytes()))

    return do


def _drop_table(file: Path) -> None:
    import sqlite3

    with sqlite3.connect(file) as connection:
        connection.execute("drop table acts")


def _newer(file: Path) -> None:
    import sqlite3

    with sqlite3.connect(file) as connection:
        connection.execute("update service set value = '9999' where name = 'schema'")


def _read_only(file: Path) -> bool | None:
    """Make the store read-only. For root, the file becomes immutable if the file system can do that."""
    if os.geteuid() != 0:
        file.chmod(0o400)
        file.parent.chmod(0o500)
        return True
    return (
        shutil.which("chattr") is not None
        and not subprocess.run(["chattr", "+i", file], capture_output=True, check=False).returncode
    )


def _writable(file: Path) -> None:
    if os.geteuid() != 0:
        file.parent.chmod(0o700)
        file.chmod(0o600)
    else:
        subprocess.run(["chattr", "-i", file], capture_output=True, check=False)


def _full(file: Path) -> bool:
    """Mount a small disk over the folder and fill it."""
    disk = file.parent
    content = file.read_bytes()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        return False
    file.write_bytes(content)
    try:
        with (disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"\0" * 4096)
    except OSError:
        return True


def _unmount(file: Path) -> None:
    subprocess.run(["umount", "-l", file.parent], capture_output=True, check=False)


_RESTORE = ("Restore a backup",)
FAULTS = (
    Fault("200 flipped bytes", _flip, _RESTORE),
    Fault("half a file", _change(lambda data: data[: len(data) // 2]), _RESTORE),
    Fault("destroyed header", _change(lambda data: b"\0" * 100 + data[100:]), _RESTORE),
    Fault("another kind of file", _change(lambda data: b"no database at all " * 999), _RESTORE),
    Fault("empty file", _change(lambda data: b""), _RESTORE),
    Fault("deleted file", Path.unlink, _RESTORE),
    Fault("a table is missing", _drop_table, _RESTORE),
    Fault("made by a newer version", _newer, ("upgrade",)),
    Fault("read-only file and folder", _read_only, ("check who owns", "may not be written", "permissions"), _writable),
    Fault("full disk", _full, ("make room",), _unmount),
)


def try_fault(fault: Fault, parent: Path) -> Outcome | None:
    """Make a store, damage it and start the backend; None if this machine can't make the fault."""
    folder = parent / "data"
    make_store(folder)
    file = folder / "softirr.sqlite3"
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").unlink(missing_ok=True)
    try:
        if fault.do(file) is False:
            return None
        # An address that no machine has, so that an unnoticed fault ends the process, too.
        environment = os.environ | {"PYTHONPATH": str(ROOT), "SOFTIRR_DATA": str(folder), "HOST": "203.0.113.1"}
        environment.pop("SOFTIRR_DATABASE_URL", None)
        command = (sys.executable, "-m", "ml_backend", "serve")
        done = run_program(*command, environment=environment, folder=ROOT, status=None)
        return Outcome(done.returncode, done.stderr.replace(str(folder), "SOFTIRR_DATA"))
    finally:
        fault.undo(file)


def main() -> None:
    """Print the page."""
    print("# Faults of the store\n")
    print("Damage to the file of the store, and the message of `softirr-ls serve` at its next start. Written by")
    print("`python tests/fault_matrix.py`; `tests/ml_backend/test_faults_of_store.py` compares the program with it.\n")
    print("| damage | exit status | message |\n|---|---|---|")
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            outcome = try_fault(fault, Path(folder))
        if outcome is None:
            print(f"| {fault.name} | | not tried: this machine can't make the fault |")
        else:
            print(f"| {fault.name} | {outcome.status} | {outcome.errors.strip()} |")


if __name__ == "__main__":
    main()

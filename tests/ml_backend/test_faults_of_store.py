"""A store that is damaged, lost, full or read-only: one sentence with the way out; backup, restore, check, forget.

The faults that are listed in `tests.fault_matrix` are tried here too.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ml_backend import cli
from ml_backend.app import create_app
from ml_backend.labelstudio.connect import Connector
from ml_backend.labelstudio.errors import NotFound
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.store.integrity import store_trouble
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Store
from ml_backend.sync.background import Background
from softirr.errors import SoftirrError
from tests.fault_matrix import FAULTS, Fault, make_store, try_fault
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import NUMBER, URL, drain

pytestmark = pytest.mark.slow

TEXT = "unmistakable finding"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """SOFTIRR_DATA with a store that holds one project."""
    data = tmp_path / "data"
    monkeypatch.setenv("SOFTIRR_DATA", str(data))
    monkeypatch.setenv("LABEL_STUDIO_URL", URL)
    monkeypatch.delenv("SOFTIRR_DATABASE_URL", raising=False)
    make_store(data, URL, NUMBER, TEXT)
    return data


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = cli.main(arguments)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def store_of(folder: Path) -> Store:
    return Store(f"sqlite:///{folder / 'softirr.sqlite3'}")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_said_in_one_sentence(fault: Fault, tmp_path: Path) -> None:
    seen = try_fault(fault, tmp_path)
    if seen is None:
        pytest.skip("this fault can't be made here")
    assert seen.status != 0
    assert "Traceback" not in seen.errors
    assert len(seen.errors.strip().splitlines()) == 1
    assert any(word in seen.errors for word in fault.way_out), seen.errors
    assert TEXT not in seen.errors
    assert not seen.check_is_content, "check, and so the doctor, knows"


def test_a_disk_that_fills_up_during_a_sync_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sync ended in a traceback of 60 lines. SQLite itself refuses to grow the file here, as on a full disk."""
    bench = Bench(tmp_path)
    for number in range(300):
        bench.fake.add_task({user: [f"{TEXT} {number} {user}"] for user in (1, 2, 3)})
    monkeypatch.setattr(Services, "client", lambda self, **options: bench.client(**options))
    for name, value in {"SOFTIRR_DATA": str(tmp_path), "LABEL_STUDIO_URL": URL, "LABEL_STUDIO_API_KEY": "x"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SOFTIRR_DATABASE_URL", raising=False)

    def stop_growing(connection: Any, _record: Any) -> None:
        if hasattr(connection, "set_trace_callback"):  # SQLite
            size = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {size + 8}")

    sa.event.listen(sa.engine.Engine, "connect", stop_growing)
    try:
        status, out, err = run(capsys, "sync", "--project", str(NUMBER), "--measure", "indel")
    finally:
        sa.event.remove(sa.engine.Engine, "connect", stop_growing)
    assert (status, out) == (1, "")
    assert err == "softirr-ls: The disk is full: make room in the folder SOFTIRR_DATA.\n"
    status, out, err = run(capsys, "sync", "--project", str(NUMBER), "--measure", "indel")
    assert (status, err) == (0, "") and "300 items" in out, "nothing is lost, and the next run goes on"


def test_errors_that_the_store_did_not_cause_keep_their_traceback() -> None:
    assert store_trouble(ValueError("disk is full of surprises")) is None
    assert store_trouble(OSError(28, "No space left on device")) is not None
    assert store_trouble(None) is None


def test_a_new_store_is_made_where_there_was_none(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    store.migrate()
    store.verify()
    store.close()


def test_values_that_cannot_be_read_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(folder / "softirr.sqlite3") as connection:
        connection.execute("update tasks set answers = '{\"damag'")
    status, out, _ = run(capsys, "check")
    assert status == 1
    assert "1 row of tasks.answers can't be read" in out


class TestBackup:
    def test_what_is_restored_is_what_was_backed_up(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "backup.zip"
        store = store_of(folder)
        secret = store.secret()
        status, out, _ = run(capsys, "backup", str(file), "--json")
        assert (status, json.loads(out)["tasks"]) == (0, 1)
        if os.name != "nt":
            assert file.stat().st_mode & 0o077 == 0
        (row,) = store.projects()
        store.forget_project(row["id"])
        store.close()
        (folder / "softirr.sqlite3").write_bytes(b"destroyed")
        status, out, err = run(capsys, "restore", str(file))
        assert status == 0, err
        restored = store_of(folder)
        (row,) = restored.projects()
        assert restored.secret() == secret, "addresses given out go on working"
        assert list(restored.get_tasks(row["id"], [1])[1]["answers"]) == ["findings"]
        assert restored.decisions(row["id"])[0]["text_b"] == TEXT
        assert row["pulled_at"] is None and row["checked_at"] is None, "all is read again"
        restored.close()
        assert list(folder.glob("*.before-restore-*"))
        assert run(capsys, "check")[:2] == (0, "The store is whole.\n")

    @pytest.mark.parametrize(
        "damage",
        [
            lambda data: data[: len(data) // 2],
            lambda data: b"",
            lambda data: b"no backup at all",
            lambda data: data[:1000] + bytes(b ^ 0xFF for b in data[1000:1200]) + data[1200:],
        ],
    )
    def test_a_damaged_backup_is_refused_and_changes_nothing(
        self, damage: Any, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "backup.zip"
        assert run(capsys, "backup", str(file))[0] == 0
        file.write_bytes(damage(file.read_bytes()))
        before = (folder / "softirr.sqlite3").read_bytes()
        status, _, err = run(capsys, "restore", str(file))
        assert status == 1
        assert "not a complete backup" in err
        assert (folder / "softirr.sqlite3").read_bytes() == before

    def test_not_under_a_running_backend(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "backup.zip"
        run(capsys, "backup", str(file))
        running = store_of(folder)
        assert running.presence is not None
        status, _, err = run(capsys, "restore", str(file))
        assert (status, "stop softirr-ls serve" in err) == (1, True)
        running.presence.end()
        running.close()
        assert run(capsys, "restore", str(file))[0] == 0

    def test_a_damaged_store_is_not_backed_up(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = folder / "softirr.sqlite3"
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        status, _, _err = run(capsys, "backup", str(tmp_path / "backup.zip"))
        assert status == 1
        assert not (tmp_path / "backup.zip").exists()

    def test_postgresql_has_its_own_program(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("psycopg")
        monkeypatch.setenv("SOFTIRR_DATABASE_URL", "postgresql://somebody:secret@127.0.0.1:1/x")
        for command, program in (("backup", "pg_dump"), ("restore", "pg_restore")):
            status, _, err = run(capsys, command, "file.zip")
            assert status == 2
            assert program in err
            assert "secret" not in err


class TestForget:
    def bytes_of(self, folder: Path) -> bytes:
        return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())

    def test_the_bytes_are_gone(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert TEXT.encode() in self.bytes_of(folder)
        assert run(capsys, "forget", "--project", str(NUMBER), "--json")[0] == 0
        assert TEXT.encode() not in self.bytes_of(folder)
        status, _, err = run(capsys, "forget", "--project", str(NUMBER))
        assert (status, "not known" in err) == (2, True)

    def restored(self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
        """The former store that a restore keeps."""
        file = tmp_path / "backup.zip"
        assert run(capsys, "backup", str(file))[0] == run(capsys, "restore", str(file))[0] == 0
        return min(folder.glob("*.before-restore-*"), key=lambda one: len(one.name))  # without -wal and -shm

    def test_they_are_gone_from_the_store_before_a_restore_too(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        store = store_of(folder)
        other = store.ensure_project(URL, NUMBER + 1)["id"]
        reviews = ReviewStore(store)
        first = store.project(URL, NUMBER)
        assert first is not None
        audit = reviews.ask_for_audit(first["id"], control="findings", measure="exact", seed=1, wanted=2, created_by="")
        reviews.update_audit(audit, sheet=[["1", 0, TEXT, "fever"]])
        reviews.judge(audit, [0], "Rae", "same")
        store.close()
        former = self.restored(folder, tmp_path, capsys)
        assert TEXT.encode() in former.read_bytes()
        status, out, err = run(capsys, "forget", "--project", str(NUMBER))
        assert (status, err) == (0, "") and str(former) in out
        assert TEXT.encode() not in self.bytes_of(folder)
        with contextlib.closing(sqlite3.connect(former)) as connection:
            assert connection.execute("select id from projects").fetchall() == [(other,)], "other projects stay"
            assert connection.execute("select count(*) from audit_judgements").fetchone() == (0,)

    def test_also_of_a_project_that_only_the_former_store_knows(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.restored(folder, tmp_path, capsys)
        store = store_of(folder)
        store.erase_project(store.projects()[0]["id"])
        store.close()
        assert TEXT.encode() in self.bytes_of(folder)
        assert run(capsys, "forget", "--project", str(NUMBER))[0] == 0
        assert TEXT.encode() not in self.bytes_of(folder)

    def test_a_former_store_that_cannot_be_read_is_named(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        former = self.restored(folder, tmp_path, capsys)
        former.write_bytes(b"no database " + TEXT.encode())
        status, out, _ = run(capsys, "forget", "--project", str(NUMBER))
        assert status == 1 and f"{former}, the store before a restore, can't be read" in out and "delete it" in out

    def test_not_of_a_connected_project(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        store = store_of(folder)
        store.update_project(store.projects()[0]["id"], connection={"mode": "connected"})
        store.close()
        status, _, err = run(capsys, "forget", "--project", str(NUMBER))
        assert (status, "disconnect" in err) == (2, True)
        assert TEXT.encode() in self.bytes_of(folder)


KILLED = """
import os, signal, sys
from pathlib import Path
from ml_backend.store.store import Store
store = Store(sys.argv[1], Path(sys.argv[2]))
assert store.take_lease(int(sys.argv[3]), store.own_name() + ":1")
print(store.own_name(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


class TestLease:
    def test_of_a_killed_container_is_taken_at_once(self, folder: Path) -> None:
        """The next container has another host name, and the process ids of the one before."""
        store = store_of(folder)
        project = store.projects()[0]["id"]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        command = [sys.executable, "-c", KILLED, store.url, str(folder), str(project)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        _, _, token = done.stdout.strip().split(":")
        owner = f"another-host:{os.getpid()}:{token}:1"
        store.update_project(project, lease_owner=owner)
        assert store.lease_is_dead(owner)
        assert store.take_lease(project, f"{store.own_name()}:1")
        store.close()

    def test_of_a_living_one_is_not(self, folder: Path) -> None:
        living, other = store_of(folder), store_of(folder)
        project = living.projects()[0]["id"]
        assert living.take_lease(project, f"{living.own_name()}:1")
        assert not other.lease_is_dead(f"{living.own_name()}:1")
        assert not other.take_lease(project, f"{other.own_name()}:1")
        with pytest.raises(SoftirrError, match="A job is running"):
            other.erase_project(project)
        living.close()
        other.close()


class _Gone:
    """A client of a Label Studio whose project was deleted."""

    def project(self, number: int) -> Any:
        raise NotFound("There is no such project.")


def test_a_project_that_was_deleted_in_label_studio_can_be_disconnected(folder: Path) -> None:
    store = store_of(folder)
    (row,) = store.projects()
    store.update_project(row["id"], connection={"mode": "connected"}, webhook_secret="s")
    connector = Connector(store, _Gone(), Settings.from_environment())  # type: ignore[arg-type]
    (sentence,) = connector.disconnect(NUMBER).done
    assert "gone from Label Studio" in sentence
    assert not store.is_connected(row["id"])
    with pytest.raises(NotFound):
        connector.disconnect(NUMBER)
    store.close()


class TestHealth:
    def ask(self, folder: Path, path: str, **headers: str) -> Any:
        services = Services(Settings.from_environment())
        with create_app(services=services).test_client() as client:
            reply = client.get(path, headers={"Host": "localhost", **headers})
        services.store.close()
        return reply.json

    def test_details_name_each_part(self, folder: Path) -> None:
        health = self.ask(folder, "/health?detail=1")
        assert health["status"] == "DEGRADED"
        assert "not started" in health["parts"]["scorer"]
        assert health["parts"]["database"] == health["parts"]["disk"] == health["parts"]["queue"] == "ok"
        store = store_of(folder)
        store.note_heartbeat("scorer", {"queue": ""})
        assert self.ask(folder, "/health?detail=1")["status"] == "UP"
        store.note_heartbeat("scorer", {"queue": "DatabaseError"})
        assert "timer" in self.ask(folder, "/health?detail=1")["parts"]["queue"]
        store.close()

    def test_others_see_only_that_it_is_up(self, folder: Path) -> None:
        assert "parts" not in self.ask(folder, "/health")
        assert "parts" not in self.ask(folder, "/health?detail=1", **{"X-Forwarded-For": "1.2.3.4"})

    def test_a_damaged_store_is_named(self, folder: Path) -> None:
        (folder / "softirr.sqlite3").write_bytes(b"no database" * 999)
        health = self.ask(folder, "/health?detail=1")
        assert "softirr-ls restore" in health["parts"]["database"]
        assert self.ask(folder, "/health")["status"] == "UP", "bare, it stays what Label Studio wants"


def test_equal_hints_wait_once() -> None:
    background, done = Background(), []
    for _ in range(1000):
        background.do(lambda: done.append(1), after=0.01, key="project 1")
    background.do(lambda: done.append(2), after=0.01, key="project 2")
    while len(done) < 2:
        drain(background)
    assert done == [1, 2]
    background.do(lambda: done.append(3), key="project 1")
    drain(background)
    assert done == [1, 2, 3]

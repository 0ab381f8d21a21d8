"""A store that is damaged, lost, full or read-only: one sentence with the way out; forget.

The faults that are listed in `tests.fault_matrix` are tried here too.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ml_backend import cli
from ml_backend.app import create_app
from ml_backend.labelstudio.connect import Connector
from ml_backend.labelstudio.errors import NotFound
from ml_backend.review.requests import RequestStore
from ml_backend.services import Background, Services
from ml_backend.settings import Settings
from ml_backend.store.acts import AcceptedAnswer, AgreedStore
from ml_backend.store.lock import WorkerLock
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Store
from ml_backend.store.trouble import store_trouble
from tests.fault_matrix import FAULTS, Fault, make_store, try_fault
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL, drain
from tests.ml_backend.fake_project import NUMBER

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
def test_fault_ends_in_a_single_sentence(fault: Fault, tmp_path: Path) -> None:
    observed = try_fault(fault, tmp_path)
    if observed is None:
        pytest.skip("this fault can't be made here")
    assert observed.status != 0
    assert "Traceback" not in observed.errors
    assert len(observed.errors.strip().splitlines()) == 1
    assert any(word in observed.errors for word in fault.way_out), observed.errors
    assert TEXT not in observed.errors


def test_full_disk_during_a_sync_ends_in_a_single_sentence(
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


class TestForget:
    def bytes_of(self, folder: Path) -> bytes:
        return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())

    def test_the_bytes_are_gone(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert TEXT.encode() in self.bytes_of(folder)
        assert run(capsys, "forget", "--project", str(NUMBER), "--json")[0] == 0
        assert TEXT.encode() not in self.bytes_of(folder)
        status, _, err = run(capsys, "forget", "--project", str(NUMBER))
        assert (status, "not known" in err) == (2, True)

    def test_everything_about_the_project_is_gone(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        store = store_of(folder)
        other_project = store.ensure_project(URL, NUMBER + 1)["id"]
        first = store.project(URL, NUMBER)
        assert first is not None
        reviews, requests = ReviewStore(store), RequestStore(store)
        audit = reviews.add_audit(first["id"], control="findings", measure="exact", seed=1, wanted=2, created_by="")
        reviews.update_audit(audit, sheet=[["1", 0, TEXT, "fever"]])
        reviews.judge(audit, [0], "Rae", "same")
        AgreedStore(store).agree(first["id"], 1, "findings", AcceptedAnswer([TEXT]))
        requests.ask(first["id"], "models", {"text": TEXT})
        store.note(f"run:{first['id']}", {"state": "done", "message": TEXT})
        store.close()
        assert run(capsys, "forget", "--project", str(NUMBER))[0] == 0
        assert TEXT.encode() not in self.bytes_of(folder)
        store = store_of(folder)
        assert [row["id"] for row in store.projects()] == [other_project], "other projects stay"
        store.close()

    def test_a_former_store_is_named(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Release 0.2.0 kept the store before a restore under another name."""
        former = folder / "softirr.sqlite3.before-restore-20260101"
        former.write_bytes((folder / "softirr.sqlite3").read_bytes())
        status, out, _ = run(capsys, "forget", "--project", str(NUMBER))
        assert status == 0 and f"{former} may still have its texts" in out

    def test_not_while_the_worker_is_at_work(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ml_backend.store.lock.PATIENCE", 0.0)
        store = store_of(folder)
        lock = WorkerLock(store)
        assert lock.acquire()
        store.note(f"run:{store.projects()[0]['id']}", {"state": "running"})
        status, _, err = run(capsys, "forget", "--project", str(NUMBER))
        lock.release()
        assert status == 1 and "is working on this project" in err
        assert store.project(URL, NUMBER) is not None
        store.close()

    def test_not_of_a_connected_project(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        store = store_of(folder)
        store.update_project(store.projects()[0]["id"], connection={"mode": "connected"})
        store.close()
        status, _, err = run(capsys, "forget", "--project", str(NUMBER))
        assert (status, "disconnect" in err) == (2, True)
        assert TEXT.encode() in self.bytes_of(folder)


class _Gone:
    """A client of a Label Studio without the project, which was deleted."""

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
        assert "not started" in health["parts"]["worker"]
        assert health["parts"]["database"] == health["parts"]["disk"] == "ok"
        store = store_of(folder)
        store.note("alive:worker", {"at": time.time()})
        assert self.ask(folder, "/health?detail=1")["status"] == "UP"
        store.note("alive:worker", {"at": time.time() - 100})
        assert "no sign of life" in self.ask(folder, "/health?detail=1")["parts"]["worker"]
        store.close()

    def test_others_see_only_that_it_is_up(self, folder: Path) -> None:
        assert "parts" not in self.ask(folder, "/health")
        assert "parts" not in self.ask(folder, "/health?detail=1", **{"X-Forwarded-For": "1.2.3.4"})

    def test_a_damaged_store_is_named(self, folder: Path) -> None:
        (folder / "softirr.sqlite3").write_bytes(b"no database" * 999)
        health = self.ask(folder, "/health?detail=1")
        assert "Restore a backup" in health["parts"]["database"]
        assert self.ask(folder, "/health")["status"] == "UP", "bare, it stays what Label Studio wants"


def test_equal_hints_wait_once() -> None:
    background, done = Background(), []
    for _ in range(1000):
        background.do(lambda: done.append(1), delay=0.01, key="project 1")
    background.do(lambda: done.append(2), delay=0.01, key="project 2")
    while len(done) < 2:
        drain(background)
    assert done == [1, 2]
    background.do(lambda: done.append(3), key="project 1")
    drain(background)
    assert done == [1, 2, 3]

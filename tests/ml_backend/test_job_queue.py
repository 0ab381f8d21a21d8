"""The queue: what is read from it runs no code, and whatever happens to it, edits are served."""

from __future__ import annotations

import os
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ml_backend import worker
from ml_backend.settings import Settings
from ml_backend.sync import job_queue
from ml_backend.sync.job_queue import make_queue
from ml_backend.sync.jobs import Runner, Wakeups
from tests.ml_backend.bench import Bench, Looks
from tests.ml_backend.fake_label_studio import NUMBER, URL
from tests.servers import free_port


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, debounce_seconds=0.01)
    bench.fake.add_task({1: ["cough"], 2: ["dry cough"]})
    return bench


@pytest.fixture
def project(bench: Bench) -> int:
    row = bench.store.ensure_project(URL, NUMBER, born=bench.fake.project["created_at"])
    bench.store.update_project(row["id"], connection={"mode": "connected"}, checked_at=9e12)
    return int(row["id"])


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "PAUSE", 0.0)


class Bomb:
    def __init__(self, file: Path):
        self.file = file

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.file),)


class TestMessages:
    JUNK = (b"", b"\x00\xff", b"null", b"[]", b'{"id": 1}', b'{"id": "a", "name": "sync", "args": ["x"]}', b"[" * 9999)

    def test_a_pickled_row_runs_nothing(self, bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        wake = Wakeups(bench.store, make_queue(bench.settings))
        wake.task(7)  # makes the file
        bomb = pickle.dumps(Bomb(tmp_path / "ran"))
        with sqlite3.connect(bench.settings.queue_file) as connection:
            for row in (bomb, *self.JUNK):
                connection.execute("insert into task (queue, data, priority) values ('softirr', ?, 9)", (row,))
        taken = [wake.queue.dequeue() for _ in range(len(self.JUNK) + 2)]
        assert not (tmp_path / "ran").exists()
        assert [task.args for task in taken if task] == [(7,)], "ours is still there, behind the dropped ones"
        assert wake.queue.dequeue() is None
        assert "not one of ours" in caplog.text

    @pytest.mark.redis
    def test_nor_one_in_redis(self, bench: Bench, redis_url: str, tmp_path: Path) -> None:
        from redis import Redis

        queue = make_queue(Settings.from_environment({}, data=tmp_path, redis_url=redis_url))
        queue.flush()
        Wakeups(bench.store, queue)
        with Redis.from_url(redis_url) as client:
            client.lpush(queue.storage.queue_key, pickle.dumps(Bomb(tmp_path / "ran")))
        assert queue.dequeue() is None
        assert not (tmp_path / "ran").exists()
        assert len(queue) == 0

    def test_an_unknown_task_is_dropped(self, bench: Bench) -> None:
        wake = Wakeups(bench.store, make_queue(bench.settings))
        wake.queue.storage.enqueue(b'{"id": "a", "name": "os.system", "args": [1]}')
        assert wake.queue.dequeue() is None
        assert wake.queue.trouble == ""


def destroy_header(file: Path) -> None:
    file.write_bytes(b"\x00" * 200 + file.read_bytes()[200:])


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def fill_with_noise(file: Path) -> None:
    file.write_bytes(b"no database at all " * 1000)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def delete(file: Path) -> None:
    file.unlink()


FAULTS = (destroy_header, cut, fill_with_noise, empty, delete)


class TestDamage:
    @pytest.mark.parametrize("damage", FAULTS)
    def test_a_damaged_file_is_made_anew_at_start(
        self, bench: Bench, project: int, damage: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        first = Wakeups(bench.store, make_queue(bench.settings))
        first.task(project)
        first.queue.storage.close()
        damage(bench.settings.queue_file)
        wake = Wakeups(bench.store, make_queue(bench.settings))
        wake.want(project, "webhook")
        assert wake.queue.dequeue().args == (project,)
        warnings = caplog.text.count("damaged: moved to")
        assert warnings == (0 if damage in (delete, empty) else 1), "said once"
        assert len(list(bench.folder.glob("queue.sqlite3.damaged-*[0-9]"))) == warnings

    @pytest.mark.parametrize("damage", FAULTS)
    def test_and_under_running_processes(self, bench: Bench, project: int, damage: Any) -> None:
        """Web process and scorer both have the file open."""
        web = Wakeups(bench.store, make_queue(bench.settings))
        scorer = Wakeups(bench.store, make_queue(bench.settings))
        web.task(1)
        assert scorer.queue.dequeue().args == (1,)
        damage(bench.settings.queue_file)
        web.want(project, "webhook")
        web.again(project)  # as the timer does, if the first one was lost with the file
        assert scorer.queue.dequeue().args == (project,)


class TestWithoutQueue:
    def serve(self, bench: Bench, wake: Wakeups) -> None:
        """Let the timer look around, as in the scorer process."""
        runner = Runner(bench.store, bench.settings, bench.scorer, bench.client)
        worker._tick(wake, runner, bench.settings, Looks(1))

    def test_the_timer_serves_edits_while_the_queue_is_away(
        self, bench: Bench, project: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        url = f"redis://127.0.0.1:{free_port()}/0"
        wake = Wakeups(bench.store, make_queue(Settings.from_environment({}, data=tmp_path, redis_url=url)))
        wake.want(project, "webhook")
        self.serve(bench, wake)
        assert bench.store.wanted() == []
        assert bench.fake.wrong() == []
        assert wake.queue.trouble

    def test_also_when_only_reading_fails(
        self, bench: Bench, project: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        wake = Wakeups(bench.store, make_queue(bench.settings))
        monkeypatch.setattr(
            wake.queue.storage, "dequeue", lambda: (_ for _ in ()).throw(sqlite3.OperationalError("disk I/O error"))
        )
        for _ in range(1000):
            assert wake.queue.dequeue() is None
        assert len(caplog.records) == 1, "said once, not for each try"
        wake.want(project, "webhook")
        self.serve(bench, wake)
        assert bench.store.wanted() == []
        assert bench.fake.wrong() == []

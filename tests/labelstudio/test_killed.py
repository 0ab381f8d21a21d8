"""Label Studio or the backend is stopped or killed: in the end each task carries the right prediction."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.labelstudio.backend import Commands, descendants, eventually, wrong
from tests.labelstudio.conftest import Harness
from tests.labelstudio.fault_projects import KILLS, SECRET, change_something, filled


def test_label_studio_stopped_in_the_middle(start_label_studio: Callable[..., Any], tmp_path: Path) -> None:
    """The backend resumes when the server is back, and its log has the reason of the gap."""
    with start_label_studio(tmp_path / "server") as server:
        ls = Harness(server)
        project, tasks, users = filled(ls)
        commands = Commands(tmp_path / "state", ls.url, ls.token, environment={"SOFTIRR_PAGE_SIZE": "5"})
        with commands.serve() as serving:
            commands.json("connect", "--project", str(project), "--url", serving.url)
            store = commands.store()
            eventually(lambda: store.totals(1)["tasks"] > 5, what="the first pages were read")
            port = server.port
            server.stop()
            # a key that Label Studio reads back, so that tokens outlive the restart
            assert re.fullmatch(r"SECRET_KEY=[0-9a-f]+\n", (tmp_path / "server/data/.env").read_text())
            store.want(1)
            eventually(lambda: any(job["state"] == "failed" for job in store.jobs(1)), what="a job says that it failed")
            (failed, *_) = [job for job in store.jobs(1) if job["state"] == "failed"]
            assert (
                "can't be reached" in failed["message"]
                or "did not answer" in failed["message"]
                or "broke" in failed["message"]
            )
            with start_label_studio(tmp_path / "server", port=port):
                eventually(lambda: not wrong(ls, project, tmp_path), what="predictions equal softirr score", within=180)
                assert tasks and users
            store.close()
        log = serving.log.read_text()
        assert "can't be reached" in log
        assert SECRET not in log
        assert ls.token not in log


@pytest.mark.slow
def test_killed_at_random(ls: Harness, tmp_path: Path) -> None:
    """kill -9 of everything that serve started, at any moment; the next start resumes the work."""
    project, tasks, users = filled(ls, 60)
    environment = {"SOFTIRR_PAGE_SIZE": "10", "SOFTIRR_BULK_SIZE": "20"}
    commands = Commands(tmp_path / "state", ls.url, ls.token, environment=environment)
    source = random.Random(5)
    with commands.serve() as serving:
        commands.json("connect", "--project", str(project), "--url", serving.url)
        eventually(lambda: not wrong(ls, project, tmp_path), what="first sync")
        serving.kill()
    for _ in range(KILLS):
        with commands.serve() as serving:
            # Restarts must meet work of each kind: a few edits, or a complete update.
            if source.random() < 0.5:
                commands.json("settings", "--project", str(project), "--threshold", str(source.choice([0.4, 0.5, 0.6])))
            for _ in range(3):
                with contextlib.suppress(StopIteration):
                    change_something(ls, tasks, users, source)
            time.sleep(source.random() * 4)
            serving.kill()
    log = commands.folder / "serve.log"
    with commands.serve():
        eventually(lambda: not wrong(ls, project, tmp_path), what="all is right after the last start", within=120)
        store = commands.store()
        eventually(lambda: store.jobs(1)[0]["state"] == "done", what="the last job is done")
        assert all(job["state"] != "running" for job in store.jobs(1))
        store.close()
    assert SECRET not in log.read_text()
    assert ls.token not in log.read_text()


def test_the_worker_process_is_started_again(ls: Harness, tmp_path: Path) -> None:
    project, tasks, users = filled(ls, 10)
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    with commands.serve() as serving:
        commands.json("connect", "--project", str(project), "--url", serving.url)
        scorer = next(
            pid
            for pid in descendants(serving.process.pid)
            if b"ml_backend.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
        )
        os.kill(scorer, signal.SIGKILL)
        change_something(ls, tasks, users, random.Random(1))
        eventually(lambda: not wrong(ls, project, tmp_path), what="predictions equal softirr score")
        assert serving.healthy()
    assert "the worker process ended with status -9, starting it again" in serving.log.read_text()

"""Whatever goes wrong between us and a real Label Studio: in the end each task carries one prediction, the right one.

``SOFTIRR_KILLS=20`` makes the loops long; a quick run does a few.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ml_backend.labelstudio import transport
from tests.labelstudio.backend import Commands, eventually, wrong
from tests.labelstudio.conftest import Harness
from tests.labelstudio.fault_projects import KILLS, SECRET, change_something, filled
from tests.labelstudio.faulty_proxy import FaultyProxy, faulty_proxy
from tests.programs import run_program


@pytest.fixture
def proxy(ls: Harness, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    monkeypatch.setattr(transport, "FIRST_WAIT", 0.01)
    with faulty_proxy(ls.url) as server:
        yield server


def until_done(commands: Commands, project: int, *, tries: int = 10) -> list[str]:
    """Sync repeatedly, as the timer does; returns the messages."""
    errors_before = []
    for _ in range(tries):
        ended, _, errors = commands.here("sync", "--project", str(project), "--json")
        if ended == 0:
            return errors_before
        assert errors.count("\n") == 1, errors
        errors_before.append(errors)
    raise AssertionError(f"never ended well: {errors_before}")


class _Dice:
    """Faults at random, but of the same kind and at the same places in each run of the test."""

    def __init__(self, seed: int, share: float, kinds: tuple[str, ...]):
        self._source, self._share, self._kinds = random.Random(seed), share, kinds
        self.thrown: list[str] = []

    def __call__(self, method: str, path: str) -> str:
        if self._source.random() >= self._share:
            return ""
        kind = self._source.choice(self._kinds)
        if kind == "half" and not path.endswith("/import/predictions"):
            kind = "cut"
        self.thrown.append(kind)
        return kind


@pytest.mark.parametrize("seed", range(max(1, KILLS // 4)))
def test_faults_at_random_places(
    ls: Harness,
    proxy: FaultyProxy,
    tmp_path: Path,
    seed: int,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "LONGEST_WAIT", 0.05)
    project, tasks, users = filled(ls)
    commands = Commands(tmp_path / "state", proxy.url, ls.token)
    source = random.Random(seed)
    dice = _Dice(seed, 0.25, ("refuse", "cut", "half", "500", "502", "503", "401"))
    for _ in range(3):
        proxy.fault = dice
        for _ in range(3):
            commands.here("sync", "--project", str(project))
            change_something(ls, tasks, users, source)
        proxy.fault = lambda method, path: ""
        until_done(commands, project)
        assert wrong(ls, project, tmp_path) == []
    assert len(set(dice.thrown)) >= 3
    assert SECRET not in caplog.text
    assert ls.token not in caplog.text


@pytest.mark.parametrize(
    ("kind", "is_hit", "says"),
    [
        ("401", lambda method, path: "import/predictions" in path, "refused the"),
        ("401", lambda method, path: "/api/tasks/" in path, "refused the"),
        ("half", lambda method, path: "import/predictions" in path, None),
        ("cut", lambda method, path: "import/predictions" in path, None),
        ("cut", lambda method, path: method in ("PATCH", "DELETE"), None),
    ],
)
def test_one_fault(
    ls: Harness,
    proxy: FaultyProxy,
    tmp_path: Path,
    kind: str,
    is_hit: Callable[[str, str], bool],
    says: str | None,
) -> None:
    """A token that expires in the middle, half an import, a reply that never comes."""
    project, tasks, users = filled(ls)
    commands = Commands(tmp_path / "state", proxy.url, ls.token)
    if kind == "cut" and says is None:
        commands.sync(project)
        ls.edit(ls.api.get(f"/api/tasks/{tasks[0]}/annotations/")[0]["id"], users[0], ["changed"])
    faults_left = [3 if kind == "401" else 1]

    def fault(method: str, path: str) -> str:
        if is_hit(method, path) and faults_left[0]:
            faults_left[0] -= 1
            return kind
        return ""

    proxy.fault = fault
    ended, _, errors = commands.here("sync", "--project", str(project))
    assert (ended == 1) == (says is not None), errors
    assert says is None or says in errors
    proxy.fault = lambda method, path: ""
    until_done(commands, project)
    assert wrong(ls, project, tmp_path) == []


@pytest.mark.parametrize("kind", ["late", "late reply"])
@pytest.mark.parametrize("slow_path", ["/import/predictions", "/api/tasks/"])
def test_label_studio_answers_too_late(
    ls: Harness,
    proxy: FaultyProxy,
    tmp_path: Path,
    kind: str,
    slow_path: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A read is tried again.

    A bulk write may be carried out after we gave up and even wrote again: the next sync repairs that. Only the requests
    that Label Studio is late for have a short timeout, and it stays late until the sync has ended.
    """
    project, _, _ = filled(ls)
    commands = Commands(tmp_path / "state", proxy.url, ls.token)
    faults_left = [1]
    send_once = transport.Transport._once

    def impatient(self: Any, method: str, path: str, params: Any, body: Any, timeout: float, repeat: bool) -> Any:
        return send_once(
            self, method, path, params, body, 1.0 if slow_path in path and faults_left[0] else timeout, repeat
        )

    def fault(method: str, path: str) -> str:
        if slow_path in path and faults_left[0]:
            faults_left[0] -= 1
            return kind
        return ""

    proxy.fault = fault
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(transport.Transport, "_once", impatient)
            ended, _, errors = commands.here("sync", "--project", str(project))
    finally:
        proxy.is_patient.set()
    assert faults_left == [0]
    assert ended == 0, errors
    assert ("did not answer POST" if "import" in slow_path else "trying again") in caplog.text
    if kind == "late":
        assert proxy.belated.wait(60)
        until_done(commands, project)
    assert wrong(ls, project, tmp_path) == []


def test_two_backends_on_one_store(ls: Harness, tmp_path: Path) -> None:
    project, tasks, users = filled(ls, 30)
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    with commands.serve() as first_backend, commands.serve() as second_backend:
        commands.json("connect", "--project", str(project), "--url", first_backend.url)
        source = random.Random(3)
        for round_number in range(6):
            change_something(ls, tasks, users, source)
            # And a third hand that syncs at the same time.
            if round_number == 2:
                commands.json("sync", "--project", str(project))
        eventually(lambda: not wrong(ls, project, tmp_path), what="predictions equal softirr score")
        assert first_backend.healthy()
        assert second_backend.healthy()


def test_a_full_disk(ls: Harness, tmp_path: Path) -> None:
    """The store's file may grow no further: a sentence or a noted failure, and all is right once there is room."""
    project, _, _ = filled(ls, 60)
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    commands.store().migrate()
    size = sum(path.stat().st_size for path in commands.folder.iterdir()) // 1024
    for more in (8, 64, 256):
        limited = ["bash", "-c", f'ulimit -f {size + more}; trap "" XFSZ; exec "$@"', "limited"]
        command = (*limited, *commands.command("sync", "--project", str(project)))
        done = run_program(*command, environment=commands.environment, status=None)
        assert SECRET not in done.stderr
        assert ls.token not in done.stderr
    until_done(commands, project)
    assert wrong(ls, project, tmp_path) == []

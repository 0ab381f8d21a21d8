"""A fault at any request loses nothing and leaves no duplicate."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.scoring.measures import Stopped
from softirr.errors import SoftirrError
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_label_studio import FakeLabelStudio

SECRET_TEXT = "unmistakable finding"


def _faults() -> dict[str, Callable[[FakeLabelStudio, httpx.Request], httpx.Response | BaseException]]:
    return {
        "refused": lambda fake, request: httpx.ConnectError("refused", request=request),
        "timeout": lambda fake, request: httpx.ReadTimeout("slow", request=request),
        "broken": lambda fake, request: httpx.RemoteProtocolError("broken", request=request),
        "500": lambda fake, request: httpx.Response(500, content=b"<html>" + SECRET_TEXT.encode()),
        "401": lambda fake, request: httpx.Response(401, json={"detail": "Invalid token."}),
        "not json": lambda fake, request: httpx.Response(200, content=b"<html>log in</html>"),
        "killed": lambda fake, request: KeyboardInterrupt(),
    }


class TestFaults:
    """One fault at each request of a run, before the server did what was asked or after it.

    Then the server is well again.
    """

    @pytest.mark.slow
    @pytest.mark.parametrize("when", ["before", "after"])
    @pytest.mark.parametrize("kind", list(_faults()))
    def test_any_fault_at_any_request(
        self, tmp_path: Path, kind: str, when: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        number, runs = 0, 0
        while True:
            bench = Bench(tmp_path / f"{number}")
            tasks = [
                bench.fake.add_task({1: [SECRET_TEXT], 2: [f"{SECRET_TEXT} {k}"], 3: ["other"]}) for k in range(13)
            ]
            bench.sync()
            # A run with each kind of write in it: create, update, delete.
            bench.fake.add_task({1: [SECRET_TEXT], 2: ["new"]})
            bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["changed"])
            for annotation in bench.fake.tasks[tasks[1]]["annotations"][:2]:
                bench.fake.delete_annotation(annotation["id"])
            reached = self._break(bench, kind, when, number)
            runs += 1
            for _ in range(3):
                try:
                    bench.sync()
                    break
                except (SoftirrError, Stopped, KeyboardInterrupt):
                    continue
            assert bench.fake.wrong() == [], f"fault at request {number}"
            bench.fake.calls.clear()
            bench.sync()
            assert bench.fake.writes() == []
            bench.store.close()
            if not reached:
                break
            number += 1
        assert runs > 8, "the fault met no request"
        assert SECRET_TEXT not in caplog.text
        assert "secret-token" not in caplog.text

    @staticmethod
    def _break(bench: Bench, kind: str, when: str, number: int) -> bool:
        """A run in which the request number `place` goes wrong for as long as the run lasts.

        False if it has fewer requests.
        """
        n_requests = 0
        make = _faults()[kind]

        def fault(request: httpx.Request) -> httpx.Response | BaseException | None:
            nonlocal n_requests
            n_requests += 1
            return make(bench.fake, request) if n_requests - 1 == number else None

        setattr(bench.fake, when, fault)
        try:
            bench.sync()
        except (SoftirrError, Stopped, KeyboardInterrupt):
            pass
        finally:
            setattr(bench.fake, when, lambda request: None)
        return n_requests > number

    @pytest.mark.parametrize("kind", ["refused", "500", "401"])
    def test_unreachable_server_ends_in_a_single_sentence(self, bench: Bench, kind: str) -> None:
        answered(bench.fake, 3)
        bench.sync()
        bench.fake.before = lambda request: _faults()[kind](bench.fake, request)
        with pytest.raises(LabelStudioError) as caught:
            bench.sync()
        assert str(caught.value).count(". ") == 0
        assert "secret-token" not in str(caught.value)
        assert SECRET_TEXT not in str(caught.value)

    def test_a_task_that_goes_while_its_prediction_is_written(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)

        def vanish(request: httpx.Request) -> None:
            if request.method == "POST":
                bench.fake.tasks.pop(tasks[5], None)

        bench.fake.before = vanish  # type: ignore[assignment]
        bench.sync()
        assert bench.fake.wrong() == []
        assert tasks[5] not in bench.fake.tasks

    def test_tasks_that_change_between_two_pages(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, page_size=3)
        tasks = answered(bench.fake, 10)
        changed: list[int] = []

        def change(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and len(changed) < 3:
                task = tasks[len(changed)]
                changed.append(task)
                bench.fake.edit(bench.fake.tasks[task]["annotations"][0]["id"], [f"changed meanwhile {task}"])
                bench.fake.add_task({1: ["new"], 2: ["news"]})

        bench.fake.after = change  # type: ignore[assignment]
        bench.sync()
        bench.fake.after = lambda request: None
        bench.sync()
        assert bench.fake.wrong() == []

    def test_a_full_disk(self, bench: Bench) -> None:
        import sqlite3

        answered(bench.fake, 4)
        for index in range(12):
            full = [index]

            def refuse(connection: Any, cursor: Any, statement: str, *_: Any, full: list[int] = full) -> None:
                if statement.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
                    full[0] -= 1
                    if full[0] < 0:
                        raise sqlite3.OperationalError("database or disk is full")

            sa.event.listen(bench.store.engine, "before_cursor_execute", refuse)
            bench.fake.add_task({1: [f"x{index}"], 2: ["y"]})
            try:
                broken = False
                while not broken:  # the fewer writes a run makes, the more runs it takes
                    try:
                        bench.sync(full=True)
                    except (sqlite3.OperationalError, sa.exc.OperationalError):
                        broken = True
            finally:
                sa.event.remove(bench.store.engine, "before_cursor_execute", refuse)
            bench.sync()
            assert bench.fake.wrong() == []

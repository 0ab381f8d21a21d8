"""Log lines that are few, dated and without texts.

Files that others can't read; child processes that run no file of the present folder.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from ml_backend import logs
from ml_backend.app import create_app
from ml_backend.demo.processes import Process, free_port
from ml_backend.logs import Thinned, begin_request
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.store.database import keep_private
from ml_backend.store.lock import WorkerLock
from ml_backend.subprocess_env import child_environment, python_module
from tests.programs import run_program


def record(message: str, *values: object, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("softirr.test", level, "", 0, message, values, None)


class TestThinned:
    def test_a_flood_is_a_few_lines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """550 tracebacks a second while a server was away; "hints dropped" 16,947 times."""
        now = [0.0]
        monkeypatch.setattr(logs.time, "monotonic", lambda: now[0])
        thinned, messages = Thinned(), []
        for k in range(16_947):
            now[0] = k / 550
            log_record = record("hint %d dropped", k)
            if thinned.filter(log_record):
                messages.append(log_record.getMessage())
        assert len(messages) == logs.MOST_ALIKE
        now[0] += logs.WINDOW
        last = record("hint %d dropped", 0)
        assert thinned.filter(last)
        assert f"{16_947 - logs.MOST_ALIKE} more like this" in last.getMessage()

    def test_other_lines_and_news_are_written(self) -> None:
        thinned = Thinned()
        for _ in range(50):
            thinned.filter(record("the same"))
        assert thinned.filter(record("another"))
        assert all(thinned.filter(record("news", level=logging.INFO)) for _ in range(50))


class TestLines:
    def test_each_has_its_time_and_its_request(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        root = logging.getLogger()
        handlers_before, level = list(root.handlers), root.level
        logs.set_up_logging("INFO")
        try:
            services = Services(Settings.from_environment({}, data=tmp_path))
            services.store.migrate()
            with create_app(services=services).test_client() as client:
                reply = client.get("/report/7?k=very-secret", headers={"X-Request-ID": "abc-1"})
                assert reply.headers["X-Request-ID"] == "abc-1"
                refused_id = client.get("/report/7", headers={"X-Request-ID": "a b\tc"})
                assert refused_id.headers["X-Request-ID"] not in ("a b\tc", "abc-1")
            services.store.close()
        finally:
            root.handlers, root.level = handlers_before, level
        lines = [line for line in capsys.readouterr().err.splitlines() if "abc-1" in line]
        assert len(lines) == 1
        assert "very-secret" not in lines[0]
        assert lines[0][:4].isdigit() and lines[0][19] == "Z"
        assert "[abc-1]: GET /report/<int:number> 403 in " in lines[0]

    def test_names_of_requests(self) -> None:
        assert begin_request("a-1") == "a-1"
        for bad in (None, "", "a" * 65, "a\nb", "ä"):
            assert begin_request(bad) != bad


@pytest.mark.skipif(os.name == "nt", reason="folders of a user are closed to others on Windows")
class TestFiles:
    def test_open_folder_is_closed_with_a_warning(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        folder = tmp_path / "data"
        umask = os.umask(0o022)
        try:
            folder.mkdir(mode=0o755)
            for name in ("softirr.sqlite3", "softirr.sqlite3-wal", "queue.sqlite3"):
                (folder / name).touch(mode=0o644)
            (folder / "of somebody else").touch(mode=0o644)
            closed = keep_private(folder)
            assert "softirr.sqlite3" in closed
            assert "closed now" in caplog.text
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
            assert modes.pop("of somebody else") == 0o644
            assert modes.pop("data") == 0o700
            assert set(modes.values()) == {0o600}
            assert keep_private(folder) == []
        finally:
            os.umask(umask)

    def test_new_ones_are_closed_from_the_start(self, tmp_path: Path) -> None:
        umask = os.umask(0o022)
        try:
            services = Services(Settings.from_environment({}, data=tmp_path / "new"))
            keep_private(services.settings.data)
            services.store.migrate()
            lock = WorkerLock(services.store)
            assert lock.acquire()
            lock.release()
            services.store.close()
        finally:
            os.umask(umask)
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
        files = list((tmp_path / "new").iterdir())
        assert {"softirr.sqlite3", "softirr.sqlite3.worker"} <= {file.name for file in files}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


class TestChildProcesses:
    @pytest.mark.parametrize("module", ["ml_backend.worker", "ml_backend.web_process"])
    def test_they_run_no_file_of_the_present_folder(self, module: str, tmp_path: Path) -> None:
        for name in ("sqlalchemy", "flask", "waitress", "sitecustomize"):
            (tmp_path / f"{name}.py").write_text("open('ran', 'w')")
        (tmp_path / "ml_backend").mkdir()
        (tmp_path / "ml_backend" / "__init__.py").write_text("open('ran', 'w')")
        environment = child_environment(os.environ | {"PYTHONPATH": ":.:relative"})
        environment |= {"SOFTIRR_DATA": str(tmp_path / "data"), "LOG_LEVEL": "nonsense"}
        done = run_program(*python_module(module), folder=tmp_path, environment=environment, status=None)
        assert "LOG_LEVEL is none of" in done.stderr, "it got as far as its settings"
        assert not (tmp_path / "ran").exists()

    @pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
    def test_a_stop_during_the_workers_imports_leaves_no_traceback(self, tmp_path: Path) -> None:
        log = tmp_path / "serve.log"
        environment = child_environment() | {"SOFTIRR_DATA": str(tmp_path), "LABEL_STUDIO_URL": "http://127.0.0.1:9"}
        command = python_module("ml_backend", "serve", "--port", str(free_port()))
        server = Process(command, environment=environment, log=log, name="softirr-ls serve")

        def worker_imports() -> bool:
            for child in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split():
                with contextlib.suppress(OSError):
                    if b"ml_backend.worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                        return "numpy" in Path(f"/proc/{child}/maps").read_text()
            return False

        try:
            until = time.monotonic() + 120
            while not worker_imports() and time.monotonic() < until and server.running():
                time.sleep(0.01)
            os.kill(server.pid, signal.SIGTERM)
            assert server.wait() == 0
        finally:
            server.stop()
        text = log.read_text(encoding="utf-8")
        assert "Traceback" not in text and "worker ready" not in text

    def test_the_checkout_is_found_without_being_installed(self) -> None:
        root = str(Path(sys.modules["ml_backend"].__file__ or "").resolve().parents[1])
        assert root in child_environment({})["PYTHONPATH"].split(os.pathsep)

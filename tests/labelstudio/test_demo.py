"""The demo: `--check` passes, and every started process stops."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ml_backend.demo import Demo
from ml_backend.demo.processes import free_port
from tests.labelstudio.backend import descendants


@pytest.fixture(scope="class")
def kept_scores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The model's scores are kept, as for a user: the demo in its folder, ``softirr score`` in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SOFTIRR_CACHE")
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="class")
def first_check(
    kept_scores: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A demo's folder, and its first start with ``--check``."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    command = _command(folder, "--check")
    return folder, subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope="class")
def demo_folder(first_check: tuple[Path, subprocess.CompletedProcess[str]]) -> Path:
    """The folder of a demo that was started before, whichever tests run."""
    folder, done = first_check
    assert (folder / "demo.json").is_file(), f"{done.stdout}\n{done.stderr}"
    return folder


def _in_the_background() -> None:
    """A shell has what it runs in the background ignore Ctrl-C: the demo listens all the same."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "ml_backend", "demo", "--folder", str(folder), *options]


@pytest.mark.timeout(1200)  # the first check has 900 s
@pytest.mark.usefixtures("start_label_studio")
class TestDemo:
    """`make demo` as a user runs it, less make."""

    def test_check_passes_on_a_fresh_folder(self, first_check: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
        demo_folder, done = first_check
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        assert "Checked: 67 tasks" in done.stdout
        assert (demo_folder / "demo.json").stat().st_mode & 0o077 == 0, "it holds an access token"
        token = json.loads((demo_folder / "demo.json").read_text())["token"]
        assert token not in (demo_folder / "softirr" / "backend.log").read_text()

    def test_check_passes_again_and_fails_when_someone_tampers(
        self, demo_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # otherwise the backend may repair the predictions before the check sees them
        monkeypatch.setenv("SOFTIRR_RECONCILE_SECONDS", "3600")
        assert (demo_folder / "demo.json").is_file(), sorted(demo_folder.parent.rglob("*"))[:50]
        with contextlib.ExitStack() as stack:
            demo = Demo(demo_folder, measure=None, stack=stack)
            demo.open(fresh=False)
            demo.start()
            assert demo.check() == 0, capsys.readouterr()
            assert "is there from the last time" in capsys.readouterr().out
            all_predictions = demo.api.get("/api/predictions/", project=demo.project)
            predictions = [prediction for prediction in all_predictions if prediction["model_version"] == "agreement"]
            lowest, *_, highest = sorted(predictions, key=lambda prediction: prediction["score"])
            demo.api.patch(f"/api/predictions/{highest['id']}/", {"score": 0.0123})
            demo.api.delete(f"/api/predictions/{lowest['id']}/")
            copy = {"task": highest["task"], "result": [], "score": highest["score"], "model_version": "agreement"}
            demo.api.post("/api/predictions/", {**copy, "task": lowest["task"]})
            demo.api.post("/api/predictions/", copy)
            assert demo.check() == 1
        errors = capsys.readouterr().err
        assert f"Task {highest['task']} has 2 predictions of version agreement where 1 is right" in errors
        assert f"Task {lowest['task']} has the score {highest['score']}" in errors
        assert "The score column differs from softirr score" in errors
        assert "A second sync wrote something" in errors, "it puts right what was changed"

    @pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
    def test_ctrl_c_stops_only_the_processes_it_started(self, demo_folder: Path) -> None:
        bystander = subprocess.Popen(["sleep", "600"])
        output = demo_folder.parent / "output"
        with output.open("w") as out:
            demo = subprocess.Popen(
                _command(demo_folder), stdout=out, stderr=subprocess.STDOUT, preexec_fn=_in_the_background
            )
        try:
            while "Ctrl-C stops everything" not in output.read_text():
                assert demo.poll() is None, output.read_text()
                time.sleep(0.5)
            started = descendants(demo.pid)
            assert len(started) >= 2
            demo.send_signal(signal.SIGINT)
            assert demo.wait(120) == 0
            assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
            assert bystander.poll() is None
        finally:
            bystander.kill()
            bystander.wait()
            demo.kill()
            demo.wait()
        log = output.read_text()
        assert "agreement 0." in log and "Krippendorff's alpha · " in log, log
        assert "Cohen's kappa" not in log, "one headline everywhere"
        assert "/data?tab=" in log
        assert "lead@example.org" in log


class TestDemoRefuses:
    """Impossible requests end in one sentence and harm nothing."""

    def _errors(self, folder: Path, *options: str, **environment: str) -> str:
        """Errors of a demo that can't start."""
        command = _command(folder, *options, "--check")
        variables = {**os.environ, **environment}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        return done.stderr

    def test_a_folder_that_is_not_a_demos_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.doc").write_text("precious")
        assert "not a demo's folder" in self._errors(tmp_path, "--fresh")
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]

    def test_missing_label_studio_is_refused_in_a_single_sentence(self, tmp_path: Path) -> None:
        errors = self._errors(tmp_path / "demo", SOFTIRR_LABEL_STUDIO=str(tmp_path / "nowhere"))
        assert errors.count("\n") == 1
        assert "which is not a program that can be run" in errors

    def test_broken_label_studio_prints_its_last_output_and_a_next_step(self, tmp_path: Path) -> None:
        program = tmp_path / "environment" / "bin" / "label-studio"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho no module named django\nexit 1\n")
        program.chmod(0o755)
        errors = self._errors(tmp_path / "demo", SOFTIRR_LABEL_STUDIO=str(program))
        assert "no module named django" in errors
        assert "`make demo` installs a new one" in errors

    def test_a_folder_that_can_not_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        errors = self._errors(tmp_path / "file" / "demo")
        assert errors.startswith("The demo can't go on: ")
        assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")],
    ids=["loopback", "everywhere", "IPv6"],
)
def test_a_preferred_port_is_taken_only_if_free(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as taken:
        try:
            taken.bind((address, 0))
        except OSError:
            pytest.skip(f"this machine has no {address}")
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port

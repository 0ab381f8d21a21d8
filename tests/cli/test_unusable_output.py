"""A result that cannot be shown ends in one sentence, whatever it is printed to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.refusals import HEADER, sentence


def _run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "softirr", *arguments]
    return subprocess.run(
        command, stderr=subprocess.PIPE, text=True, encoding="utf-8", timeout=120, check=False, **options
    )


class TestTheResultCanNotBeShown:
    """The input is right; its output can't be used."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> str:
        (tmp_path / "input").write_text(HEADER + "1,Zoë,x\n1,Łukasz,y\n2,Zoë,x\n2,Łukasz,x\n", encoding="utf-8")
        return str(tmp_path / "input")

    def test_a_terminal_that_lacks_letters_gets_their_numbers(self, table: str) -> None:
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "OMP_NUM_THREADS": "1"}
        done = _run("score", table, "--measure", "exact", env=environment, stdout=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Zo\\xeb" in done.stdout
        assert "\\u0141ukasz" in done.stdout

    @pytest.mark.slow
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is played by /dev/full")
    @pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
    def test_a_full_disk(self, table: str, options: list[str]) -> None:
        with open("/dev/full", "w") as full:
            done = _run("score", table, "--measure", "exact", *options, stdout=full)
        assert done.returncode == 1
        assert "The result can't be written: No space left on device" in sentence(done.stderr)

    @pytest.mark.skipif(os.name == "nt", reason="the shell is POSIX")
    @pytest.mark.parametrize("options", ["", "--json"])
    def test_closed_standard_output(self, table: str, options: str) -> None:
        command = f"exec {sys.executable} -m softirr score {table} --measure exact {options} >&-"
        done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        assert done.returncode == 1
        assert "Standard output is closed" in sentence(done.stderr)

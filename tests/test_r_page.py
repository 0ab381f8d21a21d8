"""The page for R: its code gives the numbers of the library if R is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import softirr
from tests.programs import run_program

RSCRIPT = shutil.which("Rscript")


def has_package(name: str) -> bool:
    command = [str(RSCRIPT), "-e", f"quit(status = !requireNamespace('{name}', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(RSCRIPT is None, reason="R is not installed")
def test_page_code_prints_library_numbers(root: Path, tmp_path: Path) -> None:
    if not has_package("jsonlite"):
        pytest.skip("R has no package jsonlite")
    page = (root / "docs/how-to/r.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"```csv\n(.*?)```", page, flags=re.DOTALL)
    (code,) = re.findall(r"```r\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "answers.csv").write_text(table, encoding="utf-8")
    # The model takes seconds to load, and the code does not depend on it.
    (tmp_path / "page.R").write_text(code.replace('"nli"', '"indel"'), encoding="utf-8")
    program = tmp_path / "bin" / "softirr"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m softirr "$@"\n')
    program.chmod(0o755)
    paths = {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(root)}
    done = run_program(RSCRIPT, "page.R", folder=tmp_path, environment=os.environ | paths)
    expected = softirr.agreement(softirr.read(tmp_path / "answers.csv"), measure="indel").coefficients[
        "krippendorff_alpha"
    ]
    assert expected.value is not None and expected.ci95 is not None
    low, high = expected.ci95
    assert f"{expected.value:.2f}, 95% interval {low:.2f} to {high:.2f}\n" in done.stdout
    assert len(re.findall(r"^\d+ +\d ", done.stdout, flags=re.MULTILINE)) == 4, "a row for each item"

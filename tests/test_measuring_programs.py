"""The programs behind the tables of docs/results/backend.md run with the documented options."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "shows"),
    [
        (["tests.labelstudio.measure_scale", "--help"], "--parts"),
        (["tests.browser.measure_review", "--help"], "--folder"),
        (["tests.browser.take_screenshots", "--help"], "--measure"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_program_runs(words: list[str], shows: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert shows in done.stdout

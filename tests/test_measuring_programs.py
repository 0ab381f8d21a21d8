"""The programs behind the tables of docs/results/backend.md run with the documented options."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.programs import run_program

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
    assert shows in run_program(sys.executable, "-m", *words, folder=ROOT, environment=environment).stdout

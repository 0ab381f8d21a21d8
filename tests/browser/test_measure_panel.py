"""The program that measures the panel's time runs; its results at 50,000 tasks are in the folder `results`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.programs import run_program

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def test_it_measures(chromium: Any) -> None:
    """The project is too small for meaningful figures; `chromium` skips the test without a browser."""
    measured = json.loads(run_program(sys.executable, "-m", "tests.browser.measure_panel", 80, 2, folder=ROOT).stdout)
    assert (measured["tasks"], measured["frames"]) == (80, 2)
    assert 0 < measured["drawn_median_ms"] <= measured["drawn_p95_ms"] and measured["answer_median_ms"] > 0


def test_recorded_times_are_within_the_documented_limits() -> None:
    kept_record = json.loads((HERE / "results" / "panel_50000.json").read_text(encoding="utf-8"))
    assert kept_record["tasks"] == 50_000 and kept_record["frames"] >= 40
    assert kept_record["drawn_median_ms"] < 300

"""A short version of `python -m lab.bench judgments`: intervals of simulated projects, with fixed seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.bench.judgments import NARROW, Trial, lines, trials

FEW, PROJECTS = 10, 30


@pytest.fixture(scope="module")
def simulated() -> list[Trial]:
    return list(trials(FEW, (0, 30)))


@pytest.fixture(scope="module")
def many_simulated() -> list[Trial]:
    return list(trials(PROJECTS, (0, 30)))


def held(some: list[Trial]) -> float:
    return float(np.mean([trial.low <= trial.truth <= trial.high for trial in some]))


def of(some: list[Trial], route: str, n: int | None) -> list[Trial]:
    return [trial for trial in some if (trial.route, trial.judgments) == (route, n)]


@pytest.mark.slow
@pytest.mark.parametrize(("route", "n"), [("estimator", 0), ("estimator", 30), ("looking", None), ("classical", 30)])
def test_intervals_contain_the_truth(many_simulated: list[Trial], route: str, n: int | None) -> None:
    """Of 30 intervals at 95%, fewer than 25 contain the truth once in 300 times."""
    some = of(many_simulated, route, n)
    assert len(some) == PROJECTS and held(some) >= 25 / 30


def test_an_interval_that_is_too_narrow_is_noticed(simulated: list[Trial]) -> None:
    half = [
        replace(trial, low=(3 * trial.value + trial.low) / 4, high=(3 * trial.value + trial.high) / 4)
        for trial in of(simulated, "estimator", 30)
    ]
    assert held(half) < 25 / 30


def test_judgments_narrow_the_interval_and_beat_the_classical_audit(simulated: list[Trial]) -> None:
    def width(some: list[Trial]) -> float:
        return float(np.mean([trial.high - trial.low for trial in some]))

    without, with_30 = (of(simulated, "estimator", n) for n in (0, 30))
    assert width(with_30) < 0.6 * width(without)
    assert width(with_30) < width(of(simulated, "classical", 30))
    narrow = [trial for trial in of(simulated, "looking", None) if trial.high - trial.low <= NARROW]
    assert len(narrow) > FEW / 2


def test_the_table_has_a_line_for_each_number_and_one_by_looking(simulated: list[Trial]) -> None:
    rows = list(lines(simulated))
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| 0", "| 30", "| by looking"]
    assert {row.count("|") for row in rows} == {8}

"""What verdicts on models need: power in simulated projects, error at the margin, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softirr
from softirr.errors import InputError
from softirr.planning.plan_models import plan_models, power_equivalent, power_within
from tests.planning.examples import PEOPLE, Cli, rows_of, table_of, written

MODEL = "model:one"
RIGHT = 0.8
ACCURACY = {**dict.fromkeys(PEOPLE, RIGHT), MODEL: RIGHT}


def pilot(seed: int, n: int, right: float = RIGHT) -> softirr.AnnotationTable:
    """The kappa of a pair is the product of their shares, so the model is RIGHT * (RIGHT - right) below."""
    return table_of(rows_of(n, {**ACCURACY, MODEL: right}, seed))


def verdicts(n: int, right: float, margin: float, runs: int, seed: int) -> list[str]:
    compared = (
        softirr.compare_raters(pilot(seed + run, n, right), [MODEL], "exact", margin=margin) for run in range(runs)
    )
    return [one.differences[0].verdict or "" for one in compared]


@pytest.mark.slow
def test_projects_of_the_planned_size_reach_the_power_and_at_the_margin_the_error_is_5_percent() -> None:
    margin = 0.2
    pilots = [plan_models(pilot(seed, 100), [MODEL], "exact", margin=margin, power=0.8) for seed in range(3)]
    items = int(np.mean([one.items for plan in pilots for one in plan.models if one.verdict == "equivalent"]))
    planned = verdicts(items, RIGHT, margin, 40, 1000)
    assert 0.6 <= np.mean([one.startswith("equivalent") for one in planned]) <= 0.97
    wrong = sum(one.startswith("equivalent") for one in verdicts(items, RIGHT - margin / RIGHT, margin, 80, 3000))
    assert wrong <= 9, "5% of 80 are 4; 9 is exceeded with a probability of 0.6%"


def test_power_is_that_of_simulated_t_tests() -> None:
    rng, n, error = np.random.default_rng(1), 25, 0.03
    values = rng.normal(-0.01, error * np.sqrt(n), (20_000, n))
    mean, se = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(n)
    from scipy.stats import t

    within = np.mean(mean - t.ppf(0.975, n - 1) * se > -0.1)
    equivalent = np.mean(np.abs(mean) + t.ppf(0.95, n - 1) * se < 0.1)
    assert power_within(0.01, error, n, 0.1) == pytest.approx(within, abs=0.01)
    assert power_equivalent(0.01, error, n, 0.1) == pytest.approx(equivalent, abs=0.01)


@pytest.mark.slow
def test_audited_numbers_are_larger_and_a_narrower_margin_needs_more() -> None:
    table = pilot(3, 80)
    wide, narrow = (plan_models(table, [MODEL], "indel", margin=margin) for margin in (0.2, 0.1))
    for one, other in zip(wide.models, narrow.models, strict=True):
        assert one.items is not None and other.items is not None and one.items < other.items
        assert one.audited_items is not None and one.audited_items > one.items and one.judgments is not None
    far = plan_models(table, [MODEL], "indel", margin=0.1, below=0.0999)
    assert [one.items for one in far.models] == [None, None] and " - " in str(far)


def test_judged_sheets_are_used(tmp_path: Path) -> None:
    table = pilot(3, 80)
    sheet = softirr.audit.draw_sheet(table, "indel", judgements=100)
    head, *rows = sheet.to_csv().splitlines()
    same = ["same" if unit.text_a == unit.text_b else "different" for unit in sheet.units]
    (tmp_path / "sheet.csv").write_text("\n".join([head, *(a + b for a, b in zip(rows, same, strict=True))]))
    plan = plan_models(table, [MODEL], "indel", margin=0.2, sheets=[tmp_path / "sheet.csv"])
    assert not any("simulated" in note for note in plan.notes)


@pytest.mark.slow
def test_the_command(tmp_path: Path, cli: Cli, root: Path) -> None:
    path = written(tmp_path / "pilot.csv", rows_of(60, ACCURACY, 1))
    command = ["plan", path, "--measure", "indel", "--models", MODEL]
    assert "Margin 0.2, power 0.8, if the model is 0 below the others." in cli(*command, "--margin", "0.2")
    plan = cli(*command, "--margin", "0.2", "--json")
    page = (root / "docs/reference/json.md").read_text().split("## A plan")[1]
    assert [key for key in {*plan, *plan["models"][0]} - {"schema_version"} if f"`{key}`" not in page] == []
    for words, why in (
        ([*command, "--plot", "x.svg"], "no curves"),
        (["plan", path, "--margin", "0.1"], "go with --models"),
        (["plan", "--models", MODEL], "plans from a pilot"),
        ([*command, "--below", "0.5"], "below is 0.5"),
    ):
        assert why in cli(*words, status=2)


def test_a_pilot_without_spread_is_refused() -> None:
    rows = [(str(i), who, f"text {i % 3}") for i in range(20) for who in (*PEOPLE, MODEL)]
    with pytest.raises(InputError, match="is without spread"):
        plan_models(table_of(rows), [MODEL], "exact")

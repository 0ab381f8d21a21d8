"""``python -m lab.experiments`` from end to end on a small terminology, and its errors for unusable input."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lab.experiments import __main__ as command
from lab.experiments.run import NamedMeasure, Plan, Record, run_synthetic
from lab.terminologies import load

pytestmark = pytest.mark.slow


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def run_folder(terminology_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run with everything: two terminologies, all settings and negatives."""
    folder = tmp_path_factory.mktemp("experiment") / "run"
    assert command.main(_arguments(terminology_folder, folder)) == 0
    return folder


def _arguments(terminology: Path, folder: Path, *more: str) -> list[str]:
    return [
        "synthetic",
        *("--terminology", f"one={terminology}", "--terminology", f"two={terminology}"),
        *("--measure", "exact", "--measure", "Indel=indel", "--populations", "2", "--size", "30"),
        *("--output", str(folder)),
        *more,
    ]


def test_every_table_is_there(run_folder: Path) -> None:
    tables = {path.stem for path in (run_folder / "tables").iterdir()}
    names = ("mae", "coefficients", "negatives")
    assert {f"{name}_{setting}" for setting in ("paper", "hard", "sets") for name in names} <= tables
    assert {"assignment", "calibration", "cost"} <= tables
    figures = {name for name in tables if name.startswith("figure_")}
    kinds = ("errors", "error_by_truth", "calibration")
    assert figures == {f"figure_{kind}_{setting}" for setting in ("paper", "hard", "sets") for kind in kinds}
    page = (run_folder / "results.md").read_text(encoding="utf-8")
    assert page.count("\n|---|") == len(tables - figures)
    assert page.count("Made by: python -m lab.experiments synthetic") == 1


def _records(terminology: Path, measure: str) -> list[Record]:
    terminologies = [load(f"{name}={terminology}") for name in ("one", "two")]
    plan = Plan(settings=("hard",), populations=2, size=30)
    records = run_synthetic(plan, terminologies, [NamedMeasure.of(measure)])
    return [record for record in records if record.project.negatives == "random"]


def test_errors_in_the_tables_are_those_of_the_scores(run_folder: Path, terminology_folder: Path) -> None:
    records = _records(terminology_folder, "indel")
    assert len(records) == 4
    mean = sum(r.error() or 0 for r in records) / 4
    row = next(r for r in _rows(run_folder / "tables" / "mae_hard.csv") if r["Measure"] == "Indel")
    assert float(row["All"]) == pytest.approx(mean, rel=1e-5)
    assert row["Measure mark"] in ("", "bold")


def test_the_calibration_error_of_the_exact_measure_is_the_share_of_missed_pairs(
    run_folder: Path, terminology_folder: Path
) -> None:
    records = _records(terminology_folder, "exact")
    missed = sum(r.error("observed_agreement") or 0 for r in records) / 4
    row = next(r for r in _rows(run_folder / "tables" / "calibration.csv") if r["Measure"] == "exact")
    assert float(row["hard, random"]) == pytest.approx(missed, rel=1e-5)
    assert missed > 0.05


def test_figure_data_repeat_the_tables(run_folder: Path) -> None:
    errors = _rows(run_folder / "tables" / "figure_errors_hard.csv")
    random = [float(row["Error"]) for row in errors if (row["Measure"], row["Negatives"]) == ("Indel", "random")]
    table = next(row for row in _rows(run_folder / "tables" / "mae_hard.csv") if row["Measure"] == "Indel")
    assert sum(random) / len(random) == pytest.approx(float(table["All"]), rel=1e-4)
    by_truth = [
        row for row in _rows(run_folder / "tables" / "figure_error_by_truth_hard.csv") if row["Measure"] == "Indel"
    ]
    assert sum(int(row["Populations"]) for row in by_truth) == len(random)
    weighted = sum(int(row["Populations"]) * float(row["MAE"]) for row in by_truth) / len(random)
    assert weighted == pytest.approx(float(table["All"]), rel=1e-4)
    bins = [row for row in _rows(run_folder / "tables" / "figure_calibration_hard.csv") if row["Measure"] == "Indel"]
    pairs = sum(int(row["Pairs"]) for row in bins)
    distance = sum(int(row["Pairs"]) * abs(float(row["Mean P"]) - float(row["Share the same"])) for row in bins) / pairs
    ece = next(row for row in _rows(run_folder / "tables" / "calibration.csv") if row["Measure"] == "Indel")
    assert distance == pytest.approx(float(ece["hard, random"]), rel=1e-3)


def test_plot_draws_every_figure_of_the_same_numbers(
    run_folder: Path, terminology_folder: Path, tmp_path: Path
) -> None:
    assert not (run_folder / "figures").exists()
    plot_folder = tmp_path / "again"
    assert command.main(_arguments(terminology_folder, plot_folder, "--setting", "hard", "--plot")) == 0
    kinds = ("errors", "error_by_truth", "calibration", "negatives")
    size_of_figure = {path.name: path.stat().st_size for path in (plot_folder / "figures").iterdir()}
    assert set(size_of_figure) == {f"{kind}_hard.png" for kind in kinds}
    coefficients = "tables/coefficients_hard.csv"
    assert (plot_folder / coefficients).read_bytes() == (run_folder / coefficients).read_bytes()
    assert min(size_of_figure.values()) > 5_000


def test_a_run_without_random_negatives_has_no_tables_that_need_them(terminology_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "siblings"
    options = [
        *("--setting", "hard", "--negatives", "sibling", "--populations", "1"),
        *("--size", "20", "--measure", "indel"),
    ]
    assert command.main(["synthetic", "--terminology", str(terminology_folder), "--output", str(folder), *options]) == 0
    tables = {path.stem for path in (folder / "tables").iterdir()}
    assert {"figure_errors_hard", "calibration"} <= tables
    assert not tables & {"mae_hard", "negatives_hard", "cost"}
    (row,) = _rows(folder / "tables" / "calibration.csv")
    assert row["hard, random"] == ""
    assert float(row["hard, all kinds"]) > 0


def test_nothing_is_scored_when_one_of_the_terminologies_is_too_small(
    terminology_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    (small / "concepts.tsv").write_text("id\tname\n1\tfever\n2\tcough\n")
    terminologies = ["--terminology", str(terminology_folder), "--terminology", str(small)]
    assert command.main(["synthetic", *terminologies, "--output", str(tmp_path / "run")]) == 2
    assert "small has 0 concepts" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_annotated_tables_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"A": ("high blood pressure", "hypertension"), "B": ("fever", "high fever"), "C": ("cough", "dry cough")}
    rows = ["item,rater,text,codes"]
    for i in range(30):
        a, b = "ABC"[i % 3], "ABC"[(i if i % 5 else i + 1) % 3]
        rows += [f"{i},ann,{words[a][0]},{a}", f"{i},ben,{words[b][1]},{b}"]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    folder = tmp_path / "run"
    assert command.main(["real", "--table", str(path), "--output", str(folder)]) == 0
    assert "Ground truth" in capsys.readouterr().out
    rows_by_measure = {r["Measure"]: r for r in _rows(folder / "tables" / "real.csv")}
    truth = float(rows_by_measure["Ground truth"]["mine κ"])
    assert float(rows_by_measure["exact"]["mine κ error"]) == pytest.approx(
        abs(float(rows_by_measure["exact"]["mine κ"]) - truth), abs=1e-5
    )
    assert any(r["mine κ error mark"] == "bold" for r in rows_by_measure.values())

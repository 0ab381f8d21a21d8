"""The figures of Wullschleger et al. (2026): the data of each as a table, and the drawing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lab.experiments.analysis import KAPPA, TITLES, Results, calibration_curve
from lab.results_table import Row, Table
from softirr.errors import InputError, writing

KAPPA_BINS = tuple(k / 5 for k in range(6))
"""Edges of the bins of the true kappa; the first bin also contains negative values."""


def figure_tables(results: Results) -> tuple[Table, ...]:
    """The data of every figure: errors per population, mean error by true kappa, and calibration bins.

    The heat maps of the change by kind of negatives draw the tables ``negatives_*``.
    """
    tables = []
    for setting in results.settings:
        tables += [
            _population_errors(results, setting),
            _error_by_truth(results, setting),
            _calibration_bins(results, setting),
        ]
    return tuple(table for table in tables if table.rows)


def _population_errors(results: Results, setting: str) -> Table:
    """|estimated kappa - true kappa| of every population (violins)."""
    rows: list[Row] = [
        (r.project.source, r.project.negatives, r.project.number, r.label, r.project.truth[KAPPA], error)
        for r in results.select(setting)
        if (error := r.error(KAPPA)) is not None
    ]
    return Table(
        name=f"figure_errors_{setting}",
        title=f"Error of κ of every population, {TITLES[setting]}",
        columns=("Terminology", "Negatives", "Population", "Measure", "True κ", "Error"),
        rows=tuple(rows),
    )


def _error_by_truth(results: Results, setting: str) -> Table:
    """Mean error by true kappa, random negatives."""
    groups: dict[tuple[str, int], list[float]] = {}
    for record in results.select(setting, "random"):
        truth, error = record.project.truth[KAPPA], record.error(KAPPA)
        if truth is not None and error is not None:
            bin_index = int(np.clip(np.searchsorted(KAPPA_BINS, truth, side="right") - 1, 0, len(KAPPA_BINS) - 2))
            groups.setdefault((record.label, bin_index), []).append(error)
    rows: list[Row] = [
        (label, KAPPA_BINS[b], KAPPA_BINS[b + 1], len(errors), float(np.mean(errors)))
        for (label, b), errors in sorted(groups.items())
    ]
    return Table(
        name=f"figure_error_by_truth_{setting}",
        title=f"MAE of κ by true κ, {TITLES[setting]}, random negatives",
        columns=("Measure", "From", "To", "Populations", "MAE"),
        rows=tuple(rows),
    )


def _calibration_bins(results: Results, setting: str) -> Table:
    """Reliability curves of same-item pairs, random negatives."""
    labels = dict.fromkeys(r.label for r in results.select(setting, "random"))
    rows: list[Row] = [
        (label, bin_.low, bin_.high, bin_.n_pairs, bin_.mean_p, bin_.share_same)
        for label in labels
        for bin_ in calibration_curve(results, setting, label, "random")
        if bin_.n_pairs
    ]
    return Table(
        name=f"figure_calibration_{setting}",
        title=f"Calibration of P on same-item pairs, {TITLES[setting]}, random negatives",
        columns=("Measure", "From", "To", "Pairs", "Mean P", "Share the same"),
        rows=tuple(rows),
    )


def plot(tables: tuple[Table, ...], folder: Path) -> None:
    """Draw the figures of a run as PNG files.

    Parameters
    ----------
    tables : tuple of Table
        The tables of the run; those without a figure are skipped.
    folder : Path
        Created if missing.

    Raises
    ------
    InputError
        If matplotlib is missing, or a file can't be written.
    """
    try:
        import matplotlib
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'softirr[lab]'.") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    for table in tables:
        draw = next((draw for prefix, draw in _DRAWINGS.items() if table.name.startswith(prefix)), None)
        if draw is None:
            continue
        figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
        draw(axes, _columns(table))
        axes.set_title(table.title, fontsize="medium")
        path = folder / f"{table.name.removeprefix('figure_')}.png"
        with writing(path):
            folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=120)
        pyplot.close(figure)


def _columns(table: Table) -> dict[str, list[Any]]:
    cells = [[getattr(cell, "value", cell) for cell in row] for row in table.rows]
    return {name: [row[i] for row in cells] for i, name in enumerate(table.columns)}


def _draw_errors(axes: Any, columns: dict[str, list[Any]]) -> None:
    errors: dict[str, list[float]] = {}
    for label, error in zip(columns["Measure"], columns["Error"], strict=True):
        errors.setdefault(label, []).append(error)
    order = sorted(errors, key=lambda label: float(np.mean(errors[label])))
    axes.violinplot([errors[label] for label in order], showmeans=True, orientation="horizontal")
    axes.set_yticks(range(1, len(order) + 1), order)
    axes.set_xlabel("|estimated κ − true κ|")


def _draw_error_by_truth(axes: Any, columns: dict[str, list[Any]]) -> None:
    centers = [(low + high) / 2 for low, high in zip(columns["From"], columns["To"], strict=True)]
    _draw_curves(axes, columns["Measure"], centers, columns["MAE"])
    axes.set_xlabel("True κ")
    axes.set_ylabel("MAE of κ")


def _draw_calibration(axes: Any, columns: dict[str, list[Any]]) -> None:
    axes.plot((0, 1), (0, 1), color="gray", linestyle="--", linewidth=1)
    _draw_curves(axes, columns["Measure"], columns["Mean P"], columns["Share the same"])
    axes.set_xlabel("Mean P")
    axes.set_ylabel("Share of pairs with the same concept")


def _draw_curves(axes: Any, labels: list[str], x: list[float], y: list[float]) -> None:
    """A curve for each label."""
    for label in dict.fromkeys(labels):
        rows = [i for i, name in enumerate(labels) if name == label]
        axes.plot([x[i] for i in rows], [y[i] for i in rows], marker="o", label=label)
    axes.legend(fontsize="small")


def _draw_negatives(axes: Any, columns: dict[str, list[Any]]) -> None:
    kinds = list(columns)[2:]
    changes = np.array([columns[kind] for kind in kinds], dtype=np.float64).T
    largest = float(np.nanmax(np.abs(changes))) or 1.0
    axes.imshow(changes, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto")
    axes.set_xticks(range(len(kinds)), kinds)
    axes.set_yticks(range(len(columns["Measure"])), columns["Measure"])
    for row, column in np.argwhere(np.isfinite(changes)):
        axes.text(column, row, f"{changes[row, column]:+.3f}", ha="center", va="center", fontsize="small")


_DRAWINGS = {
    "figure_errors_": _draw_errors,
    "figure_error_by_truth_": _draw_error_by_truth,
    "figure_calibration_": _draw_calibration,
    "negatives_": _draw_negatives,
}
"""Beginning of a table's name -> the drawing of its figure."""

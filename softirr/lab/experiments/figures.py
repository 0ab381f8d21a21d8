"""Figures: violins of errors, errors against the true value, reliability curves and heat maps, as in Wullschleger et al. (2026)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from softirr.errors import InputError
from softirr.lab.experiments.analysis import KAPPA, SIGNS, TITLES, Results, best_of_family, errors_of, reliability_of
from softirr.lab.experiments.output import Table
from softirr.lab.experiments.statistics import PERMUTATIONS_EACH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg")
_BLUE, _GREY, _RED = "#3b6ea5", "#555555", "#b0413e"
_COLOURS = ("#222222", "#3b6ea5", "#d08a2e", "#4f8f4a", "#8a5aa8", "#b0413e", "#6b6b6b")
_BINS = 10


def _figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure that needs no display, and its axes as an array (rows, columns)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def violins(results: Results, setting: str, negatives: str = "random", coefficient: str = KAPPA) -> Figure:
    """Errors of each measure over all populations, and by terminology; best measure on top."""
    sources = results.sources(setting)
    whole = errors_of(results, setting, coefficient, negatives)
    order = errors_of(results, setting, coefficient, "random").order
    panels = [("all", whole), *((s, whole.where(lambda key, s=s: key[0] == s)) for s in sources)]  # type: ignore[misc]
    figure, axes = _figure(2.6 * len(panels), 0.9 + 0.34 * len(order), 1, len(panels), sharey=True, sharex=True)
    for axis, (name, errors) in zip(axes[0], panels, strict=True):
        best = errors.ties() if name == "all" else errors.ties(PERMUTATIONS_EACH)
        for place, label in enumerate(order):
            values = errors.by_label[label]
            if len(values) > 1 and np.ptp(values) > 0:
                parts = axis.violinplot(values, [place], orientation="horizontal", widths=0.85, showextrema=False)
                for body in parts["bodies"]:
                    body.set_facecolor(_BLUE if label in best else _GREY)
                    body.set_alpha(0.55)
            if len(values):
                axis.plot(values.mean(), place, "|", color="black", markersize=10, markeredgewidth=1.6)
        axis.set_title(name, fontsize=9)
        axis.set_xlim(0, None)
        axis.tick_params(labelsize=8)
        axis.grid(axis="x", alpha=0.3)
    first = axes[0][0]
    first.set_yticks(range(len(order)), labels=list(order))
    first.invert_yaxis()
    best = whole.ties()
    for text, label in zip(first.get_yticklabels(), order, strict=True):
        text.set_fontweight("bold" if label in best else "normal")
    title = f"Error of {SIGNS[coefficient]}, {TITLES[setting]}, {negatives} negatives"
    figure.suptitle(fill(title, width=32 * len(panels)), fontsize=10)
    return figure


def against_truth(results: Results, settings: Sequence[str]) -> Figure:
    """Error of kappa against the true kappa: exact matching and the best measure of each family."""
    figure, axes = _figure(3.6 * len(settings), 3.0, 1, len(settings), sharey=True)
    colors = _colors(results, settings)
    for axis, setting in zip(axes[0], settings, strict=True):
        records = results.select(setting, "random")
        for label in best_of_family(results, setting):
            color = colors[label]
            points = [
                (r.population.truth[KAPPA], r.error()) for r in records if r.label == label and r.error() is not None
            ]
            truth, error = (np.array([p[i] for p in points], dtype=np.float64) for i in (0, 1))
            edges = np.linspace(0, 1, _BINS // 2 + 1)
            place = np.clip(np.searchsorted(edges, truth, side="right") - 1, 0, len(edges) - 2)
            bins = [k for k in range(len(edges) - 1) if (place == k).any()]
            axis.plot(truth, error, ".", color=color, alpha=0.18, markersize=4)
            axis.plot(
                [truth[place == k].mean() for k in bins],
                [error[place == k].mean() for k in bins],
                "-o",
                color=color,
                markersize=3,
                label=label,
            )
        _dress(axis, setting, "true κ")
    axes[0][0].set_ylabel("error of κ", fontsize=9)
    return figure


def calibration(results: Results, settings: Sequence[str]) -> Figure:
    """Reliability curves of same-item pairs with the expected calibration error in the legend."""
    figure, axes = _figure(3.4 * len(settings), 3.2, 1, len(settings), sharey=True)
    colors = _colors(results, settings)
    for axis, setting in zip(axes[0], settings, strict=True):
        axis.plot([0, 1], [0, 1], ":", color=_GREY)
        for label in best_of_family(results, setting):
            color = colors[label]
            curve = reliability_of(results, setting, label, "random")
            some = curve.count > 0
            axis.plot(
                curve.score[some],
                curve.truth[some],
                "-o",
                color=color,
                markersize=3,
                label=f"{label} (ECE {curve.ece:.2f})",
            )
        _dress(axis, setting, "P")
    axes[0][0].set_ylabel("equivalent by the codes", fontsize=9)
    return figure


def _colors(results: Results, settings: Sequence[str]) -> dict[str, str]:
    """One color for each measure that is shown, the same in every panel."""
    shown = dict.fromkeys(label for setting in settings for label in best_of_family(results, setting))
    return dict(zip(shown, cycle(_COLOURS), strict=False))


def _dress(axis: Any, setting: str, x: str) -> None:
    axis.set_xlabel(x, fontsize=9)
    axis.set_title(TITLES[setting], fontsize=8)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)


def heat_map(table: Table) -> Figure:
    """The table of changes by kind of negatives, as colors."""
    labels = [row[0].text() for row in table.rows]
    cells = [row[2:] for row in table.rows]
    values = np.array([[c.value if isinstance(c.value, float) else np.nan for c in row] for row in cells])
    figure, axes = _figure(1.6 + 1.1 * values.shape[1], 0.9 + 0.32 * len(labels))
    axis = axes[0][0]
    limit = max(float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 0.0, 0.01)
    image = axis.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            dark = np.isfinite(values[i, j]) and abs(values[i, j]) > 0.6 * limit
            mark = "*" if cell.star else ""
            axis.text(
                j, i, cell.text() + mark, ha="center", va="center", fontsize=8, color="white" if dark else "black"
            )
    axis.set_xticks(range(values.shape[1]), labels=list(table.columns[2:]), fontsize=8)
    axis.set_yticks(range(len(labels)), labels=labels, fontsize=8)
    figure.colorbar(image, ax=axis).ax.tick_params(labelsize=7)
    figure.suptitle(fill(table.title, width=12 * (1 + values.shape[1])), fontsize=8)
    return figure


def save(figure: Figure, folder: Path, name: str, format: str = "png") -> Path:
    """Write a figure; the same figure gives the same bytes."""
    path = folder / f"{name}.{format}"
    metadata: dict[str, Any] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[format]
    import matplotlib

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "softirr"}):
            figure.savefig(path, format=format, dpi=110, metadata=metadata)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}.") from None
    return path

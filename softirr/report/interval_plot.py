"""Values with their 95% intervals as a chart of matplotlib, which is imported only here and only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from softirr.errors import InputError
from softirr.report.forest import Row

__all__ = ["plot_intervals"]

_COLOR = "#1f4e79"


def plot_intervals(rows: Sequence[Row], ax: Any = None, *, label: str = "") -> Any:
    """Draw a point and a line for each row, the first one at the top.

    Parameters
    ----------
    rows : sequence of Row
        Those without a value are skipped.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if not given.
    label : str
        Of the horizontal axis.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    shown = [row for row in rows if row.value is not None]
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise InputError("Charts need matplotlib: pip install softirr[plot].") from None
        _, ax = pyplot.subplots(figsize=(7, 0.35 * len(shown) + 0.9), layout="constrained")
    for place, row in enumerate(shown):
        if row.ci95 is not None:
            ax.plot(row.ci95, (place, place), color=_COLOR)
        ax.plot([row.value], [place], "o", color=_COLOR)
    ax.set_yticks(range(len(shown)), [row.label for row in shown])
    ax.invert_yaxis()
    ax.grid(axis="x", color="#ddd")
    ax.set_xlabel(label)
    return ax

"""Forest plots: a line for each coefficient or difference with its interval, as text and SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from softirr.report.text import printable

__all__ = ["Row", "curve_svg", "forest_svg", "forest_text"]

_WIDTH = 40
_STEPS = (0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Row:
    """A line of a forest plot.

    Attributes
    ----------
    label : str
    value : float or None
    ci95 : (float, float) or None
    is_difference : bool
        Differences are drawn apart, around 0.
    note : str
        What stands beside it, such as the number of items.
    """

    label: str
    value: float | None
    ci95: tuple[float, float] | None
    is_difference: bool = False
    note: str = ""


def forest_text(rows: Sequence[Row]) -> Iterable[str]:
    """The plot as lines of text.

    Parameters
    ----------
    rows : sequence of Row

    Yields
    ------
    str

    Examples
    --------
    >>> for line in forest_text([Row("Basel", 0.5, (0.4, 0.6)), Row("Bern", 0.7, (0.6, 0.8))]):
    ...     print(line)
    Basel  0.500  0.400 to 0.600  ├─────────●─────────┤
    Bern   0.700  0.600 to 0.800                      ├─────────●─────────┤
    """
    low, high = _range(rows)
    width = max((len(printable(row.label)) for row in rows), default=0)
    known = ["" if row.ci95 is None else f"{row.ci95[0]:.3f} to {row.ci95[1]:.3f}" for row in rows]
    second = max(map(len, known), default=0)
    third = max((len(row.note) for row in rows), default=0)
    for row, interval in zip(rows, known, strict=True):
        start = f"{printable(row.label):<{width}}"
        if row.value is None:
            yield f"{start}  undefined: {row.note}"
            continue
        note = f"{row.note:>{third}}  " if third else ""
        yield f"{start}  {note}{row.value:.3f}  {interval:<{second}}  {_bar(row, low, high)}".rstrip()


def _bar(row: Row, low: float, high: float) -> str:
    assert row.value is not None
    marks = [" "] * (_WIDTH + 1)

    def place(value: float) -> int:
        return round((min(max(value, low), high) - low) / (high - low) * _WIDTH)

    if row.ci95 is not None:
        a, b = place(row.ci95[0]), place(row.ci95[1])
        marks[a : b + 1] = "─" * (b + 1 - a)
        marks[a], marks[b] = "├", "┤"
    marks[place(row.value)] = "●"
    return "".join(marks).rstrip()


def _range(rows: Sequence[Row]) -> tuple[float, float]:
    """Ends of the axis."""
    ends = [end for row in rows if row.value is not None for end in (row.value, *(row.ci95 or ()))]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low - 0.5, high + 0.5) if high - low < 1e-9 else (low, high)


_LINE, _LEFT, _PLOT, _RIGHT, _TOP = 24, 230, 360, 170, 34


def forest_svg(rows: Sequence[Row], title: str) -> str:
    """The plot as SVG without scripts; coefficients above, differences below with an axis of their own.

    Parameters
    ----------
    rows : sequence of Row
    title : str
        Name of the coefficient.

    Returns
    -------
    str
    """
    parts, y = [], 0
    for which, name in ((False, title), (True, "Difference")):
        block = [row for row in rows if row.is_difference is which]
        if block:
            parts.append(_block(block, name, y, which))
            y += _TOP + _LINE * len(block) + 30
    width = _LEFT + _PLOT + _RIGHT
    told = "; ".join(_told(row) for row in rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" role="img" '
        f'font-family="sans-serif" font-size="13"><title>{escape(title)}</title><desc>{escape(told)}</desc>'
        f'<rect width="{width}" height="{y}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _told(row: Row) -> str:
    if row.value is None:
        return f"{row.label}: undefined"
    interval = "" if row.ci95 is None else f" ({row.ci95[0]:.3f} to {row.ci95[1]:.3f})"
    return f"{row.label}: {row.value:.3f}{interval}"


def _block(rows: Sequence[Row], name: str, top: int, around_zero: bool) -> str:
    low, high = _range(rows)
    if around_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    step = next((step for step in _STEPS if (high - low) / step <= 8), 1.0)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step

    def x(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * _PLOT

    bottom = top + _TOP + _LINE * len(rows)
    parts = [f'<text x="{_LEFT}" y="{top + 18}" font-weight="bold">{escape(name)}</text>']
    for k in range(round((high - low) / step) + 1):
        value = low + k * step
        color = "#555" if around_zero and abs(value) < 1e-9 else "#ddd"
        parts.append(
            f'<line x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{top + _TOP - 6}" y2="{bottom}" stroke="{color}"/>'
        )
        parts.append(f'<text x="{x(value):.1f}" y="{bottom + 16}" text-anchor="middle" fill="#333">{value:z.2f}</text>')
    for n, row in enumerate(rows):
        y = top + _TOP + _LINE * n + _LINE / 2
        parts.append(
            f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(_short(printable(row.label)))}</text>'
        )
        if row.value is None:
            parts.append(f'<text x="{_LEFT + 6}" y="{y + 4}" fill="#555">undefined</text>')
            continue
        said = f"{row.value:z.2f}"
        if row.ci95 is not None:
            parts.append(
                f'<line x1="{x(row.ci95[0]):.1f}" x2="{x(row.ci95[1]):.1f}" y1="{y}" y2="{y}" stroke="#1f4e79" stroke-width="2"/>'
            )
            said += f" ({row.ci95[0]:z.2f} to {row.ci95[1]:z.2f})"
        parts.append(f'<circle cx="{x(row.value):.1f}" cy="{y}" r="4.5" fill="#1f4e79"/>')
        parts.append(f'<text x="{_LEFT + _PLOT + 14}" y="{y + 4}">{escape(said)}</text>')
    return "".join(parts)


def _short(label: str, most: int = 27) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


_COLORS = ("#1f4e79", "#b3541e", "#3a7d44", "#6b4c9a", "#555555")


def curve_svg(lines: Sequence[tuple[str, Sequence[tuple[float, float]]]], goal: float, title: str, below: str) -> str:
    """Curves that fall towards a goal, as SVG.

    Parameters
    ----------
    lines : sequence of (str, sequence of (float, float))
        Name and points of each curve.
    goal : float
        Drawn as a dashed line.
    title, below : str
        Name of the figure and of the horizontal axis.

    Returns
    -------
    str
    """
    width, height, left, top = 640, 340, 60, 40
    most_x = max(x for _, points in lines for x, _ in points)
    most_y = min(max(max(y for _, points in lines for _, y in points), goal * 1.2), goal * 5)
    most_y = max(1, math.ceil(most_y / 0.04 - 1e-9)) * 0.04  # four steps of whole hundredths

    def at(x: float, y: float) -> str:
        return f"{left + x / most_x * 440:.1f},{top + (1 - min(y, most_y) / most_y) * 240:.1f}"

    parts = [f'<text x="{left}" y="22" font-weight="bold">{escape(title)}</text>']
    for k in range(5):
        x, y = most_x * k / 4, most_y * k / 4
        parts.append(
            f'<text x="{at(x, 0).split(",")[0]}" y="{top + 258}" text-anchor="middle" fill="#333">{x:,.0f}</text>'
        )
        parts.append(
            f'<text x="{left - 8}" y="{float(at(0, y).split(",")[1]) + 4:.1f}" text-anchor="end" fill="#333">{y:.2f}</text>'
        )
    parts.append(f'<text x="{left + 220}" y="{top + 282}" text-anchor="middle">{escape(below)}</text>')
    parts.append(
        f'<polyline points="{at(0, goal)} {at(most_x, goal)}" fill="none" stroke="#555" stroke-dasharray="5 4"/>'
    )
    for (_, points), color in zip(lines, _COLORS, strict=False):
        path = " ".join(at(x, y) for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
    for n, ((name, _), color) in enumerate(zip(lines, _COLORS, strict=False)):
        parts.append(f'<rect x="{left + 455}" y="{top + 22 * n}" width="12" height="12" fill="{color}"/>')
        parts.append(f'<text x="{left + 473}" y="{top + 22 * n + 11}">{escape(name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'font-family="sans-serif" font-size="13"><title>{escape(title)}</title><rect width="{width}" height="{height}" fill="#fff"/>'
        f"{''.join(parts)}</svg>"
    )

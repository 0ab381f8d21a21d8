"""Charts as SVG by one renderer: for pages, for files that load nothing, and for Word (PNG) and LaTeX (picture)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from softirr.numbers import MINUS, interval, number
from softirr.report.drawing import Drawing
from softirr.report.forest import Row, axis_range
from softirr.text import printable

__all__ = ["BAND", "Line", "Point", "bar_chart", "forest_chart", "interval_chart", "line_chart"]

WIDE, NARROW = 720, 340
"""Widths of charts in pixels: of a page and paper, and of a telephone."""
BAND = "shaded: range of the others"
"""What the band of a forest plot is."""
_SERIES = ("same", "chance", "green", "purple", "quiet")
_DASHES = ("", "7 4", "2 3")
_STEPS = (0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Point:
    """A value of a chart, with what its tooltip says and where it leads."""

    x: float
    y: float
    ci95: Sequence[float] | None = None
    title: str = ""
    link: str | None = None


@dataclass(frozen=True)
class Line:
    """A line of a chart; `is_area` fills it down to zero, `has_dots` marks its points."""

    name: str
    points: Sequence[Point]
    is_area: bool = False
    has_dots: bool = False
    color: str = ""


def _short(text: str, most: int) -> str:
    text = printable(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def _whiskers(drawing: Drawing, low: float, high: float, y: float, x: Callable[[float], float]) -> None:
    drawing.line(x(low), y, x(high), y, "same", 2)
    for end in (low, high):
        drawing.line(x(end), y - 4, x(end), y + 4, "same", 2)


def _numbers(row: Row) -> str:
    if row.value is None:
        return "undefined"
    return number(row.value) + (f" ({interval(row.ci95)})" if row.ci95 else "")


def _at_axis(form: str, value: float) -> str:
    return form.format(round(value, 9) + 0.0).replace("-", MINUS)


def forest_chart(
    rows: Sequence[Row],
    title: str,
    *,
    target: float | None = None,
    band: tuple[float, float] | None = None,
    low: float | None = None,
    width: float = WIDE,
) -> Drawing:
    """Values with their intervals, a line for each; differences follow with an axis of their own.

    Parameters
    ----------
    rows : sequence of Row
    title : str
        What the values are.
    target : float, optional
        Drawn as a dashed line.
    band : tuple of (float, float), optional
        The range of the others, drawn as a shaded band behind the values.
    low : float, optional
        Start of an axis that ends at 1; by default the axis covers the values.
    width : float
        A narrow drawing has labels above its lines.

    Returns
    -------
    Drawing
    """
    blocks = [(name, own) for name, is_difference in ((title, False), ("Difference", True))
              if (own := [row for row in rows if row.is_difference is is_difference])]  # fmt: skip
    narrow = width < 500
    step = 40 if narrow else 24
    height = sum(64 + step * len(own) for _, own in blocks)
    drawing = Drawing(width, height, f"{title}: " + "; ".join(f"{row.label} {_numbers(row)}" for row in rows))
    left, right = (20.0, width - 20.0) if narrow else (230.0, width - 140.0)
    top = 0.0
    for name, own in blocks:
        start, end = axis_range(own)
        if own[0].is_difference:
            start, end = min(start, 0.0), max(end, 0.0)
        elif low is not None:
            start, end = min(low, start), 1.0
        start, end, ticks = _ticks(start, end, 4 if narrow else 8)

        def x(value: float, start: float = start, end: float = end) -> float:
            return left + (value - start) / (end - start) * (right - left)

        drawing.text(left, top + 18, name, color="ink", bold=True)
        bottom = top + 34 + step * len(own)
        if band is not None and not own[0].is_difference:
            a, b = x(band[0]), x(band[1])
            drawing.path(((a, top + 28), (b, top + 28), (b, bottom), (a, bottom)), "quiet", fill=True)
            drawing.text(right, top + 18, BAND, "end")
        for value in ticks:
            drawing.line(x(value), top + 28, x(value), bottom, "quiet" if abs(value) < 1e-9 else "line")
            drawing.text(x(value), bottom + 16, number(value), "middle")
        if target is not None and not own[0].is_difference and start <= target <= end:
            drawing.line(x(target), top + 28, x(target), bottom, "chance", 1.5, "5 4")
            drawing.text(x(target), top + 18, f"target {number(target)}", "end" if narrow else "middle", "chance")
        for n, row in enumerate(own):
            y = top + 34 + step * n + (step - 12 if narrow else step / 2)
            _forest_row(drawing, row, y, x, narrow=narrow)
        top = bottom + 30
    return drawing


def _forest_row(drawing: Drawing, row: Row, y: float, x: Callable[[float], float], *, narrow: bool) -> None:
    label, note = _short(row.label, 30 if narrow else 32), _numbers(row)

    def draw() -> None:
        drawing.text(8 if narrow else 218, y - 11 if narrow else y + 4, label, "start" if narrow else "end", "ink")
        drawing.text(
            drawing.width - (8 if narrow else 128), y - 11 if narrow else y + 4, note, "end" if narrow else "start"
        )
        if row.value is not None:
            if row.ci95 is not None:
                _whiskers(drawing, *row.ci95, y, x)
            drawing.dot(x(row.value), y)

    drawing.group(draw, f"{row.label}: {note}", row.link)


def _ticks(low: float, high: float, most: int) -> tuple[float, float, list[float]]:
    """The ends of an axis, moved outwards to round numbers, and these numbers."""
    step = next((step for step in _STEPS if (high - low) / step <= most), 1.0)
    first, last = math.floor(low / step + 1e-9), max(math.ceil(high / step - 1e-9), math.floor(low / step + 1e-9) + 1)
    return first * step, last * step, [n * step for n in range(first, last + 1)]


def interval_chart(value: float, ci95: Sequence[float] | None, title: str, *, target: float | None = None) -> Drawing:
    """One value with its interval on an axis from 0, or from where the interval begins, to 1.

    Parameters
    ----------
    value : float
    ci95 : sequence of two floats, or None
    title : str
        What the value is.
    target : float, optional
        Drawn as a dashed line.

    Returns
    -------
    Drawing
    """
    low = min(0.0, math.floor(min((value, *(ci95 or ()))) * 5) / 5)
    drawing = Drawing(300, 50, f"{title}: {_numbers(Row(title, value, (ci95[0], ci95[1]) if ci95 else None))}")

    def x(at: float) -> float:
        return 12 + (min(max(at, low), 1.0) - low) / (1 - low) * 276

    drawing.line(12, 20, 288, 20, "line", 6)
    for tick in sorted({low, 0.0, 0.5, 1.0}):
        drawing.line(x(tick), 14, x(tick), 26, "quiet")
        drawing.text(x(tick), 44, number(tick, 1) if tick else "0", "middle")
    if target is not None:
        drawing.group(lambda: drawing.line(x(target), 6, x(target), 34, "chance", 2, "4 3"), f"Target {number(target)}")
    if ci95:
        drawing.line(x(ci95[0]), 20, x(ci95[1]), 20, "same", 6)
    drawing.dot(x(value), 20, radius=7)
    return drawing


def bar_chart(bins: Sequence[Point], labels: Sequence[str], title: str, unit: str, *, width: float = WIDE) -> Drawing:
    """Bars side by side.

    Parameters
    ----------
    bins : sequence of Point
        ``y`` is the height; the places follow each other.
    labels : sequence of str
        Below the edges of the bars: one more than bars.
    title, unit : str
        What the chart and the vertical axis show.
    width : float

    Returns
    -------
    Drawing
    """
    frame = _Frame(width, 240, (0.0, float(len(bins))), (0.0, max([one.y for one in bins] + [1.0])), title)
    frame.y_axis(unit, "{:,.0f}", whole=True)
    every = 2 if width < 500 else 1
    for n, label in list(enumerate(labels))[::every]:
        frame.drawing.text(frame.x(n), frame.bottom + 18, label, "middle")
    for n, one in enumerate(bins):
        left, top = frame.x(n) + 2, frame.y(one.y)
        frame.drawing.group(
            partial(frame.drawing.bar, left, top, frame.x(n + 1) - left - 2, frame.bottom - top),
            one.title,
            one.link,
        )
    return frame.drawing


class _Frame:
    """The axes of a chart, and the places of values between them."""

    def __init__(
        self, width: float, height: float, xs: tuple[float, float], ys: tuple[float, float], title: str, top: float = 28
    ):
        self.drawing = Drawing(width, height, title)
        self.left, self.right, self.top, self.bottom = 44.0, width - 12.0, top, height - 42.0
        self._xs, self._ys = xs, ys

    def x(self, value: float) -> float:
        low, high = self._xs
        return self.left + (value - low) / ((high - low) or 1) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self._ys
        return self.bottom - (value - low) / ((high - low) or 1) * (self.bottom - self.top)

    def y_axis(self, name: str, form: str = "{:.1f}", *, whole: bool = False) -> None:
        low, high = self._ys
        step = max(1, math.ceil(high / 4)) if whole else (high - low) / 4
        values = [low + n * step for n in range(5) if low + n * step <= high + 1e-9]
        for value in values:
            self.drawing.line(self.left, self.y(value), self.right, self.y(value))
            self.drawing.text(self.left - 8, self.y(value) + 4, _at_axis(form, value), "end")
        self.drawing.text(2, self.top - 12, name)


def line_chart(
    lines: Sequence[Line],
    title: str,
    *,
    x_name: str = "",
    y_name: str = "",
    y_range: tuple[float, float] = (0.0, 1.0),
    x_range: tuple[float, float] = (0.0, 1.0),
    x_labels: Sequence[str] | None = None,
    y_format: str = "{:.2f}",
    x_format: str = "{:g}",
    marks: Sequence[tuple[float, str]] = (),
    width: float = WIDE,
) -> Drawing:
    """Lines over numbers, or over labels, with intervals and a legend where there are several.

    Parameters
    ----------
    lines : sequence of Line
    title : str
        What the chart shows, for readers that do not see it.
    x_name, y_name : str
        What the axes show.
    y_range, x_range : (float, float)
    x_labels : sequence of str, optional
        Labels of the places 0, 1, ...; as many are shown as have room.
    y_format, x_format : str
        Formats of the numbers at the axes.
    marks : sequence of (float, str)
        Dashed lines across the chart, with their names.
    width : float

    Returns
    -------
    Drawing
    """
    columns = 1 if width < 500 else 2
    legend = math.ceil(len(lines) / columns) * 18 if len(lines) > 1 else 0
    if x_labels is not None:
        x_range = (-0.5, len(x_labels) - 0.5)
    frame = _Frame(width, 260 + legend, x_range, y_range, title, 28 + legend)
    drawing = frame.drawing
    frame.y_axis(y_name, y_format)
    _x_axis(frame, x_range, x_labels, x_format, x_name)
    for value, name in marks:
        if y_range[0] <= value <= y_range[1]:
            drawing.line(frame.left, frame.y(value), frame.right, frame.y(value), "chance", 1.5, "5 4")
            drawing.text(frame.left + 4, frame.y(value) - 5, name, "start", "chance")
    for n, line in enumerate(lines):
        color, dash = line.color or _SERIES[n % len(_SERIES)], _DASHES[n % len(_DASHES)]
        if len(lines) > 1:
            at = 4 + (n % columns) * width / columns, 12 + n // columns * 18
            drawing.line(at[0], at[1] - 4, at[0] + 24, at[1] - 4, color, 2.5, dash)
            drawing.text(at[0] + 32, at[1], _short(line.name, 40), color="ink")
        places = [(frame.x(one.x), frame.y(min(max(one.y, y_range[0]), y_range[1]))) for one in line.points]
        if line.is_area and places:
            drawing.path([(places[0][0], frame.bottom), *places, (places[-1][0], frame.bottom)], color, fill=True)
        drawing.path(places, color, dash)
        for one, (x, y) in zip(line.points, places, strict=True):
            if line.has_dots:
                drawing.group(partial(_dot, frame, one, x, y, color), one.title, one.link)
    return drawing


def _dot(frame: _Frame, one: Point, x: float, y: float, color: str) -> None:
    if one.ci95:
        low, high = (frame.y(min(max(end, 0.0), 1.0)) for end in one.ci95)
        frame.drawing.line(x, low, x, high, color, 1.5)
    frame.drawing.dot(x, y, color)


def _x_axis(frame: _Frame, ends: tuple[float, float], labels: Sequence[str] | None, form: str, name: str) -> None:
    drawing, room = frame.drawing, (frame.right - frame.left)
    drawing.line(frame.left, frame.bottom, frame.right, frame.bottom, "quiet")
    if labels is None:
        values = [ends[0] + (ends[1] - ends[0]) * n / 4 for n in range(5)]
        for value in values:
            drawing.text(frame.x(value), frame.bottom + 16, _at_axis(form, value), "middle")
    else:
        every = max(1, math.ceil(len(labels) * (8 * max(map(len, labels), default=1) + 12) / room))
        for n, label in list(enumerate(labels))[::every]:
            drawing.text(frame.x(n), frame.bottom + 16, label, "middle")
    if name:
        drawing.text((frame.left + frame.right) / 2, frame.bottom + 34, name, "middle")

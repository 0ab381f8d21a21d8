"""Charts of coefficients with their intervals: forest plots in SVG and in text, and one interval with its target."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from softirr.numbers import interval, number, short_number
from softirr.text import printable, shortened

_WIDTH = 40
WIDE, NARROW = 720, 340
"""Widths of charts in pixels: of a page and paper, and of a telephone."""
BAND = "shaded: range of the others"
"""Label of the band of a forest plot."""
_STEPS = (0.02, 0.05, 0.1, 0.2, 0.5)
_FONTS = "Arial,Helvetica,Liberation Sans,DejaVu Sans,Noto Sans,sans-serif"
_VARIABLE = re.compile(r"var\(--\w+,(#\w+)\)")


@dataclass(frozen=True)
class Row:
    """A line of a forest plot.

    Attributes
    ----------
    is_difference : bool
        Differences are drawn apart, around 0.
    note : str
        A remark, such as the number of items.
    """

    label: str
    value: float | None
    ci95: Sequence[float] | None
    is_difference: bool = False
    note: str = ""


def forest_text(rows: Sequence[Row]) -> Iterable[str]:
    """The plot as lines of text.

    Examples
    --------
    >>> for line in forest_text([Row("Basel", -0.2, (-0.3, -0.1)), Row("Bern", 0.1, (0.0, 0.2))]):
    ...     print(line)
    Basel  −0.20  −0.30 to −0.10  ├───────●───────┤
    Bern    0.10  0.00 to 0.20                            ├───────●───────┤
    """
    low, high = axis_range(rows)
    width = max((len(printable(row.label)) for row in rows), default=0)
    intervals = [interval(row.ci95, none="") for row in rows]
    second = max(map(len, intervals), default=0)
    third = max((len(row.note) for row in rows), default=0)
    values = [number(row.value) for row in rows]
    first = max(map(len, values), default=0)
    for row, value, ci95 in zip(rows, values, intervals, strict=True):
        start = f"{printable(row.label):<{width}}"
        if row.value is None:
            yield f"{start}  undefined: {row.note}"
            continue
        note = f"{row.note:>{third}}  " if third else ""
        yield f"{start}  {note}{value:>{first}}  {ci95:<{second}}  {_bar(row, low, high)}".rstrip()


def _bar(row: Row, low: float, high: float) -> str:
    assert row.value is not None
    marks = [" "] * (_WIDTH + 1)

    def column(value: float) -> int:
        return round((min(max(value, low), high) - low) / (high - low) * _WIDTH)

    if row.ci95 is not None:
        a, b = column(row.ci95[0]), column(row.ci95[1])
        marks[a : b + 1] = "─" * (b + 1 - a)
        marks[a], marks[b] = "├", "┤"
    marks[column(row.value)] = "●"
    return "".join(marks).rstrip()


def axis_range(rows: Sequence[Row]) -> tuple[float, float]:
    """Ends of an axis that shows all values and intervals."""
    ends = [end for row in rows if row.value is not None for end in (row.value, *(row.ci95 or ()))]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low - 0.5, high + 0.5) if high - low < 1e-9 else (low, high)


COLORS = {
    "ink": "#1c1d21",
    "quiet": "#5c5f6a",
    "line": "#d9dbe1",
    "same": "#2f5fb3",
    "chance": "#a85a00",
    "paper": "#ffffff",
}
"""Colors by the names that the style sheets of the pages give them; a page in dark colors replaces them."""


Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


class Drawing:
    """Shapes on a canvas of a width and a height, in pixels from the upper left corner."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._shapes: list[str] = []

    def line(self, start: Point, end: Point, color: str = "line", width: float = 1, dash: str = "") -> None:
        """A straight line."""
        (x1, y1), (x2, y2) = start, end
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._shapes.append(f'<line {ends} stroke="{_color(color)}" stroke-width="{width:g}"{dashes}/>')

    def dot(self, x: float, y: float, radius: float = 4.5) -> None:
        """A filled circle."""
        self._shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{_color("same")}"/>')

    def area(self, x: float, y: float, width: float, height: float) -> None:
        """A pale rectangle behind other shapes."""
        where = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self._shapes.append(f'<rect {where} fill="{_color("quiet")}" fill-opacity="0.16"/>')

    def text(
        self, x: float, y: float, text: str, anchor: Anchor = "start", color: str = "quiet", bold: bool = False
    ) -> None:
        """A text that does not change the direction of its neighbors."""
        weight = ' font-weight="600"' if bold else ""
        where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" unicode-bidi="isolate"'
        self._shapes.append(f'<text {where} fill="{_color(color)}"{weight}>{escape(text)}</text>')

    def group(self, draw: Callable[[], None], title: str) -> None:
        """Shapes with a tooltip."""
        start = len(self._shapes)
        draw()
        self._shapes[start:] = [f"<g><title>{escape(title)}</title>{''.join(self._shapes[start:])}</g>"]

    def svg(self, *, themed: bool = False) -> str:
        """The drawing as SVG without scripts.

        Parameters
        ----------
        themed : bool
            For a page: colors of its style sheet, no background, as wide as the page allows.
        """
        size = "" if themed else f' width="{self.width:g}" height="{self.height:g}"'
        paper = "" if themed else f'<rect width="100%" height="100%" fill="{_color("paper")}"/>'
        role = 'role="group"' if themed else 'role="img"'
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}"{size} {role} '
            f'aria-label="{escape(self.title)}" font-family="{_FONTS}" font-size="12.5">'
            f"{paper}{''.join(self._shapes)}</svg>"
        )
        return svg if themed else _VARIABLE.sub(r"\1", svg)


def _color(name: str) -> str:
    return f"var(--{name},{COLORS[name]})"


def _numbers(row: Row) -> str:
    if row.value is None:
        return "undefined"
    return number(row.value) + (f" ({interval(row.ci95)})" if row.ci95 else "")


def forest_chart(
    rows: Sequence[Row],
    title: str,
    *,
    band: tuple[float, float] | None = None,
    low: float | None = None,
    width: float = WIDE,
) -> Drawing:
    """Values with their intervals, a line for each; differences follow with a separate axis.

    Parameters
    ----------
    title : str
        Name of the values.
    band : tuple of (float, float), optional
        The range of the others, drawn as a shaded band behind the values.
    low : float, optional
        Start of an axis that ends at 1; by default the axis covers the values.
    width : float
        A narrow drawing has labels above its lines.
    """
    blocks = [(name, block_rows) for name, is_difference in ((title, False), ("Difference", True))
              if (block_rows := [row for row in rows if row.is_difference is is_difference])]  # fmt: skip
    narrow = width < 500
    step = 40 if narrow else 24
    height = sum(64 + step * len(block_rows) for _, block_rows in blocks)
    drawing = Drawing(width, height, f"{title}: " + "; ".join(f"{row.label} {_numbers(row)}" for row in rows))
    left_edge, right_edge = (20.0, width - 20.0) if narrow else (230.0, width - 140.0)
    top = 0.0
    for name, block_rows in blocks:
        start, end, ticks = _forest_axis(block_rows, low, 4 if narrow else 8)

        def x(value: float, start: float = start, end: float = end) -> float:
            return left_edge + (value - start) / (end - start) * (right_edge - left_edge)

        drawing.text(left_edge, top + 18, name, color="ink", bold=True)
        bottom = top + 34 + step * len(block_rows)
        if band is not None and not block_rows[0].is_difference:
            a, b = x(band[0]), x(band[1])
            drawing.area(a, top + 28, b - a, bottom - top - 28)
            drawing.text(right_edge, top + 18, BAND, "end")
        for value in ticks:
            drawing.line((x(value), top + 28), (x(value), bottom), "quiet" if abs(value) < 1e-9 else "line")
            drawing.text(x(value), bottom + 16, number(value), "middle")
        for n, row in enumerate(block_rows):
            y = top + 34 + step * n + (step - 12 if narrow else step / 2)
            _forest_row(drawing, row, y, x, narrow=narrow)
        top = bottom + 30
    return drawing


def _forest_axis(rows: Sequence[Row], low: float | None, max_ticks: int) -> tuple[float, float, list[float]]:
    """The ends of an axis, moved outwards to round numbers, and these numbers.

    It includes 0 for differences, and ends at 1 for values if its low end is set.
    """
    start, end = axis_range(rows)
    if rows[0].is_difference:
        start, end = min(start, 0.0), max(end, 0.0)
    elif low is not None:
        start, end = min(low, start), 1.0
    step = next((step for step in _STEPS if (end - start) / step <= max_ticks), 1.0)
    first = math.floor(start / step + 1e-9)
    last = max(math.ceil(end / step - 1e-9), first + 1)
    return first * step, last * step, [n * step for n in range(first, last + 1)]


def _forest_row(drawing: Drawing, row: Row, y: float, x: Callable[[float], float], *, narrow: bool) -> None:
    label, note = shortened(printable(row.label), 30 if narrow else 32), _numbers(row)

    def draw() -> None:
        baseline = y - 11 if narrow else y + 4
        drawing.text(8 if narrow else 218, baseline, label, "start" if narrow else "end", "ink")
        drawing.text(drawing.width - (8 if narrow else 128), baseline, note, "end" if narrow else "start")
        if row.value is not None:
            if row.ci95 is not None:
                low, high = map(x, row.ci95)
                drawing.line((low, y), (high, y), "same", 2)
                for end in (low, high):
                    drawing.line((end, y - 4), (end, y + 4), "same", 2)
            drawing.dot(x(row.value), y)

    drawing.group(draw, f"{row.label}: {note}")


def interval_chart(value: float, ci95: Sequence[float] | None, title: str, *, target: float | None = None) -> Drawing:
    """One value with its interval on an axis to 1, from 0 or from the start of the interval.

    Parameters
    ----------
    title : str
        Name of the value.
    target : float, optional
        Drawn as a dashed line.
    """
    low = min(0.0, math.floor(min((value, *(ci95 or ()))) * 5) / 5)
    drawing = Drawing(300, 50, f"{title}: {_numbers(Row(title, value, ci95))}")

    def x(axis_value: float) -> float:
        return 12 + (min(max(axis_value, low), 1.0) - low) / (1 - low) * 276

    drawing.line((12, 20), (288, 20), "line", 6)
    for tick in sorted({low, 0.0, 0.5, 1.0}):
        drawing.line((x(tick), 14), (x(tick), 26), "quiet")
        drawing.text(x(tick), 44, number(tick, 1) if tick else "0", "middle")
    if target is not None:
        drawing.group(
            lambda: drawing.line((x(target), 6), (x(target), 34), "chance", 2, "4 3"), f"Target {short_number(target)}"
        )
    if ci95:
        drawing.line((x(ci95[0]), 20), (x(ci95[1]), 20), "same", 6)
    drawing.dot(x(value), 20, radius=7)
    return drawing

"""One drawing of lines, dots, bars and words, as SVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Literal

__all__ = ["Drawing"]


COLORS = {
    "ink": "#1c1d21",
    "quiet": "#5c5f6a",
    "line": "#d9dbe1",
    "same": "#2f5fb3",
    "chance": "#a85a00",
    "green": "#3a7d44",
    "purple": "#6b4c9a",
    "paper": "#ffffff",
}
"""Colors by the names that the style sheets of the pages give them; a page in dark colors replaces them."""

_FONTS = "Arial,Helvetica,Liberation Sans,DejaVu Sans,Noto Sans,sans-serif"

Anchor = Literal["start", "middle", "end"]


class Drawing:
    """Shapes on a canvas of a width and a height, in pixels from the upper left corner."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._shapes: list[str] = []

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = "line", width: float = 1, dash: str = ""
    ) -> None:
        """A straight line."""
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self._shapes.append(f'<line {ends} stroke="{_color(color)}" stroke-width="{width:g}"{_dashed(dash)}/>')

    def dot(self, x: float, y: float, color: str = "same", radius: float = 4.5) -> None:
        """A filled circle."""
        self._shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{_color(color)}"/>')

    def bar(self, x: float, y: float, width: float, height: float, color: str = "same") -> None:
        """A filled rectangle."""
        where = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self._shapes.append(f'<rect {where} fill="{_color(color)}"/>')

    def path(self, points: Iterable[tuple[float, float]], color: str, dash: str = "", fill: bool = False) -> None:
        """A polyline, or with `fill` the pale area that it encloses."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        style = f'fill="{_color(color)}" fill-opacity="0.16"' if fill else f'fill="none" stroke="{_color(color)}"'
        self._shapes.append(f'<polyline points="{places}" {style} stroke-width="2"{_dashed(dash)}/>')

    def text(
        self, x: float, y: float, text: str, anchor: Anchor = "start", color: str = "quiet", bold: bool = False
    ) -> None:
        """A text whose direction does not change the direction of its neighbors."""
        weight = ' font-weight="600"' if bold else ""
        where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" unicode-bidi="isolate"'
        self._shapes.append(f'<text {where} fill="{_color(color)}"{weight}>{escape(text)}</text>')

    def group(self, draw: Callable[[], None], title: str = "", link: str | None = None) -> None:
        """Shapes with a tooltip, which lead to an address."""
        start = len(self._shapes)
        draw()
        shapes = f"<title>{escape(title)}</title>" * bool(title) + "".join(self._shapes[start:])
        where = f'href="{escape(link)}" target="_blank" rel="noopener" tabindex="-1"' if link else ""
        self._shapes[start:] = [f'<a {where} aria-label="{escape(title)}">{shapes}</a>' if link else f"<g>{shapes}</g>"]

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


_VARIABLE = re.compile(r"var\(--\w+,(#\w+)\)")


def _color(name: str) -> str:
    return f"var(--{name},{COLORS[name]})"


def _dashed(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""

"""Regions of Label Studio (spans, boxes, masks, turns), read from results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

_LINE = 1.0
"""Half width in percent that is given to the lines of a vector."""
_XPATH_STEP = 1e6
_KEY_FRAME = ("frame", "x", "y", "width", "height")


class Region(NamedTuple):
    """The place of a result, in values that JSON can hold.

    Attributes
    ----------
    kind : str
        ``span``, ``spans``, ``box``, ``shape``, ``point``, ``track``, ``mask``, ``turn`` or ``other``.
    key : tuple of str
        Object, page and channel: regions with different keys never match.
    extent : list, str or float
        Depends on the kind, such as start and end of a span.
    """

    kind: str
    key: tuple[str, ...]
    extent: Any

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """Left, top, right and bottom in percent, or None if the region is not a part of a picture."""
        if self.kind == "box":
            return tuple(self.extent)
        if self.kind == "point":
            x, y, half = self.extent
            return x - half, y - half, x + half, y + half
        if self.kind == "shape":
            columns, rows = zip(*self.extent, strict=True)
            return min(columns), min(rows), max(columns), max(rows)
        return None


def region_of(result: Mapping[str, Any]) -> Region | None:
    """Return the place of a result, or None if it is about the whole task."""
    value, turn = result.get("value"), result.get("turn")
    if isinstance(turn, int):
        return Region("turn", (), turn)
    if not isinstance(value, Mapping) or not (region := _span(value) or _frames(value) or _picture(value)):
        return None
    kind, extent, channel = region
    page = result.get("item_index", value.get("pageIndex"))
    return Region(kind, (str(result.get("to_name")), "" if page is None else str(page), channel), extent)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _span(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Read a span of a text, an audio file or a time series, also of HTML and of paragraphs."""
    offsets = value.get("globalOffsets")
    if isinstance(offsets, Mapping):  # HyperText: start and end are paths into the page
        value = offsets
    start, end = value.get("start"), value.get("end")
    channel = str(value["channel"]) if "channel" in value else ""
    if _is_number(start) and _is_number(end):
        return "span", [float(start), float(end)], channel
    first, last = value.get("startOffset"), value.get("endOffset")
    if start is None or end is None:
        return None
    if not (_is_number(first) and _is_number(last)):
        return "other", [str(start), str(end)], channel
    if str(start).isdigit() and str(end).isdigit():  # Paragraphs: number of the paragraph and character
        return "span", [int(start) * _XPATH_STEP + first, int(end) * _XPATH_STEP + last], channel
    if start == end:
        return "span", [float(first), float(last)], str(start)
    return "other", [str(start), first, str(end), last], channel


def _frames(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Read the ranges of frames of a video, or the key frames of a box that moves in it."""
    for key, kind, names in (("ranges", "spans", ("start", "end")), ("sequence", "track", _KEY_FRAME)):
        entries = value.get(key)
        if isinstance(entries, list) and entries:
            rows: list[Any] = [[entry.get(name) for name in names] for entry in entries if isinstance(entry, Mapping)]
            if not rows or not all(_is_number(number) for row in rows for number in row):
                return "other", entries, ""
            return kind, sorted([float(row[0]), row[1] + 1.0] if kind == "spans" else row for row in rows), ""
    return None


def _picture(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Read a brush region, a box, an ellipse, a key point, a polygon or a vector."""
    if isinstance(value.get("rle"), list):
        return "mask", value["rle"], ""
    if isinstance(value.get("imageDataURL"), str):
        return "other", value["imageDataURL"], ""
    points = value.get("points", value.get("vertices"))
    if isinstance(points, list) and points:
        corners: list[Any] = [[p.get("x"), p.get("y")] if isinstance(p, Mapping) else p for p in points]
        if not all(isinstance(p, list) and len(p) >= 2 and _is_number(p[0]) and _is_number(p[1]) for p in corners):
            return "other", points, ""
        corners = [p[:2] for p in corners]
        closed = "points" in value or value.get("closed")
        return "shape", corners if closed and len(corners) > 2 else _thick(corners), ""
    x, y = value.get("x"), value.get("y")
    if not _is_number(x) or not _is_number(y):
        return None
    radius_x, radius_y = value.get("radiusX"), value.get("radiusY")
    if _is_number(radius_x) and _is_number(radius_y):
        turns = (2 * math.pi * k / 24 for k in range(24))
        edge: list[list[float]] = [[x + radius_x * math.cos(t), y + radius_y * math.sin(t)] for t in turns]
        return "shape", _turned(edge, (x, y), value.get("rotation")), ""
    width, height = value.get("width"), value.get("height")
    if not _is_number(height):
        return "point", [x, y, width / 2 if _is_number(width) else 0.0], ""
    if not _is_number(width):
        return None
    if _is_number(value.get("rotation")) and value["rotation"] % 360:
        corners = [[float(x), float(y)], [x + width, y], [x + width, y + height], [x, y + height]]
        return "shape", _turned(corners, (x, y), value["rotation"]), ""
    return "box", [x, y, x + width, y + height], ""


def _turned(corners: list[list[float]], center: tuple[float, float], degrees: Any) -> list[list[float]]:
    """Turn corners around a point; percent of width and height are taken for the same length."""
    if not _is_number(degrees) or not degrees % 360:
        return corners
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    moved = ((x - center[0], y - center[1]) for x, y in corners)
    return [[center[0] + x * cos - y * sin, center[1] + x * sin + y * cos] for x, y in moved]


def _thick(line: list[list[float]]) -> list[list[float]]:
    """Return the outline of a line: the line with some width."""
    upper = [[x, y - _LINE] for x, y in line]
    lower = [[x, y + _LINE] for x, y in reversed(line)]
    x_min, x_max = min(x for x, _ in line) - _LINE, max(x for x, _ in line) + _LINE
    return [[x_min, line[0][1]], *upper, [x_max, line[-1][1]], *lower]

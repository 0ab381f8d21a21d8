"""Regions of Label Studio (spans, boxes, masks, turns), and which regions of several raters are the same.

Regions of two raters are matched one to one, those with the largest overlap first. Regions of different objects, pages,
channels or kinds never match.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_REGIONS", "Region", "match_regions", "overlap", "region_of"]

MOST_REGIONS = 5_000
"""Maximum number of regions of a task that are matched."""
_NEAR = 5.0
"""Distance in percent of the picture up to which two key points can be the same."""
_LINE = 1.0
"""Half width in percent that is given to the lines of a vector."""
_GRID = 128
_MOST_PIXELS = 50_000_000
_XPATH_STEP = 1e6


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
    if not isinstance(value, Mapping):
        return None
    for read in (_span, _spans, _track, _mask, _picture):
        if (region := read(value)) is not None:
            kind, extent, channel = region
            page = result.get("item_index", value.get("pageIndex"))
            key = (str(result.get("to_name")), "" if page is None else str(page), channel)
            return Region(kind, key, extent)
    return None


def match_regions(regions: Sequence[tuple[str, Region]]) -> list[list[int]]:
    """Group regions that are the same, with at most one region of each rater in a group.

    Returns
    -------
    list of list of int
        Numbers of the regions of each group, ordered by the first of them.

    Examples
    --------
    >>> spans = [("ann", 0, 5), ("ann", 5, 10), ("bob", 0, 5.2), ("bob", 5.2, 10)]
    >>> match_regions([(rater, Region("span", ("audio", "", ""), [a, b])) for rater, a, b in spans])
    [[0, 2], [1, 3]]
    """
    kinds: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for number, (_, region) in enumerate(regions):
        kinds.setdefault((region.kind, region.key), []).append(number)
    pairs = [pair for members in kinds.values() for pair in _overlaps(regions, members)]
    group = list(range(len(regions)))
    members = {number: [number] for number in group}
    for _, a, b in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        first, second = sorted((group[a], group[b]))
        raters = {regions[i][0] for i in members[first]}
        if first == second or any(regions[i][0] in raters for i in members[second]):
            continue
        for i in members[second]:
            group[i] = first
        members[first] += members.pop(second)
    return sorted(sorted(numbers) for numbers in members.values())


def overlap(a: Region, b: Region) -> float:
    """Return the share that two regions have in common, between 0 and 1 (intersection over union)."""
    if a.kind != b.kind or a.key != b.key:
        return 0.0
    if a.extent == b.extent:
        return 1.0
    match a.kind:
        case "span":
            return _shared_length([a.extent], [b.extent])
        case "spans":
            return _shared_length(a.extent, b.extent)
        case "box":
            return _shared_area(a.extent, b.extent)
        case "point":
            return max(0.0, 1 - math.dist(a.extent[:2], b.extent[:2]) / _NEAR)
        case "shape":
            return _shared_shape(a, b)
        case "track":
            return _shared_track(a.extent, b.extent)
        case "mask":
            return _shared_mask(a.extent, b.extent)
    return 0.0


def _overlaps(regions: Sequence[tuple[str, Region]], members: Sequence[int]) -> Iterator[tuple[float, int, int]]:
    """Yield overlap and numbers of each pair of regions of two raters that overlap."""
    for a, b in _near(regions, members):
        if regions[a][0] != regions[b][0] and (shared := overlap(regions[a][1], regions[b][1])) > 0:
            yield shared, a, b


def _near(regions: Sequence[tuple[str, Region]], members: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of regions of one kind whose bounds touch; all pairs if the kind has no bounds."""
    limits = [_limits(regions[i][1]) for i in members]
    if any(limit is None for limit in limits):
        yield from combinations(members, 2)
        return
    low, high = np.array(limits, dtype=np.float64).transpose(1, 0, 2)
    for a in range(len(members) - 1):
        touching = (low[a] <= high[a + 1 :]).all(axis=1) & (high[a] >= low[a + 1 :]).all(axis=1)
        yield from ((members[a], members[a + 1 + int(b)]) for b in np.flatnonzero(touching))


def _limits(region: Region) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return the lowest and the highest values of a region on each axis."""
    if region.kind == "span":
        return (region.extent[0],), (region.extent[1],)
    if region.kind == "point":
        x, y, _ = region.extent
        return (x - _NEAR, y - _NEAR), (x + _NEAR, y + _NEAR)
    bounds = region.bounds
    return None if bounds is None else (bounds[:2], bounds[2:])


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


def _spans(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Read the ranges of frames of a video."""
    ranges = value.get("ranges")
    if not isinstance(ranges, list) or not ranges:
        return None
    spans = [[entry.get("start"), entry.get("end")] for entry in ranges if isinstance(entry, Mapping)]
    numbers = [[start, end + 1.0] for start, end in spans if _is_number(start) and _is_number(end)]
    if not spans or len(numbers) < len(spans):
        return "other", ranges, ""
    return "spans", sorted([float(start), float(end)] for start, end in numbers), ""


def _track(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Read the key frames of a box that moves in a video."""
    sequence = value.get("sequence")
    if not isinstance(sequence, list) or not sequence:
        return None
    names = ("frame", "x", "y", "width", "height")
    frames = [[entry.get(name) for name in names] for entry in sequence if isinstance(entry, Mapping)]
    if not frames or not all(_is_number(number) for frame in frames for number in frame):
        return "other", sequence, ""
    return "track", sorted(frames), ""


def _mask(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Read a brush region."""
    if isinstance(value.get("rle"), list):
        return "mask", value["rle"], ""
    return ("other", value["imageDataURL"], "") if isinstance(value.get("imageDataURL"), str) else None


def _picture(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Read a box, an ellipse, a key point, a polygon or a vector."""
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
    left, right = min(x for x, _ in line) - _LINE, max(x for x, _ in line) + _LINE
    return [[left, line[0][1]], *upper, [right, line[-1][1]], *lower]


def _shared_length(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    shared = sum(max(0.0, min(p[1], q[1]) - max(p[0], q[0])) for p in a for q in b)
    total = sum(end - start for start, end in (*a, *b)) - shared
    return shared / total if total > 0 else 0.0


def _shared_area(a: Sequence[float], b: Sequence[float]) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    total = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)) - width * height
    return width * height / total


def _shared_shape(a: Region, b: Region) -> float:
    """Overlap of two polygons, on a grid over both."""
    first, second = a.bounds, b.bounds
    if first is None or second is None or not _shared_area(first, second):
        return 0.0
    left, top = min(first[0], second[0]), min(first[1], second[1])
    right, bottom = max(first[2], second[2]), max(first[3], second[3])
    steps = (np.arange(_GRID) + 0.5) / _GRID
    x, y = np.meshgrid(left + (right - left) * steps, top + (bottom - top) * steps)
    return _shared_pixels(_inside(a.extent, x, y), _inside(b.extent, x, y))


def _inside(corners: Sequence[Sequence[float]], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which points are inside a polygon (even-odd rule)."""
    inside = np.zeros(x.shape, dtype=bool)
    for (x0, y0), (x1, y1) in pairwise([*corners, corners[0]]):
        if y0 != y1:
            inside ^= ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return inside


def _shared_pixels(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    total = int((a | b).sum())
    return int((a & b).sum()) / total if total else 0.0


def _shared_track(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    """Overlap of two boxes that move, over all key frames of both."""
    frames = sorted({frame[0] for frame in (*a, *b)})
    boxes = [np.stack([np.interp(frames, [f[0] for f in t], [f[k] for f in t]) for k in range(1, 5)]) for t in (a, b)]
    visible = [np.array([t[0][0] <= frame <= t[-1][0] for frame in frames]) for t in (a, b)]
    (ax, ay, aw, ah), (bx, by, bw, bh) = boxes
    width = np.clip(np.minimum(ax + aw, bx + bw) - np.maximum(ax, bx), 0, None)
    height = np.clip(np.minimum(ay + ah, by + bh) - np.maximum(ay, by), 0, None)
    shared = width * height * (visible[0] & visible[1])
    total = (aw * ah * visible[0] + bw * bh * visible[1] - shared).sum()
    return float(shared.sum() / total) if total > 0 else 0.0


def _shared_mask(a: Sequence[int], b: Sequence[int]) -> float:
    first, second = _pixels(a), _pixels(b)
    if first is None or second is None or first.shape != second.shape:
        return 0.0
    return _shared_pixels(first, second)


def _pixels(rle: Sequence[int]) -> NDArray[np.bool_] | None:
    """Decode Label Studio's run-length encoding of a brush region; None if it is damaged."""
    try:
        bits = np.unpackbits(np.array(rle, dtype=np.uint8))
    except (TypeError, ValueError, OverflowError):
        return None
    position = 0

    def take(n: int) -> int:
        nonlocal position
        position += n
        if position > len(bits):
            raise ValueError
        return int("".join(map(str, bits[position - n : position].tolist())), 2)

    try:
        size, word = take(32), take(5) + 1
        lengths = [take(4) + 1 for _ in range(4)]
        if size > _MOST_PIXELS:
            return None
        values = np.zeros(size, dtype=np.uint8)
        done = 0
        while done < size:
            is_run = take(1)
            end = min(size, done + 1 + take(lengths[take(2)]))
            values[done:end] = take(word) if is_run else [take(word) for _ in range(end - done)]
            done = end
    except ValueError:
        return None
    return values[3::4] > 0  # the alpha channel of red, green, blue and alpha

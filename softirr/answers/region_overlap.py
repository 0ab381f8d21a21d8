"""Which regions of several raters are the same: they are matched one to one, those with the largest overlap first.

Regions of different objects, pages, channels or kinds never match.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from softirr.answers.regions import Region

MOST_REGIONS = 5_000
"""Maximum number of regions of a task that are matched."""
_NEAR = 5.0
"""Distance in percent of the picture up to which two key points can be the same."""
_GRID = 128
_MOST_PIXELS = 50_000_000


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
    """Yield pairs of regions of one kind with touching bounds; all pairs if the kind has no bounds."""
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
    x_min, y_min = min(first[0], second[0]), min(first[1], second[1])
    x_max, y_max = max(first[2], second[2]), max(first[3], second[3])
    steps = (np.arange(_GRID) + 0.5) / _GRID
    x, y = np.meshgrid(x_min + (x_max - x_min) * steps, y_min + (y_max - y_min) * steps)
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

"""Which regions of several raters are the same: they are matched one to one, those with the largest overlap first.

Regions of different objects, pages, channels or kinds never match.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.regions import Region

MOST_REGIONS = 5_000
"""Maximum number of regions of a task that are matched."""
TOO_MANY_REGIONS = f"too many regions in one task to compare by overlap (more than {MOST_REGIONS:,}, or large ones)"
_MOST_SECONDS = 20.0
"""Maximum time that the overlaps of a task may take."""
_SECONDS = {"shape": 4e-5, "track": 2e-5, "mask": 1e-5}
"""Time of an overlap for each number, corner or key frame of both regions; overlaps of other kinds take `_SECOND`."""
_SECOND = 1e-5
_NEAR = 5.0
"""Distance in percent of the picture up to which two key points can be the same."""
_GRID = 128
_MOST_PIXELS = 50_000_000


class TooManyRegions(Exception):
    """The regions of a task would take too long to match."""


def match_regions(regions: Sequence[tuple[str, Region]]) -> list[list[int]]:
    """Group regions that are the same, with at most one region of each rater in a group.

    Returns
    -------
    list of list of int
        Numbers of the regions of each group, ordered by the place of the first of them, whoever marked it.

    Raises
    ------
    TooManyRegions
        If there are more than `MOST_REGIONS`, or too many that may overlap.

    Examples
    --------
    >>> spans = [("ann", 0, 5), ("ann", 5, 10), ("bob", 0, 5.2), ("bob", 5.2, 10)]
    >>> match_regions([(rater, Region("span", ("audio", "", ""), [a, b])) for rater, a, b in spans])
    [[0, 2], [1, 3]]
    """
    if len(regions) > MOST_REGIONS:
        raise TooManyRegions
    order = sorted(range(len(regions)), key=lambda number: _place(regions[number][1]))
    regions = [regions[number] for number in order]
    near, seconds = [], 0.0
    for a, b in _near(regions):
        seconds += _seconds(regions[a][1]) + _seconds(regions[b][1])
        if seconds > _MOST_SECONDS:
            raise TooManyRegions
        near.append((a, b))
    pairs = [(-shared, a, b) for a, b in near if (shared := overlap(regions[a][1], regions[b][1])) > 0]
    groups = [[number] for number in range(len(regions))]
    for _, a, b in sorted(pairs):
        first, second = groups[a], groups[b]
        if {regions[i][0] for i in first}.isdisjoint(regions[i][0] for i in second):
            first += second
            for i in second:
                groups[i] = first
    return [sorted(order[i] for i in group) for number, group in enumerate(groups) if number == min(group)]


def matched_answers(
    regions: Mapping[str, Sequence[tuple[Region, tuple[str, ...]]]],
) -> list[dict[str, tuple[str, ...]]]:
    """Return every rater's texts of each group of matched regions; a rater without a region in it has an empty answer.

    Parameters
    ----------
    regions : mapping
        Regions and their texts by rater.

    Raises
    ------
    TooManyRegions
        As for :func:`match_regions`.
    """
    numbered = [(rater, region, texts) for rater, of_rater in regions.items() for region, texts in of_rater]
    groups = match_regions([(rater, region) for rater, region, _ in numbered])
    in_groups = [{numbered[k][0]: numbered[k][2] for k in group} for group in groups]
    return [{rater: by_rater.get(rater, ()) for rater in regions} for by_rater in in_groups]


def _place(region: Region) -> tuple[str, tuple[str, ...], Any]:
    """Sort key of a region: by its numbers, if its kind has a fixed form."""
    return region.kind, region.key, str(region.extent) if region.kind in ("mask", "other") else region.extent


def overlap(a: Region, b: Region) -> float:
    """Return the share that two regions have in common, between 0 and 1 (intersection over union)."""
    if a.kind != b.kind or a.key != b.key:
        return 0.0
    if a.extent == b.extent:
        return 1.0
    return _SHARED[a.kind](a.extent, b.extent) if a.kind in _SHARED else 0.0


def _seconds(region: Region) -> float:
    """Return half of the time that an overlap with an equally large region takes."""
    return len(region.extent) * _SECONDS[region.kind] if region.kind in _SECONDS else _SECOND


def _near(regions: Sequence[tuple[str, Region]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of regions of two raters and one kind that may overlap."""
    kinds: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for number, (_, region) in enumerate(regions):
        kinds.setdefault((region.kind, region.key), []).append(number)
    for members in kinds.values():
        yield from ((a, b) for a, b in _touching(regions, members) if regions[a][0] != regions[b][0])


def _touching(regions: Sequence[tuple[str, Region]], members: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of regions of one kind with touching bounds; all pairs if the kind has no bounds."""
    limits = [_limits(regions[i][1]) for i in members]
    if any(limit is None for limit in limits):
        yield from combinations(members, 2)
        return
    low, high = np.hsplit(np.array(limits, dtype=np.float64), 2)
    for a in range(len(members) - 1):
        touching = (low[a] <= high[a + 1 :]).all(axis=1) & (high[a] >= low[a + 1 :]).all(axis=1)
        yield from ((members[a], members[a + 1 + int(b)]) for b in np.flatnonzero(touching))


def _limits(region: Region) -> tuple[float, ...] | None:
    """Return the lowest and then the highest values on each axis of the regions that a region can match."""
    if region.kind == "point":
        return region._replace(extent=[*region.extent[:2], _NEAR]).bounds
    return tuple(region.extent) if region.kind == "span" else region.bounds


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


def _shared_shape(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    """Overlap of two polygons by the even-odd rule, on a grid over both."""
    corners = np.array([*a, *b], dtype=np.float64)
    (x_min, y_min), (x_max, y_max) = corners.min(axis=0), corners.max(axis=0)
    steps = (np.arange(_GRID) + 0.5) / _GRID
    x, y = np.meshgrid(x_min + (x_max - x_min) * steps, y_min + (y_max - y_min) * steps)
    inside = np.zeros((2, *x.shape), dtype=bool)
    for polygon, inside_polygon in zip((a, b), inside, strict=True):
        for (x0, y0), (x1, y1) in pairwise([*polygon, polygon[0]]):
            if y0 != y1:
                inside_polygon ^= ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return _shared_pixels(*inside)


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
    try:
        first, second = _pixels(a), _pixels(b)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return _shared_pixels(first, second) if first.shape == second.shape else 0.0


def _pixels(rle: Sequence[int]) -> NDArray[np.bool_]:
    """Decode Label Studio's run-length encoding of a brush region; ValueError and the like if it is damaged."""
    bits = iter((np.unpackbits(np.array(rle, dtype=np.uint8)) + ord("0")).tobytes().decode())

    def take(n: int) -> int:
        digits = "".join(islice(bits, n))
        if len(digits) < n:
            raise ValueError
        return int(digits, 2)

    size, word = take(32), take(5) + 1
    lengths = [take(4) + 1 for _ in range(4)]
    if size > _MOST_PIXELS:
        raise ValueError
    values = np.zeros(size, dtype=np.uint8)
    done = 0
    while done < size:
        is_run = take(1)
        end = min(size, done + 1 + take(lengths[take(2)]))
        values[done:end] = take(word) if is_run else [take(word) for _ in range(end - done)]
        done = end
    return values[3::4] > 0  # the alpha channel of red, green, blue and alpha


_SHARED: Mapping[str, Callable[[Any, Any], float]] = {
    "span": lambda a, b: _shared_length([a], [b]),
    "spans": _shared_length,
    "box": _shared_area,
    "point": lambda a, b: max(0.0, 1 - math.dist(a[:2], b[:2]) / _NEAR),
    "shape": _shared_shape,
    "track": _shared_track,
    "mask": _shared_mask,
}
"""Overlap of the extents of two regions of a kind; regions of other kinds overlap only if they are equal."""

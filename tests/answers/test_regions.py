"""Regions of two raters are matched one to one by the largest overlap for their kind."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import numpy as np
import pytest

import softirr
from softirr.answers.region_overlap import MOST_REGIONS, TOO_MANY_REGIONS, match_regions, overlap
from softirr.answers.regions import Region, region_of


def region(value: dict[str, Any], **more: Any) -> Region:
    found_region = region_of({"to_name": "object", "value": value, **more})
    assert found_region is not None
    return found_region


def groups(regions_of_ann: list[dict[str, Any]], regions_of_bob: list[dict[str, Any]]) -> list[list[int]]:
    """Groups of the regions of two raters; those of the second are numbered after those of the first."""
    return match_regions(
        [("ann", region(value)) for value in regions_of_ann] + [("bob", region(value)) for value in regions_of_bob]
    )


def brush(pixels: list[bool]) -> dict[str, Any]:
    """A brush region in Label Studio's run-length encoding, with one run for each pixel."""
    bits = f"{4 * len(pixels):032b}{7:05b}" + f"{3:04b}" * 4
    for pixel in pixels:
        bits += "1" + "00" + f"{3:04b}" + f"{255 if pixel else 0:08b}"
    bits += "0" * (-len(bits) % 8)
    return {"format": "rle", "rle": [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]}


PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], float]] = {
    "audio": ({"start": 0, "end": 4}, {"start": 2, "end": 6}, 1 / 3),
    "time series with dates": ({"start": "2020-01-01", "end": "2020-01-02"},) * 2 + (1.0,),
    "box": ({"x": 0, "y": 0, "width": 4, "height": 4}, {"x": 2, "y": 0, "width": 4, "height": 4}, 1 / 3),
    "video frames": ({"ranges": [{"start": 1, "end": 30}]}, {"ranges": [{"start": 2, "end": 31}]}, 29 / 31),
    "html": (
        {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 0, "endOffset": 10},
        {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 5, "endOffset": 15},
        1 / 3,
    ),
    "paragraphs": (
        {"start": "2", "end": "2", "startOffset": 0, "endOffset": 10},
        {"start": "2", "end": "2", "startOffset": 5, "endOffset": 15},
        1 / 3,
    ),
    "global offsets": (
        {"start": "/a", "end": "/b", "globalOffsets": {"start": 0, "end": 2}},
        {"start": "/c", "end": "/d", "globalOffsets": {"start": 1, "end": 3}},
        1 / 3,
    ),
    "moving box": (
        {"sequence": [{"frame": 1, "x": 0, "y": 0, "width": 2, "height": 2}]},
        {"sequence": [{"frame": 1, "x": 1, "y": 0, "width": 2, "height": 2}]},
        1 / 3,
    ),
    "brush": (brush([True, True, False, False]), brush([False, True, True, False]), 1 / 3),
    "key point": ({"x": 50, "y": 50, "width": 0.7}, {"x": 51, "y": 50, "width": 0.7}, 0.8),
    "polygon": ({"points": [[0, 0], [4, 0], [4, 4], [0, 4]]}, {"points": [[2, 0], [6, 0], [6, 4], [2, 4]]}, 1 / 3),
    "turned box": (
        {"x": 10, "y": 10, "width": 4, "height": 4, "rotation": 90},
        {"x": 8, "y": 10, "width": 4, "height": 4, "rotation": 90},
        1 / 3,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_overlap_is_intersection_over_union(name: str) -> None:
    regions_of_ann, regions_of_bob, expected = PAIRS[name]
    shared = overlap(region(regions_of_ann), region(regions_of_bob))
    assert shared == pytest.approx(expected, abs=0.02)
    assert (
        shared == overlap(region(regions_of_bob), region(regions_of_ann))
        and overlap(region(regions_of_ann), region(regions_of_ann)) == 1
    )
    assert groups([regions_of_ann], [regions_of_bob]) == [[0, 1]]


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "time series with dates"])
def test_regions_of_two_pages_or_objects_never_match(name: str) -> None:
    regions_of_ann, regions_of_bob, _ = PAIRS[name]
    assert overlap(region(regions_of_ann, item_index=0), region(regions_of_bob, item_index=1)) == 0
    assert overlap(region(regions_of_ann), region(regions_of_bob, to_name="other")) == 0


def test_adjacent_segments_with_jitter_match_one_to_one() -> None:
    ann = [{"start": 5 * k, "end": 5 * k + 5} for k in range(6)]
    bob = [{"start": 5 * k + 0.1, "end": 5 * k + 5.1} for k in range(6)]
    assert groups(ann, bob) == [[k, 6 + k] for k in range(6)]


def test_largest_overlap_wins_and_the_other_region_stays_alone() -> None:
    wide, inner, exact = {"start": 0, "end": 10}, {"start": 0, "end": 4}, {"start": 0, "end": 9}
    assert groups([wide], [inner, exact]) == [[1], [0, 2]]


def test_several_raters_have_one_region_each_in_a_group() -> None:
    rng = random.Random(5)
    regions = [
        (rater, region({"start": k * 4 + rng.random(), "end": k * 4 + 3 + rng.random()}))
        for rater in ("ann", "bob", "cy")
        for k in range(20)
    ]
    order = list(range(len(regions)))
    expected = {frozenset(numbers) for numbers in match_regions(regions)}
    assert all(len({regions[i][0] for i in numbers}) == len(numbers) for numbers in expected)
    assert len(expected) == 20
    rng.shuffle(order)
    shuffled = {frozenset(order[i] for i in numbers) for numbers in match_regions([regions[i] for i in order])}
    assert shuffled == expected


def test_damaged_masks_do_not_match() -> None:
    full_mask = brush([True] * 4)
    for damaged in ([1, 2], ["a"], [255] * 8, full_mask["rle"][:6]):
        assert overlap(region(full_mask), region({"rle": damaged})) == 0


def test_result_about_the_whole_task_has_no_region() -> None:
    assert region_of({"to_name": "text", "value": {"text": ["fever"]}}) is None
    assert region_of({"to_name": "text", "value": None}) is None


def test_many_boxes_are_each_in_one_group() -> None:
    rng = np.random.default_rng(3)
    boxes = [
        ("ab"[k % 2], region({"x": x, "y": y, "width": 3, "height": 1}))
        for k, (x, y) in enumerate(rng.random((2000, 2)) * 97)
    ]
    assert sum(map(len, match_regions(boxes))) == 2000


@pytest.mark.parametrize("n", [MOST_REGIONS, 1_000])
def test_too_many_regions_are_left_out_with_the_reason(n: int) -> None:
    """Many regions, or fewer polygons that overlap each other, take too long to match."""

    def result(number: int) -> dict[str, Any]:
        span, polygon = {"start": 0, "end": number}, {"points": [[0, 0], [50 + number / n, 0], [50, 50]]}
        value = {"text": ["fever"], **(span if n == MOST_REGIONS else polygon)}
        return {"from_name": "note", "to_name": "text", "type": "textarea", "value": value}

    annotations = [
        {"id": user, "completed_by": user, "result": list(map(result, range(user, n + 1)))} for user in (1, 2)
    ]
    small = [{"id": user, "completed_by": user, "result": [result(1)]} for user in (3, 4)]
    tasks = [{"id": 1, "data": {}, "annotations": annotations}, {"id": 2, "data": {}, "annotations": small}]
    table = softirr.read(io.StringIO(json.dumps(tasks)), regions="matched")
    assert table.items == ("1", "2#0")
    assert [(entry.item, entry.reason) for entry in table.excluded] == [("1", TOO_MANY_REGIONS)] * 2


def test_texts_that_matching_leaves_out_are_counted() -> None:
    def result(text: str, **offsets: int) -> dict[str, Any]:
        return {"from_name": "note", "to_name": "text", "type": "textarea", "value": {"text": [text], **offsets}}

    def warnings(*results: list[dict[str, Any]]) -> str:
        annotations = [{"id": n, "completed_by": n, "result": result} for n, result in enumerate(results, start=1)]
        export = io.StringIO(json.dumps([{"id": 1, "data": {"text": "x"}, "annotations": annotations}]))
        return " ".join(softirr.read(export, regions="matched").warnings)

    span = {"start": 0, "end": 4}
    half = warnings([result("fever", **span), result("chills")], [result("fever", **span)])
    assert "1 text is on no region, in items with regions: it is not compared." in half
    assert "changes nothing" in warnings([result("fever")], [result("chills")])
    assert "region" not in warnings([result("fever", **span)], [result("fever", **span)])

"""Texts on regions that are compared by overlap.

Which annotation of an annotator counts, and how many regions are compared.
"""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import pytest

from ml_backend.labelstudio.regions import MOST_AT_ONCE, TOO_MANY_REGIONS, matched_texts
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import region

CONFIG = (
    '<View><Text name="text" value="$text"/><Labels name="l" toName="text"><Label value="A"/></Labels>'
    '<TextArea name="findings" toName="text" perRegion="true"/></View>'
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, FakeLabelStudio(CONFIG))
    bench.choose(regions="matched", predictions="always")
    return bench


def marked(name: str, text: str, start: int, end: int, **fields: Any) -> dict[str, Any]:
    return region([text], id=name, value={"start": start, "end": end}, **fields)


@pytest.mark.parametrize("origin", ["prediction", "prediction-changed"])
def test_an_annotation_copied_from_a_prediction_does_not_replace_the_own_one(bench: Bench, origin: str) -> None:
    task = bench.fake.add_task()
    bench.fake.annotate(task, 1, [], result=[marked("a", "fever", 0, 5)])
    bench.fake.annotate(task, 1, [], result=[marked("b", "the suggestion", 0, 5, origin=origin)])
    bench.fake.annotate(task, 2, [], result=[marked("c", "fever", 1, 5)])
    bench.sync()
    assert [entry["score"] for entry in bench.fake.predictions()[task]] == [1.0]
    row = bench.task(task)
    assert [entry["texts"] for entry in row["facts"]["regions"]["findings"]["rows"]] == [["fever"], ["fever"]]


def test_too_many_regions_are_listed_and_stop_nothing(bench: Bench) -> None:
    task, small_task = bench.fake.add_task(), bench.fake.add_task()
    bench.fake.annotate(task, 1, [], result=[marked(f"a{i}", "fever", i, i + 1) for i in range(MOST_AT_ONCE)])
    for number, user in ((task, 2), (small_task, 1), (small_task, 2)):
        bench.fake.annotate(number, user, [], result=[marked("b", "fever", 0, 5)])
    bench.sync()
    assert set(bench.fake.predictions()) == {small_task}
    listed = bench.row["summary"]["controls"]["findings"]["excluded"]
    assert [(entry["item"], entry["rater"], entry["reason"]) for entry in listed] == [
        (str(task), rater, TOO_MANY_REGIONS) for rater in ("1", "2")
    ]


@pytest.mark.parametrize("axes", [1, 2])
def test_regions_of_two_raters_are_a_stable_match(axes: int) -> None:
    """Each region is in one place, and no two regions would both gain by leaving their partners."""
    rng = random.Random(axes)
    for _ in range(50):
        boxes: dict[str, tuple[str, list[tuple[int, int]]]] = {}
        for number in range(rng.randrange(12)):
            low = [rng.randrange(12) for _ in range(axes)]
            boxes[f"r{number}"] = rng.choice("12"), [(a, a + rng.randrange(1, 5)) for a in low]
        annotations = [
            {
                "id": int(user),
                "completed_by": int(user),
                "result": [
                    region([name], id=name, value=_value(box)) for name, (owner, box) in boxes.items() if owner == user
                ],
            }
            for user in "12"
        ]
        matches = matched_texts({"annotations": annotations}, "findings", ["1", "2"])
        texts = [[text for texts_of_rater in matched.values() for text in texts_of_rater] for matched in matches]
        assert sorted(text for group in texts for text in group) == sorted(boxes)
        assert all(len(texts_of_rater) < 2 for matched in matches for texts_of_rater in matched.values())
        gain = {
            name: _shared(*(boxes[text][1] for text in group)) for group in texts for name in group if len(group) == 2
        }
        for a, b in itertools.combinations(boxes, 2):
            if boxes[a][0] != boxes[b][0]:
                assert _shared(boxes[a][1], boxes[b][1]) <= max(gain.get(a, 0), gain.get(b, 0)) + 1e-12


def _value(box: list[tuple[int, int]]) -> dict[str, int]:
    if len(box) == 1:
        return {"start": box[0][0], "end": box[0][1]}
    (x_start, x_end), (y_start, y_end) = box
    return {"x": x_start, "y": y_start, "width": x_end - x_start, "height": y_end - y_start}


def _shared(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> float:
    shared = math.prod(max(0, min(p[1], q[1]) - max(p[0], q[0])) for p, q in zip(a, b, strict=True))
    return shared / (sum(math.prod(end - start for start, end in box) for box in (a, b)) - shared)

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

from softirr.answers.region_overlap import MOST_REGIONS, TOO_MANY_REGIONS, matched_answers
from softirr.answers.regions import Region
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import region

CONFIG = (
    '<View><Text name="text" value="$text"/><Labels name="l" toName="text"><Label value="A"/></Labels>'
    '<TextArea name="findings" toName="text" perRegion="true"/>'
    '<Choices name="side" toName="text" perRegion="true"><Choice value="l"/><Choice value="r"/></Choices></View>'
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
    bench.fake.annotate(task, 1, [], result=[marked(f"a{i}", "fever", i, i + 1) for i in range(MOST_REGIONS)])
    for number, user in ((task, 2), (small_task, 1), (small_task, 2)):
        bench.fake.annotate(number, user, [], result=[marked("b", "fever", 0, 5)])
    bench.sync()
    assert set(bench.fake.predictions()) == {small_task}
    listed = bench.row["summary"]["controls"]["findings"]["excluded"]
    assert [(entry["item"], entry["rater"], entry["reason"]) for entry in listed] == [
        (str(task), rater, TOO_MANY_REGIONS) for rater in ("1", "2")
    ]


def test_too_many_choices_on_regions_are_listed_and_stop_nothing(bench: Bench) -> None:
    def chosen(start: int) -> dict[str, Any]:
        value = {"start": start, "end": start + 1, "choices": ["l"]}
        return {"type": "choices", "from_name": "side", "to_name": "text", "id": f"c{start}", "value": value}

    task, small_task = bench.fake.add_task(), bench.fake.add_task()
    bench.fake.annotate(task, 1, [], result=[marked("a", "fever", 0, 5), *map(chosen, range(MOST_REGIONS))])
    for number, user in ((task, 2), (small_task, 1), (small_task, 2)):
        bench.fake.annotate(number, user, [], result=[marked("b", "fever", 0, 5), chosen(0)])
    bench.sync()
    assert set(bench.fake.predictions()) == {task, small_task}
    side = dict(bench.store.fields(bench.row["id"]))[task]["side"]
    assert side["answers"] == {} and side["excluded"] == [[rater, TOO_MANY_REGIONS] for rater in ("1", "2")]
    (field,) = bench.row["summary"]["fields"]
    assert field["n_items"] == 1


@pytest.mark.parametrize("axes", [1, 2])
def test_regions_of_two_raters_are_a_stable_match(axes: int) -> None:
    """Each region is in one place, and no two regions would both gain by leaving their partners."""
    rng = random.Random(axes)
    for _ in range(50):
        boxes: dict[str, tuple[str, list[tuple[int, int]]]] = {}
        for number in range(rng.randrange(12)):
            low = [rng.randrange(12) for _ in range(axes)]
            boxes[f"r{number}"] = rng.choice("12"), [(a, a + rng.randrange(1, 5)) for a in low]
        regions = {
            user: [(_region(box), (name,)) for name, (owner, box) in boxes.items() if owner == user] for user in "12"
        }
        matches = matched_answers(regions)
        texts = [[text for texts_of_rater in matched.values() for text in texts_of_rater] for matched in matches]
        assert sorted(text for group in texts for text in group) == sorted(boxes)
        assert all(len(texts_of_rater) < 2 for matched in matches for texts_of_rater in matched.values())
        gain = {
            name: _shared(*(boxes[text][1] for text in group)) for group in texts for name in group if len(group) == 2
        }
        for a, b in itertools.combinations(boxes, 2):
            if boxes[a][0] != boxes[b][0]:
                assert _shared(boxes[a][1], boxes[b][1]) <= max(gain.get(a, 0), gain.get(b, 0)) + 1e-12


def _region(box: list[tuple[int, int]]) -> Region:
    kind = "span" if len(box) == 1 else "box"
    return Region(kind, (), [float(number) for side in zip(*box, strict=True) for number in side])


def _shared(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> float:
    shared = math.prod(max(0, min(p[1], q[1]) - max(p[0], q[0])) for p, q in zip(a, b, strict=True))
    return shared / (sum(math.prod(end - start for start, end in box) for box in (a, b)) - shared)

"""Texts on regions that are compared by overlap.

Which annotation of an annotator counts, and how many regions are compared.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from ml_backend.labelstudio.regions import MOST_AT_ONCE, TOO_MANY_REGIONS, places_of
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio, region

CONFIG = (
    '<View><Text name="text" value="$text"/><Labels name="l" toName="text"><Label value="A"/></Labels>'
    '<TextArea name="findings" toName="text" perRegion="true"/></View>'
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, FakeLabelStudio(CONFIG))
    bench.choose(regions="overlap", predictions="always")
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
    assert [one["score"] for one in bench.fake.predictions()[task]] == [1.0]
    row = bench.task(task)
    assert [one["texts"] for one in row["facts"]["regions"]["findings"]["rows"]] == [["fever"], ["fever"]]


def test_too_many_regions_are_listed_and_stop_nothing(bench: Bench) -> None:
    task, other = bench.fake.add_task(), bench.fake.add_task()
    bench.fake.annotate(task, 1, [], result=[marked(f"a{i}", "fever", i, i + 1) for i in range(MOST_AT_ONCE)])
    for number, user in ((task, 2), (other, 1), (other, 2)):
        bench.fake.annotate(number, user, [], result=[marked("b", "fever", 0, 5)])
    bench.sync()
    assert set(bench.fake.predictions()) == {other}
    listed = bench.row["summary"]["controls"]["findings"]["excluded"]
    assert [(one["item"], one["rater"], one["reason"]) for one in listed] == [
        (str(task), rater, TOO_MANY_REGIONS) for rater in ("1", "2")
    ]


@pytest.mark.parametrize("axes", [1, 2])
def test_places_are_the_connected_groups_of_regions(axes: int) -> None:
    """Against the definition, over random regions.

    Equal ones without extent overlap, neighbors that only touch do not.
    """
    rng = random.Random(axes)
    for _ in range(50):
        regions = []
        for number in range(rng.randrange(12)):
            low = [rng.randrange(12) for _ in range(axes)]
            size = [rng.randrange(4) for _ in range(axes)]
            value = (
                {"start": low[0], "end": low[0] + size[0]}
                if axes == 1
                else {"x": low[0], "y": low[1], "width": size[0], "height": size[1]}
            )
            box = [(a, a + n) for a, n in zip(low, size, strict=True)]
            regions.append((f"r{number}", rng.choice("12"), value, box))
        annotations = [
            {
                "id": int(user),
                "completed_by": int(user),
                "result": [region([name], id=name, value=value) for name, own, value, _ in regions if own == user],
            }
            for user in "12"
        ]
        groups = {name: {name} for name, *_ in regions}
        for (a, _, _, one), (b, _, _, other) in itertools.combinations(regions, 2):
            if one == other or all(max(p[0], q[0]) < min(p[1], q[1]) for p, q in zip(one, other, strict=True)):
                joined = groups[a] | groups[b]
                groups |= dict.fromkeys(joined, joined)
        wanted = {frozenset(group) for group in groups.values()}
        places = places_of({"annotations": annotations}, "findings", ["1", "2"])
        texts = [frozenset(text for own in place.texts.values() for text in own) for place in places]
        assert set(texts) - {frozenset()} == wanted and len(texts) == max(1, len(wanted))

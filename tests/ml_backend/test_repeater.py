"""Dialogues: a Repeater numbers its controls, and each turn is an item of one field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import region

CONFIG = (
    '<View><Repeater on="$talk" indexFlag="{{idx}}"><Text name="line_{{idx}}" value="$talk[{{idx}}].text"/>'
    '<TextArea name="gist_{{idx}}" toName="line_{{idx}}"/></Repeater></View>'
)
GIST = "gist_{{idx}}"


def turns(*texts: str) -> list[dict[str, object]]:
    """Results of the turns with a text."""
    return [
        region([text], id=f"t{number}", from_name=f"gist_{number}", to_name=f"line_{number}")
        for number, text in enumerate(texts)
        if text
    ]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, FakeLabelStudio(CONFIG), measure="exact")
    bench.choose(predictions="always")
    return bench


def test_turns_of_dialogues_of_different_lengths_are_compared(bench: Bench) -> None:
    first, second = bench.fake.add_task(), bench.fake.add_task()
    bench.fake.annotate(first, 1, [], result=turns("greets", "asks", "leaves"))
    bench.fake.annotate(first, 2, [], result=turns("greets", "", "hangs up"))
    bench.fake.annotate(second, 1, [], result=turns("thanks"))
    bench.fake.annotate(second, 2, [], result=turns("thanks"))
    bench.sync()
    assert {task: entry["score"] for task, (entry,) in bench.fake.predictions().items()} == {first: 0.5, second: 1.0}
    control = bench.row["summary"]["controls"][GIST]
    assert control["excluded"] == []
    assert control["coefficients"]["observed_agreement"]["value"] == pytest.approx(2 / 3)


def test_turn_that_only_one_annotator_answered_is_not_compared(bench: Bench) -> None:
    task = bench.fake.add_task()
    bench.fake.annotate(task, 1, [], result=turns("greets", "asks"))
    bench.fake.annotate(task, 2, [], result=turns("greets"))
    bench.sync()
    assert [entry["score"] for entry in bench.fake.predictions()[task]] == [1.0]
    answers = bench.task(task)["answers"][GIST]
    assert answers["groups"] == [{"1": ["greets"], "2": ["greets"]}, {"1": ["asks"]}]

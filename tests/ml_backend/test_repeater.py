"""Dialogues: a Repeater numbers its controls, and each turn is an item of one field."""

from __future__ import annotations

from pathlib import Path

import pytest

from ml_backend.review.headline import headline_lines
from tests.ml_backend.answered_fields import app_of
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER, region

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


def test_report_counts_tasks_and_their_turns(bench: Bench) -> None:
    for texts in (["greets", "asks", "leaves"], ["thanks", "leaves"]):
        task = bench.fake.add_task()
        for user in (1, 2):
            bench.fake.annotate(task, user, [], result=turns(*texts[: len(texts) - user + 1], "pauses"))
    bench.fake.add_task()
    bench.sync()
    client = app_of(bench)
    body = client.get(f"/api/report?project={NUMBER}").json
    assert (body["n_compared"], body["n_items"], body["n_parts"], body["part_word"]) == (2, 3, 5, "turn")
    assert "5 turns of 2 tasks, 2 annotators" in body["verdict"]["basis"]
    page = " ".join(client.get(f"/report/{NUMBER}?project={NUMBER}").text.split())
    assert "2 tasks with at least two answers, of 3, with 5 turns" in page and ">Turns</th>" in page
    assert "5 turns, 2 annotators" in headline_lines(bench.row)[1]

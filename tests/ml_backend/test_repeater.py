"""Dialogues: a Repeater numbers its controls, and each turn is an item of one field."""

from __future__ import annotations

from pathlib import Path

import pytest

import softirr
from ml_backend.labelstudio.agreed import agreed_in
from ml_backend.labelstudio.answers import Reading
from ml_backend.labelstudio.config import Control
from ml_backend.project_settings import ProjectSettings
from ml_backend.review.field_entries import other_entries
from ml_backend.review.headline import headline_lines
from ml_backend.web.agreed import agreed_results
from softirr.answers.labelstudio import AGREED_ID
from tests.ml_backend.answered_fields import app_of, panel_of
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


def test_an_annotator_without_a_turn_answers_no_other_item_in_an_export(bench: Bench) -> None:
    task = bench.fake.add_task()
    for user, results in ((1, turns("greets", "asks")), (2, turns("greets", "leaves")), (3, []), (4, [])):
        bench.fake.annotate(task, user, [], result=results)
    bench.sync()
    table = softirr.read(bench.export(), control="gist")
    assert table.items == (f"{task}/0", f"{task}/1") and table.raters == ("1", "2")
    coefficients = softirr.agreement(table, "exact").to_dict()["coefficients"]
    assert coefficients == bench.row["summary"]["controls"][GIST]["coefficients"]
    assert coefficients["observed_agreement"]["value"] == 0.5


def test_an_ignored_rater_makes_no_items_of_turns(bench: Bench) -> None:
    task = bench.fake.add_task()
    for user, results in ((1, []), (2, []), (3, turns("greets", "asks"))):
        bench.fake.annotate(task, user, [], result=results)
    table = softirr.read(bench.export(), control="gist", ignore_raters=["3"])
    assert table.items == (str(task),) and table.raters == ("1", "2")


def test_texts_about_the_messages_of_a_chat_are_compared_message_by_message(tmp_path: Path) -> None:
    per_message = 'toName="chat" perRegion="true"'
    config = f'<View><Chat name="chat" value="$chat"/><TextArea name="remark" {per_message}/></View>'
    bench = Bench(tmp_path, FakeLabelStudio(config), measure="exact")
    task = bench.fake.add_task()
    for user, remarks in ((1, ("good", "rude")), (2, ("rude", "good"))):
        messages = [{"id": f"m{turn}", "from_name": "chat", "type": "chatmessage", "value": {}} for turn in (0, 1)]
        texts = [region([text], "remark", id=f"m{turn}") for turn, text in enumerate(remarks)]
        bench.fake.annotate(task, user, [], result=[*messages, *texts])
    bench.sync()
    report = softirr.agreement(softirr.read(bench.export()), "exact").to_dict()
    assert report["coefficients"] == bench.row["summary"]["controls"]["remark"]["coefficients"]
    assert "2 turns, 2 annotators" in headline_lines(bench.row)[1]
    assert report["coefficients"]["observed_agreement"]["value"] == 0


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


ACCEPTED = (
    '<View><Repeater on="$talk" indexFlag="{{idx}}"><Text name="line_{{idx}}" value="$talk[{{idx}}].text"/>'
    '<TextArea name="gist_{{idx}}" toName="line_{{idx}}"/><Rating name="clarity_{{idx}}" toName="line_{{idx}}"/>'
    '<Choices name="tone_{{idx}}" toName="line_{{idx}}"><Choice value="kind"/><Choice value="rude"/></Choices>'
    "</Repeater></View>"
)
TONES = [("kind", "kind", "rude"), (), ("rude", "rude", "rude"), ("kind", "rude", "")]
"""Tone of each turn by annotator: nobody answers the second, and two do not agree on the last."""


def tone(turn: int, value: str) -> dict[str, object]:
    return {
        "id": f"tone{turn}",
        "from_name": f"tone_{turn}",
        "to_name": f"line_{turn}",
        "type": "choices",
        "origin": "manual",
        "value": {"choices": [value]},
    }


@pytest.fixture(params=[True, False], ids=["with ids", "without ids"])
def dialogue(tmp_path: Path, request: pytest.FixtureRequest) -> Bench:
    """A dialogue of four turns with texts and choices of three annotators; imported results may have no id."""
    bench = Bench(tmp_path, FakeLabelStudio(ACCEPTED), measure="exact")
    bench.choose(predictions="always")
    gists = [("greets", "", "asks", "leaves"), ("greets", "", "asks", "leaves"), ("nods", "", "asks", "")]
    task = bench.fake.add_task()
    for user, texts in enumerate(gists):
        tones = [tone(turn, of_turn[user]) for turn, of_turn in enumerate(TONES) if of_turn and of_turn[user]]
        results = [*turns(*texts), *tones]
        if not request.param:
            results = [{name: value for name, value in entry.items() if name != "id"} for entry in results]
        bench.fake.annotate(task, user + 1, [], result=results)
    bench.sync()
    return bench


def test_panel_shows_the_choices_of_each_turn(dialogue: Bench) -> None:
    fields = panel_of(dialogue, "9", "reviewer", position=0)["fields"]
    assert [field["title"] for field in fields] == ["gist", "tone, turn 1", "tone, turn 3", "tone, turn 4"]
    assert [(field["name"], field["suggestion"]) for field in fields[1:]] == [
        ("tone_0", ["kind"]),
        ("tone_2", ["rude"]),
        ("tone_3", None),
    ]


def test_turns_of_texts_and_choices_are_accepted_together(dialogue: Bench) -> None:
    (task,) = dialogue.fake.tasks
    people = dialogue.fake.tasks[task]["annotations"]
    row = dialogue.task(task)
    fields = {"gist_{{idx}}": ["greets", "asks", "leaves"], "tone_0": ["kind"], "tone_2": ["rude"]}
    saved = list(agreed_results(dialogue.row, row, fields, people))
    assert {entry["from_name"]: (entry["to_name"], *entry["value"].values()) for entry in saved} == {
        "gist_0": ("line_0", ["greets"]),
        "gist_2": ("line_2", ["asks"]),
        "gist_3": ("line_3", ["leaves"]),
        "tone_0": ("line_0", ["kind"]),
        "tone_2": ("line_2", ["rude"]),
    }
    assert len(saved) == 5 and not any("turn" in entry for entry in saved)
    assert all(entry["id"].startswith(AGREED_ID) and entry["origin"] == "prediction" for entry in saved)
    reading = Reading([Control(GIST, "line_{{idx}}", per_region=True)], ProjectSettings())
    starred = {"id": 7, "completed_by": 9, "updated_by": 9, "ground_truth": True, "result": saved}
    read = agreed_in({"id": task, "annotations": [starred]}, row["answers"], reading)
    assert read[GIST]["texts"] == fields[GIST]


def test_two_agreed_texts_of_a_turn_are_one_result(dialogue: Bench) -> None:
    (task,) = dialogue.fake.tasks
    people = dialogue.fake.tasks[task]["annotations"]
    fields = {"gist_{{idx}}": ["greets", "nods"]}
    (saved,) = agreed_results(dialogue.row, dialogue.task(task), fields, people)
    assert (saved["from_name"], saved["value"]) == ("gist_0", {"text": ["greets", "nods"]})


def test_turns_without_stored_numbers_stay_one_field(dialogue: Bench) -> None:
    (task,) = dialogue.fake.tasks
    row = dialogue.task(task)
    del row["facts"]["fields"]["tone_{{idx}}"]["turns"]
    assert [field.title for field in other_entries(row)][-1] == "tone"

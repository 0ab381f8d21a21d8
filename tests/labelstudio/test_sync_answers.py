"""Unusual answers in a real Label Studio: hostile and huge ones, texts on regions, a model as a rater."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ml_backend.settings import MODEL_VERSION
from tests.labelstudio.backend import Commands, wrong
from tests.labelstudio.conftest import Harness, annotation, textarea

HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "right to left": "‮حمى شديدة‬ כאב ראש",
    "emoji": "🤒👩‍⚕️🏽 fever",
    "control characters": "fe\x00ver\x07 \x1b[31mred\x7f",
    "lone surrogate": "fe\ud800ver \udfff",
    "quotes": "'; DROP TABLE tasks; -- \" \\ %s {0}",
}


def test_texts_on_regions_pooled_and_by_overlap(ls: Harness, commands: Commands, tmp_path: Path) -> None:
    config = (
        '<View><Text name="text" value="$text"/><Labels name="lab" toName="text"><Label value="A"/></Labels>'
        '<TextArea name="notes" toName="text" perRegion="true"/></View>'
    )
    ann, ben = ls.person("Ann"), ls.person("Ben")
    project = ls.create_project(label_config=config)

    def note(number: int, start: int, end: int, text: str) -> list[dict[str, Any]]:
        value = {"start": start, "end": end}
        common = {"id": f"r{number}", "to_name": "text", "origin": "manual"}
        label = {"from_name": "lab", "type": "labels", "value": {**value, "labels": ["A"]}}
        return [
            {**common, **label},
            {**common, "from_name": "notes", "type": "textarea", "value": {**value, "text": [text]}},
        ]

    answers = {
        ann.id: note(1, 0, 5, "fever") + note(2, 10, 15, "rash"),
        ben.id: note(1, 2, 6, "fever") + note(2, 20, 25, "rash"),
    }
    imported_annotations = [
        {"completed_by": user, "result": result, "ground_truth": False} for user, result in answers.items()
    ]
    ls.import_tasks(project, [{"data": {"text": "abcdefghijklmnopqrstuvwxyz"}, "annotations": imported_annotations}])
    commands.sync(project)
    assert wrong(ls, project, tmp_path) == []
    assert [p["score"] for p in ls.predictions(project)] == [1.0]
    commands.sync(project, "--regions", "matched")
    assert [p["score"] for p in ls.predictions(project)] == [pytest.approx(1 / 3)], "one place of three is agreed on"


@pytest.mark.parametrize("kind", ["texts", "sizes"])
def test_hostile_answers(ls: Harness, commands: Commands, tmp_path: Path, kind: str) -> None:
    """What Label Studio takes, we take: 10 MB, 5,000 texts, anything that Unicode allows.

    One that it can't give back is left out.
    """
    answers_by_name = {name: ([text, "fever"], [text]) for name, text in HOSTILE.items()}
    if kind == "sizes":
        long_answer = [f"finding {k}" for k in range(5000)]
        answers_by_name = {
            "five thousand texts": (long_answer, long_answer[:30]),
            "nothing but white space": ([" ", "\u2003"], ["\u00a0"]),
        }
    project, tasks, _ = ls.answered(answers_by_name.values())
    taken = dict(zip(tasks, answers_by_name, strict=True))
    result = commands.sync(project)
    assert result["items"] == len(answers_by_name)
    predictions = ls.predictions(project)
    unreadable = [name for name in answers_by_name if name == "lone surrogate"]
    assert {taken[p["task"]] for p in predictions} == set(answers_by_name) - set(unreadable)
    assert all(len(json.dumps(p)) < 2_000_000 for p in predictions), "a prediction repeats no 10 MB"
    for task in [task for task, name in taken.items() if name in unreadable]:
        ls.api.delete(f"/api/tasks/{task}/")
        commands.sync(project, "--changes")
    assert wrong(ls, project, tmp_path) == []
    second_result = commands.sync(project)
    assert (second_result["created"], second_result["updated"], second_result["deleted"]) == (0, 0, 0)


def test_ten_megabytes(ls: Harness, commands: Commands, tmp_path: Path) -> None:
    words = " ".join(f"w{k}" for k in range(1_500_000))
    project, _, _ = ls.answered([([words], ["fever"])])
    assert commands.sync(project)["created"] == 0, "a text of that length is set aside"
    assert ls.predictions(project) == []
    second_result = commands.sync(project, "--changes")
    assert (second_result["created"], second_result["updated"], second_result["deleted"]) == (0, 0, 0)


def test_a_model_as_a_rater(ls: Harness, commands: Commands, tmp_path: Path) -> None:
    ann = ls.person("Ann")
    project = ls.create_project(maximum_annotations=1)  # Ann's answer is all that a task waits for
    first_task, second_task = ls.import_tasks(
        project, [{"data": {"text": "x"}, "annotations": [annotation(ann.id, ["fever"])]}] * 2
    )
    predict = {"model_version": "gpt", "score": 0.9, "result": textarea(["fevers"])}
    ls.api.post("/api/predictions/", {**predict, "task": first_task})
    commands.sync(project, "--predictions-as-raters")
    scored = {p["task"]: p["score"] for p in ls.predictions(project) if p["model_version"] == MODEL_VERSION}
    assert scored == {first_task: pytest.approx(10 / 11)}
    ls.api.post("/api/predictions/", {**predict, "task": second_task})  # no webhook, no date: found by counting
    commands.sync(project, "--changes")
    scored = {p["task"] for p in ls.predictions(project) if p["model_version"] == MODEL_VERSION}
    assert scored == {first_task, second_task}
    assert sum(p["model_version"] == "gpt" for p in ls.predictions(project)) == 2

"""Accepting an answer saves a ground-truth annotation of the reviewer, which is nobody's own answer."""

from __future__ import annotations

from typing import Any

import pytest

from ml_backend.labelstudio.answers import count_annotations
from ml_backend.store.acts import AgreedStore
from softirr.answers.answer import AGREED
from softirr.answers.labelstudio import AGREED_ID
from tests.answers.plain_rows import task_rows
from tests.ml_backend.own_session import LabelStudio, reviewer
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, Seeded, ask

FINDINGS = {"from_name": "findings", "to_name": "text", "type": "textarea"}


def accept(seeded: Seeded, texts: Any, *, client: Any = None, **change: Any) -> Any:
    body = {"project": NUMBER, "task": 102, "fields": {"findings": texts}} | change
    return (client or reviewer(seeded)).post("/api/agreed", json=body)


def take_back(seeded: Seeded, **query: Any) -> Any:
    return reviewer(seeded).delete("/api/agreed/102", query_string={"project": NUMBER, **query})


def current(seeded: Seeded) -> list[list[str]]:
    return [row["texts"] for row in AgreedStore(seeded.store).current(seeded.project, tasks=[102])]


def annotation(number: int, user: int, *texts: str, **more: Any) -> dict[str, Any]:
    result = [{"id": f"r{number}", **FINDINGS, "value": {"text": list(texts)}}]
    return {"id": number, "completed_by": user, "updated_by": user, "result": result, **more}


def test_accepting_saves_a_ground_truth_with_the_persons_session(seeded: Seeded, label_studio: LabelStudio) -> None:
    reply = accept(seeded, ["  myocardial   infarction "])
    assert reply.status_code == 201
    (saved,) = label_studio.annotations
    assert saved["ground_truth"] is True and saved["id"] == reply.json["annotation"]
    (region,) = saved["result"]
    assert region["id"].startswith(AGREED_ID) and region["value"] == {"text": ["myocardial infarction"]}
    request = label_studio.requests[-1]
    assert str(request.url) == f"{LABEL_STUDIO}/api/tasks/102/annotations/?project={NUMBER}"
    assert "authorization" not in request.headers, "no token of this backend goes with it"
    assert request.headers["x-csrftoken"] == "c" * 32
    (act,) = AgreedStore(seeded.store).current(seeded.project, tasks=[102])
    assert (act["reviewer"], act["reviewer_id"], act["known_by"]) == ("Rae Viewer", "9", "session")
    assert act["annotation"] == saved["id"] and seeded.reviews.mark(seeded.project, 102) is not None


def test_agreed_answer_is_not_counted_as_an_annotation() -> None:
    task = {
        "id": 1,
        "annotations": [
            {"id": 1, "completed_by": 2, "result": [{"id": "a", **FINDINGS, "value": {"text": ["fever"]}}]},
            {"id": 2, "completed_by": 2, "result": [{"id": f"{AGREED_ID}findings", **FINDINGS, "value": {"text": []}}]},
        ],
    }
    answers, excluded = task_rows(task, "findings")
    assert [(answer.rater, answer.texts) for answer in answers] == [("2", ("fever",))]
    assert [(entry.rater, entry.reason) for entry in excluded] == [("2", AGREED)]
    assert count_annotations(task) == 1


def test_empty_answer_can_be_agreed(seeded: Seeded, label_studio: LabelStudio) -> None:
    assert accept(seeded, []).status_code == 201 and current(seeded) == [[]]
    assert label_studio.annotations[0]["result"][0]["value"] == {"text": []}, "its id tells what it is"


def test_accepting_again_changes_the_same_annotation(seeded: Seeded, label_studio: LabelStudio) -> None:
    first = accept(seeded, ["fever"]).json["annotation"]
    assert accept(seeded, ["cough"]).json["annotation"] == first
    assert [entry["result"][0]["value"]["text"] for entry in label_studio.annotations] == [["cough"]]
    assert current(seeded) == [["cough"]]
    log = seeded.get("/api/agreed", client=seeded.as_person(), log=1).json["answers"]
    assert [entry["texts"] for entry in log] == [["fever"], ["cough"]]


def test_a_persons_ground_truth_is_replaced_only_on_request(seeded: Seeded, label_studio: LabelStudio) -> None:
    label_studio.annotations = [annotation(5, 3, "rash", ground_truth=True)]
    reply = accept(seeded, ["fever"])
    assert reply.status_code == 409 and reply.json["asks"] == "replace"
    assert label_studio.ground_truths() == [5] and current(seeded) == []
    reply = accept(seeded, ["fever"], replace=True)
    assert reply.json["replaced"] == 5 and label_studio.ground_truths() == [reply.json["annotation"]]
    assert take_back(seeded, restore=5).status_code == 200
    assert label_studio.ground_truths() == [5] and len(label_studio.annotations) == 1


def test_imported_ground_truths_are_nobodys_choice(seeded: Seeded, label_studio: LabelStudio) -> None:
    label_studio.annotations = [annotation(n, n, "rash", ground_truth=True) for n in (5, 6)]
    assert accept(seeded, ["fever"]).status_code == 201


def test_withdrawing_deletes_the_annotation_once(seeded: Seeded, label_studio: LabelStudio) -> None:
    accept(seeded, ["fever"])
    assert [take_back(seeded).status_code for _ in range(2)] == [200, 404]
    assert label_studio.annotations == [] and current(seeded) == []
    assert seeded.reviews.mark(seeded.project, 102) is None


def test_choices_are_copied_from_an_annotation_that_has_them(seeded: Seeded, label_studio: LabelStudio) -> None:
    choice = {"id": "c", "from_name": "kind", "to_name": "text", "type": "choices"}
    label_studio.annotations = [annotation(5, 2, "rash"), annotation(6, 3, "rash")]
    for entry, label in zip(label_studio.annotations, ("mild", "severe"), strict=True):
        entry["result"].append({**choice, "value": {"choices": [label]}})
        entry["result"] += [{"type": "relation", "from_id": "c", "to_id": "d", "direction": "bi"}, None]
    fields = {"kind": {"answers": {"2": ["mild"], "3": ["severe"]}, "excluded": [], "kind": "nominal"}}
    seeded.put({102: {"2": ["rash"], "3": ["rash"]}}, facts={102: {"fields": fields}})
    seeded.score()
    assert accept(seeded, None, fields={"findings": ["rash"], "kind": ["severe"]}).status_code == 201
    texts, kind = label_studio.annotations[-1]["result"]
    assert texts["value"] == {"text": ["rash"]}
    assert kind["value"] == {"choices": ["severe"]} and kind["id"].startswith(AGREED_ID)


@pytest.mark.parametrize(
    "change", [{"fields": {"nothing": []}}, {"fields": {}}, {"fields": {"findings": "fever"}}, {"fields": None}]
)
def test_unusable_input_is_refused(seeded: Seeded, label_studio: LabelStudio, change: dict[str, Any]) -> None:
    assert accept(seeded, None, **change).status_code == 400 and label_studio.annotations == []


def test_unknown_task_is_refused(seeded: Seeded, label_studio: LabelStudio) -> None:
    assert accept(seeded, ["fever"], task=999).status_code == 404


def test_who_may_not(seeded: Seeded, label_studio: LabelStudio) -> None:
    assert accept(seeded, ["fever"], client=seeded.app.test_client()).status_code == 403
    by_link = accept(seeded, ["fever"], client=seeded.as_person())
    assert by_link.status_code == 403 and "login does not reach" in by_link.json["error"]
    label_studio.role = None  # an annotator
    assert accept(seeded, ["fever"]).status_code == 403
    assert label_studio.annotations == [] and current(seeded) == []


def test_nothing_is_recorded_if_label_studio_fails(seeded: Seeded, label_studio: LabelStudio) -> None:
    label_studio.broken = True
    assert accept(seeded, ["fever"]).status_code == 502 and current(seeded) == []
    assert ask(seeded, 102).json["agreed"] is None

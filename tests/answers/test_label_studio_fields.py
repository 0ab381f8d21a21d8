"""Several controls of a task in one pass: the answers that each control has when it is read alone."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import pytest

import softirr
from softirr.answers.labelstudio import raw_answers, read_task

CONTROLS = ("side", "stars", "site", "never")
_TYPES = {"side": "choices", "stars": "rating", "site": "taxonomy"}
_VALUES: dict[str, Any] = {"choices": ["left"], "rating": 3, "taxonomy": [["Heart", "Valve"]]}


def _result(rng: random.Random) -> list[dict[str, Any]]:
    results = []
    for name, kind in _TYPES.items():
        for _ in range(rng.choice([0, 1, 1, 2])):
            origin = rng.choice(["manual", "manual", "manual", "prediction", "prediction-changed", None])
            entry = {"from_name": name, "type": kind, "value": {kind: _VALUES[kind]}}
            results.append(entry if origin is None else entry | {"origin": origin})
    results.append({"from_name": "note", "type": "textarea", "value": {"text": ["fever"]}})
    rng.shuffle(results)
    return results


def _task(rng: random.Random) -> dict[str, Any]:
    annotations = [
        {
            "id": n,
            "completed_by": rng.choice([1, 2, 3, {"id": 4}, {"email": "x@y"}, None]),
            "was_cancelled": rng.random() < 0.2,
            "parent_prediction": rng.choice([None, None, 7]),
            "updated_at": f"2026-03-0{rng.randrange(1, 4)}",
            "result": _result(rng),
        }
        for n in range(rng.randrange(6))
    ]
    predictions = [
        {"id": n, "model_version": rng.choice(["a", "b", "agreement"]), "result": _result(rng)} for n in range(3)
    ]
    return {"id": 1, "annotations": annotations, "drafts": [{"user": 5}], "predictions": predictions}


def test_several_controls_are_read_as_each_alone() -> None:
    rng, reasons = random.Random(4), set()
    for _ in range(300):
        task, models = _task(rng), rng.random() < 0.5
        read = read_task(task, predictions=models)
        for name in CONTROLS:
            expected = raw_answers(read_task(task, predictions=models), name)
            assert raw_answers(read, name) == expected
            reasons |= {answer.reason for answer in expected if answer.reason}
    assert len(reasons) == 6


def test_an_older_annotation_is_left_out_of_the_controls_that_it_has_no_result_of() -> None:
    def annotation(user: int, *names: str) -> dict[str, Any]:
        result = [{"from_name": name, "type": "choices", "value": {"choices": ["a"]}} for name in names]
        return {"completed_by": user, "result": result}

    task = {"id": 1, "annotations": [annotation(1, "side"), annotation(2), {**annotation(3), "was_cancelled": True}]}
    read, older = read_task(task), ["older", "", "older"]
    answers = {name: raw_answers(read, name, older=older) for name in ("side", "stars")}
    results = {
        name: [(answer.rater, answer.texts) for answer in answers_of_field if not answer.reason]
        for name, answers_of_field in answers.items()
    }
    assert results == {"side": [("1", ("a",)), ("2", ())], "stars": [("2", ())]}
    left_out = [(answer.rater, answer.reason) for answer in answers["stars"] if answer.reason]
    assert left_out == [("3", "skipped"), ("1", "older")]


@pytest.mark.parametrize("is_table", [False, True], ids=["JSON_MIN", "CSV"])
@pytest.mark.parametrize(
    ("kind", "ann", "bob", "expected"),
    [
        ("set", {"choices": ["left", "right"]}, "left", {"ann": ("left", "right"), "bob": ("left",)}),
        ("ordinal", [{"rating": 3}], [{"rating": 4}], {"ann": ("3",), "bob": ("4",)}),
        ("path", [{"taxonomy": [["A", "B"]]}], [{"taxonomy": [["C"]]}], {"ann": ("A > B",), "bob": ("C",)}),
        ("nominal", [{"selected": "left"}], [{"selected": "right"}], {"ann": ("left",), "bob": ("right",)}),
    ],
)
def test_values_of_the_shorter_exports_are_those_of_their_kind(
    kind: str, ann: Any, bob: Any, expected: dict[str, tuple[str, ...]], is_table: bool
) -> None:
    records = [
        {"id": 1, "side": value, "annotator": who, "annotation_id": n, "updated_at": "2026-01-01"}
        for n, (who, value) in enumerate((("ann", ann), ("bob", bob)))
    ]
    text = io.StringIO(json.dumps(records))
    if is_table:
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(records[0])
        writer.writerows([v if isinstance(v, str) else json.dumps(v) for v in row.values()] for row in records)
        text.seek(0)
    table = softirr.read(text, kind={"side": kind})
    answers = zip(table.rater, table.answer, strict=True)
    assert {table.raters[rater]: table.texts_of(answer) for rater, answer in answers} == expected

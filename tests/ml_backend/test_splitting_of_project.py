"""Answers of a Label Studio project that hold several texts in one box: split, and shown with what was written."""

from __future__ import annotations

from typing import Any

import pytest

from softirr.meaning.policy.rules import Policy
from tests.ml_backend.bench import Bench

LISTS = {1: ["fever, cough; headache"], 2: ["fever", "cough", "headache"]}


def split(bench: Bench, mode: str | None = "commas") -> None:
    bench.choose(policy=Policy(split=mode).to_dict())


def prediction(bench: Bench, task: int) -> dict[str, Any]:
    (stored,) = bench.fake.predictions()[task]
    return stored


def test_list_in_one_box_agrees_with_three_boxes(bench: Bench) -> None:
    task = bench.fake.add_task(LISTS)
    bench.sync()
    unsplit_score = prediction(bench, task)["score"]
    split(bench)
    bench.sync()
    assert unsplit_score < 0.6
    assert prediction(bench, task)["score"] == 1.0


def test_store_keeps_raw_answers_and_the_report_names_the_splitting(bench: Bench) -> None:
    split(bench)
    task = bench.fake.add_task(LISTS)
    bench.sync()
    row = bench.task(task)
    assert row["answers"]["findings"]["answers"]["1"] == ["fever, cough; headache"]
    assert row["details"]["controls"]["findings"]["matches"][0]["texts"] == {"1": "cough", "2": "cough"}
    warnings = bench.report()["warnings"]
    assert any("Answers were split at" in warning and "1 of 2 answers" in warning for warning in warnings)
    assert "answers are split (commas)" in bench.row["summary"]["provenance"]["policy"]


@pytest.mark.parametrize(("mode", "text"), [("lines", "fever\ndry  cough"), ("|", "fever | dry cough")])
def test_line_breaks_and_marks_of_the_lead_split_an_answer(bench: Bench, mode: str, text: str) -> None:
    split(bench, mode)
    task = bench.fake.add_task({1: [text], 2: ["dry cough", "fever"]})
    bench.sync()
    assert prediction(bench, task)["score"] == 1.0


def test_suggestion_is_joined_where_most_write_lists(bench: Bench) -> None:
    split(bench)
    lists = bench.fake.add_task({1: ["fever, cough"], 2: ["cough, fever"], 3: ["rash"]})
    boxes = bench.fake.add_task({1: ["fever", "cough"], 2: ["cough", "fever"], 3: ["fever, cough"]})
    bench.sync()
    texts = {task: prediction(bench, task)["result"][0]["value"]["text"] for task in (lists, boxes)}
    assert len(texts[lists]) == 1 and sorted(texts[lists][0].split(", ")) == ["cough", "fever"]
    assert sorted(texts[boxes]) == ["cough", "fever"]


def test_splitting_can_be_undone(bench: Bench) -> None:
    task = bench.fake.add_task(LISTS)
    bench.sync()
    prediction_before = prediction(bench, task)
    split(bench)
    bench.sync()
    split(bench, None)
    bench.sync()
    prediction_after = prediction(bench, task)
    assert (prediction_after["score"], prediction_after["result"][0]["value"]) == (
        prediction_before["score"],
        prediction_before["result"][0]["value"],
    )

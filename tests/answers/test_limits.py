"""Answers beyond the bounds are left out with one reason, whether a file is scored or a project of Label Studio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.labelstudio.answers import Reading, read_task
from ml_backend.labelstudio.config import Control
from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.preparation import AnswerPreparation
from softirr.answers.preparation import LONGEST_TEXT, TOO_LONG, TOO_MANY, TOO_MUCH
from softirr.answers.prepare import split_table
from softirr.answers.table import Excluded
from tests.answers.plain_rows import annotation, json_file, region, task, text_file


def given(*answers: list[str]) -> dict[str, Any]:
    annotated = [
        annotation(user, user) | {"result": [region(texts, name="finding")]}
        for user, texts in enumerate(answers, start=1)
    ]
    return task(7, *annotated)


CASES = {
    "a long text": (given(["fever"], ["x" * (LONGEST_TEXT + 1)], ["high fever"]), {TOO_LONG: ["2"]}),
    "white space is no length": (given(["fever"], ["x" * LONGEST_TEXT + " " * 9], ["rash"]), {}),
    "many texts": (given([f"a{k}" for k in range(900)], [f"b{k}" for k in range(900)]), {TOO_MANY: ["1", "2"]}),
    "the same text many times": (given(["a"] * 900, ["b"] * 900), {}),
    "many characters": (given(*[[f"{u}{k}" * 30_000 for k in range(7)] for u in "ab"]), {TOO_MUCH: ["1", "2"]}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file_and_a_project_leave_out_the_same_answers(name: str, tmp_path: Path) -> None:
    export, expected = CASES[name]
    path = json_file(tmp_path / "export.json", [export])
    table = softirr.read(path)
    raw, _ = read_task(export, Reading([Control("finding", "text")], ProjectSettings()))
    entry = AnswerPreparation(ProjectSettings()).entry(1, raw, "finding")
    reasons: dict[str, list[str]] = {}
    for left_out in table.excluded:
        reasons.setdefault(left_out.reason, []).append(left_out.rater)
    assert reasons == expected
    assert entry["excluded"] == [[rater, reason] for reason, raters in expected.items() for rater in raters]
    assert sorted(entry["answers"]) == list(table.raters)
    assert {rater: sorted(set(texts)) for rater, texts in entry["answers"].items()} == {
        table.raters[r]: list(table.texts_of(a)) for r, a in zip(table.rater, table.answer, strict=True)
    }


def test_a_table_of_any_format_has_the_bound(tmp_path: Path) -> None:
    path = text_file(tmp_path / "wide.csv", f"id,ann,bob\n1,fever,{'x' * (LONGEST_TEXT + 1)}\n2,rash,rash\n")
    table = softirr.read(path, item="id", raters=["ann", "bob"])
    assert table.excluded == (Excluded("1", "bob", TOO_LONG),)
    assert table.items == ("1", "2")
    assert len(table.texts) == 2


def test_lists_with_too_many_parts_stay_whole_in_a_file_as_in_a_project() -> None:
    rows = [("1", rater, "; ".join(f"{rater}{k}" for k in range(900))) for rater in "ab"]
    rows += [("2", "a", "fever; cough"), ("2", "b", "rash; itch")]
    table = softirr.AnnotationTable.from_answers(rows)
    split = split_table(table, "semicolons")
    assert [len(split.answers[a]) for a in split.answer] == [1, 1, 2, 2]
    assert split.split is not None and split.split.answers == 2

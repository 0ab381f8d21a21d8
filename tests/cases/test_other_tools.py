"""Exports of Prodigy, Argilla and doccano, and files of Label Studio, as public reports describe them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.answers.answer import OLDER_DUPLICATE
from tests import Cli
from tests.answers.formats.common import json_lines
from tests.answers.plain_rows import answers, json_file, refusal
from tests.cases.builders import USERS, observed, result, task


def prodigy(input: int, question: int, who: str, text: str, time: int) -> dict[str, Any]:
    return {"text": f"narrative {input}", "_input_hash": input, "_task_hash": question, "user_input": text} | {
        "_annotator_id": f"set-{who}",
        "_session_id": f"set-{who}",
        "_timestamp": time,
        "answer": "accept",
    }


class TestProdigy:
    def test_questions_about_one_input_are_items(self, tmp_path: Path) -> None:
        records = [
            prodigy(5, question, who, text, index)
            for index, (question, who, text) in enumerate(
                [(51, "kim", "head"), (52, "kim", "mild"), (51, "lou", "head"), (52, "lou", "severe")]
            )
        ]
        table = softirr.read(json_lines(records, tmp_path / "p.jsonl"))
        assert answers(table) == {
            ("51", "set-kim"): ("head",),
            ("51", "set-lou"): ("head",),
            ("52", "set-kim"): ("mild",),
            ("52", "set-lou"): ("severe",),
        }
        assert table.excluded == ()
        assert any("several questions about an input" in warning for warning in table.warnings)

    def test_example_that_is_served_again_counts_once(self, tmp_path: Path) -> None:
        records = [prodigy(5, 50, "kim", "new", 9), prodigy(5, 50, "kim", "old", 2), prodigy(5, 50, "lou", "new", 3)]
        table = softirr.read(json_lines(records, tmp_path / "p.jsonl"))
        assert answers(table) == {("5", "set-kim"): ("new",), ("5", "set-lou"): ("new",)}
        assert [left_out.reason for left_out in table.excluded] == [OLDER_DUPLICATE]


class TestArgilla:
    def test_labels_of_five_users_are_sets(self, tmp_path: Path, cli: Cli) -> None:
        labels_by_user = [["calm"], ["fear", "anger"], ["calm"], ["calm"], ["anger"]]
        responses = [
            {"user_id": f"user-{n}", "values": {"mood": {"value": value}}, "status": "submitted"}
            for n, value in enumerate(labels_by_user)
        ]
        path = json_lines([{"id": "r1", "fields": {"text": "x"}, "responses": responses}], tmp_path / "a.jsonl")
        report = cli("score", path, "--field", "mood=set:jaccard", "--json")
        assert observed(report) == pytest.approx((3 * 1 + 1 / 2) / 10)

    def test_text_of_a_discarded_response_does_not_count(self, tmp_path: Path) -> None:
        responses = [
            {"user_id": name, "values": {"note": {"value": "fever"}}, "status": status}
            for name, status in (("kim", "submitted"), ("lou", "discarded"), ("max", "draft"))
        ]
        path = json_lines([{"id": "r1", "fields": {"text": "x"}, "responses": responses}], tmp_path / "a.jsonl")
        table = softirr.read(path)
        assert answers(table) == {("r1", "kim"): ("fever",)}
        assert sorted((left_out.rater, left_out.reason) for left_out in table.excluded) == [
            ("lou", "discarded"),
            ("max", "draft, not submitted"),
        ]


class TestDoccano:
    def test_file_of_each_annotator_with_comments(self, tmp_path: Path) -> None:
        for name, label, comments in (("admin", "fever", ["unsure", "see notes"]), ("lou", "rash", ["short"])):
            record = {"id": 3, "text": "narrative", "label": [label], "Comments": comments, "site": "north", "x": ""}
            json_lines([record], tmp_path / "export" / f"{name}.jsonl")
        table = softirr.read(tmp_path / "export")
        assert answers(table) == {("3", "admin"): ("fever",), ("3", "lou"): ("rash",)}
        assert "These keys are not compared: Comments (3), site (2)." in table.warnings

    def test_comments_of_numbered_annotators_are_named(self, tmp_path: Path, cli: Cli) -> None:
        annotations = [{"text": "fever", "user": user} for user in (1, 2)]
        record = {"id": 1, "text": "narrative", "annotations": annotations, "meta": {}, "comments": [{"text": "why?"}]}
        path = json_lines([record, {**record, "id": 2}], tmp_path / "all.jsonl")
        warnings = cli("score", path, "--measure", "exact", "--json")["warnings"]
        assert "These keys are not compared: comments (2)." in warnings

    def test_old_export_with_user_names_is_a_table(self, tmp_path: Path, cli: Cli) -> None:
        records = [
            {"doc_id": number, "text": f"narrative {number}", "labels": labels, "username": who}
            for number, pair in enumerate([(["a"], ["a"]), (["a", "b"], ["b"])])
            for who, labels in zip(USERS, pair, strict=True)
        ]
        path = json_lines(records, tmp_path / "old.jsonl")
        assert "has the columns doc_id, text, labels, username. Name them" in refusal(path)
        options = ("--item", "doc_id", "--rater", "username", "--field", "labels=set:jaccard")
        assert observed(cli("score", path, *options, "--json")) == pytest.approx(3 / 4)


class TestLabelStudio:
    def test_taxonomy_and_choices_of_several_annotators_are_fields(self, tmp_path: Path, cli: Cli) -> None:
        paths = {1: ("Valve", "Valve"), 2: ("Valve", "Muscle")}
        tasks = [
            task(
                number,
                {
                    rater: [
                        result("part", "taxonomy", {"taxonomy": [["Heart", heart_part]]}),
                        result("tone", "choices", {"choices": ["good" if number == 1 else rater]}),
                    ]
                    for rater, heart_part in zip(USERS, pair, strict=True)
                },
            )
            for number, pair in paths.items()
        ]
        report = cli("score", json_file(tmp_path / "a.json", tasks), "--json")
        fields = {row["name"]: (row["kind"], row["n_items"]) for row in report["fields"]}
        assert fields == {"part": ("path", 2), "tone": ("nominal", 2)}
        assert observed(report["texts"]["part"]) == pytest.approx((1 + 1 / 2) / 2)
        assert observed(report["texts"]["tone"]) == pytest.approx(1 / 2)

    def test_export_without_annotations_is_refused(self, tmp_path: Path) -> None:
        path = json_file(tmp_path / "a.json", [task(1, {}), task(2, {})])
        assert "has no TextArea answers: no annotation has a result" in refusal(path)

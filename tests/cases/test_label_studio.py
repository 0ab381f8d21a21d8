"""Label Studio's exports, as people have them: each case is read with the right value, or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

import softirr
from softirr.answers.answer import OLDER_DUPLICATE
from tests import Cli
from tests.answers.plain_rows import answers, json_file, refusal
from tests.cases.builders import (
    EXACT,
    USERS,
    alpha,
    csv_file,
    expected_alpha,
    export,
    flat_rows,
    observed,
    result,
    task,
    textarea,
)

TEXTS = {
    1: {"kim": "[4]", "lou": "[4]"},
    2: {"kim": "[unclear]", "lou": "[unclear]"},
    3: {"kim": '{"town": "Bern"}', "lou": '{"town": "Bern"}'},
    4: {"kim": "false", "lou": "true"},
    5: {"kim": "page 3", "lou": "[3]"},
}
"""Answers that look like JSON: three of five tasks agree."""


class TestRepeater:
    """Label Studio 6822, 4098, 5025: a Repeater numbers its controls, and an item is a turn."""

    TURNS: ClassVar = {
        1: {"kim": ["asks for help", "thanks"], "lou": ["asks for help", "says thanks"]},
        2: {"kim": ["wants a refund"], "lou": ["wants a refund"]},
        3: {"kim": ["greets", "complains", "leaves"], "lou": ["greets", "", "hangs up"]},
    }

    def tasks(self, name: str = "line_{}") -> list[dict[str, Any]]:
        return [
            task(
                number,
                {
                    rater: [
                        textarea(name.format(turn), text, to_name=f"turn_{turn}", id=f"t{turn}")
                        for turn, text in enumerate(texts)
                        if text
                    ]
                    for rater, texts in by_rater.items()
                },
            )
            for number, by_rater in self.TURNS.items()
        ]

    @pytest.mark.parametrize("name", ["line_{}", "turn{}_line", "q-{}"])
    def test_turns_are_items_of_one_field(self, name: str, tmp_path: Path, cli: Cli) -> None:
        report = cli("score", json_file(tmp_path / "export.json", self.tasks(name)), *EXACT)
        rows = [
            (f"{number}/{turn}", rater, (text,))
            for number, by_rater in self.TURNS.items()
            for rater, texts in by_rater.items()
            for turn, text in enumerate(texts)
            if text
        ]
        assert alpha(report) == pytest.approx(expected_alpha(rows), abs=1e-12)
        assert [item["id"] for item in report["items"]] == ["1/0", "1/1", "2/0", "3/0", "3/1", "3/2"]
        assert observed(report) == pytest.approx(3 / 5)

    def test_categories_of_turns_are_a_nominal_field(self, tmp_path: Path, cli: Cli) -> None:
        categories = {1: {"kim": ["ask", "thank"], "lou": ["ask", "ask"]}, 2: {"kim": ["thank"], "lou": ["thank"]}}
        tasks = [
            task(
                number,
                {
                    rater: [
                        result(f"act_{turn}", "choices", {"choices": [act]}, to_name=f"turn_{turn}", id=f"c{turn}")
                        for turn, act in enumerate(acts)
                    ]
                    for rater, acts in by_rater.items()
                },
            )
            for number, by_rater in categories.items()
        ]
        report = cli("score", json_file(tmp_path / "export.json", tasks), "--json")
        assert observed(report) == pytest.approx(2 / 3)
        assert [item["id"] for item in report["items"]] == ["1/0", "1/1", "2/0"]
        table = softirr.read(json_file(tmp_path / "export.json", tasks), kind="auto")
        assert table.kind == "nominal"

    def test_numbered_controls_of_one_object_stay_apart(self, tmp_path: Path) -> None:
        results = [textarea("finding_0", "fever", id="a"), textarea("finding_1", "rash", id="b")]
        path = json_file(tmp_path / "export.json", [task(1, {"kim": results, "lou": results})])
        assert "several TextArea controls (finding_0, finding_1)" in refusal(path)


class TestShortExports:
    """label-studio-converter 211, 152, 49; Label Studio 4504: JSON_MIN and CSV."""

    @pytest.mark.parametrize("format", ["json", "min", "csv"])
    def test_answers_that_look_like_json_are_texts(self, format: str, tmp_path: Path, cli: Cli) -> None:
        rows = flat_rows("cited", TEXTS)
        path = {
            "json": lambda: json_file(tmp_path / "a.json", export("cited", TEXTS)),
            "min": lambda: json_file(tmp_path / "a.json", rows),
            "csv": lambda: csv_file(tmp_path / "a.csv", rows),
        }[format]()
        report = cli("score", path, *EXACT)
        assert observed(report) == pytest.approx(3 / 5)
        expected = expected_alpha(
            [(str(n), rater, text) for n, texts in TEXTS.items() for rater, text in texts.items()]
        )
        assert alpha(report) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("format", ["min", "csv"])
    def test_region_without_text_is_not_a_text(self, format: str, tmp_path: Path, cli: Cli) -> None:
        box = {"x": 4, "y": 8, "width": 20, "height": 5, "rotation": 0}
        answers_by_task = {
            1: {"kim": ["12.10 CHF", box], "lou": ["12.10 CHF", "3 May"]},
            2: {"kim": "9 EUR", "lou": "9 EUR"},
            3: {"kim": "one", "lou": "two"},
        }
        rows = flat_rows("words", answers_by_task)
        path = json_file(tmp_path / "a.json", rows) if format == "min" else csv_file(tmp_path / "a.csv", rows)
        report = cli("score", path, "--text", "words", *EXACT)
        assert observed(report) == pytest.approx((2 / 3 + 1 + 0) / 3)
        assert any("1 region of words without a text is left out" in warning for warning in report["warnings"])

    @pytest.mark.parametrize("format", ["min", "csv"])
    def test_columns_that_are_not_compared_are_named(self, format: str, tmp_path: Path, cli: Cli) -> None:
        """A control with equal answers of all annotators looks like data of the tasks."""
        rows = flat_rows("cited", TEXTS, mood="calm", extra="")
        path = json_file(tmp_path / "a.json", rows) if format == "min" else csv_file(tmp_path / "a.csv", rows)
        note = f"other controls) are not compared: shown ({len(rows)}), mood ({len(rows)})."
        assert any(warning.endswith(note) for warning in cli("score", path, *EXACT)["warnings"])
        assert not any(note in warning for warning in cli("score", path, "--text", "cited", *EXACT)["warnings"])

    @pytest.mark.parametrize("name", ["label", "ner"])
    def test_spans_are_refused_by_name_and_number(self, name: str, tmp_path: Path) -> None:
        spans = {
            rater: [{"start": 0, "end": n, "text": "Bern", "labels": ["Town"]}] for n, rater in enumerate(USERS, 3)
        }
        rows = flat_rows(name, dict.fromkeys((1, 2), spans))
        for row in rows:
            row["text"] = row.pop("shown")
        assert f"{name} has 4 spans or boxes with labels" in refusal(json_file(tmp_path / "min.json", rows))

    def test_categories_are_named_as_such(self, tmp_path: Path, cli: Cli) -> None:
        answers_by_task = {
            n: {"kim": a, "lou": b}
            for n, (a, b) in enumerate([("Low", "Low"), ("High", "Low"), ("High", "High"), ("Low", "Mid")], 1)
        }
        path = json_file(tmp_path / "min.json", flat_rows("grade", answers_by_task))
        report = cli("score", path, *EXACT)
        assert any("--field grade=nominal compares them as categories" in warning for warning in report["warnings"])
        nominal = cli("score", path, "--field", "grade=nominal", "--json")
        assert alpha(nominal) == pytest.approx(alpha(report), abs=1e-12) == pytest.approx(5 / 19)
        assert not any("as categories" in warning for warning in nominal["warnings"])


def test_prefilled_answer_is_named_and_a_cleared_one_is_empty(tmp_path: Path, cli: Cli) -> None:
    """label-studio-sdk TRIAG-2415: the TextArea has the name of the field that fills it."""
    drafts = {1: "a dog berks", 2: "rain today", 3: "good night"}
    answers_by_task = {1: ("a dog barks", "a dog barks"), 2: ("rain today", None), 3: ("good night", "good day")}
    tasks = [
        task(
            number,
            {"kim": [textarea("words", kim)], "lou": [textarea("words", lou)] if lou else []},
            words=drafts[number],
        )
        for number, (kim, lou) in answers_by_task.items()
    ]
    report = cli("score", json_file(tmp_path / "export.json", tasks), *EXACT)
    assert observed(report) == pytest.approx(1 / 3)
    assert any("2 answers are the text of words in the data of the task" in warning for warning in report["warnings"])
    rows = [
        {"_data_words": drafts[number], "id": number, "words": text or "", "annotator": rater, "annotation_id": number}
        | {"updated_at": "2026-04-02", "lead_time": 1}
        for number, texts in answers_by_task.items()
        for rater, text in zip(USERS, texts, strict=True)
    ]
    assert observed(cli("score", csv_file(tmp_path / "export.csv", rows), *EXACT)) == pytest.approx(1 / 3)


class TestSeveralExports:
    """Label Studio 6668, 2568, 3201, 6895: each annotator has a separate project with separate tasks."""

    GIVEN: ClassVar = {"a": ("fever", "fever"), "b": ("rash", "itch"), "c": ("cough", "cough"), "d": ("pain", "ache")}

    def projects(self, folder: Path, *, user: str = "kim") -> Path:
        for k, name in enumerate(("kim", "lou")):
            order = list(self.GIVEN.items())[:: 1 if k == 0 else -1]
            tasks = [
                task(50 * k + n, {user: [textarea("finding", texts[k])]}, case=case)
                for n, (case, texts) in enumerate(order, 1)
            ]
            json_file(folder / "projects" / f"{name}.json", tasks)
        return folder / "projects"

    def test_field_of_the_data_is_the_item_and_the_file_the_rater(self, tmp_path: Path, cli: Cli) -> None:
        report = cli("score", self.projects(tmp_path), "--item", "case", *EXACT)
        assert [entry["id"] for entry in report["items"]] == list("abcd")
        assert [entry["id"] for entry in report["raters"]] == ["kim", "lou"]
        rows = [
            (case, rater, text) for case, texts in self.GIVEN.items() for rater, text in zip(USERS, texts, strict=True)
        ]
        assert alpha(report) == pytest.approx(expected_alpha(rows), abs=1e-12)

    def test_names_of_items_are_compared_in_their_normal_form(self, tmp_path: Path) -> None:
        for rater, case in (("kim", "é ２"), ("lou", "e\u0301  2")):
            json_file(
                tmp_path / "projects" / f"{rater}.json", [task(1, {"kim": [textarea("finding", "x")]}, case=case)]
            )
        assert softirr.read(tmp_path / "projects", item="case").items == ("é 2",)

    def test_item_has_to_be_named(self, tmp_path: Path) -> None:
        path = self.projects(tmp_path)
        assert "has 2 exports" in refusal(path) and "The data have shown, case." in refusal(path)
        assert "the data have no 'site'; they have shown, case" in refusal(path, item="site")

    def test_raters_have_other_names_or_are_left_out(self, tmp_path: Path, cli: Cli) -> None:
        path, names = (
            json_file(tmp_path / "export.json", export("finding", {1: {"kim": "a", "lou": "b"}})),
            tmp_path / "names.csv",
        )
        names.write_text("rater,name\n7,Kim K.\nlou@lab.test,Lou L.\n")
        report = cli("score", path, "--rater-names", names, *EXACT)
        assert [rater["id"] for rater in report["raters"]] == ["Kim K.", "Lou L."]
        for ignored in ("9", "lou@lab.test", "lou"):
            table = softirr.read(path, ignore_raters=[ignored])
            assert table.raters == (("kim@lab.test",) if ignored != "lou" else ("kim@lab.test", "lou@lab.test"))

    def test_task_that_is_exported_twice_counts_once(self, tmp_path: Path) -> None:
        tasks = export("finding", {1: {"kim": "a", "lou": "b"}, 2: {"kim": "c"}})
        edited = task(1, {"kim": [textarea("finding", "new")]})
        edited["annotations"][0]["updated_at"] = "2026-05-01T08:00:00Z"
        table = softirr.read(json_file(tmp_path / "a.json", [*tasks, tasks[0], edited]))
        assert answers(table)["1", "kim@lab.test"] == ("new",) and len(table.item) == 3
        assert [entry.reason for entry in table.excluded] == [OLDER_DUPLICATE]
        assert any("1 task is in the input more than once" in warning for warning in table.warnings)


class TestOtherFiles:
    """Target storage, and the completions of versions before 1.0."""

    def test_target_storage_has_a_file_for_each_annotation(self, tmp_path: Path) -> None:
        for entry in export("finding", {1: {"kim": "a", "lou": "b"}, 2: {"kim": "c", "lou": "c"}}):
            outer = {key: value for key, value in entry.items() if key != "annotations"}
            for annotation in entry["annotations"]:
                json_file(tmp_path / "target" / str(annotation["id"]), annotation | {"task": outer})
        table = softirr.read(tmp_path / "target")
        assert answers(table) == {
            ("1", "kim@lab.test"): ("a",),
            ("1", "lou@lab.test"): ("b",),
            ("2", "kim@lab.test"): ("c",),
            ("2", "lou@lab.test"): ("c",),
        }

    def test_completions_are_annotations(self, tmp_path: Path) -> None:
        for name, texts in {"kim": ("a", "b"), "lou": ("a", "c")}.items():
            tasks = [
                {
                    "id": number,
                    "data": {"case": f"c{number}"},
                    "completions": [
                        {"id": 1, "created_at": 1580000000, "lead_time": 2.5, "result": [textarea("finding", "old")]},
                        {"id": 2, "created_at": 1580000900, "lead_time": 2.5, "result": [textarea("finding", text)]},
                    ],
                }
                for number, text in enumerate(texts)
            ]
            json_file(tmp_path / "old" / f"{name}.json", tasks)
        table = softirr.read(tmp_path / "old", item="case")
        assert answers(table) == {
            ("c0", "kim"): ("a",),
            ("c0", "lou"): ("a",),
            ("c1", "kim"): ("b",),
            ("c1", "lou"): ("c",),
        }

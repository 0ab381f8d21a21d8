"""Missing answers that annotators wrote as a text: left out of a Label Studio project, and counted by annotator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.project_settings import ProjectSettings, effective
from ml_backend.scoring.preparation import AnswerPreparation
from softirr.meaning.policy.rules import Policy
from tests.ml_backend.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.fake.add_task({1: ["fever"], 2: ["fever"], 3: ["n/a"]})
    bench.fake.add_task({1: ["N/A"], 2: ["n/a"], 3: ["cough"]})
    bench.fake.add_task({1: ["rash"], 2: ["-", "rash"], 3: ["none"]})
    bench.fake.add_task({1: ["rash"], 2: ["headache"], 3: ["headache"]})
    return bench


def warnings(bench: Bench) -> list[str]:
    return list(bench.report()["warnings"])


def stored(bench: Bench, task: int) -> dict[str, Any]:
    settings = effective(
        bench.settings, connection=bench.row["extra_params"], command_options=bench.row["chosen"]
    ).values
    findings: dict[str, Any] = AnswerPreparation.of(bench.row, settings).task(bench.task(task))["answers"]["findings"]
    return findings


def test_marks_are_left_out_with_the_reason(bench: Bench) -> None:
    bench.sync()
    first, second, third, _ = sorted(bench.fake.tasks)
    assert stored(bench, first)["answers"] == {"1": ["fever"], "2": ["fever"]}
    assert stored(bench, first)["excluded"] == [["3", "missing, written as N/A"]]
    assert list(stored(bench, second)["answers"]) == ["3"]
    assert stored(bench, third)["excluded"] == [["2", "one of several texts is missing, written as -"]]
    assert bench.fake.predictions()[first][0]["score"] == 1.0
    assert second not in bench.fake.predictions()


def test_report_and_terminal_count_them_by_annotator(bench: Bench) -> None:
    notes = [note.what for note in bench.sync().notes]
    first, *_ = sorted(bench.fake.tasks)
    count_warning, doubtful = warnings(bench)[:2]
    assert count_warning.startswith("4 texts count as missing answers and are not compared: ")
    assert "2 (N/A, -)" in count_warning and "softirr-ls settings --missing none" in count_warning
    assert doubtful.startswith("1 text counts as an answer but may mean that an answer is missing")
    assert [note_text for note_text in notes if "count as missing answers" in note_text]
    assert stored(bench, first)["excluded"] == [["3", "missing, written as N/A"]]
    assert bench.row["summary"]["controls"]["findings"]["missing_marks"]["missing"] == {
        "1": {"N/A": 1},
        "2": {"N/A": 1, "-": 1},
        "3": {"N/A": 1},
    }


def test_the_project_chooses_the_texts(bench: Bench) -> None:
    bench.choose(missing="none")
    bench.sync()
    _, second, third, _ = sorted(bench.fake.tasks)
    assert list(stored(bench, second)["answers"]) == ["1", "2", "3"]
    assert bench.fake.wrong() == []
    assert not any("missing" in warning for warning in warnings(bench))
    bench.choose(missing="auto,none")
    bench.sync()
    assert list(stored(bench, third)["answers"]) == ["1", "2"]


def test_a_place_of_a_mark_is_not_compared() -> None:
    from ml_backend.labelstudio.answers import Reading, read_task
    from ml_backend.labelstudio.config import Control

    def annotation(user: int, texts: list[str]) -> dict[str, Any]:
        box = {"x": 10, "y": 10, "width": 20, "height": 20}
        result = []
        for index, text in enumerate(texts):
            text_value = {**box, "x": 50 * index, "text": [text]}
            region = {"id": f"{user}{index}", "to_name": "image", "original_width": 9, "original_height": 9}
            result.append({**region, "from_name": "box", "type": "rectangle", "value": {**box, "x": 50 * index}})
            result.append({**region, "from_name": "findings", "type": "textarea", "value": text_value})
        return {"id": user, "completed_by": user, "updated_at": "2026-01-01T00:00:00Z", "result": result}

    task = {"id": 1, "annotations": [annotation(1, ["fever", "rash"]), annotation(2, ["fever", "N/A"])]}
    control = Control("findings", "image", per_region=True)
    settings = ProjectSettings(regions="matched")
    answers, _ = read_task(task, Reading([control], settings))
    table = AnswerPreparation(settings).table([(1, answers)], "findings")
    rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
    assert [(table.items[i], table.raters[r], table.texts_of(a)) for i, r, a in rows] == [
        ("1#0", "1", ("fever",)),
        ("1#0", "2", ("fever",)),
        ("1#1", "1", ("rash",)),
    ]


SIGNS = [{1: ["+"], 2: ["+"]}, {1: ["-"], 2: ["+"]}, {1: ["-"], 2: ["-"]}, {1: ["+"], 2: ["-"]}, {1: ["NA"], 2: ["+"]}]


def assert_same_as_of_export(bench: Bench, split: str | None = None) -> None:
    of_project = bench.row["summary"]["controls"]["findings"]
    of_export = softirr.agreement(softirr.read(bench.export(), split=split), "indel").to_dict()
    for name in ("headline", "expected_agreement", "coefficients"):
        assert of_project[name] == of_export[name], name
    excluded = [
        sorted((entry["item"], entry["rater"], entry["reason"]) for entry in of["excluded"])
        for of in (of_project, of_export)
    ]
    assert excluded[0] == excluded[1]


def test_a_minus_is_an_answer_where_another_answer_is_a_plus(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    numbers = [bench.fake.add_task(answers) for answers in [{1: ["-"], 2: ["-"]}, *SIGNS]]
    bench.sync()
    assert stored(bench, numbers[0])["answers"] == {"1": ["-"], "2": ["-"]}
    assert stored(bench, numbers[-1])["answers"] == {"2": ["+"]}
    assert_same_as_of_export(bench)
    assert set(bench.fake.predictions()) == set(numbers[:-1])
    assert any(warning.endswith("say softirr-ls settings --missing auto,-.") for warning in warnings(bench))


def test_a_plus_that_comes_or_goes_is_noticed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first = bench.fake.add_task({1: ["-"], 2: ["-"]})
    bench.fake.add_task({1: ["fever"], 2: ["fever"]})
    third = bench.fake.add_task({1: ["cough"], 2: ["fever"]})
    bench.sync()
    assert stored(bench, first)["answers"] == {}
    assert_same_as_of_export(bench)
    plus = bench.fake.annotate(third, 3, ["+"])
    bench.sync()
    assert stored(bench, first)["answers"] == {"1": ["-"], "2": ["-"]}
    assert bench.fake.predictions()[first][0]["score"] == 1.0
    bench.fake.edit(plus, ["fever"])
    bench.sync(full=True)
    assert stored(bench, first)["answers"] == {}
    assert_same_as_of_export(bench)


def test_a_run_that_breaks_off_after_the_plus_loses_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first = bench.fake.add_task({1: ["-"], 2: ["-"]})
    second = bench.fake.add_task({1: ["cough"], 2: ["fever"]})
    bench.sync()
    bench.fake.annotate(second, 3, ["+"])

    def stop_once_stored() -> None:
        if "3" in bench.task(second)["answers"]["findings"]["answers"]:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        bench.sync(check=stop_once_stored)
    bench.sync()
    assert stored(bench, first)["answers"] == {"1": ["-"], "2": ["-"]}


@pytest.mark.slow
@pytest.mark.parametrize("answers", [[["+", "-"], ["a; -", "+"]], [["a; +", "-"], ["a; -", "b; -"], ["c; d", "-"]]])
def test_parts_of_split_answers_count_as_on_the_command_line(tmp_path: Path, answers: list[list[str]]) -> None:
    bench = Bench(tmp_path)
    bench.choose(policy=Policy(split="semicolons").to_dict())
    for first, second in answers:
        bench.fake.add_task({1: [first], 2: [second]})
    bench.sync()
    assert_same_as_of_export(bench, "semicolons")
    bench.sync(full=True)
    assert_same_as_of_export(bench, "semicolons")

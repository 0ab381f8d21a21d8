"""A TextArea that nobody answers, or that was renamed or added later, is missing rather than empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import region

TWO = (
    '<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/>'
    '<TextArea name="actions" toName="text"/></View>'
)


class TestAbsentIsNotEmpty:
    """Only an annotation that could have held a control and did not is an empty answer to it."""

    def test_unused_textarea_is_left_out_with_a_note(self, bench: Bench) -> None:
        answered(bench.fake)
        initial = bench.sync()
        assert initial.notes == ()
        alpha = bench.row["summary"]["controls"]["findings"]["coefficients"]["krippendorff_alpha"]
        bench.fake.project["label_config"] = TWO
        result = bench.sync()
        assert "“actions” in the whole project" in result.notes[0].what
        assert bench.fake.wrong() == [], "the scores are those of the one that is answered"
        assert list(bench.row["summary"]["controls"]) == ["findings"]
        assert bench.row["summary"]["controls"]["findings"]["coefficients"]["krippendorff_alpha"] == alpha
        assert "“actions”" in bench.row["summary"]["left_out"][0]
        bench.fake.calls.clear()
        assert bench.sync().notes == result.notes, "said by every run"
        assert bench.fake.writes() == []

    def test_the_first_answer_to_it_brings_it_back_and_the_last_that_goes_takes_it_away(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, FakeLabelStudio(TWO))
        tasks = answered(bench.fake)
        bench.sync()
        scores_before = {task: p["score"] for task, (p,) in bench.fake.predictions().items()}
        first = bench.fake.tasks[tasks[0]]["annotations"][0]
        first_result = first["result"]
        bench.fake.edit(first["id"], [], result=[*first_result, region(["stopped"], "actions")])
        assert bench.sync().notes == ()
        expected_scores = bench.fake.expected(), bench.fake.expected("actions")
        for task, (prediction,) in bench.fake.predictions().items():
            assert prediction["score"] == pytest.approx((expected_scores[0][task] + expected_scores[1][task]) / 2)
        bench.fake.edit(first["id"], [], result=first_result)
        bench.sync()
        assert {task: p["score"] for task, (p,) in bench.fake.predictions().items()} == scores_before

    def test_renamed_textarea_gets_no_scores_and_notes_the_reason(self, bench: Bench) -> None:
        tasks = answered(bench.fake)
        bench.sync()
        bench.fake.project["label_config"] = bench.fake.project["label_config"].replace("findings", "signs")
        result = bench.sync()
        assert bench.fake.predictions() == {}, "not 1.00 for answers that no longer exist"
        problems = [note.what for note in result.notes]
        assert any("Nobody has answered the TextArea “signs”" in what for what in problems)
        assert any("given under another label config" in what for what in problems)
        (report,) = bench.row["summary"]["controls"].values()
        assert report["coefficients"]["krippendorff_alpha"].get("value") is None
        reasons = {entry["reason"] for entry in report["excluded"]}
        assert reasons == {"answered under another label config, to a TextArea that it no longer has (findings)"}
        assert report["n_excluded"] == 15
        for user, texts in {1: ["fever"], 2: ["rash"]}.items():  # answered again, by two of three
            annotation = next(a for a in bench.fake.tasks[tasks[0]]["annotations"] if a["completed_by"] == user)
            bench.fake.edit(annotation["id"], [], result=[region(texts, "signs")])
        result = bench.sync(full=True)
        assert set(bench.fake.predictions()) == {tasks[0]}
        assert bench.fake.predictions()[tasks[0]][0]["score"] < 0.5
        assert ["13 answers were given under another label config" in note.what for note in result.notes] == [True]
        bench.fake.project["label_config"] = bench.fake.project["label_config"].replace("signs", "findings")
        bench.sync()
        assert set(bench.fake.predictions()) == set(tasks[1:]), (
            "of the first task, two answers stand under the new name"
        )

    def test_an_empty_answer_from_before_a_rename_is_missing(self, bench: Bench) -> None:
        """It has no answer to a TextArea that did not exist; after another submission it has one."""
        fake = bench.fake
        task = fake.add_task({1: ["fever"], 2: [], 3: []})
        bench.sync()
        assert fake.predictions()[task][0]["score"] == pytest.approx(1 / 3)
        fake.project["label_config"] = fake.project["label_config"].replace("findings", "signs")
        bench.sync()
        assert fake.predictions() == {}, "two empty answers of the other TextArea are no agreement"
        first, second, _ = (a["id"] for a in fake.tasks[task]["annotations"])
        fake.edit(first, [], result=[region(["fever"], "signs")])
        result = bench.sync()
        assert fake.predictions() == {}, "one answer, and two that are missing"
        assert "2 answers were given while the label config did not have one of its TextAreas" in result.notes[0].what
        excluded = bench.row["summary"]["controls"]["signs"]["excluded"]
        assert [(entry["rater"], entry["reason"]) for entry in excluded] == [
            ("2", "answered while the label config did not have this TextArea"),
            ("3", "answered while the label config did not have this TextArea"),
        ]
        fake.edit(second, [])
        bench.sync()
        assert fake.predictions()[task][0]["score"] == 0.0, "somebody found nothing where another one found fever"
        fake.project["label_config"] = fake.project["label_config"].replace("signs", "findings")
        bench.sync()
        assert fake.predictions() == {}, "only the third was answered under the old name"
        fake.edit(first, ["rash"])
        bench.sync()
        assert fake.predictions()[task][0]["score"] == 0.0, "the third one's empty answer counts again"

    def test_answers_before_an_added_textarea_are_missing_for_it(self, bench: Bench) -> None:
        fake = bench.fake
        old, new = (fake.add_task({1: ["fever"], 2: ["fevers"]}) for _ in range(2))
        bench.sync()
        score = fake.predictions()[old][0]["score"]
        fake.project["label_config"] = TWO
        bench.sync()
        for annotation, texts in zip(list(fake.tasks[new]["annotations"]), (["stop"], []), strict=True):
            more = [region(texts, "actions")] if texts else []
            fake.edit(annotation["id"], [], result=[*annotation["result"], *more])
        for full in (False, True):
            bench.sync(full=full)
            assert fake.predictions()[old][0]["score"] == score, "nobody could have answered the new one"
            assert fake.predictions()[new][0]["score"] == pytest.approx((score + 0) / 2), "stop, and nothing"

    def test_an_annotation_that_could_have_held_it_is_an_empty_answer(self, bench: Bench) -> None:
        """Nothing at all, or only a result of another control that the label config has."""
        config = '<View><Text name="text" value="$text"/><Choices name="kind" toName="text"/>'
        bench.fake.project["label_config"] = bench.fake.project["label_config"].replace(
            '<View><Text name="text" value="$text"/>', config
        )
        task = bench.fake.add_task({1: ["fever"], 2: []})
        choice = {"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": ["a"]}}
        bench.fake.annotate(task, 3, [], result=[choice])
        bench.sync()
        assert bench.fake.wrong() == []
        assert bench.fake.predictions()[task][0]["score"] == pytest.approx(1 / 3)

"""One run of a sync: each task carries exactly the right prediction."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from ml_backend.settings import MODEL_VERSION
from ml_backend.store.schema import tasks
from softirr.errors import InputError
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER, region


class TestOneRun:
    def test_each_task_with_two_answers_gets_one_prediction(self, bench: Bench) -> None:
        answered(bench.fake)
        bench.fake.add_task({1: ["alone"]})
        bench.fake.add_task()
        result = bench.sync()
        assert result.to_dict() == {
            "project": NUMBER,
            "items": 7,
            "created": 5,
            "updated": 0,
            "deleted": 0,
            "unchanged": 0,
            "notes": [],
        }
        assert bench.fake.wrong() == []
        assert bench.fake.project["model_version"] == MODEL_VERSION
        assert bench.fake.project["show_collab_predictions"] is False

    def test_a_new_name_is_taken_over_and_the_name_of_who_left_is_kept(self, bench: Bench) -> None:
        answered(bench.fake)
        bench.sync()
        assert bench.row["raters"]["1"] == "User1"
        bench.fake.users[1]["first_name"] = "Renamed"
        del bench.fake.users[2]
        bench.sync(full=False)
        assert (bench.row["raters"]["1"], bench.row["raters"]["2"]) == ("Renamed", "User2")

    def test_short_values_and_lead_times_are_read(self, bench: Bench) -> None:
        number = bench.fake.add_task({1: ["fever"], 2: ["fever"]})
        bench.fake.tasks[number]["data"] = {"site": "Bern", "text": "x" * 500}
        bench.fake.tasks[number]["annotations"][0]["lead_time"] = 12.5
        bench.sync()
        with bench.store.engine.connect() as connection:
            (facts,) = connection.scalars(sa.select(tasks.c.facts))
        assert facts == {"data": {"site": "Bern"}, "seconds": {"1": 12.5}, "not_compared": {}}
        assert bench.row["summary"]["median_seconds"] == {"1": 12.5}

    @pytest.mark.slow
    @pytest.mark.parametrize("full", [False, True])
    @pytest.mark.parametrize("n", [5, 40])  # single POSTs and a bulk import
    def test_a_second_run_writes_nothing(self, bench: Bench, full: bool, n: int) -> None:
        answered(bench.fake, n)
        bench.sync()
        bench.fake.calls.clear()
        result = bench.sync(full=full)
        assert (result.created, result.updated, result.deleted, result.unchanged) == (0, 0, 0, n)
        assert bench.fake.writes() == []

    def test_the_scores_are_those_of_the_science(self, bench: Bench) -> None:
        answered(bench.fake)
        bench.sync()
        assert set(bench.fake.expected()) == set(bench.fake.predictions())
        assert len(set(bench.fake.expected().values())) > 1

    def test_suggestion_is_in_the_result_and_fits_the_label_config(self, bench: Bench) -> None:
        bench.fake.add_task({1: ["fever"], 2: ["fever"], 3: ["fever", "cough"]})
        bench.sync()
        ((prediction,),) = bench.fake.predictions().values()
        (result,) = prediction["result"]
        assert (result["from_name"], result["to_name"], result["type"]) == ("findings", "text", "textarea")
        assert result["value"]["text"] == ["fever"]
        assert result["meta"]["raters"] == 3

    def test_without_suggestions_only_the_score_is_written(self, bench: Bench) -> None:
        answered(bench.fake)
        bench.choose(suggestions=False)
        bench.sync()
        assert all(p["result"] == [] for (p,) in bench.fake.predictions().values())
        assert bench.fake.wrong() == []

    def test_two_controls_have_a_result_each_and_the_score_is_their_mean(self, tmp_path: Path) -> None:
        config = (
            '<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/>'
            '<TextArea name="actions" toName="text"/></View>'
        )
        bench = Bench(tmp_path, FakeLabelStudio(config))
        task = bench.fake.add_task()
        for user, texts in {1: ["fever"], 2: ["rash"]}.items():
            result = [region(texts), region(["stopped drug"], "actions")]
            bench.fake.annotate(task, user, [], result=result)
        bench.sync()
        ((prediction,),) = bench.fake.predictions().values()
        assert {result["from_name"] for result in prediction["result"]} == {"findings", "actions"}
        by_control = {result["from_name"]: result["score"] for result in prediction["result"]}
        assert by_control["actions"] == 1.0
        assert prediction["score"] == pytest.approx((by_control["findings"] + 1.0) / 2)
        assert set(bench.row["summary"]["controls"]) == {"findings", "actions"}
        bench.choose(controls=["actions"])
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] == 1.0

    def test_predictions_of_others_are_left_alone(self, bench: Bench) -> None:
        task = answered(bench.fake)[0]
        model_prediction = bench.fake.add_prediction(task, ["by a model"], "gpt", 0.9)
        bench.sync()
        assert [p["id"] for p in bench.fake.tasks[task]["predictions"] if p["model_version"] == "gpt"] == [
            model_prediction
        ]

    def test_a_version_chosen_by_the_project_is_not_taken_from_it_unless_connected(self, bench: Bench) -> None:
        task = answered(bench.fake)[0]
        bench.fake.add_prediction(task, ["by a model"], "gpt", 0.9)
        bench.fake.project["model_version"] = "gpt"
        bench.sync()
        assert bench.fake.project["model_version"] == "gpt"
        assert bench.fake.wrong() == []

    def test_a_project_without_a_text_area_is_refused_in_a_sentence(self, bench: Bench) -> None:
        bench.fake.project["label_config"] = '<View><Text name="t" value="$t"/></View>'
        with pytest.raises(InputError, match="no TextArea"):
            bench.sync()

    def test_an_empty_project_is_fine(self, bench: Bench) -> None:
        assert bench.sync().items == 0

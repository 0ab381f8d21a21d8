"""After each kind of change in Label Studio, an ordinary run has every number right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

import softirr
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.settings import MODEL_VERSION
from ml_backend.worker import writing as writer_module
from softirr.meaning.policy.rules import PRESETS
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER, region
from tests.ml_backend.store_calls import n_scored, scored_at


class TestFollowsTheProject:
    """After each kind of change an ordinary run, which reads only what changed, has everything right."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(lambda f, t: f.edit(f.tasks[t[0]]["annotations"][0]["id"], ["other words"]), id="edit"),
            pytest.param(lambda f, t: f.edit(f.tasks[t[0]]["annotations"][0]["id"], []), id="emptied"),
            pytest.param(
                lambda f, t: f.edit(f.tasks[t[0]]["annotations"][0]["id"], ["x"], was_cancelled=True), id="skipped"
            ),
            pytest.param(lambda f, t: f.annotate(t[0], 9, ["a fourth answer"]), id="one more"),
            pytest.param(lambda f, t: f.annotate(t[0], 1, ["second answer of the same user"]), id="again"),
            pytest.param(lambda f, t: f.annotate(t[0], 9, ["skip"], was_cancelled=True), id="a skip"),
            pytest.param(lambda f, t: f.delete_annotation(f.tasks[t[0]]["annotations"][0]["id"]), id="deletion"),
            pytest.param(
                lambda f, t: [f.delete_annotation(a["id"]) for a in list(f.tasks[t[1]]["annotations"])[:2]],
                id="below two answers",
            ),
            pytest.param(lambda f, t: f.tasks.pop(t[2]), id="task removed"),
            pytest.param(lambda f, t: f.add_task({1: ["imported"], 2: ["imports"]}), id="import"),
            pytest.param(lambda f, t: (f.tasks.pop(t[2]), f.add_task({1: ["a"], 2: ["b"]})), id="re-import"),
            pytest.param(
                lambda f, t: f.annotate(
                    t[0], 9, [], result=[region(["fever"], origin="prediction")], parent_prediction=1
                ),
                id="copied from a prediction",
            ),
            pytest.param(lambda f, t: f.tasks[t[0]]["predictions"].clear(), id="our prediction removed"),
            pytest.param(lambda f, t: f.add_prediction(t[0], ["fake"], MODEL_VERSION, 0.1), id="a stray duplicate"),
            pytest.param(
                lambda f, t: f.tasks[t[0]]["drafts"].append({"id": 1, "user": "a@x", "result": [region(["dr"])]}),
                id="draft",
            ),
        ],
    )
    @pytest.mark.parametrize("n", [4, 20])
    def test_change(self, bench: Bench, n: int, change: Callable[[FakeLabelStudio, list[int]], Any]) -> None:
        tasks = answered(bench.fake, n)
        bench.sync()
        change(bench.fake, tasks)
        bench.sync()
        assert bench.fake.wrong() == []
        bench.fake.calls.clear()
        bench.sync()
        assert bench.fake.writes() == []

    def test_only_the_changed_task_is_scored_and_written(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.sync()
        times_before = scored_at(bench.store, bench.row["id"])
        unchanged_ids = {number: p["id"] for number, (p,) in bench.fake.predictions().items()}
        bench.fake.edit(bench.fake.tasks[tasks[7]]["annotations"][0]["id"], ["something else"])
        bench.fake.calls.clear()
        result = bench.sync()
        assert n_scored(bench.store, bench.row["id"], times_before) == 1
        assert (result.updated, result.unchanged) == (1, 29)
        assert [method for method, _ in bench.fake.writes()] == ["PATCH"]
        assert {number: p["id"] for number, (p,) in bench.fake.predictions().items()} == unchanged_ids

    def test_a_stray_prediction_is_removed_at_the_next_complete_pull(self, bench: Bench) -> None:
        """Writing predictions changes no date, so only counting finds this one."""
        task = answered(bench.fake)[0]
        bench.sync()
        bench.fake.add_prediction(task, ["copy"], MODEL_VERSION, 0.5)
        bench.sync()
        assert bench.fake.wrong() == []

    def test_the_coefficients_follow_an_edit(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 6)
        bench.sync()
        initial = bench.row["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
        for user, annotation in enumerate(bench.fake.tasks[tasks[0]]["annotations"]):
            bench.fake.edit(annotation["id"], ["abc", "xyz", "123"][user : user + 1])
        bench.sync(full=True)
        summary = bench.row["summary"]["controls"]["findings"]
        assert summary["coefficients"]["observed_agreement"]["value"] != initial
        expected = bench.fake.expected()
        assert summary["coefficients"]["observed_agreement"]["value"] == pytest.approx(
            sum(expected.values()) / len(expected)
        )

    def test_the_coefficients_follow_after_a_run_that_was_broken_off(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 6)
        bench.sync()
        initial = bench.row["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
        bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["something else"])
        bench.fake.before = lambda r: httpx.Response(401) if r.method == "PATCH" else None
        with pytest.raises(LabelStudioError):
            bench.sync()
        bench.fake.before = lambda request: None
        bench.store.update_project(bench.row["id"], summary_due=0.0)
        bench.sync()
        final = bench.row["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
        assert final != initial
        assert final == pytest.approx(sum(bench.fake.expected().values()) / len(tasks))

    def test_another_measure_is_another_score_everywhere(self, bench: Bench) -> None:
        answered(bench.fake, 4)
        bench.sync()
        bench.choose(measure="jaccard")
        result = bench.sync()
        assert bench.fake.wrong(measure="jaccard") == []
        assert result.updated + result.unchanged == 4

    def test_another_policy_is_another_score_everywhere(self, bench: Bench) -> None:
        task = bench.fake.add_task({1: ["severe pain"], 2: ["mild pain"]})
        bench.sync()
        agreement_before = bench.task(task)["agreement"]
        bench.choose(policy=PRESETS["any-severity"].to_dict())
        assert bench.sync().updated == 1
        task_after = bench.task(task)
        assert agreement_before < task_after["agreement"] == 1.0
        bench.store.update_project(bench.row["id"], summary_due=0.0)
        bench.sync()
        assert bench.row["summary"]["provenance"]["policy"].startswith("clinical finding, any severity")
        report = bench.row["summary"]["controls"]["findings"]
        assert report["provenance"]["policy"]["ignore"] == ["severity"]
        assert report["coefficients"]["observed_agreement"]["value"] == 1.0
        assert bench.sync().updated == 0

    def test_results_of_an_older_version_are_scored_again_once(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its scores lack the equivalence of each pair of a row, which the panel shows now."""
        tasks = [bench.fake.add_task({1: ["fever"], 2: ["fevers"], 3: ["fever!"]}) for _ in range(3)]
        monkeypatch.setattr(softirr, "__version__", "0.0.1")
        bench.sync()
        store, project = bench.store, bench.row["id"]
        old = store.get_tasks(project, tasks)
        for row in old.values():
            for match in row["details"]["controls"]["findings"]["matches"]:
                del match["pairs"]
        columns = ("number", "answers_hash", "agreement", "details", "desired")
        store.put_scored(project, [{name: row[name] for name in columns} for row in old.values()])
        summary = bench.row["summary_at"]
        store.update_project(project, summary_due=0.0)
        monkeypatch.undo()
        bench.sync()
        now = store.get_tasks(project, tasks)
        assert all(
            "pairs" in match for row in now.values() for match in row["details"]["controls"]["findings"]["matches"]
        )
        assert bench.row["summary_at"] > summary
        times_before = scored_at(store, project)
        bench.sync()
        assert scored_at(store, project) == times_before

    def test_a_control_added_while_running(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 4)
        bench.sync()
        added = '<TextArea name="actions" toName="text"/></View>'
        bench.fake.project["label_config"] = bench.fake.project["label_config"].replace("</View>", added)
        for task in tasks:
            for annotation, action in zip(
                bench.fake.tasks[task]["annotations"], ("stop", "stop", "go on"), strict=True
            ):
                annotation["result"].append(region([action], "actions"))
        bench.sync()
        first, second = bench.fake.expected(), bench.fake.expected("actions")
        for task in tasks:
            assert bench.fake.predictions()[task][0]["score"] == pytest.approx((first[task] + second[task]) / 2)
        bench.fake.project["label_config"] = bench.fake.project["label_config"].replace(added, "</View>")
        bench.sync()
        assert bench.fake.wrong() == []

    def test_predictions_of_a_model_count_as_a_rater_when_asked_for(self, bench: Bench) -> None:
        bench.fake.project["maximum_annotations"] = 1
        task = bench.fake.add_task({1: ["fever"]})
        bench.fake.add_prediction(task, ["fevers"], "gpt")
        bench.sync()
        assert bench.fake.predictions() == {}
        bench.choose(predictions_as_raters=True)
        bench.sync()
        assert bench.fake.wrong(predictions_as_raters=True) == []
        assert set(bench.fake.predictions()) == {task}
        second = bench.fake.add_task({1: ["rash"]})
        bench.sync()
        bench.fake.add_prediction(second, ["rashes"], "gpt")  # changes no date that a request could filter by
        bench.sync()
        assert bench.fake.wrong(predictions_as_raters=True) == []
        assert set(bench.fake.predictions()) == {task, second}

    def test_reviewers_answer_counts_only_if_the_option_is_set(self, bench: Bench) -> None:
        task = bench.fake.add_task({1: ["fever"], 2: ["fever"], 7: ["broken arm"]})
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] < 1
        bench.choose(reviewers=["7"])
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] == 1.0
        stored = bench.task(task)["answers"]["findings"]
        assert list(stored["answers"]) == ["1", "2"]
        assert stored["excluded"] == [["7", "a reviewer’s own answer, which does not count as an annotator’s"]]
        bench.choose(reviewers=["7"], count_reviewers=True)
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] < 1

    def test_a_draft_is_its_users_who_is_known_by_an_email_address(self, bench: Bench) -> None:
        """A reviewer who took a suggestion was listed as "Annotator lead@example.org"."""
        tasks = answered(bench.fake, 3)
        bench.fake.users[7] = {"id": 7, "first_name": "Lena", "last_name": "Vogel", "email": "Lead@example.org"}
        for user in ("lead@example.org", "nobody@example.org"):
            bench.fake.tasks[tasks[0]]["drafts"].append({"id": 1, "user": user, "result": [region(["dr"])]})
        bench.sync()
        stored = bench.task(tasks[0])["answers"]["findings"]
        assert [rater for rater, _ in stored["excluded"]] == ["7", "nobody@example.org"]
        assert bench.row["raters"]["7"] == "Lena Vogel"

    def test_recreated_project_with_the_same_number_starts_empty(self, bench: Bench) -> None:
        answered(bench.fake, 3)
        bench.sync()
        new_project = FakeLabelStudio()
        new_project.project["created_at"] = "2026-11-21T00:00:00Z"
        new_project.add_task({1: ["x"], 2: ["y"]})
        bench.fake = new_project
        assert bench.sync().items == 1
        assert bench.fake.wrong() == []

    def test_many_changes_at_once_are_written_in_bulk(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(writer_module, "REWRITE_FROM", 10)
        answered(bench.fake, 30)
        bench.sync()
        bench.choose(measure="jaccard")
        bench.fake.calls.clear()
        bench.sync()
        assert bench.fake.wrong(measure="jaccard") == []
        assert ("DELETE", f"/api/projects/{NUMBER}/model-versions/") in bench.fake.writes()
        assert bench.fake.project["model_version"] == MODEL_VERSION

    def test_another_version_is_reported_once_in_each_run(self, bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
        """And stays, if the backend is not connected to the project."""
        answered(bench.fake, 30)
        bench.fake.project["model_version"] = "gpt"
        for n_runs in (1, 2):
            bench.sync(full=True)
            assert caplog.text.count("its model version is not agreement") == n_runs
        assert bench.fake.project["model_version"] == "gpt"

    def test_a_version_without_predictions_is_chosen_after_they_are_written(self, bench: Bench) -> None:
        """Label Studio refuses a version of which it has no prediction, as after somebody removed all of them."""
        answered(bench.fake, 30)
        bench.sync()
        for task in bench.fake.tasks.values():
            task["predictions"] = []
        bench.fake.project["model_version"] = None
        bench.sync()
        assert bench.fake.wrong() == []
        assert bench.fake.project["model_version"] == MODEL_VERSION

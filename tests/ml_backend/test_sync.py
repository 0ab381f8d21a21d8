"""Bringing a project up to date: whatever happens in between, in the end each task carries exactly the right prediction."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

sys.path.insert(0, str(Path(__file__).parent))
from fake_label_studio import NUMBER, Bench, FakeLabelStudio, region

from ml_backend.labelstudio.connect import Connector
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.triage import TITLE
from ml_backend.report.data import Reports
from ml_backend.report.links import Links
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.schema import tasks
from ml_backend.sync import project_sync as sync_module
from ml_backend.sync import reader as reader_module
from ml_backend.sync import writer as writer_module
from ml_backend.sync.project_sync import Stopped
from softirr.errors import InputError, SoftirrError
from softirr.policy.rules import PRESETS

SECRET_TEXT = "unmistakable finding"


def answered(fake: FakeLabelStudio, n: int = 5) -> list[int]:
    """Tasks with three answers each, more or less alike."""
    return [
        fake.add_task({1: ["fever", f"{k * 'dry '}cough"], 2: ["fevers", "cough"], 3: [f"rash {k}"]}) for k in range(n)
    ]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.store.close()


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

    def test_what_reports_group_tasks_by_is_read(self, bench: Bench) -> None:
        number = bench.fake.add_task({1: ["fever"], 2: ["fever"]})
        bench.fake.tasks[number]["data"] = {"site": "Bern", "text": "x" * 500}
        bench.sync()
        with bench.store.engine.connect() as connection:
            (facts,) = connection.scalars(sa.select(tasks.c.facts))
        assert facts["data"] == {"site": "Bern"} and set(facts["days"]) == {"1", "2"}

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

    def test_the_suggestion_stands_in_the_result_and_fits_the_label_config(self, bench: Bench) -> None:
        bench.fake.add_task({1: ["fever"], 2: ["fever"], 3: ["fever", "cough"]})
        bench.sync()
        ((prediction,),) = bench.fake.predictions().values()
        (found,) = prediction["result"]
        assert (found["from_name"], found["to_name"], found["type"]) == ("findings", "text", "textarea")
        assert found["value"]["text"] == ["fever"]
        assert found["meta"]["raters"] == 3

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
        assert {found["from_name"] for found in prediction["result"]} == {"findings", "actions"}
        by_control = {found["from_name"]: found["score"] for found in prediction["result"]}
        assert by_control["actions"] == 1.0
        assert prediction["score"] == pytest.approx((by_control["findings"] + 1.0) / 2)
        assert set(bench.row["summary"]["controls"]) == {"findings", "actions"}
        bench.choose(controls=["actions"])
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] == 1.0
        bench.store.close()

    def test_predictions_of_others_are_left_alone(self, bench: Bench) -> None:
        task = answered(bench.fake)[0]
        other = bench.fake.add_prediction(task, ["by a model"], "gpt", 0.9)
        bench.sync()
        assert [p["id"] for p in bench.fake.tasks[task]["predictions"] if p["model_version"] == "gpt"] == [other]

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


class TestFollowsTheProject:
    """After each kind of change an ordinary run, which reads only what changed, has everything right."""

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
        before = bench.store.counts()["tasks_scored"]
        kept = {number: p["id"] for number, (p,) in bench.fake.predictions().items()}
        bench.fake.edit(bench.fake.tasks[tasks[7]]["annotations"][0]["id"], ["something else"])
        bench.fake.calls.clear()
        result = bench.sync()
        assert bench.store.counts()["tasks_scored"] - before == 1
        assert (result.updated, result.unchanged) == (1, 29)
        assert [method for method, _ in bench.fake.writes()] == ["PATCH"]
        assert {number: p["id"] for number, (p,) in bench.fake.predictions().items()} == kept

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
        before = bench.row["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
        for user, annotation in enumerate(bench.fake.tasks[tasks[0]]["annotations"]):
            bench.fake.edit(annotation["id"], ["abc", "xyz", "123"][user : user + 1])
        bench.sync(full=True)
        summary = bench.row["summary"]["controls"]["findings"]
        assert summary["coefficients"]["observed_agreement"]["value"] != before
        expected = bench.fake.expected()
        assert summary["coefficients"]["observed_agreement"]["value"] == pytest.approx(
            sum(expected.values()) / len(expected)
        )

    def test_the_coefficients_follow_after_a_run_that_was_broken_off(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 6)
        bench.sync()
        before = bench.row["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
        bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["something else"])
        bench.fake.before = lambda r: httpx.Response(401) if r.method == "PATCH" else None
        with pytest.raises(LabelStudioError):
            bench.sync()
        bench.fake.before = lambda request: None
        bench.store.update_project(bench.row["id"], summary_due=0.0)
        bench.sync()
        after = bench.row["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
        assert after != before
        assert after == pytest.approx(sum(bench.fake.expected().values()) / len(tasks))

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
        before = bench.store.get_tasks(bench.row["id"], [task])[task]["agreement"]
        bench.choose(policy=PRESETS["any-severity"].to_dict())
        assert bench.sync().updated == 1
        after = bench.store.get_tasks(bench.row["id"], [task])[task]
        assert before < after["agreement"] == 1.0
        bench.store.update_project(bench.row["id"], summary_due=0.0)
        bench.sync()
        assert bench.row["summary"]["provenance"]["policy"].startswith("clinical finding, any severity")
        report = bench.row["summary"]["controls"]["findings"]
        assert report["provenance"]["policy"]["ignore"] == ["severity"]
        assert report["coefficients"]["observed_agreement"]["value"] == 1.0
        assert bench.sync().updated == 0

    def test_what_an_older_version_scored_is_scored_again_once(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its scores lack what the panel shows now: the value of each pair of a row, and alpha without each annotator."""
        tasks = [bench.fake.add_task({1: ["fever"], 2: ["fevers"], 3: ["fever!"]}) for _ in range(3)]
        monkeypatch.setattr(sync_module, "RULES", 2)
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
        before = store.counts()["tasks_scored"]
        bench.sync()
        assert store.counts()["tasks_scored"] == before

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
        bench.fake.add_prediction(second, ["rashes"], "gpt")  # changes no date that could be asked for
        bench.sync()
        assert bench.fake.wrong(predictions_as_raters=True) == []
        assert set(bench.fake.predictions()) == {task, second}

    def test_a_reviewers_own_answer_is_no_annotators_unless_it_is_to_count(self, bench: Bench) -> None:
        task = bench.fake.add_task({1: ["fever"], 2: ["fever"], 7: ["broken arm"]})
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] < 1
        bench.choose(reviewers=["7"])
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] == 1.0
        stored = bench.store.get_tasks(bench.row["id"], [task])[task]["answers"]["findings"]
        assert list(stored["answers"]) == ["1", "2"]
        assert stored["excluded"] == [["7", "a reviewer’s own answer, which does not count as an annotator’s"]]
        bench.choose(reviewers=["7"], count_reviewers=True)
        bench.sync()
        assert bench.fake.predictions()[task][0]["score"] < 1

    def test_a_project_made_anew_under_the_same_number_starts_from_nothing(self, bench: Bench) -> None:
        answered(bench.fake, 3)
        bench.sync()
        other = FakeLabelStudio()
        other.project["created_at"] = "2026-11-21T00:00:00Z"
        other.add_task({1: ["x"], 2: ["y"]})
        bench.fake = other
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


def lists(request: httpx.Request) -> bool:
    """Whether a request asks for a list of tasks."""
    return request.method == "GET" and request.url.path == "/api/tasks/"


class TestListsThatAreNotToBeTrusted:
    """Label Studio, or a proxy before it, gives an empty or short list for a moment: nothing is lost for that."""

    def test_tasks_imported_after_the_first_run_are_scored(self, bench: Bench) -> None:
        assert bench.sync().items == 0
        answered(bench.fake)
        assert bench.sync().created == 5
        assert bench.fake.wrong() == []

    @pytest.mark.parametrize("full", [False, True])
    @pytest.mark.parametrize(
        "reply",
        [
            pytest.param(httpx.Response(404, json={"detail": "Not found."}), id="404"),
            pytest.param(httpx.Response(200, json={"tasks": [], "total": 0}), id="empty list"),
        ],
    )
    def test_a_list_that_is_empty_for_a_moment(self, bench: Bench, full: bool, reply: httpx.Response) -> None:
        tasks = answered(bench.fake, 5)
        bench.sync()
        before = {number: p["id"] for number, (p,) in bench.fake.predictions().items()}
        del bench.fake.tasks[tasks[0]]  # so that there is something to look for
        bench.fake.before = lambda request: reply if lists(request) else None
        try:
            result = bench.sync(full=full)
        except LabelStudioError as error:
            said = str(error)
        else:
            said = ""
            assert result.items == 5
            if full:
                assert "did not list all tasks" in result.notes[0].what
        assert ("404 when asked for the tasks" in said) is (reply.status_code == 404)
        assert bench.store.totals(bench.row["id"])["tasks"] == 5, "nothing is forgotten"
        bench.fake.before = lambda request: None
        result = bench.sync()
        assert result.items == 4
        assert result.notes == ()
        assert bench.fake.wrong() == []
        assert {number: p["id"] for number, (p,) in bench.fake.predictions().items()} == {
            number: before[number] for number in tasks[1:]
        }

    @pytest.mark.parametrize("first", [True, False])
    def test_a_list_that_ends_too_early(self, tmp_path: Path, first: bool) -> None:
        """The second of three pages comes empty, in the first complete reading or in a later one."""
        bench = Bench(tmp_path, page_size=10)
        answered(bench.fake, 30)
        if not first:
            bench.sync()
        pages: list[int] = []

        def short(request: httpx.Request) -> httpx.Response | None:
            if lists(request) and "fields=all" in str(request.url):
                pages.append(1)
                return httpx.Response(200, json={"tasks": [], "total": 0}) if len(pages) == 2 else None
            return None

        bench.fake.before = short
        assert bench.sync(full=True).items == 30
        assert bench.fake.wrong() == []
        bench.store.close()

    def test_the_first_reading_of_a_project_is_done_again_if_it_was_empty(self, bench: Bench) -> None:
        answered(bench.fake, 5)
        bench.fake.before = lambda r: httpx.Response(200, json={"tasks": [], "total": 0}) if lists(r) else None
        assert "did not list all tasks" in bench.sync().notes[0].what
        bench.fake.before = lambda request: None
        assert bench.sync().created == 5
        assert bench.fake.wrong() == []

    @pytest.mark.parametrize("body", [b"[]", b"{}", b"null", b'"x"', b'{"tasks": [3], "total": 1}', b'[{"id": "x"}]'])
    def test_a_server_that_answers_the_same_to_everything_is_said_in_one_sentence(
        self, bench: Bench, body: bytes
    ) -> None:
        answered(bench.fake, 3)
        bench.sync()
        bench.fake.edit(bench.fake.tasks[1]["annotations"][0]["id"], ["something else"])
        seen: list[str] = []
        said: list[str] = []
        for path in ("", *{path for _, path in bench.fake.calls}):

            def odd(request: httpx.Request, path: str = path) -> httpx.Response | None:
                same = path in ("", request.url.path)
                seen.append(request.url.path) if same else None
                return httpx.Response(200, content=body) if same else None

            bench.fake.before = odd
            bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
            try:
                bench.sync(full=True)
            except LabelStudioError as error:
                said.append(str(error))
        assert said
        assert not any(". " in sentence for sentence in said)
        assert len(set(seen)) >= 5
        bench.fake.before = lambda request: None
        bench.sync(full=True)
        assert bench.fake.wrong() == []


TWO = (
    '<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/>'
    '<TextArea name="actions" toName="text"/></View>'
)


class TestAbsentIsNotEmpty:
    """Only an annotation that could have held a control and did not is an empty answer to it."""

    def test_a_text_area_that_nobody_fills_is_left_out_and_said(self, bench: Bench) -> None:
        answered(bench.fake)
        before = bench.sync()
        assert before.notes == ()
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
        alone = {task: p["score"] for task, (p,) in bench.fake.predictions().items()}
        first = bench.fake.tasks[tasks[0]]["annotations"][0]
        kept = first["result"]
        bench.fake.edit(first["id"], [], result=[*kept, region(["stopped"], "actions")])
        assert bench.sync().notes == ()
        both = bench.fake.expected(), bench.fake.expected("actions")
        for task, (prediction,) in bench.fake.predictions().items():
            assert prediction["score"] == pytest.approx((both[0][task] + both[1][task]) / 2)
        bench.fake.edit(first["id"], [], result=kept)
        bench.sync()
        assert {task: p["score"] for task, (p,) in bench.fake.predictions().items()} == alone
        bench.store.close()

    def test_a_text_area_that_is_renamed_scores_nothing_and_says_why(self, bench: Bench) -> None:
        tasks = answered(bench.fake)
        bench.sync()
        bench.fake.project["label_config"] = bench.fake.project["label_config"].replace("findings", "signs")
        result = bench.sync()
        assert bench.fake.predictions() == {}, "not 1.00 for answers that no longer exist"
        said = [note.what for note in result.notes]
        assert any("Nobody has answered the TextArea “signs”" in what for what in said)
        assert any("given under another label config" in what for what in said)
        (report,) = bench.row["summary"]["controls"].values()
        assert report["coefficients"]["krippendorff_alpha"].get("value") is None
        reasons = {entry["reason"] for entry in report["excluded"]}
        assert reasons == {"answered under another label config, to a TextArea that it no longer has (findings)"}
        assert report["n_excluded"] == 15
        for user, texts in {1: ["fever"], 2: ["rash"]}.items():  # answered anew, by two of three
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
        """It says nothing about a TextArea that was not there; submitted again, it does."""
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

    def test_what_was_answered_before_a_text_area_was_added_is_missing_there(self, bench: Bench) -> None:
        fake = bench.fake
        old, new = (fake.add_task({1: ["fever"], 2: ["fevers"]}) for _ in range(2))
        bench.sync()
        alone = fake.predictions()[old][0]["score"]
        fake.project["label_config"] = TWO
        bench.sync()
        for annotation, texts in zip(list(fake.tasks[new]["annotations"]), (["stop"], []), strict=True):
            more = [region(texts, "actions")] if texts else []
            fake.edit(annotation["id"], [], result=[*annotation["result"], *more])
        for full in (False, True):
            bench.sync(full=full)
            assert fake.predictions()[old][0]["score"] == alone, "nobody could have answered the new one"
            assert fake.predictions()[new][0]["score"] == pytest.approx((alone + 0) / 2), "stop, and nothing"

    def test_an_annotation_that_could_have_held_it_is_an_empty_answer(self, bench: Bench) -> None:
        """Nothing at all, or only a result of another control that the label config has."""
        config = '<View><Text name="text" value="$text"/><Choices name="kind" toName="text"/>'
        bench.fake.project["label_config"] = bench.fake.project["label_config"].replace(
            '<View><Text name="text" value="$text"/>', config
        )
        task = bench.fake.add_task({1: ["fever"], 2: []})
        chosen = {"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": ["a"]}}
        bench.fake.annotate(task, 3, [], result=[chosen])
        bench.sync()
        assert bench.fake.wrong() == []
        assert bench.fake.predictions()[task][0]["score"] == pytest.approx(1 / 3)


class TestReadsLittle:
    """Most runs find nothing new, or one task, in a project of tens of thousands."""

    def test_what_was_imported_a_moment_ago_is_not_read_again(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.sync()
        for _ in range(3):
            bench.fake.read.clear()
            bench.sync()
            assert bench.fake.read == []
        bench.fake.edit(bench.fake.tasks[tasks[7]]["annotations"][0]["id"], ["something else"])
        bench.sync()
        assert bench.fake.read == [tasks[7]]
        assert bench.fake.wrong() == []

    def test_after_a_deletion_only_that_task_is_read(self, bench: Bench) -> None:
        """It changes no date: found by the numbers of annotations, also where reading everything would take minutes."""
        tasks = answered(bench.fake, 30)
        bench.sync()
        bench.fake.read.clear()
        bench.fake.delete_annotation(bench.fake.tasks[tasks[7]]["annotations"][0]["id"])
        bench.fake.tasks.pop(tasks[9])
        bench.sync()
        assert bench.fake.read == [tasks[7]]
        assert bench.fake.wrong() == []

    def test_many_changes_are_read_by_the_page(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reader_module, "FEW_STALE", 2)
        monkeypatch.setattr(reader_module, "NEWEST", 2)
        tasks = answered(bench.fake, 10)
        bench.sync()
        for task in tasks[:5]:
            bench.fake.edit(bench.fake.tasks[task]["annotations"][0]["id"], ["something else"])
        bench.fake.calls.clear()
        bench.sync()
        assert bench.fake.wrong() == []
        assert bench.fake.calls.count(("GET", "/api/tasks/")) == 3, "the newest, the dates of all, one page"

    def test_an_edit_does_not_wait_for_what_was_imported_a_moment_ago(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.sync()
        bench.fake.edit(bench.fake.tasks[tasks[7]]["annotations"][0]["id"], ["something else"])
        order: list[str] = []

        def note(request: httpx.Request) -> None:
            if "filter:tasks:updated_at" in request.url.params.get("query", ""):
                order.append("overlap")
            elif request.method == "PATCH" and "/predictions/" in request.url.path:
                order.append("written")

        bench.fake.after = note  # type: ignore[assignment]
        bench.sync()
        assert order == ["written", "overlap"]
        assert bench.fake.wrong() == []

    def test_a_change_that_shows_later_than_its_date_says(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """An annotation that becomes visible without another date is found by reading the last seconds once more."""
        tasks = answered(bench.fake, 10)
        bench.sync()
        hidden = bench.fake.tasks[tasks[-1]]
        hidden["annotations"][0]["result"] = [region(["came late"])]
        monkeypatch.setattr(reader_module, "SETTLED_AFTER", -1.0)
        bench.sync()
        assert bench.fake.wrong() == []
        bench.fake.read.clear()
        bench.sync()
        assert bench.fake.read == [], "once is enough"

    def test_annotators_are_served_while_everything_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sync_module, "LOOK_EVERY", 0.0)
        bench = Bench(tmp_path, page_size=5)
        tasks = answered(bench.fake, 40)
        bench.sync()
        order: list[str] = []

        def meanwhile(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and "fields=all" in str(request.url):
                order.append("page")
                if order == ["page", "page"]:
                    bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["edited meanwhile"])
                    bench.store.want(bench.row["id"])
            elif request.method == "PATCH" and "/predictions/" in request.url.path:
                order.append("written")

        bench.fake.after = meanwhile  # type: ignore[assignment]
        result = bench.sync(full=True)
        assert (result.updated, result.unchanged) == (1, 39)
        assert order.index("written") < 5 < len(order), order
        assert bench.fake.wrong() == []
        bench.store.close()

    def test_annotators_are_served_while_the_coefficients_are_computed(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sync_module, "LOOK_EVERY", 0.02)
        tasks = answered(bench.fake, 10)
        bench.sync()
        written = threading.Event()
        summary, seen = bench.scorer.summary, []

        def slow(*args: Any, **options: Any) -> dict[str, Any]:
            bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["edited meanwhile"])
            bench.store.want(bench.row["id"])
            seen.append(written.wait(60))
            return summary(*args, **options)

        def note(request: httpx.Request) -> None:
            if request.method == "PATCH" and "/predictions/" in request.url.path:
                written.set()

        monkeypatch.setattr(bench.scorer, "summary", slow)
        bench.fake.after = note  # type: ignore[assignment]
        bench.store.update_project(bench.row["id"], summary_stale=True, summary_due=0.0)
        bench.sync()
        assert seen == [True], "the prediction was written before the coefficients were there"
        assert bench.fake.wrong() == []
        assert bench.row["summary_stale"], "they may be older than the edit"
        assert bench.store.take_wanted(bench.row["id"]) == (True, False), "the whole look comes after this run"

    def test_a_run_is_broken_off_also_while_the_coefficients_are_computed(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sync_module, "LOOK_EVERY", 0.02)
        answered(bench.fake, 10)
        told: list[str] = []
        stop = threading.Event()

        def endless(*args: Any, progress: Callable[[int, int], None], **options: Any) -> dict[str, Any]:
            stop.set()
            try:
                while True:
                    progress(0, 1)
            except Stopped:
                told.append("broken off")
                raise

        def check() -> None:
            if stop.is_set():
                raise Stopped

        monkeypatch.setattr(bench.scorer, "summary", endless)
        with pytest.raises(Stopped):
            bench.sync(check=check)
        assert told == ["broken off"]
        assert bench.row["summary"] is None
        assert bench.row["summary_stale"]

    def test_a_complete_pull_that_is_asked_for_meanwhile_has_its_turn(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sync_module, "LOOK_EVERY", 0.0)
        bench = Bench(tmp_path, page_size=5)
        answered(bench.fake, 20)
        bench.sync()
        asked: list[bool] = []

        def ask(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and not asked:
                asked.append(bench.store.want(bench.row["id"], full=True))

        bench.fake.after = ask  # type: ignore[assignment]
        bench.sync(full=True)
        assert bench.store.take_wanted(bench.row["id"]) == (True, True)
        bench.store.close()


class TestSteadyWork:
    """Something changes at every request: a run ends all the same, and what nobody touched carries its score."""

    @staticmethod
    def _people(fake: FakeLabelStudio, bench: Bench, *, deletions: bool) -> Callable[[httpx.Request], None]:
        """An edit of one of the newest tasks at each request; a new task and the deletion of an older one at each fifth."""
        turn = [0]

        def work(request: httpx.Request) -> None:
            turn[0] += 1
            row = bench.store.project(bench.settings.label_studio_url, NUMBER)
            if row is not None:
                bench.store.want(row["id"])
            numbers = sorted(fake.tasks)
            touched = fake.tasks[numbers[-1 - turn[0] % 5]]
            fake.edit(touched["annotations"][0]["id"], [f"edited {turn[0]}"])
            if turn[0] % 5:
                return
            fake.add_task({1: [f"new {turn[0]}"], 2: ["news"]})
            if deletions:
                del fake.tasks[numbers[-6]]

        return work  # type: ignore[return-value]

    @pytest.mark.parametrize(
        ("deletions", "full", "page_size"), [(False, False, 500), (True, False, 500), (True, True, 5)]
    )
    def test_every_run_ends_and_makes_progress(
        self, tmp_path: Path, deletions: bool, full: bool, page_size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sync_module, "LOOK_EVERY", 0.0)
        monkeypatch.setattr(sync_module, "SCORE_BATCH", 5)
        monkeypatch.setattr(reader_module, "NEWEST", 5)
        bench = Bench(tmp_path, page_size=page_size)
        tasks = answered(bench.fake, 24)
        untouched = tasks[:12]
        bench.fake.after = self._people(bench.fake, bench, deletions=deletions)
        for run in range(2):
            before = len(bench.fake.calls)
            bench.sync(full=full)
            assert len(bench.fake.calls) - before < 1000, "a run ends"
            expected = bench.fake.expected()
            for task in untouched:
                (prediction,) = bench.fake.predictions().get(task, [None])
                assert prediction is not None, f"run {run}: task {task} carries nothing"
                assert prediction["score"] == expected[task]
        bench.fake.after = lambda request: None
        bench.sync()
        bench.sync()
        assert bench.fake.wrong() == []
        bench.store.close()

    def test_a_batch_with_tasks_that_are_gone_is_written_without_them(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 60)

        def vanish(request: httpx.Request) -> None:
            if request.url.path.endswith("/import/predictions"):
                sent = [prediction["task"] for prediction in json.loads(request.content)]
                bench.fake.tasks.pop(sent[len(sent) // 2], None)

        bench.fake.before = vanish  # type: ignore[assignment]
        bench.sync()
        left = [task for task in tasks if task in bench.fake.tasks]
        assert len(left) > 50
        assert set(bench.fake.predictions()) == set(left), "in one run"
        bench.fake.before = lambda request: None
        assert bench.sync().items == len(left)
        assert bench.fake.wrong() == []

    def test_a_scoring_that_is_never_done_still_comes_to_an_end(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whenever a batch was scored, all of its tasks have changed again."""
        monkeypatch.setattr(sync_module, "LOOK_EVERY", 0.0)
        monkeypatch.setattr(sync_module, "SCORE_BATCH", 5)
        tasks = answered(bench.fake, 20)
        put, batches = bench.store.put_scored, [0]

        def changed_again(project: int, scored: Any) -> None:
            put(project, scored)
            batches[0] += 1
            assert batches[0] < 60, "without end"
            for row in scored:
                bench.fake.edit(bench.fake.tasks[row["number"]]["annotations"][0]["id"], [f"edit {batches[0]}"])
            bench.store.want(project)

        monkeypatch.setattr(bench.store, "put_scored", changed_again)
        bench.sync()
        assert set(bench.fake.predictions()) == set(tasks)
        monkeypatch.setattr(bench.store, "put_scored", put)
        bench.sync()
        assert bench.fake.wrong() == []


class TestBulkImport:
    """It drops what it does not like, answers 201 all the same, and may have stored half of it when the connection breaks."""

    def test_what_was_dropped_once_is_written_after_all(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        dropped: list[int] = []

        def drop(prediction: Any) -> bool:
            if prediction["task"] == tasks[3] and not dropped:
                dropped.append(prediction["task"])
                return True
            return False

        bench.fake.drop_in_bulk = drop
        bench.sync()
        assert dropped
        assert bench.fake.wrong() == []

    def test_what_is_always_dropped_ends_in_a_sentence_and_no_duplicates(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)
        bench.fake.drop_in_bulk = lambda prediction: prediction["task"] in tasks[:15]
        with pytest.raises(LabelStudioError, match="did not store all predictions"):
            bench.sync()
        assert all(len(listed) == 1 for listed in bench.fake.predictions().values())

    @pytest.mark.parametrize("n", [5, 40])
    def test_half_written(self, bench: Bench, n: int) -> None:
        answered(bench.fake, n)
        broken: list[int] = []

        def half(request: httpx.Request) -> httpx.Response | BaseException | None:
            if request.url.path.endswith("/import/predictions") and not broken:
                body = json.loads(request.content)
                for prediction in body[: len(body) // 2]:
                    bench.fake._store(prediction)
                broken.append(1)
                return httpx.RemoteProtocolError("broken off", request=request)
            return None

        bench.fake.before = half
        bench.sync()
        assert bench.fake.wrong() == []
        assert bool(broken) == (n > writer_module.FEW_CREATES)

    def test_a_prediction_that_the_label_config_forbids_is_not_sent(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        tasks = answered(bench.fake, 3)
        real = writer_module.PredictionChecker.problem

        def problem(self: Any, prediction: Any) -> str | None:
            return (
                "is not allowed" if bench.store.counts().get("tasks_scored") and calls.pop() else real(self, prediction)
            )

        calls = [False, False, False, True] * 3
        monkeypatch.setattr(writer_module.PredictionChecker, "problem", problem)
        with caplog.at_level(logging.WARNING):
            result = bench.sync()
        assert result.created == 2
        assert "prediction not written: is not allowed" in caplog.text
        assert len(bench.fake.predictions()) == len(tasks) - 1

    def test_a_stale_prediction_is_removed_where_the_new_one_is_forbidden(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tasks = answered(bench.fake, 3)
        bench.sync()
        bench.fake.edit(bench.fake.tasks[tasks[1]]["annotations"][0]["id"], ["changed"])
        monkeypatch.setattr(writer_module.PredictionChecker, "problem", lambda *_: "is not allowed")
        bench.sync()
        assert set(bench.fake.predictions()) == {tasks[0], tasks[2]}


def _faults() -> dict[str, Callable[[FakeLabelStudio, httpx.Request], httpx.Response | BaseException]]:
    return {
        "refused": lambda fake, request: httpx.ConnectError("refused", request=request),
        "timeout": lambda fake, request: httpx.ReadTimeout("slow", request=request),
        "broken": lambda fake, request: httpx.RemoteProtocolError("broken", request=request),
        "500": lambda fake, request: httpx.Response(500, content=b"<html>" + SECRET_TEXT.encode()),
        "401": lambda fake, request: httpx.Response(401, json={"detail": "Invalid token."}),
        "not json": lambda fake, request: httpx.Response(200, content=b"<html>log in</html>"),
        "killed": lambda fake, request: KeyboardInterrupt(),
    }


class TestFaults:
    """One fault at each request of a run, before the server did what was asked or after it; then the server is well again."""

    @pytest.mark.slow
    @pytest.mark.parametrize("when", ["before", "after"])
    @pytest.mark.parametrize("kind", list(_faults()))
    def test_any_fault_at_any_request(
        self, tmp_path: Path, kind: str, when: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        place, runs = 0, 0
        while True:
            bench = Bench(tmp_path / f"{place}")
            tasks = [
                bench.fake.add_task({1: [SECRET_TEXT], 2: [f"{SECRET_TEXT} {k}"], 3: ["other"]}) for k in range(13)
            ]
            bench.sync()
            # A run with each kind of write in it: create, update, delete.
            bench.fake.add_task({1: [SECRET_TEXT], 2: ["new"]})
            bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["changed"])
            for annotation in bench.fake.tasks[tasks[1]]["annotations"][:2]:
                bench.fake.delete_annotation(annotation["id"])
            reached = self._break(bench, kind, when, place)
            runs += 1
            for _ in range(3):
                try:
                    bench.sync()
                    break
                except (SoftirrError, Stopped, KeyboardInterrupt):
                    continue
            assert bench.fake.wrong() == [], f"fault at request {place}"
            bench.fake.calls.clear()
            bench.sync()
            assert bench.fake.writes() == []
            bench.store.close()
            if not reached:
                break
            place += 1
        assert runs > 8, "the fault met no request"
        assert SECRET_TEXT not in caplog.text
        assert "secret-token" not in caplog.text

    @staticmethod
    def _break(bench: Bench, kind: str, when: str, place: int) -> bool:
        """A run in which the request number `place` goes wrong for as long as the run lasts; False if it has fewer requests."""
        seen = 0
        make = _faults()[kind]

        def fault(request: httpx.Request) -> httpx.Response | BaseException | None:
            nonlocal seen
            seen += 1
            return make(bench.fake, request) if seen - 1 == place else None

        setattr(bench.fake, when, fault)
        try:
            bench.sync()
        except (SoftirrError, Stopped, KeyboardInterrupt):
            pass
        finally:
            setattr(bench.fake, when, lambda request: None)
        return seen > place

    @pytest.mark.parametrize("kind", ["refused", "500", "401"])
    def test_a_server_that_stays_away_is_said_in_one_sentence(self, bench: Bench, kind: str) -> None:
        answered(bench.fake, 3)
        bench.sync()
        bench.fake.before = lambda request: _faults()[kind](bench.fake, request)
        with pytest.raises(LabelStudioError) as caught:
            bench.sync()
        assert str(caught.value).count(". ") == 0
        assert "secret-token" not in str(caught.value)
        assert SECRET_TEXT not in str(caught.value)

    def test_faults_are_counted_by_kind(self, bench: Bench) -> None:
        answered(bench.fake, 2)
        replies = [httpx.Response(500), httpx.Response(503)]
        bench.fake.before = lambda request: replies.pop() if replies and request.method == "GET" else None
        bench.sync()
        assert sorted(bench.errors) == ["500", "503"]

    def test_a_task_that_goes_while_its_prediction_is_written(self, bench: Bench) -> None:
        tasks = answered(bench.fake, 30)

        def vanish(request: httpx.Request) -> None:
            if request.method == "POST":
                bench.fake.tasks.pop(tasks[5], None)

        bench.fake.before = vanish  # type: ignore[assignment]
        bench.sync()
        assert bench.fake.wrong() == []
        assert tasks[5] not in bench.fake.tasks

    def test_tasks_that_change_between_two_pages(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, page_size=3)
        tasks = answered(bench.fake, 10)
        changed: list[int] = []

        def change(request: httpx.Request) -> None:
            if request.url.path == "/api/tasks/" and len(changed) < 3:
                task = tasks[len(changed)]
                changed.append(task)
                bench.fake.edit(bench.fake.tasks[task]["annotations"][0]["id"], [f"changed meanwhile {task}"])
                bench.fake.add_task({1: ["new"], 2: ["news"]})

        bench.fake.after = change  # type: ignore[assignment]
        bench.sync()
        bench.fake.after = lambda request: None
        bench.sync()
        assert bench.fake.wrong() == []
        bench.store.close()

    def test_a_full_disk(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        import sqlite3

        import sqlalchemy as sa

        answered(bench.fake, 20)
        for place in range(12):
            full = [place]

            def refuse(connection: Any, cursor: Any, statement: str, *_: Any, full: list[int] = full) -> None:
                if statement.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
                    full[0] -= 1
                    if full[0] < 0:
                        raise sqlite3.OperationalError("database or disk is full")

            sa.event.listen(bench.store.engine, "before_cursor_execute", refuse)
            bench.fake.add_task({1: [f"x{place}"], 2: ["y"]})
            try:
                broken = False
                while not broken:  # the fewer writes a run makes, the more runs it takes
                    try:
                        bench.sync(full=True)
                    except (sqlite3.OperationalError, sa.exc.OperationalError):
                        broken = True
            finally:
                sa.event.remove(bench.store.engine, "before_cursor_execute", refuse)
            bench.sync()
            assert bench.fake.wrong() == []


class TestTwoBackendsOnOneServer:
    def test_each_with_its_own_store_they_agree_in_the_end(self, tmp_path: Path) -> None:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake)
        answered(first.fake, 20)
        first.sync()
        second.sync()
        assert first.fake.wrong() == []
        first.fake.add_task({1: ["x"], 2: ["xy"]})
        second.sync()
        first.sync()
        second.sync()
        assert first.fake.wrong() == []
        first.store.close()
        second.store.close()


class TestTwoMeasuresOnOneProject:
    """Two backends that score otherwise: one writes, the other says why it does not."""

    @staticmethod
    def _connect(bench: Bench, since: float) -> None:
        row = bench.store.ensure_project(bench.settings.label_studio_url, NUMBER)
        bench.store.update_project(row["id"], connection={"mode": "pull-only", "since": since})

    @pytest.mark.parametrize("last", ["first", "second"])
    def test_the_one_that_was_connected_last_wins(
        self, tmp_path: Path, last: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake, measure="jaccard")
        tasks = answered(first.fake, 20)
        self._connect(first, 2.0 if last == "first" else 1.0)
        self._connect(second, 1.0 if last == "first" else 2.0)
        winner, loser = (first, second) if last == "first" else (second, first)
        measure = "indel" if last == "first" else "jaccard"
        first.sync(full=True)
        second.sync(full=True)
        winner.sync(full=True)
        assert first.fake.wrong(measure=measure) == []
        result = loser.sync(full=True)
        assert f"measure {measure}" in result.notes[-1].what
        report = Reports(loser.store).get(loser.row, None, Links(loser.settings.label_studio_url, NUMBER))
        assert report is not None
        assert f"measure {measure}" in report["headline"]["sentence"]
        assert "writes none" in caplog.text
        for full in (False, True):
            first.fake.edit(first.fake.tasks[tasks[3]]["annotations"][0]["id"], [f"changed {full}"])
            loser.sync(full=full)
            winner.sync()
            first.fake.calls.clear()
            assert loser.sync(full=full).notes, "said by every run"
            winner.sync(full=True)
            assert first.fake.writes() == [], "nobody overwrites anybody"
            assert first.fake.wrong(measure=measure) == []
        self._connect(loser, 3.0)
        loser.sync(full=True)
        assert winner.sync(full=True).notes
        assert first.fake.wrong(measure="jaccard" if measure == "indel" else "indel") == [], (
            "connected again, it writes"
        )
        first.store.close()
        second.store.close()

    def test_a_backend_that_is_not_connected_leaves_the_writing_to_one_that_is(self, tmp_path: Path) -> None:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake, measure="jaccard")
        answered(first.fake, 5)
        self._connect(first, 1.0)
        first.sync()
        assert "writes none" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong() == []
        first.store.close()
        second.store.close()


class TestTwoBackendsThatWriteScoresOnly:
    """Nothing in the predictions says who wrote them: the backends meet in the project's triage tab."""

    @pytest.fixture
    def two(self, tmp_path: Path) -> Iterator[tuple[Bench, Bench]]:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake, measure="jaccard")
        for bench in (first, second):
            bench.choose(suggestions=False)
        answered(first.fake, 12)
        yield first, second
        first.store.close()
        second.store.close()

    @staticmethod
    def _connector(bench: Bench, stack: contextlib.ExitStack) -> Connector:
        return Connector(bench.store, stack.enter_context(bench.client()), bench.settings)

    def _connect(self, bench: Bench, url: str | None = None) -> None:
        with contextlib.ExitStack() as stack:
            self._connector(bench, stack).connect(NUMBER, url, panel=False)

    def _disconnect(self, bench: Bench) -> list[str]:
        with contextlib.ExitStack() as stack:
            return self._connector(bench, stack).disconnect(NUMBER).done

    @staticmethod
    def _scores(bench: Bench) -> dict[int, list[float]]:
        return {task: [p["score"] for p in listed] for task, listed in bench.fake.predictions().items()}

    def test_the_one_that_was_connected_last_wins(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first)
        assert first.sync(full=True).notes == ()
        self._connect(second)
        second.sync(full=True)
        assert first.fake.wrong(measure="jaccard") == []
        for full in (True, False):
            assert "measure jaccard" in first.sync(full=full).notes[-1].what
            first.fake.calls.clear()
            first.sync(full=full)
            assert second.sync(full=full).notes == ()
            assert first.fake.writes() == [], "nobody overwrites anybody"
        self._connect(first)
        first.sync(full=True)
        assert "measure indel" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong() == []

    def test_one_that_is_not_connected_writes_nothing_beside_one_that_is(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first)
        first.sync(full=True)
        assert "writes none" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong() == []

    def test_of_two_that_are_not_connected_each_says_that_the_other_one_wrote(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        assert first.sync(full=True).notes == ()
        assert first.sync(full=True).notes == ()
        assert "12 scores of project 4 were written by another" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong(measure="jaccard") == []
        assert "12 scores of project 4 were written by another" in first.sync(full=True).notes[-1].what
        assert first.sync(full=True).notes == (), "it is said once"
        assert first.fake.wrong() == []

    def test_the_loser_leaves_the_winners_things_when_it_goes(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first, "http://first.example")
        first.sync(full=True)
        self._connect(second, "http://second.example")
        second.sync(full=True)
        first.sync(full=True)
        assert "Left predictions" in self._disconnect(first)[-1]
        assert first.fake.wrong(measure="jaccard") == []
        assert [found["url"] for found in first.fake.connections] == ["http://second.example"]
        assert [found["url"] for found in first.fake.webhooks] == ["http://second.example/webhook"]
        assert first.fake.project["model_version"] == MODEL_VERSION
        assert second.sync(full=True).notes == ()
        self._disconnect(second)
        assert (first.fake.predictions(), first.fake.connections, first.fake.webhooks) == ({}, [], [])
        assert TITLE not in [found["data"]["title"] for found in first.fake.views]

    @pytest.mark.parametrize("how", ["disconnected", "its connection is removed", "its predictions are removed"])
    def test_when_the_winner_is_gone_the_other_one_goes_on(self, two: tuple[Bench, Bench], how: str) -> None:
        first, second = two
        self._connect(first)
        first.sync(full=True)
        self._connect(second, "http://second.example")
        second.sync(full=True)
        first.sync(full=True)
        if how == "disconnected":
            assert "Removed 12 predictions" in " ".join(self._disconnect(second))
        elif how == "its connection is removed":
            first.fake.connections.clear()
        else:
            for task in first.fake.tasks.values():
                task["predictions"].clear()
        first.sync()
        assert first.fake.wrong() == []
        assert "rival_note" not in first.row["connection"]
        assert first.sync(full=True).notes == ()
        assert first.fake.wrong() == []
        if how == "its predictions are removed":  # and it is there after all
            second.sync(full=True)
            assert first.fake.wrong(measure="jaccard") == []
            assert "measure jaccard" in first.sync(full=True).notes[-1].what

    def test_predictions_of_a_backend_whose_connection_is_gone_do_not_count(self, two: tuple[Bench, Bench]) -> None:
        """They say who wrote them, and stay behind."""
        first, second = two
        for bench in two:
            bench.choose(suggestions=True)
        self._connect(first)
        first.sync(full=True)
        self._connect(second, "http://second.example")
        second.sync(full=True)
        assert "measure jaccard" in first.sync(full=True).notes[-1].what
        first.fake.connections.clear()
        first.sync(full=True)
        assert first.fake.wrong() == []

    def test_a_tab_that_somebody_removed_does_no_harm(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first)
        self._connect(second)
        second.sync(full=True)
        first.sync(full=True)
        first.fake.views.clear()
        assert "measure jaccard" in first.sync(full=True).notes[-1].what, "what was met once is remembered"
        assert first.fake.wrong(measure="jaccard") == []


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "right to left": "‮حمى شديدة‬ כאב ראש",
    "emoji": "🤒👩‍⚕️🏽 fever",
    "control characters": "fe\x00ver\x07 \x1b[31mred\x7f",
    "lone surrogate": "fe\udbffver \udfff",
    "quotes": "'; DROP TABLE tasks; -- \" \\ %s {0}",
    "white space": "\u2003 \t\n fever \u00a0",
    "combining": "e\u0301" * 50,
    "zero width": "fe\u200bver\ufeff",
    "very long": "long " * 50_000,
}


class TestHostileAnswers:
    @pytest.mark.parametrize("name", list(HOSTILE))
    def test_text(self, bench: Bench, name: str) -> None:
        task = bench.fake.add_task({1: [HOSTILE[name], "fever"], 2: [HOSTILE[name]], 3: ["fever"]})
        bench.sync()
        assert bench.fake.wrong() == []
        assert set(bench.fake.predictions()) == {task}
        bench.fake.calls.clear()
        bench.sync(full=True)
        assert bench.fake.writes() == []

    @pytest.mark.parametrize("place", [0, 7, 19])
    def test_a_task_that_label_studio_itself_can_not_deliver(
        self, tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It answers 500 for every page with a lone surrogate in it: the other tasks are read all the same."""
        bench = Bench(tmp_path, page_size=10)
        tasks = answered(bench.fake, 20)
        bench.sync()
        annotation = bench.fake.tasks[tasks[place]]["annotations"][0]
        bench.fake.edit(annotation["id"], ["fe\ud800ver"])
        bench.fake.edit(bench.fake.tasks[tasks[10]]["annotations"][0]["id"], ["something else"])
        for full in (False, True):
            bench.sync(full=full)
            assert set(bench.fake.predictions()) == set(tasks) - {tasks[place]}
            expected = bench.fake.expected()
            assert all(p["score"] == expected[task] for task, (p,) in bench.fake.predictions().items())
        assert f"task {tasks[place]} can't be read" in caplog.text
        excluded = bench.row["summary"]["controls"]["findings"]["excluded"]
        assert [(entry["item"], "can't deliver" in entry["reason"]) for entry in excluded] == [
            (str(tasks[place]), True)
        ]
        bench.fake.calls.clear()
        bench.sync()
        assert len(bench.fake.calls) < 10, "an ordinary run does not look for it again"
        bench.fake.edit(annotation["id"], ["fever"])
        bench.sync()
        assert bench.fake.wrong() == []
        bench.store.close()

    def test_a_crowd_that_label_studio_can_not_put_on_one_page(self, bench: Bench) -> None:
        """On SQLite it answers 500 for a page with answers of a thousand people: tasks and dates are asked for in smaller pages."""
        tasks = [bench.fake.add_task({3 * k + j: ["fever", "cough"][: j + 1] for j in range(3)}) for k in range(30)]
        bench.fake.most_people = 12
        assert bench.sync(full=True).created == 30
        bench.fake.edit(bench.fake.tasks[tasks[4]]["annotations"][0]["id"], ["something else"])
        bench.sync()
        assert bench.fake.wrong() == []
        bench.fake.later()
        for task in tasks[:2]:
            del bench.fake.tasks[task]
        bench.sync()
        assert bench.fake.wrong() == []
        assert set(bench.fake.predictions()) == set(tasks[2:])

    @pytest.mark.slow
    def test_ten_megabytes(self, bench: Bench) -> None:
        words = " ".join(f"w{k}" for k in range(1_500_000))
        assert len(words) > 10_000_000
        task = bench.fake.add_task({1: [words], 2: ["fever"]})
        bench.sync()
        assert set(bench.fake.predictions()) == {task}
        ((prediction,),) = bench.fake.predictions().values()
        assert len(json.dumps(prediction)) < 100_000, "a prediction does not repeat ten megabytes"

    def test_five_thousand_texts_in_an_answer(self, bench: Bench) -> None:
        many = [f"finding {k}" for k in range(5000)]
        task = bench.fake.add_task({1: many, 2: many[:50], 3: ["finding 7"]})
        bench.sync()
        assert bench.fake.wrong() == []
        ((prediction,),) = bench.fake.predictions().values()
        assert prediction["task"] == task
        assert len(json.dumps(prediction)) < 1_000_000

    def test_five_thousand_answers_in_a_task(self, bench: Bench) -> None:
        """Of three users, who answered again and again: the newest of each count, the others are listed."""
        task = bench.fake.add_task()
        for k in range(5000):
            bench.fake.annotate(task, 1 + k % 3, [f"finding {k}"])
        bench.sync()
        assert bench.fake.wrong() == []
        summary = bench.row["summary"]["controls"]["findings"]
        assert (summary["n_raters"], summary["n_excluded"], len(summary["excluded"])) == (3, 4997, 1000)

    def test_a_task_that_would_hold_up_the_project_is_left_out_with_the_reason(self, bench: Bench) -> None:
        """Three times five thousand texts are 75 million comparisons."""
        fine = bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
        huge = bench.fake.add_task({user: [f"{user} {k}" for k in range(5000)] for user in (1, 2, 3)})
        bench.sync()
        assert set(bench.fake.predictions()) == {fine}
        excluded = bench.row["summary"]["controls"]["findings"]["excluded"]
        assert {(entry["item"], entry["rater"]) for entry in excluded} == {(str(huge), str(user)) for user in (1, 2, 3)}
        assert "75000000 comparisons" in excluded[0]["reason"]
        bench.fake.calls.clear()
        bench.sync(full=True)
        assert bench.fake.writes() == []

    def test_two_answers_of_ten_megabytes_are_left_out_with_the_reason(self, bench: Bench) -> None:
        """Their edit distance would take a quarter of an hour."""
        fine = bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
        bench.fake.add_task({user: [f"{user} " * 5_000_000] for user in (1, 2)})
        bench.sync()
        assert set(bench.fake.predictions()) == {fine}
        excluded = bench.row["summary"]["controls"]["findings"]["excluded"]
        assert ["too long to compare" in entry["reason"] for entry in excluded] == [True, True]

    @pytest.mark.parametrize(
        "result",
        [
            None,
            "text",
            [None, 3, "x"],
            [{}],
            [{"type": "textarea"}],
            [{"type": "textarea", "from_name": "findings", "value": None}],
            [{"type": "textarea", "from_name": "findings", "value": {"text": None}}],
            [{"type": "textarea", "from_name": "findings", "value": {"text": [1, None, {"a": 1}, "fever"]}}],
            [{"type": "textarea", "from_name": "findings", "value": {"text": "a plain string"}}],
            [{"type": "textarea", "from_name": "findings", "value": {"text": [""]}}],
            [{"type": "relation", "from_id": "a", "to_id": "b", "direction": "bi"}],
            [{"type": ["textarea"], "from_name": {"a": 1}, "value": []}],
        ],
    )
    def test_odd_results(self, bench: Bench, result: Any) -> None:
        task = bench.fake.add_task({2: ["fever"]})
        bench.fake.annotate(task, 1, [], result=result)
        bench.sync()
        assert bench.fake.wrong() == []

    @pytest.mark.parametrize("completed_by", [None, {"id": 7, "email": "a@x"}, "a@x", True, {}])
    def test_odd_users(self, bench: Bench, completed_by: Any) -> None:
        task = bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
        bench.fake.annotate(task, 3, ["rash"], completed_by=completed_by)
        bench.sync()
        assert bench.fake.wrong() == []

"""The consensus: what counts as an agreed answer, who may accept one, and where it shows."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ml_backend.cli import main
from ml_backend.labelstudio.consensus import predictions_of, write_ground_truth, write_predictions
from ml_backend.review.consensus import entries
from ml_backend.store.agreed import AgreedStore
from ml_backend.store.backup import back_up, restore
from ml_backend.store.integrity import examine
from ml_backend.store.store import Store
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import NUMBER as FAKE_NUMBER
from tests.ml_backend.fake_label_studio import region
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, Seeded

HOSTILE = "<img src=x onerror=alert(1)>"
OBO = 'format-version: 1.2\n\n[Term]\nid: HP:0001945\nname: Fever\nsynonym: "Pyrexia" EXACT []\n'


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.choose(reviewers=["9"])
    return bench


def agreed_of(bench: Bench) -> dict[int, dict[str, Any]]:
    return {row["task"]: row for row in entries(bench.store, bench.row)}


class TestReadFromLabelStudio:
    def task(self, bench: Bench) -> int:
        return bench.fake.add_task({2: ["fever", "cough"], 3: ["fever"], 4: ["fever"]})

    def test_a_reviewers_annotation_made_from_the_suggestion(self, bench: Bench) -> None:
        task = self.task(bench)
        other = bench.fake.add_task({2: ["rash"], 3: ["rash"]})
        bench.sync()
        (prediction,) = bench.fake.predictions()[task]
        copied = {"parent_prediction": prediction["id"], "result": [region(["fever"], origin="prediction")]}
        annotation = bench.fake.annotate(task, 9, [], **copied)
        bench.fake.annotate(other, 9, ["rash"])  # a reviewer's own answer, not made from the suggestion
        before = bench.fake.expected()[task]
        bench.sync()
        agreed = agreed_of(bench)
        assert list(agreed) == [task]
        assert agreed[task]["texts"] == ["fever"] and agreed[task]["source"] == "annotation"
        assert agreed[task]["edited"] is False and agreed[task]["who"] == "User9"
        # never part of a coefficient
        assert bench.task(task)["agreement"] == before
        # and read again it adds nothing
        bench.sync(full=True)
        assert len(AgreedStore(bench.store).log(bench.row["id"])) == 1
        bench.fake.edit(annotation, [], result=[region(["fever", "cough"], origin="prediction-changed")])
        bench.sync()
        assert agreed_of(bench)[task]["texts"] == ["fever", "cough"] and agreed_of(bench)[task]["edited"] is True
        bench.fake.delete_annotation(annotation)
        bench.sync(full=True)
        assert agreed_of(bench) == {}

    def test_an_annotators_copy_and_another_models_prediction_do_not_count(self, bench: Bench) -> None:
        task = self.task(bench)
        bench.sync()
        (prediction,) = bench.fake.predictions()[task]
        bench.fake.annotate(task, 5, ["fever"], parent_prediction=prediction["id"])
        other = bench.fake.add_prediction(task, ["fever"], "gpt")
        bench.fake.annotate(task, 9, ["fever"], parent_prediction=other)
        bench.sync()
        assert agreed_of(bench) == {}

    def test_a_ground_truth_that_a_person_set(self, bench: Bench) -> None:
        task = self.task(bench)
        bench.sync()
        bench.fake.tasks[task]["annotations"][0] |= {"ground_truth": True, "updated_by": 9}
        bench.fake.tasks[task]["updated_at"] = bench.fake.now()
        bench.sync()
        agreed = agreed_of(bench)[task]
        assert (agreed["texts"], agreed["source"], agreed["user"]) == (["fever", "cough"], "ground truth", "9")
        assert bench.fake.wrong() == []  # it still is its annotator's answer

    def test_imported_annotations_are_no_ground_truth(self, bench: Bench) -> None:
        task = self.task(bench)
        alone = bench.fake.add_task({2: ["rash"], 3: ["rash"]})
        for annotation in bench.fake.tasks[task]["annotations"]:
            annotation |= {"ground_truth": True, "updated_by": 1}
        bench.fake.tasks[alone]["annotations"][0] |= {"ground_truth": True, "updated_by": None}
        bench.sync()
        assert agreed_of(bench) == {}

    def test_what_was_accepted_in_the_panel_stays_when_the_annotation_goes(self, bench: Bench) -> None:
        task = self.task(bench)
        annotation = bench.fake.annotate(task, 9, [], result=[region(["fever"], origin="prediction")])
        bench.sync()
        AgreedStore(bench.store).agree(bench.row["id"], task, "findings", ["pyrexia"])
        bench.fake.delete_annotation(annotation)
        bench.sync(full=True)
        assert agreed_of(bench)[task]["texts"] == ["pyrexia"]

    def test_a_deleted_task_counts_no_more(self, bench: Bench) -> None:
        task = self.task(bench)
        bench.sync()
        AgreedStore(bench.store).agree(bench.row["id"], task, "findings", ["fever"])
        del bench.fake.tasks[task]
        bench.sync(full=True)
        assert agreed_of(bench) == {}


class TestExport:
    def test_predictions_in_label_studio(self, bench: Bench) -> None:
        tasks = [bench.fake.add_task({2: ["fever"], 3: ["fever"]}) for _ in range(3)]
        bench.sync()
        for task in tasks[:2]:
            AgreedStore(bench.store).agree(bench.row["id"], task, "findings", ["fever"])
        config = bench.fake.project["label_config"]
        for _ in range(2):
            with bench.client() as client:
                agreed = entries(bench.store, bench.row)
                written = write_predictions(client, FAKE_NUMBER, config, agreed, bulk_size=1)
            assert written["created"] == 2
        predictions = bench.fake.predictions("consensus")
        assert sorted(predictions) == tasks[:2] and all(len(listed) == 1 for listed in predictions.values())
        # no rater, even where predictions are
        bench.choose(predictions_as_raters=True)
        bench.sync(full=True)
        assert list(bench.store.get_tasks(bench.row["id"], tasks)[tasks[0]]["answers"]["findings"]["answers"]) == [
            "2",
            "3",
        ]

    def test_ground_truths_in_label_studio(self, bench: Bench) -> None:
        tasks = [bench.fake.add_task({2: ["fever"], 3: ["fever"]}) for _ in range(4)]
        alone, edited, starred, withdrawn = tasks
        bench.sync()
        store, project = AgreedStore(bench.store), bench.row["id"]
        signed = {"reviewer": "Rae", "reviewer_id": "9"}
        numbers = {
            task: store.agree(project, task, "findings", ["pyrexia"], **signed) for task in tasks if task != starred
        }
        bench.fake.tasks[starred]["annotations"][0] |= {"ground_truth": True, "updated_by": 9}
        bench.fake.tasks[starred]["updated_at"] = bench.fake.now()
        bench.sync()
        config, before = bench.fake.project["label_config"], bench.fake.expected()

        def write() -> dict[str, int]:
            once = {row["task"] for row in store.log(project)}
            with bench.client() as client:
                rows = entries(bench.store, bench.row)
                return write_ground_truth(client, FAKE_NUMBER, config, rows, once=once, page_size=2)

        def marked(task: int) -> list[dict[str, Any]]:
            return [one for one in bench.fake.tasks[task]["annotations"] if one["ground_truth"]]

        assert write() == {"created": 3, "updated": 0, "deleted": 0, "kept": 1}
        assert write() == {"created": 0, "updated": 0, "deleted": 0, "kept": 1}
        assert [marked(task)[0]["result"][0]["value"]["text"] for task in (alone, starred)] == [["pyrexia"], ["fever"]]
        # what was written is read back as nothing new: no answer of a rater, and agreed by who agreed
        earlier = agreed_of(bench)
        bench.sync(full=True)
        agreed = agreed_of(bench)
        assert [row["id"] for row in agreed.values()] == [row["id"] for row in earlier.values()]
        assert (agreed[alone]["source"], agreed[alone]["user"], len(store.log(project))) == ("panel", "9", 4)
        answers = bench.store.get_tasks(project, [alone])[alone]["answers"]["findings"]
        assert list(answers["answers"]) == ["2", "3"]
        assert answers["excluded"] == [[str(1), "copied from a prediction"]]
        assert bench.fake.expected() == before and bench.fake.wrong() == []
        # a changed answer, a withdrawn one, and one that a person edited in Label Studio
        store.agree(project, alone, "findings", [], **signed)
        store.withdraw(project, numbers[withdrawn], **signed)
        (ours,) = marked(edited)
        bench.fake.edit(
            ours["id"],
            [],
            result=[{**ours["result"][0], "origin": "prediction-changed", "value": {"text": ["hot"]}}],
            updated_by=9,
        )
        bench.sync()
        assert (agreed_of(bench)[edited]["texts"], agreed_of(bench)[edited]["source"]) == (["hot"], "ground truth")
        assert write() == {"created": 0, "updated": 1, "deleted": 1, "kept": 2}
        assert marked(alone)[0]["result"][0]["value"]["text"] == [] and marked(withdrawn) == []
        assert marked(edited)[0]["result"][0]["value"]["text"] == ["hot"]
        bench.sync(full=True)
        assert agreed_of(bench)[alone]["texts"] == [] and bench.fake.expected() == before

    def test_a_textarea_for_each_region_is_left_out(self) -> None:
        config = '<View><Text name="text" value="$t"/><TextArea name="a" toName="text" perRegion="true"/></View>'
        row = {"task": 1, "control": "a", "texts": ["x"], "who": "", "when": "", "codes": {}}
        assert predictions_of(config, [row]) == []

    def test_command(
        self, seeded: Seeded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        AgreedStore(seeded.store).agree(seeded.project, 101, "findings", ["fever"], reviewer="Rae Viewer")
        monkeypatch.setenv("SOFTIRR_DATABASE_URL", seeded.settings.database_url)
        monkeypatch.setenv("SOFTIRR_DATA", str(tmp_path))
        monkeypatch.setenv("LABEL_STUDIO_URL", LABEL_STUDIO)
        assert main(["consensus", "--project", str(NUMBER)]) == 0
        (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
        assert (row["task"], row["text"], row["source"]) == ("101", "fever", "panel")
        assert main(["consensus", "--project", str(NUMBER), "--output", str(tmp_path / "out.csv")]) == 0
        assert "fever" in (tmp_path / "out.csv").read_text()
        assert main(["consensus", "--project", str(NUMBER), "--json"]) == 0
        assert json.loads(capsys.readouterr().out.splitlines()[-1])["answers"][0]["task"] == 101
        assert main(["consensus", "--project", str(NUMBER), "--control", "other"]) == 2
        for option, what in (("--ground-truth", "ground truth"), ("--predictions", "prediction")):
            assert main(["consensus", "--project", str(NUMBER), "--control", "findings", option]) == 2
            assert f"A {what} contains every field of a task" in capsys.readouterr().err
        assert main(["consensus", "--project", "99"]) == 2


class TestStore:
    def test_forget_backup_restore_and_check_know_it(self, seeded: Seeded, tmp_path: Path) -> None:
        AgreedStore(seeded.store).agree(seeded.project, 101, "findings", ["a sentence to be erased"])
        store = seeded.store
        assert examine(store.engine, tmp_path) == []
        back_up(store, tmp_path / "backup.zip")
        store.erase_project(seeded.project)
        assert AgreedStore(store).log(seeded.project) == []
        files = [path.read_bytes() for path in tmp_path.glob("store.sqlite3*")]
        assert not any(b"a sentence to be erased" in content for content in files)
        store.close()
        fresh = Store(f"sqlite:///{tmp_path / 'restored' / 'store.sqlite3'}")
        restore(fresh, tmp_path / "backup.zip", tmp_path / "restored")
        (row,) = AgreedStore(fresh).current(seeded.project)
        assert row["texts"] == ["a sentence to be erased"]
        fresh.close()

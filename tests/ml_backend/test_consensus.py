"""Agreed answers as the worker reads them: ground truths in Label Studio."""

from pathlib import Path
from typing import Any

import pytest

from ml_backend.store.acts import AcceptedAnswer, AgreedStore
from ml_backend.web.agreed import entries
from softirr.answers.labelstudio import AGREED_ID
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import region


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

    def test_a_ground_truth_that_a_person_set(self, bench: Bench) -> None:
        task = self.task(bench)
        bench.sync()
        bench.fake.tasks[task]["annotations"][0] |= {"ground_truth": True, "updated_by": 9}
        bench.fake.tasks[task]["updated_at"] = bench.fake.now()
        bench.sync()
        agreed = agreed_of(bench)[task]
        assert (agreed["texts"], agreed["source"], agreed["user"]) == (["fever", "cough"], "ground truth", "9")
        assert bench.fake.wrong() == []  # it still is its annotator's answer

    def test_imported_annotations_are_not_ground_truth(self, bench: Bench) -> None:
        task = self.task(bench)
        imported_task = bench.fake.add_task({2: ["rash"], 3: ["rash"]})
        for annotation in bench.fake.tasks[task]["annotations"]:
            annotation |= {"ground_truth": True, "updated_by": 1}
        bench.fake.tasks[imported_task]["annotations"][0] |= {"ground_truth": True, "updated_by": None}
        bench.sync()
        assert agreed_of(bench) == {}

    def test_an_accepted_answer_ends_with_its_annotation(self, bench: Bench) -> None:
        task = self.task(bench)
        bench.sync()
        store, project = AgreedStore(bench.store), bench.row["id"]
        result = [region(["pyrexia"], id=f"{AGREED_ID}findings", origin="prediction")]
        annotation = bench.fake.annotate(task, 9, [], result=result, ground_truth=True, updated_by=9)
        for control in ("findings", "kind"):
            store.agree(project, task, control, AcceptedAnswer(["pyrexia"], annotation=annotation), reviewer_id="9")
        for _ in range(2):
            bench.sync(full=True)
            assert len(store.log(project)) == 2, "reading it adds nothing"
        assert bench.fake.wrong() == [], "it is nobody's answer"
        bench.fake.edit(
            annotation, [], result=[region(["hot"], id=f"{AGREED_ID}findings", origin="prediction-changed")]
        )
        bench.sync()
        assert agreed_of(bench)[task]["texts"] == ["hot"]
        bench.fake.delete_annotation(annotation)
        bench.sync(full=True)
        assert agreed_of(bench) == {}

    def test_an_answer_that_0_2_0_accepted_without_an_annotation_stays(self, bench: Bench) -> None:
        task = self.task(bench)
        bench.sync()
        AgreedStore(bench.store).agree(bench.row["id"], task, "findings", AcceptedAnswer(["pyrexia"]))
        bench.sync(full=True)
        assert agreed_of(bench)[task]["texts"] == ["pyrexia"]

    def test_a_deleted_task_counts_no_more(self, bench: Bench) -> None:
        task = self.task(bench)
        bench.sync()
        AgreedStore(bench.store).agree(bench.row["id"], task, "findings", AcceptedAnswer(["fever"]))
        del bench.fake.tasks[task]
        bench.sync(full=True)
        assert agreed_of(bench) == {}

"""The demo: its example matches the README, `--check` finds each problem, and every started process stops."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.demo import Demo, example, true_value
from ml_backend.demo.check import problems
from ml_backend.demo.processes import free_port
from softirr.text import clean
from tests.labelstudio.backend import descendants


class TestExample:
    """The claims made about the narratives and their key."""

    def test_at_least_sixty_distinct_narratives(self) -> None:
        tasks = example.narratives()
        assert len(tasks) >= 60
        assert len({task.text for task in tasks}) == len({task.id for task in tasks}) == len(tasks)
        assert all(task.text == clean(task.text) for task in tasks)

    def test_three_of_four_annotators_each_and_all_equally_often(self) -> None:
        assert len(example.annotators()) == 4
        assert all(len(task.answers) == 3 for task in example.narratives())
        task_counts = [sum(name in task.answers for task in example.narratives()) for name in example.annotators()]
        assert len(set(task_counts)) == 1

    def test_some_are_skipped_and_some_answered_with_nothing(self) -> None:
        given_texts = [texts for task in example.narratives() for texts in task.answers.values()]
        assert given_texts.count(None) >= 3
        assert given_texts.count(()) >= 5

    def test_the_key_knows_every_text_once_and_nothing_else(self) -> None:
        used_texts = {text for task in example.narratives() for texts in task.answers.values() for text in texts or ()}
        assert used_texts == set(example.key())
        assert all(text == clean(text) for text in used_texts)
        assert set(example.broader()) | set(example.broader().values()) <= set(example.key().values()) | set(
            example.broader().values()
        )

    def test_no_answer_repeats_a_text(self) -> None:
        assert all(
            len(set(texts)) == len(texts) for task in example.narratives() for texts in task.answers.values() if texts
        )

    def test_wording_differs_much_more_than_meaning(self) -> None:
        texts, concepts = example.key(), set(example.key().values())
        assert len(texts) > 1.5 * len(concepts)

    @pytest.mark.parametrize(
        ("first_text", "second_text"),
        [
            ("pyrexia", "high temperature"),  # synonym, lay wording
            ("DVT left", "blood clot in the left leg"),  # abbreviation
            ("numb feet", "numb feet"),
        ],
    )
    def test_same_meaning(self, first_text: str, second_text: str) -> None:
        assert example.key()[first_text] == example.key()[second_text]

    @pytest.mark.parametrize(
        ("first_text", "second_text"),
        [
            ("hypertension", "hypotension"),  # look-alikes
            ("left hip fracture", "right hip fracture"),  # laterality
            ("no suicidal ideation", "suicidal ideation"),  # negation
            ("hyperkalaemia", "hypokalaemia"),
        ],
    )
    def test_other_meaning(self, first_text: str, second_text: str) -> None:
        assert example.key()[first_text] != example.key()[second_text]

    def test_some_answers_are_more_general_than_others_on_the_same_task(self) -> None:
        broader, meaning = example.broader(), example.key()
        observed = 0
        for task in example.narratives():
            concepts = {meaning[text] for texts in task.answers.values() for text in texts or ()}
            observed += any(broader.get(concept) in concepts for concept in concepts)
        assert observed >= 10

    def test_one_annotator_is_clearly_worse_by_the_key(self) -> None:
        report = softirr.agreement(example.table(concepts=True), measure="exact")
        agreement = {rater["id"]: rater["agreement"] for rater in report.to_dict()["raters"]}
        worst, second = sorted(agreement, key=agreement.__getitem__)[:2]
        assert worst == "Devon Hale"
        assert agreement[worst] < 0.6 * agreement[second]

    def test_true_agreement_is_known_and_spelling_alone_does_not_find_it(self) -> None:
        spelled = softirr.agreement(example.table(), measure="exact").coefficients["cohen_kappa"].value
        assert true_value("cohen_kappa") == pytest.approx(0.465, abs=0.001)
        assert true_value() == pytest.approx(0.464, abs=0.001)
        assert spelled is not None
        assert spelled < 0.1


class _Answers:
    """Stands for Label Studio's API in `problems`: replies of a correct server with one change."""

    def __init__(self, scores: Mapping[int, float]):
        self.predictions = [
            {"task": task, "score": score, "model_version": "agreement"} for task, score in scores.items()
        ]
        self.column = dict(scores)
        self.project = {"model_version": "agreement", "show_collab_predictions": False}
        self.views = [{"id": 7, "data": {"title": "Triage: low agreement"}}]
        self.sorts = True

    def get(self, path: str, **_: Any) -> Any:
        if path == "/api/predictions/":
            return self.predictions
        return self.views if path == "/api/dm/views/" else self.project

    def tasks(self, project: int, **params: Any) -> list[dict[str, Any]]:
        descending = json.loads(params.get("query", '{"ordering": ["x"]}'))["ordering"][0].startswith("-")
        rows = [{"id": task, "predictions_score": score} for task, score in self.column.items()]
        return sorted(rows, key=lambda row: row["predictions_score"], reverse=descending) if self.sorts else rows


class TestWhatCheckFinds:
    """A check that can't fail proves nothing: each fault that it is for is put in."""

    SCORE: Mapping[str, Any] = {
        "items": [
            {"id": "1", "agreement": 0.75, "n_raters": 3},
            {"id": "2", "agreement": 0.25, "n_raters": 2},
            {"id": "3", "agreement": None, "n_raters": 1},
        ]
    }

    def _problems(self, change: Callable[[_Answers], Any]) -> list[str]:
        api = _Answers({1: 0.75, 2: 0.25})
        change(api)
        return problems(api, 1, self.SCORE, {})  # type: ignore[arg-type]

    def test_nothing_where_all_is_right(self) -> None:
        assert self._problems(lambda api: None) == []

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda api: api.predictions.pop(), "Task 2 has 0 predictions"),
            (lambda api: api.predictions.append(api.predictions[0]), "Task 1 has 2 predictions"),
            (
                lambda api: api.predictions.append({"task": 3, "score": 1, "model_version": "agreement"}),
                "Task 3 has 1 prediction of",
            ),
            (lambda api: api.predictions[0].update(score=0.7501), "Task 1 has the score 0.7501"),
            (lambda api: api.predictions[0].update(score=None), "Task 1 has the score None"),
            (lambda api: api.predictions[0].update(model_version="other"), "Task 1 has 0 predictions"),
            (lambda api: api.column.pop(2), r"column differs from softirr score in tasks \[2\]"),
            (lambda api: setattr(api, "sorts", False), "does not sort"),
            (lambda api: api.project.update(model_version=""), "model_version is ''"),
            (lambda api: api.project.update(show_collab_predictions=True), "before they answer"),
            (lambda api: api.views.clear(), "0 triage tabs"),
        ],
    )
    def test_each_fault_is_found(self, change: Callable[[_Answers], Any], says: str) -> None:
        problems = self._problems(change)
        assert problems
        assert any(re.search(says, problem) for problem in problems), problems


@pytest.fixture(scope="class")
def first_check(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A demo's folder, and its first start with ``--check``."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    command = _command(folder, "--check")
    return folder, subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope="class")
def demo_folder(first_check: tuple[Path, subprocess.CompletedProcess[str]]) -> Path:
    """The folder of a demo that was started before, whichever tests run."""
    folder, done = first_check
    assert (folder / "demo.json").is_file(), f"{done.stdout}\n{done.stderr}"
    return folder


def _in_the_background() -> None:
    """A shell has what it runs in the background ignore Ctrl-C: the demo listens all the same."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "ml_backend", "demo", "--folder", str(folder), *options]


@pytest.mark.timeout(1200)  # the first check scores the demo twice without a cache, and has 900 s for it
@pytest.mark.usefixtures("start_label_studio")
class TestDemo:
    """`make demo` as a user runs it, less make."""

    def test_check_passes_on_a_fresh_folder(self, first_check: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
        demo_folder, done = first_check
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        assert "Checked: 67 tasks" in done.stdout
        assert (demo_folder / "demo.json").stat().st_mode & 0o077 == 0, "it holds an access token"
        token = json.loads((demo_folder / "demo.json").read_text())["token"]
        assert token not in (demo_folder / "softirr" / "backend.log").read_text()

    def test_check_passes_again_and_fails_when_someone_tampers(
        self, demo_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # otherwise the backend may repair the predictions before the check sees them
        monkeypatch.setenv("SOFTIRR_RECONCILE_SECONDS", "3600")
        assert (demo_folder / "demo.json").is_file(), sorted(demo_folder.parent.rglob("*"))[:50]
        with contextlib.ExitStack() as stack:
            demo = Demo(demo_folder, measure=None, stack=stack)
            demo.open(fresh=False)
            demo.start()
            assert demo.check() == 0, capsys.readouterr()
            assert "is there from the last time" in capsys.readouterr().out
            all_predictions = demo.api.get("/api/predictions/", project=demo.project)
            predictions = [prediction for prediction in all_predictions if prediction["model_version"] == "agreement"]
            lowest, *_, highest = sorted(predictions, key=lambda prediction: prediction["score"])
            demo.api.patch(f"/api/predictions/{highest['id']}/", {"score": 0.0123})
            demo.api.delete(f"/api/predictions/{lowest['id']}/")
            copy = {"task": highest["task"], "result": [], "score": highest["score"], "model_version": "agreement"}
            demo.api.post("/api/predictions/", {**copy, "task": lowest["task"]})
            demo.api.post("/api/predictions/", copy)
            assert demo.check() == 1
        errors = capsys.readouterr().err
        assert f"Task {highest['task']} has 2 predictions of version agreement where 1 is right" in errors
        assert f"Task {lowest['task']} has the score {highest['score']}" in errors
        assert "The score column differs from softirr score" in errors
        assert "A second sync wrote something" in errors, "it puts right what was changed"

    @pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
    def test_ctrl_c_stops_only_the_processes_it_started(self, demo_folder: Path) -> None:
        bystander = subprocess.Popen(["sleep", "600"])
        output = demo_folder.parent / "output"
        with output.open("w") as out:
            demo = subprocess.Popen(
                _command(demo_folder), stdout=out, stderr=subprocess.STDOUT, preexec_fn=_in_the_background
            )
        try:
            while "Ctrl-C stops everything" not in output.read_text():
                assert demo.poll() is None, output.read_text()
                time.sleep(0.5)
            started = descendants(demo.pid)
            assert len(started) >= 2
            demo.send_signal(signal.SIGINT)
            assert demo.wait(120) == 0
            assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
            assert bystander.poll() is None
        finally:
            bystander.kill()
            bystander.wait()
            demo.kill()
            demo.wait()
        log = output.read_text()
        assert "agreement 0." in log and "Krippendorff's alpha · " in log, log
        assert "Cohen's kappa" not in log, "one headline everywhere"
        assert "/data?tab=" in log
        assert "lead@example.org" in log


class TestDemoRefuses:
    """Impossible requests end in one sentence and harm nothing."""

    def _errors(self, folder: Path, *options: str, **environment: str) -> str:
        """Errors of a demo that can't start."""
        command = _command(folder, *options, "--check")
        variables = {**os.environ, **environment}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        return done.stderr

    def test_a_folder_that_is_not_a_demos_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.doc").write_text("precious")
        assert "not a demo's folder" in self._errors(tmp_path, "--fresh")
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]

    def test_missing_label_studio_is_refused_in_a_single_sentence(self, tmp_path: Path) -> None:
        errors = self._errors(tmp_path / "demo", SOFTIRR_LABEL_STUDIO=str(tmp_path / "nowhere"))
        assert errors.count("\n") == 1
        assert "which is not a program that can be run" in errors

    def test_broken_label_studio_prints_its_last_output_and_a_next_step(self, tmp_path: Path) -> None:
        program = tmp_path / "environment" / "bin" / "label-studio"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho no module named django\nexit 1\n")
        program.chmod(0o755)
        errors = self._errors(tmp_path / "demo", SOFTIRR_LABEL_STUDIO=str(program))
        assert "no module named django" in errors
        assert "`make demo` installs a new one" in errors

    def test_a_folder_that_can_not_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        errors = self._errors(tmp_path / "file" / "demo")
        assert errors.startswith("The demo can't go on: ")
        assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")],
    ids=["loopback", "everywhere", "IPv6"],
)
def test_a_preferred_port_is_taken_only_if_free(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as taken:
        try:
            taken.bind((address, 0))
        except OSError:
            pytest.skip(f"this machine has no {address}")
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port

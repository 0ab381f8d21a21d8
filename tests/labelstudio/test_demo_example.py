"""The demo's example matches the README, and `--check` finds each problem."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import softirr
from ml_backend.demo import example
from ml_backend.demo.project import problems, true_value
from softirr.text import clean


class TestExample:
    """The claims made about the narratives and their key."""

    def test_three_of_four_annotators_each_and_all_equally_often(self) -> None:
        assert len(example.annotators()) == 4
        assert all(len(task.answers) == 3 for task in example.narratives())
        task_counts = [sum(name in task.answers for task in example.narratives()) for name in example.annotators()]
        assert len(set(task_counts)) == 1

    def test_the_key_knows_every_text_once_and_nothing_else(self) -> None:
        used_texts = {text for task in example.narratives() for texts in task.answers.values() for text in texts or ()}
        assert used_texts == set(example.key())
        assert all(text == clean(text) for text in used_texts)
        assert set(example.broader()) | set(example.broader().values()) <= set(example.key().values()) | set(
            example.broader().values()
        )

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

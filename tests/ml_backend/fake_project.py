"""A Label Studio project in memory: tasks, annotations and predictions, without the server."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ml_backend.project_settings import ProjectSettings
from ml_backend.settings import MODEL_VERSION
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import measure
from softirr.report.items import item_agreement
from tests.answers.plain_rows import task_rows

NUMBER = 4
LABEL_CONFIG = '<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/></View>'


def region(texts: Iterable[str], control: str = "findings", **fields: Any) -> dict[str, Any]:
    """A TextArea's result."""
    value = {**fields.pop("value", {}), "text": list(texts)}
    return {"from_name": control, "to_name": "text", "type": "textarea", "origin": "manual", "value": value, **fields}


class FakeProject:
    """A project in memory: its tasks, the acts of people, and the right predictions."""

    def __init__(self, label_config: str = LABEL_CONFIG):
        self._ids = itertools.count(1)
        self._clock = datetime(2026, 11, 20, 12, tzinfo=UTC)
        self.tasks: dict[int, dict[str, Any]] = {}
        self.project: dict[str, Any] = {
            "id": NUMBER,
            "title": "Findings",
            "label_config": label_config,
            "created_at": "2026-11-20T10:00:00Z",
            "maximum_annotations": 2,
            "model_version": "",
            "show_collab_predictions": True,
            "evaluate_predictions_automatically": False,
        }
        self.users: dict[int, dict[str, Any]] = {}

    def now(self) -> str:
        self._clock += timedelta(seconds=1)
        return self._clock.isoformat().replace("+00:00", "Z")

    def later(self) -> None:
        """An hour passes, so that nothing is found only because it is recent."""
        self._clock += timedelta(hours=1)

    def add_task(self, answers: Mapping[int, Iterable[str]] | None = None) -> int:
        """A task, imported with these answers: user -> texts."""
        number = next(self._ids)
        self.tasks[number] = {
            "id": number,
            "data": {"text": "narrative"},
            "annotations": [],
            "drafts": [],
            "predictions": [],
            "created_at": self.now(),
            "updated_at": self.now(),
        }
        for user, texts in (answers or {}).items():
            self.annotate(number, user, texts)
        return number

    def annotate(self, task: int, user: int, texts: Iterable[str], **fields: Any) -> int:
        """A submitted annotation; `result` may be given whole."""
        kept_texts = list(texts)
        self.users.setdefault(user, {"id": user, "first_name": f"User{user}", "last_name": "", "email": f"{user}@x"})
        annotation = {
            "id": next(self._ids),
            "result": [region(kept_texts)] if kept_texts else [],
            "completed_by": user,
            "was_cancelled": False,
            "ground_truth": False,
            "parent_prediction": None,
            "created_at": self.now(),
            **fields,
        }
        annotation["updated_at"] = annotation["created_at"]
        self.tasks[task]["annotations"].append(annotation)
        self.tasks[task]["updated_at"] = self.now()
        return annotation["id"]

    def edit(self, annotation: int, texts: Iterable[str], **fields: Any) -> None:
        for task in self.tasks.values():
            for stored in task["annotations"]:
                if stored["id"] == annotation:
                    kept_texts = list(texts)
                    stored.update(
                        {"result": [region(kept_texts)] if kept_texts else [], "updated_at": self.now(), **fields}
                    )
                    task["updated_at"] = self.now()

    def delete_annotation(self, annotation: int) -> None:
        for task in self.tasks.values():
            task["annotations"] = [entry for entry in task["annotations"] if entry["id"] != annotation]

    def add_prediction(self, task: int, texts: Iterable[str], version: str, score: float | None = None) -> int:
        prediction = {
            "id": next(self._ids),
            "task": task,
            "result": [region(texts)],
            "score": score,
            "model_version": version,
            "created_at": self.now(),
        }
        prediction["updated_at"] = prediction["created_at"]
        self.tasks[task]["predictions"].append(prediction)
        return prediction["id"]

    def predictions(self, version: str = MODEL_VERSION) -> dict[int, list[dict[str, Any]]]:
        """Task -> its predictions of a version."""
        by_task = {
            number: [p for p in task["predictions"] if p["model_version"] == version]
            for number, task in self.tasks.items()
        }
        return {number: listed for number, listed in by_task.items() if listed}

    def expected(self, control: str = "findings", **settings: Any) -> dict[int, float]:
        """Task -> agreement by the science alone, from an export as it would be now."""
        project_settings = ProjectSettings(**{"measure": "indel", **settings})
        read = [
            task_rows(task, control, predictions=project_settings.predictions_as_raters) for task in self.tasks.values()
        ]
        answers = [answer for answers_of_task, _ in read for answer in answers_of_task]
        table = AnnotationTable.from_answers(answers, items=map(str, self.tasks), casefold=project_settings.casefold)
        items = item_agreement(table, measure(project_settings.measure))
        return {int(item.id): item.agreement for item in items if item.agreement is not None}

    def wrong(self, **settings: Any) -> list[str]:
        """What differs from exactly one right prediction for each task with an agreement; empty if nothing."""
        expected, actual = self.expected(**settings), self.predictions()
        wrong = []
        for number in sorted({*expected, *actual}):
            scores = [prediction["score"] for prediction in actual.get(number, [])]
            if number not in expected or len(scores) != 1 or abs(scores[0] - expected[number]) > 1e-12:
                wrong.append(f"task {number}: {scores}, wanted {expected.get(number)}")
        return wrong

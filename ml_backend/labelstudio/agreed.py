"""Agreed answers in Label Studio's tasks.

A reviewer's annotation that was made from the suggestion, and a ground truth that a person set.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from ml_backend.labelstudio.answers import Reading, of_this_config
from ml_backend.labelstudio.consensus import is_written
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.agreed import ANNOTATION, GROUND_TRUTH, given_hash
from softirr.answers.labelstudio import control_texts, copied
from softirr.answers.table import COPIED
from softirr.text import normalize

__all__ = ["agreed_in"]


def agreed_in(
    task: Mapping[str, Any], answers: Mapping[str, Any], reading: Reading, *, reviewers: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Field -> agreed answer in the task, as `ml_backend.store.agreed.AgreedStore.note_read` takes it.

    A ground truth comes before a reviewer's annotation, and of these the newest counts. Label Studio marks imported
    annotations as ground truth unless the import says otherwise: a ground truth counts only if it is the task's only
    one and a person saved it.

    Parameters
    ----------
    task : mapping
        As `ml_backend.labelstudio.tasks.pages` gives it.
    answers : mapping
        The task's answers as `ml_backend.labelstudio.answers.task_answers` gives them.
    reviewers : collection of str
        Users who review.
    """
    if task.get("unreadable"):
        return {}
    agreed: dict[str, dict[str, Any]] = {}
    for control in reading.controls:
        kept, _ = of_this_config(task, control.name, reading.names, reading.history.get(control.name))
        chosen = _ground_truth(kept) or _accepted(kept, control.name, reviewers)
        if chosen is None:
            continue
        annotation, source = chosen
        texts = [text for text in map(normalize, control_texts(annotation, control.name)) if text]
        origin = copied(annotation, control.name)
        who = _user(annotation.get("updated_by")) if source == GROUND_TRUTH else None
        agreed[control.name] = {
            "texts": texts,
            "source": source,
            "annotation": annotation["id"],
            "edited": None if origin is None else origin != COPIED,
            "reviewer_id": who or _user(annotation.get("completed_by")) or "",
            "at": _seconds(annotation),
            "given_hash": given_hash(answers.get(control.name) or {}),
        }
    return agreed


def _ground_truth(task: Mapping[str, Any]) -> tuple[Mapping[str, Any], str] | None:
    marked = [one for one in _submitted(task) if one.get("ground_truth")]
    if len(marked) != 1 or _user(marked[0].get("updated_by")) is None:
        return None
    return marked[0], GROUND_TRUTH


def _accepted(
    task: Mapping[str, Any], control: str, reviewers: Collection[str]
) -> tuple[Mapping[str, Any], str] | None:
    """The newest annotation of a reviewer that was made from this backend's prediction."""
    others = {
        one["id"]
        for one in task.get("predictions") or ()
        if isinstance(one, Mapping) and one.get("model_version") != MODEL_VERSION
    }
    accepted = [
        one
        for one in _submitted(task)
        if _user(one.get("completed_by")) in reviewers
        and one.get("parent_prediction") not in others
        and (one.get("parent_prediction") is not None or copied(one, control))
    ]
    return (max(accepted, key=_seconds), ANNOTATION) if accepted else None


def _submitted(task: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The task's annotations that say something: no skipped ones, and none that only repeat what is agreed already."""
    annotations = task.get("annotations")
    for one in annotations if isinstance(annotations, list) else ():
        if not isinstance(one, Mapping) or one.get("was_cancelled") or not isinstance(one.get("id"), int):
            continue
        if not is_written(one):
            yield one


def _user(value: Any) -> str | None:
    if isinstance(value, Mapping):
        value = value.get("id")
    return None if value is None or isinstance(value, bool) else str(value)


def _seconds(annotation: Mapping[str, Any]) -> float:
    """When it was saved last, as Unix time."""
    stamp = annotation.get("updated_at") or annotation.get("created_at")
    try:
        return datetime.fromisoformat(str(stamp).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0

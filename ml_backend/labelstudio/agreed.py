"""Ground truths in Label Studio's tasks, which are agreed answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ml_backend.labelstudio.answers import Reading
from ml_backend.labelstudio.history import could_not_hold
from ml_backend.store.acts import GROUND_TRUTH, given_hash
from softirr.answers.answer import COPIED
from softirr.answers.labelstudio import control_texts, copied, user_id
from softirr.answers.labelstudio_results import mappings, with_turns
from softirr.text import normalize


def agreed_in(task: Mapping[str, Any], answers: Mapping[str, Any], reading: Reading) -> dict[str, dict[str, Any]]:
    """Return the agreed answer of each field, as `ml_backend.store.acts.AgreedStore.note_read` takes it.

    Label Studio marks imported annotations as ground truth by default. A ground truth therefore counts only if it is
    the task's only one and a person saved it.

    Parameters
    ----------
    task : mapping
        As `ml_backend.labelstudio.tasks.pages` returns it.
    answers : mapping
        The task's answers as `ml_backend.labelstudio.answers.read_task` returns them.
    """
    agreed: dict[str, dict[str, Any]] = {}
    task = with_turns(task, [*(reading.names or ()), *(control.name for control in reading.controls)])
    for control in reading.controls:
        times = reading.history.get(control.name)
        annotations = mappings(task.get("annotations"))
        possible = [row for row in annotations if not could_not_hold(row, control.name, reading.names, times)]
        annotation = ground_truth_of({"annotations": possible})
        if annotation is None:
            continue
        texts = [text for text in map(normalize, control_texts(annotation, control.name)) if text]
        texts = list(dict.fromkeys(texts))  # the same text may be in several regions or turns
        origin = copied(annotation, control.name)
        agreed[control.name] = {
            "texts": texts,
            "source": GROUND_TRUTH,
            "annotation": annotation["id"],
            "edited": None if origin is None else origin != COPIED,
            "reviewer_id": user_id(annotation.get("updated_by")) or user_id(annotation.get("completed_by")) or "",
            "at": _seconds(annotation),
            "given_hash": given_hash(answers.get(control.name) or {}),
        }
    return agreed


def ground_truth_of(task: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the annotation of a task that a person set as ground truth."""
    submitted = (annotation for annotation in mappings(task.get("annotations")) if not annotation.get("was_cancelled"))
    starred = [row for row in submitted if row.get("ground_truth") and isinstance(row.get("id"), int)]
    return starred[0] if len(starred) == 1 and user_id(starred[0].get("updated_by")) is not None else None


def _seconds(annotation: Mapping[str, Any]) -> float:
    """Return the Unix time at which it was saved last."""
    stamp = annotation.get("updated_at") or annotation.get("created_at")
    try:
        return datetime.fromisoformat(str(stamp).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0

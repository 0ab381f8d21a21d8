"""When a task's agreement and suggestion may be shown where annotators can see them.

Not before they have answered, unless a reviewer has marked the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.labelstudio.answers import OF_FIELDS
from ml_backend.project_settings import ProjectSettings
from softirr.answers.answer import SKIPPED


def mark_state(mark: Mapping[str, Any] | None, answers_hash: str) -> str | None:
    """Return ``done`` or ``sent back``; None without a mark, or if the answers have changed since.

    Marks of release 0.2.0 are about the texts of a task only.
    """
    if mark is None or mark["answers_hash"] not in (answers_hash, answers_hash.partition(OF_FIELDS)[0]):
        return None
    return "sent back" if mark["sent_back"] else "done"


def n_given(n_annotations: int, answers: Mapping[str, Any]) -> int:
    """Annotators who have finished with a task: those who skipped it and did not answer it count too.

    Parameters
    ----------
    n_annotations : int
        Annotations that were not skipped.
    answers : mapping
        As `ml_backend.labelstudio.answers.read_task` gives them.
    """
    entries = answers.values()
    skipped = {str(rater) for entry in entries for rater, reason in entry.get("excluded", ()) if reason == SKIPPED}
    return n_annotations + len(skipped - {rater for entry in entries for rater in entry["answers"]})


def is_released(
    settings: ProjectSettings, required: int, task: Mapping[str, Any], mark: Mapping[str, Any] | None
) -> bool:
    """Whether a task's prediction may be written into Label Studio, which shows it to everybody who opens the task.

    Parameters
    ----------
    settings : ProjectSettings
        ``predictions="always"`` releases every task.
    required : int
        Annotations that the task is to get.
    task : mapping
        ``answers`` and their ``answers_hash``, and ``n_annotations`` as for `n_given`.
    mark : mapping or None
        The reviewer's mark on the task: one that is done waits for nobody, one that was sent back for new answers, and
        one on other answers does not count.
    """
    if settings.predictions == "always":
        return True
    state = mark_state(mark, task["answers_hash"])
    return n_given(task["n_annotations"], task["answers"]) >= required if state is None else state == "done"

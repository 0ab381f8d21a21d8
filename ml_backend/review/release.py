"""When a task's agreement and suggestion may be shown where annotators can see them: not before they have answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.project_settings import ProjectSettings
from ml_backend.review.triage_queue import mark_state
from softirr.answers.answer import SKIPPED


def n_given(n_annotations: int, answers: Mapping[str, Any]) -> int:
    """Annotators who have finished with a task: those who skipped it and did not answer it count too.

    Parameters
    ----------
    n_annotations : int
        Annotations that were not skipped.
    answers : mapping
        As `ml_backend.labelstudio.answers.task_answers` gives them.
    """
    entries = answers.values()
    skipped = {str(rater) for entry in entries for rater, reason in entry.get("excluded", ()) if reason == SKIPPED}
    return n_annotations + len(skipped - {rater for entry in entries for rater in entry["answers"]})


def is_released(
    settings: ProjectSettings,
    required: int,
    n_annotations: int,
    answers: Mapping[str, Any],
    *,
    mark: Mapping[str, Any] | None = None,
    answers_hash: str = "",
) -> bool:
    """Whether a task's prediction may be written into Label Studio, which shows it to everybody who opens the task.

    Parameters
    ----------
    settings : ProjectSettings
        ``predictions="always"`` releases every task.
    required : int
        Annotations that the task is to get.
    n_annotations, answers
        As for `n_given`.
    mark : mapping, optional
        The reviewer's mark on the task: one that is done waits for nobody, one that was sent back for new answers.
    answers_hash : str
        Hash of the present answers; a mark on other answers does not count.
    """
    if settings.predictions == "always":
        return True
    state = mark_state(mark, answers_hash)
    return n_given(n_annotations, answers) >= required if state is None else state == "done"

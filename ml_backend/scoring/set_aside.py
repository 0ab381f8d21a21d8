"""Sets tasks aside if their texts cannot be scored, so that one text never stops a project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

NOT_SCORED = "set aside: softirr could not score the texts of this task ({}); report this as an error of softirr"

Answers = Mapping[int, Mapping[str, Any]]
_SOUND = {"answers": {"1": ["fever"], "2": ["cough"]}, "excluded": []}
"""Answers that every measure can score: if these fail, the measure is at fault and no text is."""


def score_or_set_aside(
    score: Callable[[Answers], dict[int, dict[str, Any]]],
    answers: Answers,
    not_faults: tuple[type[Exception], ...],
) -> tuple[dict[int, dict[str, Any]], dict[int, str]]:
    """Score tasks together; if that fails, score them one by one to find those that cannot be scored.

    Parameters
    ----------
    score : callable
        Returns the details of tasks by their number.
    answers : mapping of int to mapping
        The answers of each task.
    not_faults : tuple of exception classes
        Raised by whoever ends the work: never the fault of a text.

    Returns
    -------
    dict of int to dict, dict of int to str
        Details of the tasks that could be scored, and the reason for each that could not.

    Raises
    ------
    Exception
        Errors of `score` that no text causes: the work was ended, the store is unavailable, or the measure fails with
        any text.
    """
    not_faults = (*not_faults, OSError, sa.exc.SQLAlchemyError)
    try:
        return score(answers), {}
    except not_faults:
        raise
    except Exception:  # noqa: BLE001 - whatever a text makes a measure do
        score({0: {name: _SOUND for entry in answers.values() for name in entry}})
    details: dict[int, dict[str, Any]] = {}
    reasons: dict[int, str] = {}
    for number, entry in answers.items():
        try:
            details |= score({number: entry})
        except not_faults:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            reasons[number] = NOT_SCORED.format(type(error).__name__)
    return details, reasons


def without_texts(answers: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The answers of a task that was set aside: none, and each rater is listed with the reason.

    Parameters
    ----------
    answers : mapping
        Answers of one task, as the store contains them.
    """
    return {
        name: {
            "answers": {},
            "excluded": [*entry["excluded"], *([rater, reason] for rater in entry["answers"])],
        }
        for name, entry in answers.items()
    }

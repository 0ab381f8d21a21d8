"""Facts about a task besides its answers: short values of its data, and how long annotators worked on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from softirr.answers.kinds import CONTROL_KINDS
from softirr.answers.labelstudio import is_agreed_answer, mappings, user_id

MOST_FIELDS = 20
LONGEST_VALUE = 60


def task_facts(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the report and the export need besides the answers.

    Parameters
    ----------
    task : mapping
        A task with its annotations and, if it was requested, its data.

    Returns
    -------
    dict
        ``data`` (field -> value, short ones only), ``seconds`` (rater -> lead time of the newest annotation) and
        ``not_compared`` (type of results that softirr does not compare -> number of results).
    """
    seconds: dict[str, float] = {}
    not_compared: Counter[str] = Counter()
    annotations = [
        annotation
        for annotation in mappings(task.get("annotations"))
        if not annotation.get("was_cancelled") and not is_agreed_answer(annotation)
    ]
    for annotation in sorted(annotations, key=_changed):
        types = (str(result.get("type")) for result in mappings(annotation.get("result")))
        not_compared.update(type_ for type_ in types if type_ != "textarea" and type_ not in CONTROL_KINDS)
        lead_time = annotation.get("lead_time")
        if isinstance(lead_time, int | float) and not isinstance(lead_time, bool) and lead_time > 0:
            seconds[user_id(annotation.get("completed_by")) or ""] = float(lead_time)
    return {"data": _short_values(task.get("data")), "seconds": seconds, "not_compared": dict(not_compared)}


def _changed(annotation: Mapping[str, Any]) -> str:
    return str(annotation.get("updated_at") or annotation.get("created_at") or "")


def _short_values(data: Any) -> dict[str, str]:
    """Return values of a task's data by which tasks can be filtered: short texts, numbers, yes and no."""
    short: dict[str, str] = {}
    for name, value in data.items() if isinstance(data, Mapping) else ():
        if not isinstance(name, str) or not isinstance(value, str | int | float | bool) or len(short) >= MOST_FIELDS:
            continue
        text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else " ".join(str(value).split())
        if 0 < len(text) <= LONGEST_VALUE and "://" not in text and text.isprintable():
            short[name[:LONGEST_VALUE]] = text
    return short

"""What a report groups and dates tasks by.

Short values of the task's data, labels, days of the answers, and places of regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.regions import Place

__all__ = ["DIFFER", "task_fields"]

MOST_FIELDS = 20
MOST_PLACES = 200
LONGEST_VALUE = 60
DIFFER = "annotators differ"
"""Label of a task for which no label has more annotators than each other one."""
_TEXTS = ("textarea", "relation")


def task_fields(task: Mapping[str, Any], places: Mapping[str, Sequence[Place]] | None = None) -> dict[str, Any]:
    """What a report groups and dates one task by.

    Parameters
    ----------
    task : mapping
        A task with its annotations and, where asked for, its data.
    places : mapping, optional
        Control -> the places of its regions (`answers.read_task`), where regions are compared by overlap.

    Returns
    -------
    dict
        ``data`` (field -> value, short ones only), ``days`` (rater -> day of the answer), ``labels`` (control -> label)
        and, where there are places, ``places`` (control -> number of the place, as in the id of its item -> label,
        where, boxes and raters).
    """
    newest: dict[str, Mapping[str, Any]] = {}
    for annotation in task.get("annotations") or []:
        if isinstance(annotation, Mapping) and not annotation.get("was_cancelled"):
            user = annotation.get("completed_by")
            rater = str(user.get("id", user.get("email")) if isinstance(user, Mapping) else user)
            before = newest.get(rater)
            if before is None or _changed(before) <= _changed(annotation):
                newest[rater] = annotation
    fields: dict[str, Any] = {
        "data": _short_values(task.get("data")),
        "days": {rater: day for rater, one in newest.items() if (day := _changed(one)[:10])},
        "labels": _labels(list(newest.values())),
    }
    numbered = {
        control: {str(number): place.to_dict() for number, place in enumerate(own[:MOST_PLACES])}
        for control, own in (places or {}).items()
    }
    return fields | ({"places": numbered} if numbered else {})


def _changed(annotation: Mapping[str, Any]) -> str:
    return str(annotation.get("updated_at") or annotation.get("created_at") or "")


def _short_values(data: Any) -> dict[str, str]:
    """Values of a task's data by which tasks can be grouped: short texts, numbers, yes and no."""
    short: dict[str, str] = {}
    for name, value in data.items() if isinstance(data, Mapping) else ():
        if not isinstance(name, str) or not isinstance(value, str | int | float | bool) or len(short) >= MOST_FIELDS:
            continue
        text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else " ".join(str(value).split())
        if 0 < len(text) <= LONGEST_VALUE and "://" not in text and text.isprintable():
            short[name[:LONGEST_VALUE]] = text
    return short


def _labels(annotations: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """For each control with labels or choices the label that most annotators gave."""
    counts: dict[str, Counter[str]] = {}
    for annotation in annotations:
        own: dict[str, set[str]] = {}
        for entry in annotation.get("result") or []:
            if isinstance(entry, Mapping) and isinstance(name := entry.get("from_name"), str):
                own.setdefault(name, set()).update(labels_of(entry))
        for name, labels in own.items():
            if labels:
                counts.setdefault(name, Counter())[" + ".join(sorted(labels))[:LONGEST_VALUE]] += 1
    chosen = {}
    for name, count in list(counts.items())[:MOST_FIELDS]:
        (label, n), *rest = count.most_common(2)
        chosen[name] = DIFFER if rest and rest[0][1] == n else label
    return chosen


def labels_of(entry: Mapping[str, Any]) -> list[str]:
    """The labels or choices of a result."""
    kind, value = entry.get("type"), entry.get("value")
    given = value.get(kind) if isinstance(value, Mapping) and isinstance(kind, str) and kind not in _TEXTS else None
    if kind == "taxonomy" and isinstance(given, list):
        given = [path[-1] for path in given if isinstance(path, list) and path]
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []

"""Checks of a Label Studio JSON export, so that a damaged export is refused instead of being read as empty answers.

Only what decides who answered what is looked at: keys that are new in another version of Label Studio pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from softirr.errors import InputError
from softirr.text import shown

_ORIGINS = (None, "", "manual", "prediction", "prediction-changed")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Damage(InputError):
    """A task is not what Label Studio exports.

    The message names the part of the task, and the reader adds file and line.
    """


def check_task(task: Mapping[str, Any], *, has_predictions: bool) -> None:
    """Refuse a task that can't be read as it was exported.

    Parameters
    ----------
    task : mapping
        An entry of the export, with the key ``annotations``.
    has_predictions : bool
        Whether its predictions count as raters, and are checked too.

    Raises
    ------
    Damage
        Names the annotation or prediction and its damage.
    """
    _check_all(task, "annotation", _check_annotation)
    _check_ages(task["annotations"])
    if has_predictions:
        _check_all(task, "prediction", _check_prediction)


def _check_all(task: Mapping[str, Any], what: str, check: Callable[[Mapping[str, Any], str], None]) -> None:
    entries = task.get(f"{what}s")
    if not isinstance(entries, list):
        raise Damage(f"its {what}s are not a list")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping):
            raise Damage(f"{what} number {number} is not an object (export the {what}s with their results)")
        check(entry, _named(what, entry, number))


def _check_prediction(prediction: Mapping[str, Any], location: str) -> None:
    if not isinstance(prediction.get("model_version"), str | None):
        raise Damage(f"{location}: its model_version is not a text")
    _check_result(prediction, location)


def _check_annotation(annotation: Mapping[str, Any], location: str) -> None:
    if not isinstance(annotation.get("was_cancelled"), bool | None):
        raise Damage(f"{location}: was_cancelled is neither true nor false")
    if "completed_by" not in annotation:
        raise Damage(f"{location}: completed_by is missing")
    user = annotation["completed_by"]
    if isinstance(user, Mapping):
        user = user.get("id", user.get("email", {}))
    if isinstance(user, bool) or not isinstance(user, int | str | None) or user == "":
        raise Damage(f"{location}: completed_by names no user")
    _check_result(annotation, location)


def _check_ages(annotations: list[Mapping[str, Any]]) -> None:
    """Of two annotations by one user the newer one counts: both need a date, or neither."""
    for key in ("updated_at", "created_at"):
        dated: dict[str, bool] = {}
        for number, annotation in enumerate(annotations, start=1):
            location = _named("annotation", annotation, number)
            date = annotation.get(key)
            if date is not None and not (isinstance(date, str) and _DATE.match(date)):
                raise Damage(f"{location}: {key} is not a date")
            user = annotation["completed_by"]
            who = str(user.get("id", user.get("email")) if isinstance(user, Mapping) else user)
            if dated.setdefault(who, annotation.get(key) is not None) != (annotation.get(key) is not None):
                raise Damage(f"{location}: {key} is missing, so that the newer of two answers by one user is not known")


def _check_result(source: Mapping[str, Any], location: str) -> None:
    if "result" not in source:
        raise Damage(f"{location}: result is missing")
    if not isinstance(source["result"], list):
        raise Damage(f"{location}: its result is not a list")
    for region in source["result"]:
        if not isinstance(region, Mapping) or not isinstance(region.get("type"), str):
            raise Damage(f"{location}: an entry of its result has no type")
        if region["type"] == "textarea":
            _check_textarea(region, location)


def _check_textarea(region: Mapping[str, Any], location: str) -> None:
    if not isinstance(region.get("from_name"), str):
        raise Damage(f"{location}: a textarea result does not name its TextArea (from_name)")
    origin = region.get("origin")
    if not isinstance(origin, str | None) or origin not in _ORIGINS:
        raise Damage(f"{location}: a textarea result has an unknown origin")
    value = region.get("value")
    if not isinstance(value, Mapping) or "text" not in value:
        raise Damage(f"{location}: a textarea result has no value with a text")
    text = value["text"]
    if not all(isinstance(text_part, str) for text_part in (text if isinstance(text, list) else [text])):
        raise Damage(f"{location}: the text of a textarea result is neither a text nor a list of texts")


def _named(what: str, entry: Mapping[str, Any], number: int) -> str:
    identifier = entry.get("id")
    if isinstance(identifier, int | str) and not isinstance(identifier, bool):
        return f"{what} {shown(str(identifier))}"
    return f"{what} number {number}"

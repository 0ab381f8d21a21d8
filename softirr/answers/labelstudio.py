"""Answers in the tasks of Label Studio: which annotations count, and their texts.

A file and a project are read by the same functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from softirr.answers.answer import (
    AGREED,
    COPIED,
    COPIED_AND_EDITED,
    DRAFT,
    MODEL,
    NEWER_DUPLICATE,
    NO_RATER,
    OLDER_DUPLICATE,
    SKIPPED,
    RawAnswer,
)
from softirr.answers.labelstudio_results import Result, mappings, results_of
from softirr.errors import InputError
from softirr.text import normalize

AGREEMENT_VERSION = "agreement"
"""``model_version`` of softirr's own predictions, which are never a rater."""
AGREED_ID = "softirr-agreed-"
"""Prefix of the ids of the results of an agreed answer, which a reviewer saved from the agreement panel."""
CONSENSUS_VERSION = "consensus"
"""``model_version`` of predictions with agreed answers, which are never a rater either."""


class Source(NamedTuple):
    """An annotation or a prediction of a task.

    Attributes
    ----------
    rater : str or None
        None if nobody is named.
    age : tuple
        Sort key: later is newer.
    reason : str
        Why the whole annotation does not count, or empty.
    """

    rater: str | None
    results: tuple[Result, ...]
    age: tuple[str, str, int]
    reason: str = ""
    is_prediction: bool = False


class TaskAnswers(NamedTuple):
    """The annotations of a task."""

    item: str
    sources: tuple[Source, ...]
    drafts: tuple[str, ...] = ()


def read_task(task: Mapping[str, Any], *, predictions: bool = False, item: str | None = None) -> TaskAnswers:
    """Read the annotations of a task, and its predictions as raters ``model:VERSION`` if wanted.

    Parameters
    ----------
    task : mapping
        With ``id``, ``annotations``, ``drafts`` and ``predictions``, as exports and the API have them.
    item : str, optional
        Name of the item; by default the id of the task.
    """
    sources = [
        Source(
            user_id(source.get("completed_by")),
            tuple(results_of(source)),
            age(source),
            AGREED if is_agreed_answer(source) else SKIPPED if source.get("was_cancelled") else "",
        )
        for source in mappings(task.get("annotations"))
    ]
    for source in mappings(task.get("predictions")) if predictions else ():
        version = source.get("model_version") or ""
        if version not in (AGREEMENT_VERSION, CONSENSUS_VERSION):
            sources.append(Source(f"{MODEL}{version}", tuple(results_of(source)), age(source), is_prediction=True))
    drafts = tuple(user_id(draft.get("user")) or "" for draft in mappings(task.get("drafts")))
    return TaskAnswers(task_id(task) if item is None else item, tuple(sources), drafts)


def raw_answers(task: TaskAnswers, field: str, *, oldest: bool = False, older: Sequence[str] = ()) -> list[RawAnswer]:
    """Return the raw answers to a field in a task, with the reason if an answer does not count.

    Parameters
    ----------
    oldest : bool
        Of several annotations by a rater, count the oldest instead of the newest.
    older : sequence of str, optional
        Why each annotation is left out if it has no result of the field, or empty.
    """
    counting: dict[str, int] = {}
    left_out: list[tuple[str, str]] = []
    earlier: list[tuple[str, str]] = []
    results = [_of_field(source.results, field) for source in task.sources]
    for position, source in enumerate(task.sources):
        rater = source.rater or ""
        without = "" if results[position] else "".join(older[position : position + 1])
        copy_or_nobody = NO_RATER if source.rater is None else _copy_reason(results[position])
        if not source.is_prediction and (reason := source.reason or without or copy_or_nobody):
            (earlier if reason == without else left_out).append((rater, reason))
            continue
        if rater in counting:
            left_out.append((rater, NEWER_DUPLICATE if oldest else OLDER_DUPLICATE))
            choose = min if oldest else max
            position = choose(position, counting[rater], key=lambda number: task.sources[number].age)
        counting[rater] = position
    left_out += [*((rater, DRAFT) for rater in task.drafts), *earlier]
    rows = [row for rater, number in counting.items() for row in _rows(task.item, rater, results[number])]
    return rows + [RawAnswer(task.item, rater, None, reason) for rater, reason in left_out]


def is_agreed_answer(annotation: Mapping[str, Any]) -> bool:
    """Return whether an annotation is an agreed answer from the agreement panel, and so nobody's own answer."""
    return any(str(region.get("id", "")).startswith(AGREED_ID) for region in mappings(annotation.get("result")))


def _of_field(results: Iterable[Result], field: str) -> tuple[Result, ...]:
    """Return the results of a field."""
    return tuple(result for result in results if result.kind and result.field == field)


def _rows(item: str, rater: str, results: Sequence[Result]) -> Iterator[RawAnswer]:
    """Yield the answer of a rater to an item, or an answer for each turn of a dialogue."""
    by_turn: dict[int | None, list[Result]] = {}
    for result in results:
        by_turn.setdefault(result.turn, []).append(result)
    outside = by_turn.pop(None, [])
    for turn, turn_results in (by_turn or {None: outside}).items():
        texts = tuple(text for result in turn_results for text in result.texts)
        regions = tuple(
            (result.region, result.texts) for result in turn_results if result.region is not None and turn is None
        )
        yield RawAnswer(item, rater, texts, "", regions, turn=turn)


def task_id(task: Mapping[str, Any]) -> str:
    """Return the id of a task as the name of an item.

    Raises
    ------
    InputError
        If it has none.
    """
    if not isinstance(task.get("id"), int | str):
        raise InputError("A task of the export has no id.")
    return normalize(str(task["id"]))


def user_id(value: Any) -> str | None:
    """Return the id of a user: Label Studio writes a number, an object or an email address."""
    if isinstance(value, Mapping):
        value = value.get("id", value.get("email"))
    return None if value is None or isinstance(value, bool) else normalize(str(value))


def age(source: Mapping[str, Any]) -> tuple[str, str, int]:
    """Sort key for "newest": ISO dates of one server sort as strings."""
    id = source.get("id")
    return str(source.get("updated_at") or ""), str(source.get("created_at") or ""), id if isinstance(id, int) else 0


def control_texts(source: Mapping[str, Any], control: str) -> tuple[str, ...]:
    """Return all texts of a control in an annotation or a prediction."""
    return tuple(text for result in _of_field(results_of(source), control) for text in result.texts)


def copied(annotation: Mapping[str, Any], control: str) -> str | None:
    """Return COPIED or COPIED_AND_EDITED if an annotation's answer comes from a prediction, else None."""
    return _copy_reason(_of_field(results_of(annotation), control)) or None


def _copy_reason(results: Iterable[Result]) -> str:
    origins = {result.origin for result in results}
    if "prediction" in origins:
        return COPIED
    return COPIED_AND_EDITED if "prediction-changed" in origins else ""

"""Answers in the tasks of Label Studio: which annotations count, and what their results say.

A file and a project are read by the same functions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from softirr.answers.kinds import CONTROL_KINDS, TEXT, value_text
from softirr.answers.raw import RawAnswer
from softirr.answers.regions import Region, region_of
from softirr.answers.table import (
    AGREED,
    COPIED,
    COPIED_AND_EDITED,
    DRAFT,
    MODEL,
    NEWER_DUPLICATE,
    NO_RATER,
    OLDER_DUPLICATE,
    SKIPPED,
    Answer,
    Excluded,
)
from softirr.errors import InputError
from softirr.text import normalize

__all__ = [
    "AGREED_ID",
    "AGREEMENT_VERSION",
    "CONSENSUS_VERSION",
    "LABELS",
    "Result",
    "Source",
    "TaskAnswers",
    "control_kind",
    "control_texts",
    "copied",
    "field_controls",
    "is_agreed_answer",
    "label_studio_answers",
    "label_studio_fields",
    "mappings",
    "raw_answers",
    "read_task",
    "task_id",
    "text_controls",
    "turn_names",
    "with_turns",
]

AGREEMENT_VERSION = "agreement"
"""``model_version`` of softirr's own predictions, which are never a rater."""
AGREED_ID = "softirr-agreed-"
"""Prefix of the ids of the results of an agreed answer, which a reviewer saved from the agreement panel."""
CONSENSUS_VERSION = "consensus"
"""``model_version`` of predictions with agreed answers, which are never a rater either."""
LABELS = "set:jaccard"
"""Kind of the labels of spans and boxes: the set of labels of a task."""
_ASSISTANT = "assistant"


class Result(NamedTuple):
    """What a result of an annotation says.

    Attributes
    ----------
    field : str
        Name of the control; a key of a ReactCode result follows after a period.
    type : str
        Label Studio's type, such as ``choices``.
    kind : str
        Kind of the field, or empty if softirr does not read results of this type.
    texts : tuple of str
    origin : str
        ``manual``, ``prediction`` or ``prediction-changed``.
    region : Region or None
    turn : int or None
        Number of the message or turn of a dialogue.
    to_name : str
    is_set : bool
        Whether a ranking sorts things into buckets.
    """

    field: str
    type: str
    kind: str
    texts: tuple[str, ...]
    origin: str
    region: Region | None = None
    turn: int | None = None
    to_name: str = ""
    is_set: bool = False


class Source(NamedTuple):
    """An annotation or a prediction of a task.

    Attributes
    ----------
    rater : str or None
        None if nobody is named.
    results : tuple of Result
    age : tuple
        Sort key: later is newer.
    reason : str
        Why the whole annotation does not count, or empty.
    is_prediction : bool
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
    predictions : bool
    item : str, optional
        Name of the item; by default the id of the task.
    """
    sources = [
        Source(_user(one.get("completed_by")), tuple(_results(one)), _age(one), _reason_of_all(one))
        for one in mappings(task.get("annotations"))
    ]
    for one in mappings(task.get("predictions")) if predictions else ():
        version = one.get("model_version") or ""
        if version not in (AGREEMENT_VERSION, CONSENSUS_VERSION):
            sources.append(Source(f"{MODEL}{version}", tuple(_results(one)), _age(one), is_prediction=True))
    drafts = tuple(_user(draft.get("user")) or "" for draft in mappings(task.get("drafts")))
    return TaskAnswers(task_id(task) if item is None else item, tuple(sources), drafts)


def raw_answers(
    task: TaskAnswers, field: str | None, *, oldest: bool = False, older: Mapping[int, str] | None = None
) -> list[RawAnswer]:
    """Return the raw answers to a field in a task, with the reason if an answer does not count.

    Parameters
    ----------
    task : TaskAnswers
    field : str or None
        None takes every TextArea.
    oldest : bool
        Of several annotations by a rater, count the oldest instead of the newest.
    older : mapping of int to str, optional
        Why an annotation, by its position, is left out if it has no result of the field.
    """
    counting: dict[str, int] = {}
    left_out: list[tuple[str, str]] = []
    earlier: list[tuple[str, str]] = []
    own = [tuple(_of_field(source.results, field)) for source in task.sources]
    for position, source in enumerate(task.sources):
        rater = source.rater or ""
        reason = _reason(source, own[position], position, older or {})
        if reason:
            (earlier if reason in (older or {}).values() else left_out).append((rater, reason))
            continue
        if rater in counting:
            left_out.append((rater, NEWER_DUPLICATE if oldest else OLDER_DUPLICATE))
            choose = min if oldest else max
            position = choose(position, counting[rater], key=lambda at: task.sources[at].age)
        counting[rater] = position
    left_out += [*((rater, DRAFT) for rater in task.drafts), *earlier]
    rows = [row for rater, at in counting.items() for row in _rows(task.item, rater, own[at])]
    return rows + [RawAnswer(task.item, rater, None, reason) for rater, reason in left_out]


def is_agreed_answer(annotation: Mapping[str, Any]) -> bool:
    """Return whether an annotation is an agreed answer from the agreement panel, and so nobody's own answer."""
    return any(str(region.get("id", "")).startswith(AGREED_ID) for region in mappings(annotation.get("result")))


def _reason_of_all(annotation: Mapping[str, Any]) -> str:
    """Return why a whole annotation does not count, or an empty text."""
    if is_agreed_answer(annotation):
        return AGREED
    return SKIPPED if annotation.get("was_cancelled") else ""


def _of_field(results: Iterable[Result], field: str | None) -> Iterator[Result]:
    """Yield the results of a field, or of every TextArea."""
    return (one for one in results if one.kind and (one.field == field or (field is None and one.type == "textarea")))


def _reason(source: Source, results: Sequence[Result], position: int, older: Mapping[int, str]) -> str:
    """Return why an annotation does not count for a field, or an empty text."""
    if source.is_prediction:
        return ""
    if source.reason:
        return source.reason
    if not results and position in older:
        return older[position]
    if source.rater is None:
        return NO_RATER
    origins = {one.origin for one in results}
    if "prediction" in origins:
        return COPIED
    return COPIED_AND_EDITED if "prediction-changed" in origins else ""


def _rows(item: str, rater: str, results: Sequence[Result]) -> Iterator[RawAnswer]:
    """Yield the answer of a rater to an item, or an answer for each turn of a dialogue."""
    turns = dict.fromkeys(one.turn for one in results if one.turn is not None)
    for turn in turns or (None,):
        here = [one for one in results if one.turn == turn or turn is None]
        texts = tuple(text for one in here for text in one.texts)
        regions = tuple((one.region, one.texts) for one in here if one.region is not None and turn is None)
        yield RawAnswer(item if turn is None else f"{item}/{turn}", rater, texts, "", regions)


def turn_names(results: Iterable[Result]) -> dict[str, tuple[str, int]]:
    """Return field and turn of the numbered controls of a Repeater, such as ``rewrite_0``, ``rewrite_1``.

    A Repeater numbers its controls and their objects from 0.

    Examples
    --------
    >>> one = Result("rewrite_0", "textarea", "text", ("fever",), "manual", to_name="turn_0")
    >>> turn_names([one, one._replace(field="rewrite_1", to_name="turn_1")])
    {'rewrite_0': ('rewrite', 0), 'rewrite_1': ('rewrite', 1)}
    """
    names: dict[str, tuple[str, int]] = {}
    numbers: dict[str, set[int]] = {}
    for field, to_name in dict.fromkeys((one.field, one.to_name) for one in results):
        for number in re.finditer(r"\d+", field):
            if number[0] in re.findall(r"\d+", to_name):
                base = f"{field[: number.start()].rstrip('_- .')}{field[number.end() :]}"
                names[field] = base, int(number[0])
                numbers.setdefault(base, set()).add(int(number[0]))
    return {name: (base, turn) for name, (base, turn) in names.items() if 0 in numbers[base]}


def with_turns(task: Mapping[str, Any], names: Iterable[str]) -> Mapping[str, Any]:
    """Return a task whose results of a Repeater have the name that the label config has, and their turn.

    Parameters
    ----------
    task : mapping
    names : iterable of str
        Names of controls in the label config, such as ``rewrite_{{idx}}``.

    Examples
    --------
    >>> task = {"id": 1, "annotations": [{"result": [{"from_name": "rewrite_2", "type": "textarea"}]}]}
    >>> with_turns(task, ["rewrite_{{idx}}"])["annotations"][0]["result"]
    [{'from_name': 'rewrite_{{idx}}', 'type': 'textarea', 'turn': 2}]
    """
    patterns = {
        name: re.compile(r"(\d+)".join(map(re.escape, re.split(r"\{\{[^}]*\}\}", name, maxsplit=1))))
        for name in names
        if "{{" in name
    }
    if not patterns:
        return task

    def renamed(entry: Mapping[str, Any]) -> Mapping[str, Any]:
        for name, pattern in patterns.items():
            if found := pattern.fullmatch(str(entry.get("from_name"))):
                return {**entry, "from_name": name, "turn": int(found[1])}
        return entry

    sources = {
        key: [
            {**one, "result": [renamed(entry) for entry in mappings(one.get("result"))]} for one in mappings(task[key])
        ]
        for key in ("annotations", "predictions")
        if isinstance(task.get(key), list)
    }
    return {**task, **sources}


def _results(source: Mapping[str, Any]) -> Iterator[Result]:
    """Yield what the results of an annotation or a prediction say."""
    default = "prediction" if source.get("parent_prediction") else "manual"
    entries = list(mappings(source.get("result")))
    messages = [one.get("id") for one in entries if one.get("type") == "chatmessage"]
    turns = {id: turn for turn, id in enumerate(messages)}
    for entry in entries:
        name, type_, value = entry.get("from_name"), entry.get("type"), entry.get("value")
        if not isinstance(type_, str):
            continue
        name = name if isinstance(name, str) else ""
        origin = str(entry.get("origin") or default)
        turn = entry.get("turn", turns.get(entry.get("id")))
        common = {"origin": origin, "turn": turn, "to_name": str(entry.get("to_name") or "")}
        if type_ == "reactcode" and isinstance(value, Mapping):
            yield from _react_results(name, value.get("reactcode"), common)
            continue
        kind, texts = _kind_and_texts(type_, entry)
        region = region_of(entry) if kind in (TEXT, *CONTROL_KINDS.values()) and type_ != "chatmessage" else None
        is_set = type_ == "ranker" and has_buckets(entry)
        yield Result(name, type_, kind, texts, region=region, is_set=is_set, **common)


def _kind_and_texts(type_: str, entry: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return kind and texts of a result; the kind is empty if softirr does not read it."""
    value = entry.get("value")
    if type_ == "textarea":
        text = value.get("text") if isinstance(value, Mapping) else None
        return TEXT, tuple(part for part in (text if isinstance(text, list) else [text]) if isinstance(part, str))
    if type_ == "chatmessage":
        message = value.get("chatmessage") if isinstance(value, Mapping) else None
        content = message.get("content") if isinstance(message, Mapping) else None
        is_answer = isinstance(message, Mapping) and message.get("role") == _ASSISTANT and isinstance(content, str)
        return (TEXT, (str(content),)) if is_answer else ("", ())
    if type_ in CONTROL_KINDS:
        return CONTROL_KINDS[type_], tuple(_value_texts(entry))
    if type_.endswith("labels") and isinstance(value, Mapping):
        given = value.get(type_)
        return LABELS, tuple(one for one in given if isinstance(one, str)) if isinstance(given, list) else ()
    return "", ()


def _react_results(name: str, value: Any, common: Mapping[str, Any]) -> Iterator[Result]:
    """Yield a result for each key of a ReactCode result."""
    if not isinstance(value, Mapping):
        yield Result(name, "reactcode", "", (), **common)
        return
    for key, inner in value.items():
        kind, texts = "", tuple[str, ...]()
        if isinstance(inner, str):
            kind, texts = TEXT, (inner,)
        elif isinstance(inner, bool | int | float) and (text := value_text(inner)) is not None:
            kind, texts = "nominal" if isinstance(inner, bool) else "ordinal", (text,)
        elif isinstance(inner, list) and all(isinstance(part, str) for part in inner):
            kind, texts = "set", tuple(inner)
        yield Result(f"{name}.{key}", "reactcode", kind, texts, **common)


def control_kind(region: Mapping[str, Any]) -> str | None:
    """Return the kind of the control that a result is of; None for text areas and everything else."""
    type_ = region.get("type")
    return CONTROL_KINDS.get(type_) if isinstance(type_, str) else None


def _buckets(region: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the things in each bucket of a ranking, without those that were not sorted."""
    value = region.get("value")
    given = value.get("ranker") if isinstance(value, Mapping) else None
    buckets = given if isinstance(given, Mapping) else {"": given}
    return {
        str(name): [str(one) for one in things if isinstance(one, str | int)]
        for name, things in buckets.items()
        if name != "_" and isinstance(things, list)
    }


def has_buckets(region: Mapping[str, Any]) -> bool:
    """Return whether things are sorted into buckets rather than ranked."""
    return not _buckets(region).keys() <= {"", region.get("from_name")}


def _value_texts(region: Mapping[str, Any]) -> list[str]:
    """Return the values of a result that is not a text, as texts."""
    type_, value = region.get("type"), region.get("value")
    if not isinstance(value, Mapping):
        return []
    if type_ == "ranker":
        buckets = _buckets(region)
        if has_buckets(region):
            return [f"{name}: {thing}" for name, things in buckets.items() for thing in things]
        return [" > ".join(things) for things in buckets.values() if things]
    given = value.get("selected" if type_ == "pairwise" else str(type_))
    texts = (
        " > ".join(map(str, one)) if isinstance(one, list) else one if isinstance(one, str) else value_text(one)
        for one in (given if isinstance(given, list) else [given])
    )
    return [text for text in texts if text]


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


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings in a list; exports have bare ids instead of objects in some places."""
    if isinstance(value, list):
        # JSON has dicts, which are found much faster than other mappings
        yield from (entry for entry in value if type(entry) is dict or isinstance(entry, Mapping))


def _user(value: Any) -> str | None:
    """Return the id of a user: Label Studio writes a number, an object or an email address."""
    if isinstance(value, Mapping):
        value = value.get("id", value.get("email"))
    return None if value is None or isinstance(value, bool) else normalize(str(value))


def _age(source: Mapping[str, Any]) -> tuple[str, str, int]:
    """Sort key for "newest": ISO dates of one server sort as strings."""
    number = source.get("id")
    return (
        str(source.get("updated_at") or ""),
        str(source.get("created_at") or ""),
        number if isinstance(number, int) else 0,
    )


def text_controls(tasks: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the name of every TextArea that has a result in the annotations of the tasks."""
    entries = (
        entry for task in tasks for one in mappings(task.get("annotations")) for entry in mappings(one.get("result"))
    )
    names = (entry.get("from_name") for entry in entries if entry.get("type") == "textarea")
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def field_controls(tasks: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the kind of each control that is not a text area and has a result in the annotations of the tasks.

    Choices are a set if an annotation has several, and rankings are a set if there are several buckets.

    Examples
    --------
    >>> result = [{"type": "choices", "from_name": "side", "value": {"choices": ["left", "right"]}}]
    >>> field_controls([{"annotations": [{"result": result}]}])
    {'side': 'set'}
    """
    kinds: dict[str, str] = {}
    for annotation in (one for task in tasks for one in mappings(task.get("annotations"))):
        seen = Counter[str]()
        for region in mappings(annotation.get("result")):
            name, kind = region.get("from_name"), control_kind(region)
            if not isinstance(name, str) or kind is None:
                continue
            kind = kinds.setdefault(name, kind)
            seen[name] += len(_value_texts(region))
            if (kind == "nominal" and seen[name] > 1) or (kind == "ranking" and has_buckets(region)):
                kinds[name] = "set"
    return kinds


def label_studio_answers(
    task: Mapping[str, Any], *, control: str | None, predictions_as_raters: bool = False, oldest: bool = False
) -> tuple[list[Answer], list[Excluded]]:
    """Return the answers to a control in a task (None: every TextArea), and those that do not count with the reason."""
    read = read_task(task, predictions=predictions_as_raters)
    return _split_rows(raw_answers(read, control, oldest=oldest))


def label_studio_fields(
    task: Mapping[str, Any],
    *,
    controls: Iterable[str],
    predictions_as_raters: bool = False,
    older: Mapping[int, str] | None = None,
) -> dict[str, tuple[list[Answer], list[Excluded]]]:
    """Return the answers to several controls, as :func:`label_studio_answers` does for each."""
    read = read_task(task, predictions=predictions_as_raters)
    return {name: _split_rows(raw_answers(read, name, older=older)) for name in controls}


def _split_rows(rows: Iterable[RawAnswer]) -> tuple[list[Answer], list[Excluded]]:
    answers: list[Answer] = []
    excluded: list[Excluded] = []
    for one in rows:
        if one.reason:
            excluded.append(Excluded(one.item, one.rater, one.reason))
        else:
            answers.append(Answer(one.item, one.rater, one.texts or ()))
    return answers, excluded


def control_texts(source: Mapping[str, Any], control: str | None) -> tuple[str, ...]:
    """Return all texts of a control in an annotation or a prediction; None takes every TextArea."""
    return tuple(text for one in _of_control(source, control) for text in one.texts)


def copied(annotation: Mapping[str, Any], control: str | None) -> str | None:
    """Return COPIED or COPIED_AND_EDITED if an annotation's answer comes from a prediction, else None."""
    results = _of_control(annotation, control)
    return _reason(Source("", tuple(results), ("", "", 0)), results, 0, {}) or None


def _of_control(source: Mapping[str, Any], control: str | None) -> list[Result]:
    return list(_of_field(_results(source), control))

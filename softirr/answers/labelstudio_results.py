"""Results of an annotation of Label Studio: field, kind, texts, region and turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from softirr.answers.kinds import CONTROL_KINDS, TEXT
from softirr.answers.regions import Region, region_of
from softirr.answers.rows import value_text

LABELS = "set:jaccard"
"""Kind of the labels of spans and boxes: the set of labels of a task."""


_TURN = re.compile(r"\{\{[^}]*\}\}")  # the number of a turn in the names of a Repeater


class Result(NamedTuple):
    """A result of an annotation.

    Attributes
    ----------
    field : str
        Name of the control; a key of a ReactCode result follows after a period.
    type : str
        Label Studio's type, such as ``choices``.
    kind : str
        Kind of the field, or empty if softirr does not read results of this type.
    origin : str
        ``manual``, ``prediction`` or ``prediction-changed``.
    turn : int or None
        Number of the message or turn of a dialogue.
    """

    field: str
    type: str
    kind: str
    texts: tuple[str, ...]
    origin: str
    region: Region | None = None
    turn: int | None = None
    to_name: str = ""


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
    for field, to_name in dict.fromkeys((result.field, result.to_name) for result in results):
        for number in re.finditer(r"\d+", field):
            if number[0] in re.findall(r"\d+", to_name):
                base = f"{field[: number.start()].rstrip('_- .')}{field[number.end() :]}"
                names[field] = base, int(number[0])
                numbers.setdefault(base, set()).add(int(number[0]))
    return {name: (base, turn) for name, (base, turn) in names.items() if 0 in numbers[base]}


def with_turns(task: Mapping[str, Any], names: Iterable[str]) -> Mapping[str, Any]:
    """Return a task in which results of a Repeater have the name in the label config, and their turn.

    Parameters
    ----------
    names : iterable of str
        Names of controls in the label config, such as ``rewrite_{{idx}}``.

    Examples
    --------
    >>> task = {"id": 1, "annotations": [{"result": [{"from_name": "rewrite_2", "type": "textarea"}]}]}
    >>> with_turns(task, ["rewrite_{{idx}}"])["annotations"][0]["result"]
    [{'from_name': 'rewrite_{{idx}}', 'type': 'textarea', 'turn': 2}]
    """
    patterns = {
        name: re.compile(r"(\d+)".join(map(re.escape, _TURN.split(name, maxsplit=1)))) for name in names if "{{" in name
    }
    if not patterns:
        return task

    def renamed(entry: Mapping[str, Any]) -> Mapping[str, Any]:
        for name, pattern in patterns.items():
            if match := pattern.fullmatch(str(entry.get("from_name"))):
                return {**entry, "from_name": name, "turn": int(match[1])}
        return entry

    sources = {
        key: [
            {**source, "result": [renamed(entry) for entry in mappings(source.get("result"))]}
            for source in mappings(task[key])
        ]
        for key in ("annotations", "predictions")
        if isinstance(task.get(key), list)
    }
    return {**task, **sources}


def name_in_turn(name: str, turn: int) -> str:
    """Return the name that a control of a Repeater has in a turn.

    Examples
    --------
    >>> name_in_turn("rewrite_{{idx}}", 2)
    'rewrite_2'
    """
    return _TURN.sub(str(turn), name, count=1)


def readable_name(name: str, turn: int | None = None) -> str:
    """Return the name of a control for people: turns are counted from 1.

    Examples
    --------
    >>> readable_name("rewrite_{{idx}}"), readable_name("tone_{{idx}}", 2), readable_name("side")
    ('rewrite', 'tone, turn 3', 'side')
    """
    base = re.sub(rf"[_\- .]*{_TURN.pattern}", "", name, count=1) or name
    return base if turn is None else f"{base}, turn {turn + 1}"


def results_of(source: Mapping[str, Any]) -> Iterator[Result]:
    """Yield the results of an annotation or a prediction."""
    default = "prediction" if source.get("parent_prediction") else "manual"
    entries = list(mappings(source.get("result")))
    messages = [message.get("id") for message in entries if message.get("type") == "chatmessage"]
    turns = {id: turn for turn, id in enumerate(messages) if isinstance(id, str | int)}
    for entry in entries:
        name, type_, value = entry.get("from_name"), entry.get("type"), entry.get("value")
        if not isinstance(type_, str):
            continue
        name = name if isinstance(name, str) else ""
        origin = str(entry.get("origin") or default)
        id = entry.get("id")
        turn = entry.get("turn", turns.get(id) if isinstance(id, str | int) else None)
        common = {"origin": origin, "turn": turn, "to_name": str(entry.get("to_name") or "")}
        if type_ == "reactcode" and isinstance(value, Mapping):
            yield from _react_results(name, value.get("reactcode"), common)
            continue
        kind, texts = _kind_and_texts(type_, entry)
        region = region_of(entry) if type_ == "textarea" or type_ in CONTROL_KINDS else None
        yield Result(name, type_, kind, texts, region=region, **common)


def _kind_and_texts(type_: str, entry: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return kind and texts of a result; the kind is empty if softirr does not read it."""
    value = _as_mapping(entry.get("value"))
    if type_ == "textarea":
        return TEXT, _texts(value.get("text"))
    if type_ == "chatmessage":
        message = _as_mapping(value.get("chatmessage"))
        content = message.get("content")
        return (TEXT, (content,)) if message.get("role") == "assistant" and isinstance(content, str) else ("", ())
    if type_ in CONTROL_KINDS:
        kind = "set" if type_ == "ranker" and _has_buckets(entry) else CONTROL_KINDS[type_]
        return kind, tuple(control_values(entry))
    if type_.endswith("labels") and isinstance(entry.get("value"), Mapping):
        labels = value.get(type_)
        return LABELS, _texts(labels) if isinstance(labels, list) else ()
    return "", ()


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str))


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
        elif isinstance(inner, list) and all(isinstance(entry, str) for entry in inner):
            kind, texts = "set", tuple(inner)
        yield Result(f"{name}.{key}", "reactcode", kind, texts, **common)


def control_kind(region: Mapping[str, Any]) -> str | None:
    """Return the kind of the control that a result is of; None for text areas and everything else."""
    return CONTROL_KINDS.get(str(region.get("type")))


def field_kinds(sources: Iterable[Iterable[Result]]) -> dict[str, str]:
    """Return the kind of each field with a result that is read.

    Choices are a set if an annotation has several, and rankings are a set if there are several buckets.

    Parameters
    ----------
    sources : iterable of iterable of Result
        The results of each annotation.

    Examples
    --------
    >>> result = {"type": "choices", "from_name": "side", "value": {"choices": ["left", "right"]}}
    >>> field_kinds([results_of({"result": [result]})])
    {'side': 'set'}
    """
    kinds: dict[str, str] = {}
    for results in sources:
        n_values = Counter[tuple[str, int | None]]()
        for result in results:
            if result.kind:
                kind = kinds.setdefault(result.field, result.kind)
                n_values[result.field, result.turn] += len(result.texts)
                has_several = kind == "nominal" and n_values[result.field, result.turn] > 1
                if has_several or (kind == "ranking" and result.kind == "set"):
                    kinds[result.field] = "set"
    return kinds


def _buckets(region: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the things in each bucket of a ranking, without those that were not sorted."""
    ranked = _as_mapping(region.get("value")).get("ranker")
    buckets = ranked if isinstance(ranked, Mapping) else {"": ranked}
    return {
        str(name): [str(thing) for thing in things if isinstance(thing, str | int)]
        for name, things in buckets.items()
        if name != "_" and isinstance(things, list)
    }


def _has_buckets(region: Mapping[str, Any]) -> bool:
    """Return whether things are sorted into buckets rather than ranked."""
    return not _buckets(region).keys() <= {"", str(region.get("from_name"))}


def control_values(region: Mapping[str, Any]) -> list[str]:
    """Return the values of a result that is not a text, as texts."""
    type_, value = region.get("type"), _as_mapping(region.get("value"))
    if type_ == "ranker":
        buckets = _buckets(region)
        if _has_buckets(region):
            return [f"{name}: {thing}" for name, things in buckets.items() for thing in things]
        return [" > ".join(things) for things in buckets.values() if things]
    values = value.get("selected" if type_ == "pairwise" else str(type_))
    texts = (
        " > ".join(map(str, entry))
        if isinstance(entry, list)
        else entry
        if isinstance(entry, str)
        else value_text(entry)
        for entry in (values if isinstance(values, list) else [values])
    )
    return [text for text in texts if text]


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings in a list; exports have bare ids instead of objects in some places."""
    if isinstance(value, list):
        # JSON has dicts, which are found much faster than other mappings
        yield from (entry for entry in value if type(entry) is dict or isinstance(entry, Mapping))

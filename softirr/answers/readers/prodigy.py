"""Prodigy's JSON lines, as ``prodigy db-out`` writes them (version 1.18).

text_input fields and choices, one line for each annotation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from softirr.answers.answer import SKIPPED, RawInput
from softirr.answers.registry import Format, Records, Request, Ways, chosen_fields, tool_input, unread_fields
from softirr.errors import InputError
from softirr.text import is_blank

REJECTED = "rejected"
_ACCEPT = "accept"
"""Key of the options of a choice interface that an annotator accepted."""
_TASK = "_task_hash"
_SEVERAL_QUESTIONS = (
    "Annotators answered several questions about an input, so an item is a question about an input (_task_hash)."
)
_OWN = frozenset([
    "text", "html", "image", "audio", "video", "label", "options", "answer", "accept", "config", "meta", "spans",
    "tokens", "relations", "priority", "score", "pattern", "path", "transcript", "prompt", "style",
])  # fmt: skip
"""Keys of the task; those that begin with an underscore are Prodigy's, too."""
_UNREAD = ("spans", "relations")
"""Keys of annotations that softirr does not compare."""


def _has_hash(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("_input_hash"), int | str)


def _read(records: Records, request: Request) -> RawInput:
    """Return the answers to the chosen text_input fields, or to the only one, and the choices.

    Of several annotations by one annotator the newest counts. An item is an input (``_input_hash``), a rater an
    annotator (``_annotator_id``, or ``_session_id``). Inputs that were ignored or rejected are left out
    with that reason.
    """
    annotations = _annotations(records, request)
    names = _text_fields(annotations, request)
    kinds = {} if request.options.kind is None else _kinds([entry.record for entry in annotations])
    has_choices = any(isinstance(entry.record.get(_ACCEPT), list) for entry in annotations)
    if not kinds and has_choices and (not names or _ACCEPT in request.texts):
        names.append(_ACCEPT)
    fields = chosen_fields(request, names, kinds, "text_input field")
    key = _item_key(annotations)
    for entry in annotations:
        item = str(entry.record.get(key, entry.record["_input_hash"]))
        reason = {"ignore": SKIPPED, "reject": REJECTED}.get(str(entry.record.get("answer")), "")
        for field in fields.values():
            texts = _texts(entry.record, field.name, request.line(entry.line))
            field.add(item, entry.rater, texts, entry.line, reason)
    keys = (name for entry in annotations for name in (*_UNREAD, _ACCEPT) if entry.record.get(name))
    unread = Counter(name for name in keys if name not in fields)
    notes = [*([_SEVERAL_QUESTIONS] if key == _TASK else []), *unread_fields(unread, "keys", request)]
    return tool_input(request, "prodigy", fields, len(annotations), notes)


class _Annotation(NamedTuple):
    """A line of the file."""

    time: float
    line: int
    record: Mapping[str, Any]
    rater: str


def _annotations(records: Records, request: Request) -> list[_Annotation]:
    """Return the lines of the file, the oldest first."""
    annotations = []
    for line, record in request.checked(records, _has_hash, "_input_hash, as prodigy db-out writes it"):
        rater = record.get("_annotator_id") or record.get("_session_id")
        if not isinstance(rater, str) or not rater.strip():
            raise InputError(f"{request.line(line)}: neither _annotator_id nor _session_id names an annotator.")
        time = record.get("_timestamp") or 0
        if not isinstance(time, int | float):
            raise InputError(f"{request.line(line)}: _timestamp is not a number.")
        annotations.append(_Annotation(time, line, record, rater.strip()))
    return sorted(annotations, key=lambda entry: entry.time)


def _text_fields(annotations: Sequence[_Annotation], request: Request) -> list[str]:
    """Return the keys with texts that are not part of the task; by default the usual one."""
    names = dict.fromkeys(
        key
        for entry in annotations
        for key, value in entry.record.items()
        if isinstance(value, str) and key not in _OWN and not key.startswith("_")
    )
    return ["user_input"] if "user_input" in names and not request.texts else list(names)


def _texts(record: Mapping[str, Any], name: str, location: str) -> tuple[str, ...] | None:
    """Return the answer of a record to a field."""
    value = record.get(name)
    if name == _ACCEPT and isinstance(value, list):
        return _options(record, location)
    if not isinstance(value, str | None):
        raise InputError(f"{location}: {name} is not a text.")
    return None if value is None or is_blank(value) else (value,)


def _item_key(annotations: Sequence[_Annotation]) -> str:
    """Return the key of the items: the input, or the task if an annotator has several questions about an input."""
    questions: dict[tuple[str, str], set[str]] = {}
    for entry in annotations:
        key = str(entry.record["_input_hash"]), entry.rater
        questions.setdefault(key, set()).add(str(entry.record.get(_TASK)))
    return _TASK if any(len(tasks) > 1 for tasks in questions.values()) else "_input_hash"


def _kinds(records: list[Mapping[str, Any]]) -> dict[str, str]:
    """Return the kind of the choices, if there are any: a set if an annotator may choose several, or did."""
    choices = [accepted for record in records if isinstance(accepted := record.get(_ACCEPT), list)]
    if not choices:
        return {}
    styles = {config.get("choice_style") for record in records if isinstance(config := record.get("config"), Mapping)}
    return {_ACCEPT: "set" if "multiple" in styles or max(map(len, choices)) > 1 else "nominal"}


def _options(record: Mapping[str, Any], location: str) -> tuple[str, ...] | None:
    """The texts of the options that were accepted; None if there are none."""
    if not all(isinstance(option, str | int) for option in record[_ACCEPT]):
        raise InputError(f"{location}: {_ACCEPT} is not a list of identifiers of options.")
    options = record.get("options")
    texts = {
        str(option.get("id")): str(option.get("text") or option.get("id"))
        for option in (options if isinstance(options, list) else ())
        if isinstance(option, Mapping)
    }
    return tuple(texts.get(str(id), str(id)) for id in record[_ACCEPT]) or None


FORMATS = (Format("prodigy", records=Ways(lambda record: "_input_hash" in record, _read)),)

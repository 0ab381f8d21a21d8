"""Prodigy's JSON lines, as ``prodigy db-out`` writes them (version 1.18).

text_input fields and choices, one line for each annotation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from softirr.answers.answer import SKIPPED, RawInput
from softirr.answers.registry import Format, Request, Ways, chosen_fields, tool_input, unread_fields
from softirr.answers.rows import Records
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


def _read(records: Records, request: Request) -> RawInput:
    """Return the answers to the chosen text_input fields, or to the only one, and the choices.

    Of several annotations by one annotator the newest counts. An item is an input (``_input_hash``), a rater an
    annotator (``_annotator_id``, or ``_session_id``). Inputs that were ignored or rejected are left out
    with that reason.
    """
    annotations = _annotations(records, request)
    names = _text_fields(annotations, request)
    kinds = _kinds([record for _, record, _ in annotations])
    if kinds and request.options.kind is None:
        names += [_ACCEPT] if not names or _ACCEPT in request.texts else []
        kinds = {}
    fields = chosen_fields(request, names, kinds, "text_input field")
    questions: dict[tuple[str, str], set[str]] = {}
    for _, record, rater in annotations:
        questions.setdefault((str(record["_input_hash"]), rater), set()).add(str(record.get(_TASK)))
    key = _TASK if any(len(tasks) > 1 for tasks in questions.values()) else "_input_hash"
    for line, record, rater in annotations:
        item = str(record.get(key, record["_input_hash"]))
        reason = {"ignore": SKIPPED, "reject": REJECTED}.get(str(record.get("answer")), "")
        for field in fields.values():
            field.add(item, rater, _texts(record, field.name, request.line(line)), line, reason)
    keys = (name for _, record, _ in annotations for name in (*_UNREAD, _ACCEPT) if record.get(name))
    unread = Counter(name for name in keys if name not in fields)
    notes = [*([_SEVERAL_QUESTIONS] if key == _TASK else []), *unread_fields(unread, "keys", request)]
    return tool_input(request, "prodigy", fields, len(annotations), notes)


_Annotation = tuple[int, Mapping[str, Any], str]
"""Line, record and rater."""


def _annotations(records: Records, request: Request) -> list[_Annotation]:
    """Return the lines of the file, the oldest first."""
    annotations: list[_Annotation] = []
    expected = "_input_hash, as prodigy db-out writes it"
    for line, record in request.checked(records, lambda row: isinstance(row.get("_input_hash"), int | str), expected):
        rater = record.get("_annotator_id") or record.get("_session_id")
        if not isinstance(rater, str) or not rater.strip():
            raise InputError(f"{request.line(line)}: neither _annotator_id nor _session_id names an annotator.")
        if not isinstance(record.get("_timestamp") or 0, int | float):
            raise InputError(f"{request.line(line)}: _timestamp is not a number.")
        annotations.append((line, record, rater.strip()))
    return sorted(annotations, key=lambda annotation: annotation[1].get("_timestamp") or 0)


def _text_fields(annotations: Sequence[_Annotation], request: Request) -> list[str]:
    """Return the keys with texts that are not part of the task; by default the usual one."""
    names = dict.fromkeys(
        key
        for _, record, _ in annotations
        for key, value in record.items()
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

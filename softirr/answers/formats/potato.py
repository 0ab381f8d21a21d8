"""Potato's output: ``user_state.json`` in a folder for each annotator (version 2), or lines of ``annotated_instances.jsonl`` (version 1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from softirr.answers.archives import Folder
from softirr.answers.gathered import Records, Request, Tables, chosen_texts, gathered_tables
from softirr.answers.json_values import line_values
from softirr.answers.registry import Format, Ways
from softirr.answers.source import Source
from softirr.errors import InputError

__all__ = ["FORMATS"]

_Answer = tuple[str, str, str, tuple[str, ...]]
"""Item, rater, schema and texts."""


_STATE, _LINES = "user_state.json", "annotated_instances.jsonl"


def _is_it(record: Mapping[str, Any]) -> bool:
    """Whether a record is a line of ``annotated_instances.jsonl``, or a ``user_state.json``."""
    return "label_annotations" in record or "instance_id_to_label_to_value" in record


def _read(records: Records, request: Request) -> Tables:
    """The answers of lines with ``user_id`` in each, or of one annotator's state."""
    return _tables(_line_answers(records, request, ""), request)


def _read_folder(folder: Folder, request: Request) -> Tables:
    """The answers of a folder for each annotator; states are newer than lines."""
    if states := folder.called(_STATE):
        return _tables(
            (one for path in states for one in _state_answers(_state(path), path.parent.name, str(path))), request
        )
    answers = (
        one
        for path in folder.called(_LINES)
        for one in _line_answers(line_values(Source(path)), replace(request, name=str(path)), path.parent.name)
    )
    return _tables(answers, request)


def _state(path: Path) -> Mapping[str, Any]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not valid JSON.") from None
    if not isinstance(state, Mapping) or not _is_it(state):
        raise InputError(f"{path} is no user_state.json of Potato: it has no instance_id_to_label_to_value.")
    return state


def _state_answers(state: Mapping[str, Any], rater: str, place: str) -> Iterator[_Answer]:
    """The answers in a ``user_state.json``; the folder names the rater where the state does not."""
    rater = str(state.get("user_id") or rater)
    labels = state["instance_id_to_label_to_value"]
    if not isinstance(labels, Mapping):
        raise InputError(f"{place}: instance_id_to_label_to_value is not an object.")
    for item, given in labels.items():
        yield from _schemas(given, str(item), rater, place)


def _line_answers(records: Records, request: Request, rater: str | None) -> Iterator[_Answer]:
    for place, record in request.checked(records, _is_it, "label_annotations, as Potato writes them"):
        if "label_annotations" not in record:
            yield from _state_answers(record, rater or "", place)
            continue
        item = record.get("id", record.get("instance_id"))
        who = record.get("user_id") or rater
        if item in (None, "") or not who:
            raise InputError(f"{place}: the instance or its user_id is missing.")
        yield from _schemas(record["label_annotations"], str(item), str(who), place)


def _tables(answers: Iterable[_Answer], request: Request) -> Tables:
    """The tables of the schemas asked for, or of the only one with texts."""
    kept = list(answers)
    schemas = list(dict.fromkeys(schema for _, _, schema, texts in kept if texts))
    gathered = {name: request.gathered() for name in chosen_texts(request, schemas, "annotation scheme")}
    for item, rater, schema, texts in kept:
        if schema in gathered:
            gathered[schema].add(item, rater, texts or None, f"{request.name}, instance {item}")
    return gathered_tables(request, "potato", gathered, n_rows=len({item for item, *_ in kept}))


def _schemas(given: Any, item: str, rater: str, place: str) -> Iterator[_Answer]:
    """The text boxes of one instance: ``{schema: {label: text}}``, or pairs of ``{"schema", "name"}`` and text.

    The last one counts.
    """
    texts: dict[str, dict[str, str]] = {}
    if isinstance(given, Mapping):
        for schema, labels in given.items():
            for name, value in (labels if isinstance(labels, Mapping) else {"": labels}).items():
                _note(texts, str(schema), str(name), value)
    elif isinstance(given, list):
        for pair in given:
            if (
                not isinstance(pair, list)
                or len(pair) != 2
                or not isinstance(pair[0], Mapping)
                or "schema" not in pair[0]
            ):
                raise InputError(f"{place}: instance {item!r} has an entry that is no label with a value.")
            _note(texts, str(pair[0]["schema"]), str(pair[0].get("name", "")), pair[1])
    else:
        raise InputError(f"{place}: the annotations of instance {item!r} are neither an object nor a list.")
    for schema, labels in texts.items():
        yield item, rater, schema, tuple(text for text in labels.values() if text.strip())


def _note(texts: dict[str, dict[str, str]], schema: str, name: str, value: Any) -> None:
    """Marks of choices (true, or the label's own name) are no texts."""
    if isinstance(value, str) and value not in ("true", "false") and value != name:
        texts.setdefault(schema, {})[name] = value


FORMATS = (
    Format(
        "potato",
        folder=Ways(lambda folder: bool(folder.called(_STATE, _LINES)), _read_folder),
        records=Ways(_is_it, _read),
    ),
)

"""Potato's output: ``user_state.json`` in a folder for each annotator (version 2), or lines of ``annotated_instances.jsonl`` (version 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from softirr.errors import InputError
from softirr.tables.request import Records, Request, chosen_texts, gathered_tables
from softirr.tables.table import AnnotationTable

__all__ = ["is_potato", "is_state", "read_potato", "state_answers", "states_tables"]

_Answer = tuple[str, str, str, tuple[str, ...]]
"""Item, rater, schema and texts."""


def is_potato(record: Mapping[str, Any]) -> bool:
    """Whether a line is of ``annotated_instances.jsonl``."""
    return "label_annotations" in record


def is_state(value: Any) -> bool:
    """Whether an object is a ``user_state.json``."""
    return isinstance(value, Mapping) and "instance_id_to_label_to_value" in value


def read_potato(records: Records, request: Request) -> dict[str, AnnotationTable]:
    """The answers of ``annotated_instances.jsonl`` with ``user_id`` in each line.

    Raises
    ------
    InputError
        Names the line that can't be used, or the schemas to choose from.
    """
    return states_tables(_line_answers(records, request, None), request)


def state_answers(state: Mapping[str, Any], rater: str, place: str) -> Iterator[_Answer]:
    """The answers in a ``user_state.json``.

    Parameters
    ----------
    state : mapping
    rater : str
        Name of the folder, where the state names no user.
    place : str
        For messages.
    """
    rater = str(state.get("user_id") or rater)
    labels = state["instance_id_to_label_to_value"]
    if not isinstance(labels, Mapping):
        raise InputError(f"{place}: instance_id_to_label_to_value is not an object.")
    for item, given in labels.items():
        yield from _schemas(given, str(item), rater, place)


def line_answers(records: Records, request: Request, rater: str) -> Iterator[_Answer]:
    """The answers of one annotator's ``annotated_instances.jsonl``."""
    return _line_answers(records, request, rater)


def _line_answers(records: Records, request: Request, rater: str | None) -> Iterator[_Answer]:
    for line, record in records:
        place = request.line(line)
        if not isinstance(record, Mapping) or not is_potato(record):
            raise InputError(f"{place}: expected label_annotations, as Potato writes them.")
        item = record.get("id", record.get("instance_id"))
        who = record.get("user_id") or rater
        if item in (None, "") or not who:
            raise InputError(f"{place}: the instance or its user_id is missing.")
        yield from _schemas(record["label_annotations"], str(item), str(who), place)


def states_tables(answers: Iterable[_Answer], request: Request) -> dict[str, AnnotationTable]:
    """The tables of the schemas asked for, or of the only one with texts."""
    kept = list(answers)
    found = list(dict.fromkeys(schema for _, _, schema, texts in kept if texts))
    gathered = {name: request.gathered() for name in chosen_texts(request, found, "annotation scheme")}
    for item, rater, schema, texts in kept:
        if schema in gathered:
            gathered[schema].add(item, rater, texts or None, f"{request.name}, instance {item}")
    return gathered_tables(request, "potato", gathered, n_rows=len({item for item, *_ in kept}))


def _schemas(given: Any, item: str, rater: str, place: str) -> Iterator[_Answer]:
    """The text boxes of one instance: ``{schema: {label: text}}``, or pairs of ``{"schema", "name"}`` and text, of which the last counts."""
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

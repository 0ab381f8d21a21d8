"""JSON lines of softirr, ``{"item": ..., "rater": ..., "texts": [...]}``: missing and empty answers differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.answers.raw import RawField, RawInput
from softirr.answers.registry import Format, Ways
from softirr.answers.request import Records, Request, tool_input
from softirr.answers.values import identifier
from softirr.errors import InputError

_KEYS = {"item", "rater", "texts"}


def _is_it(record: Mapping[str, Any]) -> bool:
    return record.keys() >= _KEYS


def _read(records: Records, request: Request) -> RawInput:
    """The answers of the lines; a later line replaces an earlier one, and texts that are null are a missing answer."""
    texts_field = RawField("texts")
    n = 0
    extra_keys: set[str] = set()
    for line, row in request.checked(records, _is_it, '{"item": ..., "rater": ..., "texts": [...]}'):
        n += 1
        location = request.line(line)
        names = []
        for key in ("item", "rater"):
            name = row[key]
            if isinstance(name, bool) or not isinstance(name, int | str) or not str(name).strip():
                raise InputError(f"{location}: {key} is neither a name nor a number.")
            names.append(identifier(location, key, str(name)))
        extra_keys |= row.keys() - _KEYS
        request.weights.add(location, names[0], row)
        texts = row["texts"]
        if texts is None:  # asked, but no answer: the item exists, the answer is missing
            texts_field.retract(names[0], names[1])
        elif not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{location}: texts is not a list of strings.")
        else:
            texts_field.add(names[0], names[1], tuple(texts) or None, line)
    request.weights.require(request.name, extra_keys)
    return tool_input(request, "jsonl", {"texts": texts_field}, n)


FORMATS = (Format("answers", records=Ways(lambda record: "texts" in record, _read)),)

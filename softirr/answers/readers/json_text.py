"""JSON: a list of objects, one object, or JSON lines.

The first object decides which tool wrote it; else objects are rows of a table. JSON lines of softirr
(``{"item": ..., "rater": ..., "texts": [...]}``) distinguish missing from empty answers.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from softirr.answers.answer import TAKEN_BACK, RawField, RawInput
from softirr.answers.json_values import line_values, list_values
from softirr.answers.registry import Format, Records, Request, Ways, tool_input
from softirr.answers.source import Source, first_line
from softirr.answers.values import identifier
from softirr.errors import InputError


def _is_json(source: Source) -> bool:
    return source.check_text().lstrip().startswith(("[", "{"))


def _read(source: Source, request: Request) -> Records:
    """Records of a list or of lines, or one object over several lines."""
    start = source.check_text().lstrip()
    if start.startswith("["):
        return list_values(source, "task" if '"annotations"' in start else "entry")
    if not start.startswith("{"):
        raise InputError(f"{source.name} is no JSON, so it can't be read as {request.options.format}.")
    line = first_line(start)
    if line.strip() != "{" and (_parsed(line) is not None or not source.is_short or _parsed(start) is None):
        return line_values(source)
    value = _parsed("".join(source.text()))
    if value is None:
        raise InputError(f"{source.name} is not valid JSON.")
    return iter([(1, value)])


def _parsed(text: str) -> Any:
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


_KEYS = {"item", "rater", "texts"}


def _read_answers(records: Records, request: Request) -> RawInput:
    """The answers of the lines; a later line replaces an earlier one, and texts that are null are a missing answer."""
    texts_field = RawField("texts")
    n = 0
    extra_keys: set[str] = set()
    for line, row in request.checked(
        records, lambda record: record.keys() >= _KEYS, '{"item": ..., "rater": ..., "texts": [...]}'
    ):
        n += 1
        location = request.line(line)
        names = []
        for key in ("item", "rater"):
            name = row[key]
            if isinstance(name, bool) or not isinstance(name, int | str) or not str(name).strip():
                raise InputError(f"{location}: {key} is neither a name nor a number.")
            names.append(identifier(location, key, str(name)))
        extra_keys |= row.keys() - _KEYS
        request.add_weight(location, names[0], row)
        texts = row["texts"]
        if texts is None:  # asked, but no answer: the item exists, the answer is missing
            texts_field.add(names[0], names[1], None, line, TAKEN_BACK)
        elif not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{location}: texts is not a list of strings.")
        else:
            texts_field.add(names[0], names[1], tuple(texts) or None, line)
    request.require_weights(request.name, extra_keys)
    return tool_input(request, "jsonl", {"texts": texts_field}, n)


FORMATS = (
    Format("json", file=Ways(_is_json, _read), is_general=True),
    Format("jsonl", file=Ways(_is_json, _read), is_general=True),
    Format("answers", records=Ways(lambda record: "texts" in record, _read_answers)),
)

"""JSON: a list of objects, one object, or JSON lines.

The first object decides which tool wrote it; else objects are rows of a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from softirr.answers.json_values import line_values, list_values
from softirr.answers.registry import Format, Ways
from softirr.answers.request import Records, Request
from softirr.answers.source import Source, first_line
from softirr.errors import InputError


def _is_json(source: Source) -> bool:
    return source.check_text().lstrip().startswith(("[", "{"))


def _read(source: Source, request: Request) -> Records | Mapping[str, Any]:
    """Records of a list or of lines, or one object."""
    start = source.check_text().lstrip()
    if start.startswith("["):
        return list_values(source, "task" if '"annotations"' in start else "entry")
    if not start.startswith("{"):
        raise InputError(f"{source.name} is no JSON, so it can't be read as {request.options.format}.")
    return _object(source) if _is_one_object(source, start) else line_values(source)


def _is_one_object(source: Source, start: str) -> bool:
    """Whether a text that begins with a brace is one object, and no JSON lines."""
    line = first_line(start)
    if (first := _parsed(line)) is not None:
        return source.is_short and line.strip() == start.strip() and not {"item", "rater", "texts"} & first.keys()
    return line.strip() == "{" or (source.is_short and _parsed(start) is not None)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _object(source: Source) -> Mapping[str, Any]:
    value = _parsed("".join(source.text()))
    if value is None:
        raise InputError(f"{source.name} is not valid JSON.")
    return value


FORMATS = (
    Format("json", file=Ways(_is_json, _read), is_general=True),
    Format("jsonl", file=Ways(_is_json, _read), is_general=True),
)

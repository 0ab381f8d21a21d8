"""Label Studio's exports with a row for each annotation: JSON_MIN, CSV and TSV (as of Label Studio 1.23).

They hold no label config, so a TextArea is told from the task's data by its values: those of one task differ between annotators.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from softirr.errors import InputError
from softirr.tables.request import Records, Request, chosen_texts, gathered_tables, in_order
from softirr.tables.table import NO_RATER, AnnotationTable, Excluded

__all__ = ["is_flat", "read_flat"]

_OWN = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history"}


def is_flat(keys: Iterable[str]) -> bool:
    """Whether a row, or the header of a table, is of such an export."""
    return {"annotation_id", "annotator"} <= set(keys)


def read_flat(records: Records, request: Request) -> dict[str, AnnotationTable]:
    """The tables of the TextAreas asked for, or of the only one; the newest annotation of each annotator counts.

    Raises
    ------
    InputError
        Names the line that can't be used, or the fields to choose from.
    """
    kept = []
    for line, record in records:
        if not isinstance(record, Mapping) or not is_flat(record) or record.get("id") in (None, ""):
            raise InputError(
                f"{request.line(line)}: expected id, annotator and annotation_id, as Label Studio exports them."
            )
        kept.append((record.get("updated_at"), line, record))
    names = list(dict.fromkeys(key for _, _, record in kept for key in record if key not in _OWN))
    controls = _controls(kept, names)
    if not controls and not request.texts and len(names) > 1:
        raise InputError(
            f"{request.name} does not tell which of {', '.join(names)} is the TextArea: say it with --text, or export with the format JSON."
        )
    fields = chosen_texts(request, names if request.texts else controls or names, "TextArea")
    gathered = {name: request.gathered() for name in fields}
    for _, line, record in in_order(kept):
        item, rater = str(record["id"]), record["annotator"]
        for name, one in gathered.items():
            if record["annotation_id"] in (None, ""):
                one.drop(item, "")  # a task without annotations
            elif rater in (None, "", "None"):
                one.drop(item, "")
                one.excluded.append(Excluded(item, "", NO_RATER))
            else:
                texts = _texts(record.get(name), request.line(line), name)
                one.add(item, str(rater), texts or None, request.line(line))
    return gathered_tables(request, "label-studio-flat", gathered, n_rows=len(kept))


def _controls(kept: Sequence[tuple[Any, int, Mapping[str, Any]]], names: list[str]) -> list[str]:
    """The fields whose values differ between the annotations of a task: data of the task do not."""
    first: dict[str, Mapping[str, Any]] = {}
    differ = set()
    for _, _, record in kept:
        before = first.setdefault(str(record["id"]), record)
        differ |= {name for name in names if record.get(name) != before.get(name)}
    return [name for name in names if name in differ]


def _texts(value: Any, place: str, name: str) -> tuple[str, ...]:
    """A text, a list of texts, or ``{"text": [...]}``; CSV has the last two as JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return (value,)
    found: list[str] = []
    for part in value if isinstance(value, list) else [value]:
        inner = part.get("text") if isinstance(part, Mapping) else part
        for text in inner if isinstance(inner, list) else [inner]:
            if not isinstance(text, str | None) or (isinstance(part, Mapping) and "text" not in part):
                raise InputError(f"{place}: {name} holds no texts.")
            found += [] if text is None or not text.strip() else [text]
    return tuple(found)

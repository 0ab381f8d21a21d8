"""Label Studio's exports with a row for each annotation: JSON_MIN, CSV and TSV (as of Label Studio 1.23).

They contain no label config, so the values decide which column is the TextArea: they differ between the annotators of a
task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.gathered import Records, Request, Tables, chosen_texts, gathered_tables, in_order
from softirr.answers.registry import Format, Ways
from softirr.answers.row_tables import rows_tables
from softirr.answers.rows import Rows
from softirr.answers.table import NO_RATER, Excluded
from softirr.errors import InputError
from softirr.text import is_blank

__all__ = ["FORMATS"]

_NOT_TOLD = (
    "This export of Label Studio does not say which answers were copied from predictions, so such answers count, and two "
    "annotators who took over the same prediction agree. It does not list skipped tasks and drafts either. Export with the format "
    "JSON to leave copies out with the reason."
)
_OWN = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history"}


def _is_it(keys: Iterable[str]) -> bool:
    """Whether a row, or the header of a table, is of such an export."""
    return {"annotation_id", "annotator"} <= set(keys)


def _read(records: Records, request: Request) -> Tables:
    """The tables of the TextAreas asked for, or of the only one; the newest annotation of each annotator counts."""
    kept = []
    expected = "id, annotator and annotation_id, as Label Studio exports them"
    for place, record in request.checked(
        records, lambda one: _is_it(one) and one.get("id") not in (None, ""), expected
    ):
        kept.append((record.get("updated_at"), place, record))
    names = list(dict.fromkeys(key for _, _, record in kept for key in record if key not in _OWN))
    controls = _controls(kept, names)
    if not controls and not request.texts and len(names) > 1:
        raise InputError(
            f"{request.name} does not show which of {', '.join(names)} is the TextArea: name it with --text, or export with the format JSON."
        )
    fields = chosen_texts(request, names if request.texts else controls or names, "TextArea")
    gathered = {name: request.gathered() for name in fields}
    for _, place, record in in_order(kept):
        item, rater = str(record["id"]), record["annotator"]
        for name, one in gathered.items():
            if record["annotation_id"] in (None, ""):
                one.drop(item, "")  # a task without annotations
            elif rater in (None, "", "None"):
                one.drop(item, "")
                one.excluded.append(Excluded(item, "", NO_RATER))
            else:
                texts = _texts(record.get(name), place, name)
                one.add(item, str(rater), texts or None, place)
    return gathered_tables(request, "label-studio-flat", gathered, n_rows=len(kept), notes=(_NOT_TOLD,))


def _controls(kept: Sequence[tuple[Any, str, Mapping[str, Any]]], names: list[str]) -> list[str]:
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
    texts: list[str] = []
    for part in value if isinstance(value, list) else [value]:
        inner = part.get("text") if isinstance(part, Mapping) else part
        for text in inner if isinstance(inner, list) else [inner]:
            if not isinstance(text, str | None) or (isinstance(part, Mapping) and "text" not in part):
                raise InputError(f"{place}: {name} has no texts.")
            texts += [] if text is None or is_blank(text) else [text]
    return tuple(texts)


def _is_table(columns: tuple[str, ...], first: list[dict[str, Any]], request: Request) -> bool:
    return _is_it(columns)


def _read_table(table: Rows, request: Request) -> Tables:
    if request.names_columns:
        return rows_tables(replace(table, notes=(*table.notes, _NOT_TOLD)), request)
    return _read(table.records(), request)


FORMATS = (Format("label-studio-flat", records=Ways(_is_it, _read), table=Ways(_is_table, _read_table)),)

"""Label Studio's exports with a row for each annotation: JSON_MIN, CSV and TSV.

They have no label config, so the values show which column is a control: they differ between the annotators of a task.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from softirr.answers.answer import NO_RATER, RawField, RawInput
from softirr.answers.kinds import AUTO, CONTROL_KINDS, TEXT
from softirr.answers.labelstudio_results import control_values
from softirr.answers.registry import Format, Records, Request, Ways, chosen_texts, is_empty, tool_input, unread_fields
from softirr.answers.row_tables import rows_input
from softirr.answers.rows import Rows
from softirr.answers.values import value_text
from softirr.errors import InputError, option
from softirr.numbers import plural
from softirr.text import is_blank, listed

_NOT_TOLD = (
    "This export of Label Studio does not say which answers were copied from predictions or filled in from the task's "
    "data, so such answers count, and two annotators who took over the same text agree. It does not list skipped tasks "
    "and drafts either. Export with the format JSON to leave copies out with the reason."
)
_OWN = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history"}
_LONG = 40
"""Characters of a text that is surely not the name of a category."""


@dataclass
class _Field:
    """A column of answers: its raw answers, whether the user names its kind, and counts of cells without texts."""

    raw: RawField
    has_kind: bool = False
    n_spans: int = 0
    n_without_text: int = 0


def _is_it(keys: Iterable[str]) -> bool:
    """Return whether a row, or the header of a table, belongs to such an export."""
    return {"annotation_id", "annotator"} <= set(keys)


def _read(records: Records, request: Request, *, is_text: bool = False) -> RawInput:
    """Return the raw answers to the chosen controls; the newest annotation of each annotator counts.

    Parameters
    ----------
    is_text : bool
        Whether the cells are texts, in which lists are written as JSON.
    """
    rows = []
    expected = "id, annotator and annotation_id, as Label Studio exports them"
    for line, record in request.checked(
        records, lambda column: _is_it(column) and column.get("id") not in (None, ""), expected
    ):
        rows.append((str(record.get("updated_at") or ""), line, record))
    rows.sort(key=lambda row: row[0])
    texts = (None, AUTO, TEXT)
    names = _chosen(request, [record for *_, record in rows])
    fields = {name: _Field(RawField(name), request.options.kind_of(name) not in texts) for name in names}
    for _, line, record in rows:
        for column in fields.values():
            _add(column, record, line, (request, is_text))
    for name, column in fields.items():
        kind_notes = () if column.has_kind else _kind_note(name, column)
        column.raw.notes = [_NOT_TOLD, *_cell_notes(name, column), *kind_notes]
        if column.n_spans and not any(row.texts for row in column.raw.answers):
            raise InputError(
                f"{request.name}: {name} has {plural(column.n_spans, 'span or box', 'spans or boxes')} with labels, "
                "which "
                "softirr does not read from this format. Export with the format JSON to compare the labels of a task."
            )
    unread = _unread([record for *_, record in rows], fields)
    notes = list(unread_fields(unread, "columns (data of tasks, or other controls)", request))
    raw_fields = {name: column.raw for name, column in fields.items()}
    return tool_input(request, "label-studio-flat", raw_fields, len(rows), notes)


def _chosen(request: Request, records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = list(dict.fromkeys(key for record in records for key in record if _may_be_control(key)))
    controls = _controls(records, names)
    if not controls and not request.texts and len(names) > 1:
        raise InputError(
            f"{request.name} does not show which of {', '.join(names)} is the TextArea: name it with "
            f"{option('text')}, or export with the format JSON."
        )
    return chosen_texts(request, names if request.texts else controls or names, "TextArea")


def _may_be_control(key: str) -> bool:
    return key not in _OWN and not key.startswith("_data_")


def _unread(records: Sequence[Mapping[str, Any]], compared: Container[str]) -> Counter[str]:
    """Return the number of values in each column that is not compared: data of tasks, or another control."""
    return Counter(
        key
        for record in records
        for key, value in record.items()
        if _may_be_control(key) and key not in compared and not is_empty(value)
    )


def _controls(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Return the columns with values that differ between the annotations of a task."""
    first: dict[str, Mapping[str, Any]] = {}
    differ = set()
    for record in records:
        first_record = first.setdefault(str(record["id"]), record)
        differ |= {name for name in names if record.get(name) != first_record.get(name)}
    return [name for name in names if name in differ]


def _add(column: _Field, record: Mapping[str, Any], line: int, source: tuple[Request, bool]) -> None:
    request, is_text = source
    item, rater = str(record["id"]), record["annotator"]
    column.raw.add_item(item)
    if record["annotation_id"] in (None, ""):  # a task without annotations
        return
    if rater in (None, "", "None"):
        column.raw.add(item, "", None, line, NO_RATER)
        return
    texts = _texts(column, record.get(column.raw.name), f"{request.line(line)}: {column.raw.name}", is_text)
    column.raw.add(item, str(rater), texts or None, line)


def _texts(column: _Field, value: Any, location: str, is_text: bool) -> tuple[str, ...]:
    """Return the texts of a cell: a text, a list of texts and regions, or ``{"text": [...]}``."""
    if is_text and isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = _list_or_text(json.loads(value), value, column)
        except ValueError:
            return (value,)
    texts: list[str] = []
    for entry in value if isinstance(value, list) else [value]:
        if column.has_kind and (values := _values(entry)) is not None:
            texts += values
            continue
        if isinstance(entry, Mapping) and any(str(key).endswith("labels") for key in entry):
            column.n_spans += 1
            continue
        if isinstance(entry, Mapping) and "text" not in entry:
            if not _is_region(entry):
                kind = option("field", f"{column.raw.name}=nominal")
                raise InputError(f"{location} has no texts. If it has categories or other values, name a kind: {kind}.")
            column.n_without_text += 1
            continue
        inner = entry["text"] if isinstance(entry, Mapping) else entry
        for text in inner if isinstance(inner, list) else [inner]:
            if not isinstance(text, str | None):
                raise InputError(f"{location} has no texts.")
            texts += [] if text is None or is_blank(text) else [text]
    return tuple(texts)


def _values(entry: Any) -> list[str] | None:
    """Return the values of a control such as Choices or Rating; None if an entry has none."""
    if not isinstance(entry, Mapping):
        return None if isinstance(entry, str) or (text := value_text(entry)) is None else [text]
    type_ = next((name for name in CONTROL_KINDS if ("selected" if name == "pairwise" else name) in entry), None)
    return None if type_ is None else control_values({"type": type_, "value": entry})


def _is_region(entry: Mapping[str, Any]) -> bool:
    return bool({"start", "end", "x", "y", "points", "vertices", "ranges", "sequence", "rle"} & entry.keys())


def _list_or_text(parsed: Any, text: str, column: _Field) -> Any:
    """Return the content of JSON in a cell: texts, values and regions of Label Studio, or else the cell as it is."""
    entries = parsed if isinstance(parsed, list) else [parsed]
    is_ours = (
        isinstance(entry, str)
        or (isinstance(entry, Mapping) and ("text" in entry or _is_region(entry)))
        or (column.has_kind and _values(entry) is not None)
        for entry in entries
    )
    return parsed if entries and all(is_ours) else text


def _cell_notes(name: str, column: _Field) -> Iterator[str]:
    if column.n_without_text:
        regions = plural(column.n_without_text, "region")
        yield f"{regions} of {listed([name])} without a text {'is' if column.n_without_text == 1 else 'are'} left out."
    if column.n_spans:
        yield f"{plural(column.n_spans, 'span or box', 'spans or boxes')} with labels in {listed([name])} are not read."


def _kind_note(name: str, column: _Field) -> Iterator[str]:
    """Yield a note if the values may be categories."""
    texts = [text for row in column.raw.answers for text in row.texts or ()]
    distinct = set(texts)
    if len(texts) > 3 and 2 * len(distinct) <= len(texts) and max(map(len, distinct)) <= _LONG:
        yield (
            f"This export does not say whether {listed([name])} is a TextArea or has categories: its values are "
            f"compared as texts. {option('field', f'{name}=nominal')} compares them as categories."
        )


def _read_table(table: Rows, request: Request) -> RawInput:
    if not request.names_columns:
        return _read(table.records(), request, is_text=True)
    raw = rows_input(table, request)
    for raw_field in raw.fields.values():
        raw_field.notes.append(_NOT_TOLD)
    return raw


FORMATS = (
    Format(
        "label-studio-flat", records=Ways(_is_it, _read), table=Ways(lambda columns, *_: _is_it(columns), _read_table)
    ),
)

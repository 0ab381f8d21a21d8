"""Label Studio's exports with a row for each annotation: JSON_MIN, CSV and TSV.

They have no label config, so the values show which column is a control: they differ between the annotators of a task.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from softirr.answers.answer import NO_RATER, RawField, RawInput
from softirr.answers.kinds import AUTO, CONTROL_KINDS, TEXT
from softirr.answers.labelstudio_results import control_values
from softirr.answers.registry import Format, Request, Ways, chosen_texts, is_empty, tool_input, unread_fields
from softirr.answers.row_tables import rows_input
from softirr.answers.rows import Records, Rows, value_text
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
    expected = "id, annotator and annotation_id, as Label Studio exports them"
    rows = list(
        request.checked(records, lambda record: _is_it(record) and record.get("id") not in (None, ""), expected)
    )
    rows.sort(key=lambda row: str(row[1].get("updated_at") or ""))
    columns = {
        name: _Column(RawField(name), is_text, request.options.kind_of(name) not in (None, AUTO, TEXT))
        for name in _chosen(request, [record for _, record in rows])
    }
    for line, record in rows:
        for column in columns.values():
            column.field.add_item(str(record["id"]))
            if record["annotation_id"] not in (None, ""):  # not a task without annotations
                column.add(record, line, request.line(line))
    for name, column in columns.items():
        column.field.notes = [_NOT_TOLD, *column.notes()]
        if (n := column.n_spans) and not any(row.texts for row in column.field.answers):
            raise InputError(
                f"{request.name}: {name} has {plural(n, 'span or box', 'spans or boxes')} with labels, which softirr "
                "does not read from this format. Export with the format JSON to compare the labels of a task."
            )
    unread = Counter(  # data of tasks, or another control
        key
        for _, record in rows
        for key, value in record.items()
        if _may_be_control(key) and key not in columns and not is_empty(value)
    )
    notes = list(unread_fields(unread, "columns (data of tasks, or other controls)", request))
    fields = {name: column.field for name, column in columns.items()}
    return tool_input(request, "label-studio-flat", fields, len(rows), notes)


def _chosen(request: Request, records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fields to read; controls are columns with values that differ between the annotations of a task."""
    names = list(dict.fromkeys(key for record in records for key in record if _may_be_control(key)))
    first: dict[str, Mapping[str, Any]] = {}
    differ = set()
    for record in records:
        first_record = first.setdefault(str(record["id"]), record)
        differ |= {name for name in names if record.get(name) != first_record.get(name)}
    controls = [name for name in names if name in differ]
    if not controls and not request.texts and len(names) > 1:
        raise InputError(
            f"{request.name} does not show which of {', '.join(names)} is the TextArea: name it with "
            f"{option('text')}, or export with the format JSON."
        )
    return chosen_texts(request, names if request.texts else controls or names, "TextArea")


def _may_be_control(key: str) -> bool:
    return key not in _OWN and not key.startswith("_data_")


@dataclass
class _Column:
    """The answers to a control, and counts of cells that are left out.

    Attributes
    ----------
    is_text : bool
        Whether the cells are texts, in which lists are written as JSON.
    has_kind : bool
        Whether an option names a kind for other values than texts.
    """

    field: RawField
    is_text: bool
    has_kind: bool
    n_spans: int = 0
    n_regions: int = 0

    def add(self, record: Mapping[str, Any], line: int, location: str) -> None:
        """Add an answer: a text, a list of texts and regions, or ``{"text": [...]}``, which may be written as JSON."""
        name, item, rater = self.field.name, str(record["id"]), record["annotator"]
        value: Any = record.get(name)
        if rater in (None, "", "None"):
            self.field.add(item, "", None, line, NO_RATER)
            return
        if self.is_text and isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            with contextlib.suppress(ValueError):
                value = _list_or_text(json.loads(value), value, self.has_kind)
        texts: list[str] = []
        for entry in value if isinstance(value, list) else [value]:
            if self.has_kind and (values := _values(entry)) is not None:
                texts += values
            elif isinstance(entry, Mapping) and any(str(key).endswith("labels") for key in entry):
                self.n_spans += 1
            elif isinstance(entry, Mapping) and "text" not in entry:
                if not _is_region(entry):
                    kind = option("field", f"{name}=nominal")
                    raise InputError(
                        f"{location}: {name} has no texts. If it has categories or other values, name a kind: {kind}."
                    )
                self.n_regions += 1
            else:
                inner = entry["text"] if isinstance(entry, Mapping) else entry
                for text in inner if isinstance(inner, list) else [inner]:
                    if not isinstance(text, str | None):
                        raise InputError(f"{location}: {name} has no texts.")
                    texts += [] if text is None or is_blank(text) else [text]
        self.field.add(item, str(rater), tuple(texts) or None, line)

    def notes(self) -> Iterator[str]:
        """Yield what is left out, and whether the values may be categories."""
        name, texts = listed([self.field.name]), [text for row in self.field.answers for text in row.texts or ()]
        if n := self.n_regions:
            yield f"{plural(n, 'region')} of {name} without a text {'is' if n == 1 else 'are'} left out."
        if n := self.n_spans:
            yield f"{plural(n, 'span or box', 'spans or boxes')} with labels in {name} are not read."
        distinct = set(texts)
        if self.has_kind or len(texts) < 4 or 2 * len(distinct) > len(texts):
            return
        if max(map(len, distinct)) <= _LONG:
            yield (
                f"This export does not say whether {name} is a TextArea or has categories: its values are compared as "
                f"texts. {option('field', f'{self.field.name}=nominal')} compares them as categories."
            )


def _values(entry: Any) -> list[str] | None:
    """Return the values of a control such as Choices or Rating; None if an entry has none."""
    if not isinstance(entry, Mapping):
        return None if isinstance(entry, str) or (text := value_text(entry)) is None else [text]
    type_ = next((name for name in CONTROL_KINDS if ("selected" if name == "pairwise" else name) in entry), None)
    return None if type_ is None else control_values({"type": type_, "value": entry})


def _is_region(entry: Mapping[str, Any]) -> bool:
    return bool({"start", "end", "x", "y", "points", "vertices", "ranges", "sequence", "rle"} & entry.keys())


def _list_or_text(parsed: Any, text: str, has_kind: bool) -> Any:
    """Return the content of JSON in a cell: texts, values and regions of Label Studio, or the text as written."""
    entries = parsed if isinstance(parsed, list) else [parsed]
    is_ours = (
        isinstance(entry, str)
        or (isinstance(entry, Mapping) and ("text" in entry or _is_region(entry)))
        or (has_kind and _values(entry) is not None)
        for entry in entries
    )
    return parsed if entries and all(is_ours) else text


def _read_table(table: Rows, request: Request) -> RawInput:
    if not request.names_columns:
        return _read(table.records(), request, is_text=True)
    raw = rows_input(table, request)
    raw.notes = [*raw.notes, _NOT_TOLD]
    return raw


FORMATS = (
    Format(
        "label-studio-flat", records=Ways(_is_it, _read), table=Ways(lambda columns, *_: _is_it(columns), _read_table)
    ),
)

"""Answers that are read, whatever they come in: the format is told by the content."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.provenance import Progress
from softirr.tables.delimited import delimited_rows
from softirr.tables.fields import ItemFields
from softirr.tables.folders import folder_sha256, folder_tables, unpacked
from softirr.tables.frames import frame_rows, is_frame
from softirr.tables.json_values import json_rows, line_values, list_values
from softirr.tables.jsonl import is_answer, read_answers
from softirr.tables.labelstudio import export_tables
from softirr.tables.layout import Groups, Layout
from softirr.tables.period import Period
from softirr.tables.request import Records, Request
from softirr.tables.rows import Rows, rows_tables
from softirr.tables.source import Source, contents, first_line
from softirr.tables.table import AnnotationTable
from softirr.tables.tools.argilla import is_argilla, read_argilla
from softirr.tables.tools.cas import is_cas_json
from softirr.tables.tools.doccano import is_doccano, read_doccano
from softirr.tables.tools.label_studio_flat import is_flat, read_flat
from softirr.tables.tools.potato import is_potato, is_state, read_potato, state_answers, states_tables
from softirr.tables.tools.prodigy import is_prodigy, read_prodigy
from softirr.tables.weights import weighted
from softirr.tables.workbook import is_parquet, is_workbook, parquet_rows, workbook_rows

__all__ = ["FORMATS", "contents", "read", "read_texts"]

Tables = dict[str, AnnotationTable]

_OF_RECORDS: dict[str, tuple[Callable[[Mapping[str, Any]], bool], Callable[[Records, Request], Tables]]] = {
    "answers": (is_answer, read_answers),
    "label-studio-flat": (is_flat, read_flat),
    "prodigy": (is_prodigy, read_prodigy),
    "argilla": (is_argilla, read_argilla),
    "doccano": (is_doccano, read_doccano),
    "potato": (is_potato, read_potato),
    "label-studio": (lambda record: "annotations" in record, export_tables),
}
"""Formats of JSON lists and JSON lines: what their first record looks like, and their reader."""
_OF_TEXT = {"csv": None, "tsv": "\t"}
"""Formats with a row for each line, and what separates the cells; None is told by the content."""
FORMATS = ("auto", *_OF_TEXT, "xlsx", "parquet", "json", "jsonl", *_OF_RECORDS, "folder")
"""What ``format`` can be."""


def read(
    source: Any,
    *,
    format: str = "auto",
    control: str | None = None,
    casefold: bool = False,
    predictions_as_raters: bool = False,
    item: str | None = None,
    rater: str | None = None,
    text: str | Sequence[str] = (),
    raters: Groups = (),
    items: Groups = (),
    fields: Sequence[str] = (),
    weight: str | None = None,
    empty: str | None = None,
    repeats: str | None = None,
    since: str | None = None,
    before: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    progress: Progress | None = None,
) -> AnnotationTable:
    r"""Read answers from a file or a data frame; the reference has a table of the formats.

    Parameters
    ----------
    source : path, "-" for standard input, open text stream, or data frame of pandas, polars or pyarrow
        A long table has a row for each text: several rows of one item and rater are a set. A wide table has a row for each item and a column for
        each rater, a survey a row for each rater and a column for each item. A cell of a data frame or of JSON may hold a list of texts.
    format : str
        Name of the format, where it cannot be told by the content.
    control : str, optional
        The TextArea to read from a Label Studio export; needed when the export has several.
    casefold : bool
        Texts that differ only in case are one text.
    predictions_as_raters : bool
        In a Label Studio export, count each model version as a rater.
    item, rater, text : str
        Columns of a long table; needed unless their names leave no doubt. ``item`` of a wide table and ``rater`` of a survey, too. ``a+b`` takes
        two columns together.
    raters : sequence of str, or mapping of names to columns, optional
        The table is wide, and these columns are its raters.
    items : sequence of str, or mapping of names to columns, optional
        The table is a survey, and these columns are its items.
    fields : sequence of str
        What to read about the items beside the answers, such as ``site``: values in ``data`` of Label Studio's tasks (``annotated_at`` is when the newest
        annotation was made), other columns of a table, other keys of JSONL.
    weight : str, optional
        A field of the items that says how much each counts, such as a survey's case weight: an item of weight 2 counts as if it stood there twice.
    empty : {"missing", "none"}, optional
        What an empty cell means: the rater was not asked, or found nothing. By default it is missing, but for files with the columns
        ``item,rater,text``, whose empty texts are empty answers. An empty list in a cell is always an empty answer.
    repeats : {"set", "first", "last", "refuse"}, optional
        What several rows of one rater on one item are: a set of texts, versions of which the first or last counts, or a mistake. By default a set in
        long tables, and refused in the others.
    since, before : str, optional
        Dates such as ``2026-03-01``: of a Label Studio export only the annotations that were last changed from ``since`` on, and before ``before``.
    encoding : str, optional
        Of a text file; UTF-8 and UTF-16 are told by the content.
    sheet : str, optional
        Of an Excel workbook; the first visible sheet with a table if not given.
    progress : callable, optional
        Called with the bytes read and the bytes in all.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        If the input can't be used; the message says what is wrong and where, and which options would read it.

    Examples
    --------
    >>> import io
    >>> table = read(io.StringIO("item,rater,text\n1,ann,fever\n1,bob,high fever\n"))
    >>> table.raters
    ('ann', 'bob')
    >>> wide = io.StringIO("case,ann,bob\n1,fever,high fever\n2,cough,\n")
    >>> read(wide, item="case", raters=["ann", "bob"]).items
    ('1', '2')
    """
    found = read_texts(
        source,
        format=format,
        controls=() if control is None else (control,),
        casefold=casefold,
        predictions_as_raters=predictions_as_raters,
        item=item,
        rater=rater,
        text=text,
        raters=raters,
        items=items,
        fields=fields,
        weight=weight,
        empty=empty,
        repeats=repeats,
        since=since,
        before=before,
        encoding=encoding,
        sheet=sheet,
        progress=progress,
    )
    if len(found) > 1:
        raise InputError(
            f"This reads several columns of texts ({', '.join(found)}): softirr.read_texts gives a table for each."
        )
    return next(iter(found.values()))


def read_texts(
    source: Any,
    *,
    format: str = "auto",
    controls: Sequence[str] = (),
    casefold: bool = False,
    predictions_as_raters: bool = False,
    item: str | None = None,
    rater: str | None = None,
    text: str | Sequence[str] = (),
    raters: Groups = (),
    items: Groups = (),
    fields: Sequence[str] = (),
    weight: str | None = None,
    empty: str | None = None,
    repeats: str | None = None,
    since: str | None = None,
    before: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    progress: Progress | None = None,
) -> dict[str, AnnotationTable]:
    r"""Read several columns of texts in one run: several columns of a long table, or several TextAreas of an export.

    Parameters
    ----------
    source, format
        As for :func:`softirr.read`.
    controls : sequence of str
        TextAreas of a Label Studio export.
    casefold, predictions_as_raters, item, rater
        As for :func:`softirr.read`.
    text : str or sequence of str
        Columns of the texts, each read for itself.
    raters, items, fields, weight, empty, repeats, since, before, encoding, sheet, progress
        As for :func:`softirr.read`.

    Returns
    -------
    dict of str to AnnotationTable
        The fields in the order asked for.

    Raises
    ------
    InputError
        As for :func:`softirr.read`.

    Examples
    --------
    >>> import io
    >>> rows = io.StringIO("id,who,finding,plan\n1,ann,fever,rest\n1,bob,fever,tea\n")
    >>> list(read_texts(rows, item="id", rater="who", text=["finding", "plan"]))
    ['finding', 'plan']
    """
    layout = Layout(item, rater, text, raters, items, empty, repeats)
    wanted = ItemFields(fields if weight is None else dict.fromkeys((*fields, weight)))
    period = Period.of(since, before)
    if format not in FORMATS:
        raise InputError(f"There is no format {format!r}: it can be {', '.join(FORMATS)}.")
    request = Request("", layout, controls, casefold, predictions_as_raters, wanted, period=period)
    tables = _read(source, request, format, sheet, encoding, progress)
    return tables if weight is None else {name: weighted(table, weight) for name, table in tables.items()}


def _read(
    source: Any, request: Request, format: str, sheet: str | None, encoding: str | None, progress: Progress | None
) -> Tables:
    """The tables of a request, whose name and hash are those of the source."""
    if is_frame(source):
        _only_exports("A data frame", request)
        return rows_tables(
            frame_rows(source), request.layout, casefold=request.casefold, fields=request.fields, frame=True
        )
    if not isinstance(source, str | os.PathLike | io.TextIOBase):
        raise InputError(f"A path, an open text file or a data frame can be read, but not a {type(source).__name__}.")
    if isinstance(source, str | os.PathLike) and source != "-" and os.path.isdir(source):
        _only_exports(str(source), replace(request, controls=(), predictions_as_raters=False))
        return _of_folder(Path(source), replace(request, name=str(source), predictions_as_raters=False), encoding)
    opened = Source(source, encoding=encoding, progress=progress)
    request = replace(request, name=opened.name, sha256=lambda: opened.sha256)
    tables = _tables(opened, request, format, sheet)
    made = next(iter(tables.values())).reading
    if made is not None and not made.format.startswith("label-studio"):
        _only_exports(opened.name, request)
    return tables


def _only_exports(name: str, request: Request) -> None:
    if request.controls or request.predictions_as_raters:
        raise InputError(f"{name} is no Label Studio export, so it has no controls and no predictions to choose from.")
    if not request.period.is_all:
        raise InputError(f"{name} is no Label Studio export, so it does not say when an answer was given.")


def _tables(source: Source, request: Request, format: str, sheet: str | None) -> Tables:
    if source.start.startswith(b"PK\x03\x04") and format in ("auto", "folder") and not is_workbook(source):
        with unpacked(source) as folder:
            return _of_folder(folder, request, None)
    content = _content(source, format, sheet)
    if isinstance(content, Rows):
        return _of_rows(content, request)
    if isinstance(content, Mapping):
        return _of_object(content, request)
    kind = "json" if source.check_text().lstrip().startswith("[") else "jsonl"
    return _of_records(source.name, content, request, format, kind)


def _content(source: Source, format: str, sheet: str | None = None) -> Rows | Records | Mapping[str, Any]:
    """Rows of a table, records of JSON, or one object."""
    if format == "parquet" or (format == "auto" and is_parquet(source.start)):
        return parquet_rows(source)
    if format == "xlsx" or (format == "auto" and source.start.startswith(b"PK\x03\x04") and is_workbook(source)):
        return workbook_rows(source, sheet)
    start = source.check_text().lstrip()
    if not start and source.is_short:
        raise InputError(f"{source.name} is empty.")
    if format in _OF_TEXT or (format == "auto" and start[:1] not in ("[", "{")):
        return delimited_rows(source, delimiter=_OF_TEXT.get(format))
    if start.startswith("["):
        return list_values(source, "task" if '"annotations"' in start else "entry")
    if not start.startswith("{"):
        raise InputError(f"{source.name} is no JSON, so it can't be read as {format}.")
    return _object(source) if _is_object(source, start) else line_values(source)


def _is_object(source: Source, start: str) -> bool:
    """Whether a text that begins with a brace is one object, and no JSON lines."""
    line = first_line(start)
    if any(key in start for key in _OBJECTS):
        return True
    if _is_json(line):
        return (
            source.is_short
            and line.strip() == start.strip()
            and not {"item", "rater", "texts"} & json.loads(line).keys()
        )
    return line.strip() == "{" or (source.is_short and _is_json(start))


def _object(source: Source) -> Mapping[str, Any]:
    try:
        found = json.loads("".join(source.text()))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        raise InputError(f"{source.name} is not valid JSON.")
    return found


_OBJECTS = ("%TYPES", "%FEATURE_STRUCTURES", "instance_id_to")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _of_object(found: Mapping[str, Any], request: Request) -> Tables:
    if is_state(found):
        return states_tables(state_answers(found, "", request.name), request)
    if is_cas_json(found):
        raise InputError(
            f"{request.name} holds the annotations of one person: give the folder with a file for each annotator."
        )
    raise InputError(
        f'{request.name} is one JSON object: a Label Studio export is a list of tasks, and JSONL has {{"item": ..., "rater": ..., '
        '"texts": [...]} on each line.'
    )


def _of_folder(folder: Path, request: Request, encoding: str | None) -> Tables:
    def opened(path: Path) -> Rows | Records:
        content = _content(Source(path, encoding=encoding), "auto")
        if isinstance(content, Mapping):
            raise InputError(f"{path} is one JSON object, and no file of answers.")
        return content

    sha256 = request.sha256 if request.sha256() else lambda: folder_sha256(folder)
    return folder_tables(folder, replace(request, sha256=sha256), opened)


def _of_records(name: str, records: Records, request: Request, format: str, kind: str) -> Tables:
    """The tables of a JSON list or of JSON lines; the first record tells the format."""
    first = next(records, None)
    if first is None:
        raise InputError(f"{name} holds no tasks.")
    every = chain([first], records)
    if format in _OF_RECORDS:
        return _OF_RECORDS[format][1](every, request)
    if not isinstance(first[1], Mapping) or not first[1]:
        raise InputError(
            f"{name} is no Label Studio JSON export: entry 1 is not a task with annotations, nor a row of a table."
        )
    if (reader := _reader(first[1], request)) is not None:
        return reader(every, request)
    return _of_rows(json_rows(name, every, kind), request)


def _reader(record: Mapping[str, Any], request: Request) -> Callable[[Records, Request], Tables] | None:
    """The reader of a tool's records; columns that the user names mean a table, but a text column alone names a tool's field."""
    layout = request.layout
    if layout.item or layout.rater or layout.raters or layout.items:
        return None
    return next((reader for is_it, reader in _OF_RECORDS.values() if is_it(record)), None)


def _of_rows(rows: Rows, request: Request) -> Tables:
    """The tables of rows, which may be a tool's records: Label Studio's CSV, or Argilla's Parquet files."""
    ours = {"text", "rater", "item"} <= {column.casefold() for column in rows.columns}
    if rows.format in ("csv", "tsv", "xlsx", "parquet") and not ours:
        numbered = iter(rows.rows)
        first = next(numbered, None)
        every = chain([first], numbered) if first is not None else iter(())
        rows = replace(rows, rows=every)
        if first is not None:
            record = dict(zip(rows.columns, first[1], strict=False))
            reader = _reader(record, request)
            if reader in (read_flat, read_argilla):
                width = len(rows.columns)
                records = (
                    (number, dict(zip(rows.columns, [*cells, *[None] * (width - len(cells))], strict=True)))
                    for number, cells in every
                )
                return reader(records, request)
    return rows_tables(rows, request.layout, casefold=request.casefold, fields=request.fields, sha256=request.sha256)

"""Answers that are read from a file, a folder or a data frame; the content decides which format it is."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from softirr.answers.answer import MODEL, RawInput, whole_of
from softirr.answers.frames_and_lists import frame_rows, is_frame
from softirr.answers.kinds import TEXT
from softirr.answers.prepare import prepare
from softirr.answers.read_options import ReadOptions, changed_options, takes_read_options
from softirr.answers.readers.json_text import json_rows
from softirr.answers.readers.table_folders import Folder, unpacked
from softirr.answers.registry import Request, format_names, recognized
from softirr.answers.row_tables import rows_input
from softirr.answers.rows import OPTIONS_OF_FORM, Records, Rows
from softirr.answers.source import Source
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import weighted
from softirr.errors import InputError, option
from softirr.provenance import Progress
from softirr.text import listed, shown

_PEEKED = 3
"""Rows that the format of a table is recognized by."""


@takes_read_options
def read(
    source: Any, options: ReadOptions | None = None, *, progress: Progress | None = None, **keywords: Any
) -> AnnotationTable:
    r"""Read answers from a file or a data frame; the reference has a table of the formats.

    Parameters
    ----------
    source : path, "-" for standard input, open text stream, or data frame of pandas, polars or pyarrow
        A long table has a row for each text: several rows of one item and rater are a set. A wide table has a row for
        each item and a column for each rater. A cell of a data frame or of JSON may be a list of texts.
    options : ReadOptions, optional
        Options that are used for several inputs.
    progress : callable, optional
        Called with the bytes read and the bytes in all.
    **keywords
        Single options by name, see :class:`softirr.ReadOptions`.

    Raises
    ------
    InputError
        If the input can't be used; the message names the problem, its location, and options that would read it.

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
    tables = _read_texts(source, changed_options("read", options, keywords), progress)
    if len(tables) > 1:
        raise InputError(
            f"This reads several columns of texts ({', '.join(tables)}): softirr.read_texts gives a table for each."
        )
    return next(iter(tables.values()))


@takes_read_options
def read_texts(
    source: Any, options: ReadOptions | None = None, *, progress: Progress | None = None, **keywords: Any
) -> dict[str, AnnotationTable]:
    r"""Read several columns of texts in one run: several columns of a long table, or several TextAreas of an export.

    Parameters
    ----------
    source : path, "-" for standard input, open text stream, or data frame of pandas, polars or pyarrow
        As for :func:`softirr.read`.
    options : ReadOptions, optional
        Options that are used for several inputs.
    progress : callable, optional
        Called with the bytes read and the bytes in all.
    **keywords
        Single options by name, see :class:`softirr.ReadOptions`. ``text`` and ``control`` may name several, each read
        for itself.

    Returns
    -------
    dict of str to AnnotationTable
        The fields in the order of the options.

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
    return _read_texts(source, changed_options("read_texts", options, keywords), progress)


def _read_texts(source: Any, options: ReadOptions, progress: Progress | None) -> dict[str, AnnotationTable]:
    """Return the prepared table of each field of an input."""
    if options.format not in format_names():
        raise InputError(f"There is no format {options.format!r}: it can be {', '.join(format_names())}.")
    raw, request, sha256 = _raw(source, options, progress)
    _check_export_options(raw, request)
    _name_field(raw, options)
    tables = {name: prepare(field, options, raw, sha256=sha256) for name, field in raw.fields.items()}
    if options.weight is None:
        return tables
    has_parts = raw.format == "label-studio"
    return {
        name: weighted(table, _weights_of(table, request.weights, has_parts), f" in {options.weight}")
        for name, table in tables.items()
    }


def _weights_of(table: AnnotationTable, weights: Mapping[str, str], has_parts: bool) -> dict[str, str]:
    """Return the weight of each item of a table; a region or a turn of a task has the weight of its task."""
    tasks = {item: whole_of(item) if has_parts else item for item in table.items}
    return {item: weights.get(item, weights.get(task, "")) for item, task in tasks.items()}


def _name_field(raw: RawInput, options: ReadOptions) -> None:
    """Give a field without a name the only name to which the options give a kind, and refuse other unknown names."""
    if not isinstance(options.kind, Mapping):
        return
    if list(raw.fields) == [""] and len(options.kind) == 1:
        (raw.fields[""].name,) = options.kind
        raw.fields = {raw_field.name: raw_field for raw_field in raw.fields.values()}
    if unknown := [name for name in options.kind if name not in raw.fields]:
        raise InputError(
            f"There is no field {shown(unknown[0])!r} to give a kind; there are {listed(list(raw.fields))}."
        )


def _raw(source: Any, options: ReadOptions, progress: Progress | None) -> tuple[RawInput, Request, str | None]:
    """Return the raw answers of an input, the request with its name and the weights of its items, and its hash."""
    if is_frame(source):
        rows, options = frame_rows(source, options)
        request = Request("A data frame", options)
        _refuse_options(rows.reader_options, request)
        return rows_input(rows, request), request, None
    if not isinstance(source, str | os.PathLike | io.TextIOBase):
        raise InputError(f"A path, an open text file or a data frame can be read, but not a {type(source).__name__}.")
    if isinstance(source, str | os.PathLike) and source != "-" and os.path.isdir(source):
        request = Request(str(source), options)
        _refuse_options(("encoding",), request)
        raw, folder = _of_folder(Path(source), request)
        return raw, request, folder.sha256
    opened = Source(source, encoding=options.encoding, progress=progress)
    request = Request(opened.name, options)
    content = _content(opened, request)
    _refuse_options(content.reader_options if isinstance(content, Rows) else ("encoding",), request)
    if isinstance(content, Rows):
        content = _of_rows(content, request)
    elif not isinstance(content, RawInput):
        content = _of_records(content, opened, request)
    return content, request, opened.sha256


def _refuse_options(names: Collection[str], request: Request) -> None:
    """Refuse options of other forms of input than this one, which has those with these names."""
    for name in OPTIONS_OF_FORM:
        if name not in names and getattr(request.options, name) != getattr(ReadOptions(), name):
            raise InputError(f"{request.name}: {option(name)} has no effect on this format, so leave it out.")


def _check_export_options(raw: RawInput, request: Request) -> None:
    """Refuse options of Label Studio's exports for other input; note those that change nothing in an export."""
    options = request.options
    raters = {answer.rater for field in raw.fields.values() for answer in field.answers}
    lacks_models = options.predictions_as_raters and not any(rater.startswith(MODEL) for rater in raters)
    if raw.format.startswith("label-studio"):
        unused = {option("predictions-as-raters"): "no prediction is an answer"} if lacks_models else {}
        is_merged = any(field.is_merged for field in raw.fields.values())
        if is_merged and options.empty == "missing" and any(field.kind == TEXT for field in raw.fields.values()):
            unused[option("empty", "missing")] = "an annotation without text is an answer that found nothing"
        if is_merged and options.repeats in ("set", "refuse"):
            unused[option("repeats", options.repeats)] = "the newest annotation of an annotator counts"
        raw.notes = [*raw.notes, *(f"{name} changes nothing: {why}." for name, why in unused.items())]
        return
    if options.control:
        raise InputError(f"{request.name} is not a Label Studio export, so it has no controls.")
    if lacks_models:
        raise InputError(
            f"{request.name} is not a Label Studio export, so it has no predictions, and no name of a rater begins "
            f"with {MODEL!r}: name the raters that are models."
        )


def _content(source: Source, request: Request) -> Rows | Records | RawInput:
    """Return rows of a table, records of JSON, or raw answers."""
    reader = recognized("file", request.options.format, source, general=not source.is_zip)
    if reader is not None:
        return reader.read(source, request)
    with unpacked(source) as path:
        return _of_folder(path, request)[0]


def _of_folder(path: Path, request: Request) -> tuple[RawInput, Folder]:
    options = ReadOptions(encoding=request.options.encoding)

    def opened(file: Path) -> Rows | Records:
        content = _content(Source(file, encoding=options.encoding), Request(str(file), options))
        if isinstance(content, RawInput):
            raise InputError(f"{file} has the answers of several raters: a folder has a table for each rater.")
        return content

    folder = Folder(path, request.name, opened)
    reader = recognized("folder", request.options.format, folder)
    assert reader is not None, "any folder is at least a folder of tables"
    return reader.read(folder, request), folder


def _of_records(records: Records, source: Source, request: Request) -> RawInput:
    """Return the answers of JSON; the first record decides which tool wrote it."""
    name, options = source.name, request.options
    kind = "json" if source.check_text().lstrip().startswith("[") else "jsonl"
    first = list(islice(records, 2))
    if not first:
        raise InputError(f"{name} has no tasks.")
    (line, record), all_records = first[0], chain(first, records)
    reader = recognized("records", options.format, record) if isinstance(record, Mapping) else None
    names_others = options.rater or options.raters or not (reader and reader.takes_item)
    as_table = request.names_columns and names_others and options.format in ("auto", "json", "jsonl")
    if reader is not None and not as_table:
        return reader.read(all_records, request)
    if kind == "jsonl" and len(first) == 1 and not {"item", "rater", "texts"} & record.keys():
        raise InputError(
            f"{name} is one JSON object: a Label Studio export is a list of tasks, and JSONL has "
            f'{{"item": ..., "rater": ..., '
            '"texts": [...]} on each line.'
        )
    if not isinstance(record, Mapping) or not record:
        raise InputError(
            f"{name} is not a Label Studio JSON export: entry 1 is not a task with annotations, nor a row of a table."
        )
    rows = json_rows(name, _only_rows(name, all_records, request), kind)
    if set(rows.columns) <= {"item", "rater"} and not options.names_columns:
        raise InputError(f'{name}, line {line}: expected {{"item": ..., "rater": ..., "texts": [...]}}.')
    return _of_rows(rows, request)


def _only_rows(name: str, records: Records, request: Request) -> Records:
    """Yield records, and refuse one in a tool's format: the order of records does not decide what they are."""
    for number, record in records:
        if isinstance(record, Mapping) and not request.names_columns and recognized("records", "", record) is not None:
            raise InputError(
                f"{name}, line {number}: this record is of another format than the first one. Name the columns with "
                "item, rater and text, or the format."
            )
        yield number, record


def _of_rows(rows: Rows, request: Request) -> RawInput:
    """Return the answers in rows, which a tool may have written."""
    first, rows = rows.peek(_PEEKED)
    start = [dict(zip(rows.columns, cells, strict=False)) for _, cells in first]
    if (reader := recognized("table", request.options.format, rows.columns, start, request)) is not None:
        content: Rows | RawInput = reader.read(rows, request)
        if not isinstance(content, Rows):
            return content
        rows = content
    return rows_input(rows, request)

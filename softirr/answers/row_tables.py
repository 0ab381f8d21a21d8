"""Rows of any table as raw answers: a row for each answer, or a column for each rater."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from softirr.answers.answer import RawField, RawInput
from softirr.answers.kinds import AUTO
from softirr.answers.layout import Columns, columns_by_names, find_columns
from softirr.answers.read_options import ReadOptions
from softirr.answers.registry import Request
from softirr.answers.rows import Row, Rows, is_missing, is_number
from softirr.errors import InputError, option
from softirr.numbers import plural
from softirr.text import listed, normalize

_N_STANDARD = 3
"""Number of columns of a long table without any other column."""
_SEARCHED = 10
_RATER, _ITEM = "\0rater", "row"
"""Names of the columns that a table of a single rater, or a table without a header, does not have."""


def rows_input(table: Rows, request: Request) -> RawInput:
    """Return the raw answers of a table, with a field for each column of texts.

    Raises
    ------
    InputError
        If the user has to name the columns, or a cell cannot be read.
    """
    options = request.options
    if options.header == "none":
        table, options = _with_row_numbers(table, options)
    columns = find_columns(table.columns, options, table.name)
    if request.options.weight in {table.columns[i] for indices in columns.groups.values() for i in indices}:
        raise InputError(
            f"{table.name}: the column {request.options.weight!r} has the weights, so it cannot have answers, too."
        )
    fields = _new_fields(table, columns, options)
    n_rows = n_short = 0
    types: set[tuple[int, bool]] = set()
    for row in _read_rows(table, columns, fields, request):
        n_rows += 1
        n_short += not columns.is_long and len(row.cells) < len(table.columns)
        types |= {(i, isinstance(row.cells[i], str)) for i in (*columns.item, *columns.rater)}
    if not n_rows:
        raise InputError(f"{table.name} has a header but no answers.")
    if table.delimiter and columns.is_long:
        _refuse_open_quotes(table, columns, fields)
    request.require_weights(table.name, (name for i, name in enumerate(table.columns) if i not in columns.used))
    notes = [*table.notes, *_name_notes(table, columns, options, types)]
    if n_short:
        notes.append(
            f"{plural(n_short, 'row is', 'rows are')} shorter than the header: the missing cells count as empty."
        )
    return RawInput(table.format, fields, n_rows, table.location, notes=notes)


def _with_row_numbers(table: Rows, options: ReadOptions) -> tuple[Rows, ReadOptions]:
    """Return a table without a header with its rows as items, if the user names no column of items."""
    first, table = table.peek(_SEARCHED)
    is_numeric = all(cell in (None, "") or is_number(cell) for _, cells in first for cell in cells)
    if options.item or options.rater or options.text or not (options.raters or is_numeric):
        return table, options
    rows = ((number, [str(n), *cells]) for n, (number, cells) in enumerate(table.rows, start=1))
    notes = (*table.notes, "Each row is an item, and each column a rater, because the table has no header.")
    raters = options.raters or table.columns
    table = replace(table, columns=(_ITEM, *table.columns), rows=rows, notes=notes)
    return table, replace(options, item=_ITEM, raters=raters)


def per_rater_input(tables: Mapping[str, Rows], request: Request, format: str, notes: Sequence[str]) -> RawInput:
    """Return the raw answers of several tables with one rater each, the files of a folder.

    Parameters
    ----------
    tables : mapping of str to Rows
        By rater.

    Raises
    ------
    InputError
        If the user has to name the columns, or a cell cannot be read.
    """
    options = request.options
    has_more = any(len(table.columns) >= _N_STANDARD for table in tables.values())
    fields: dict[str, RawField] = {}
    names: dict[str, str] = {}
    n_rows = 0
    first: tuple[str, ...] = ()
    for rater, table in tables.items():
        if options.raters or options.rater:
            raise InputError(
                f"{table.name} is the table of one rater: name its columns with {option('item')} and {option('text')}."
            )
        columns = _columns_of_rater(table, options, first)
        first = first or table.columns
        table_fields: dict[str, RawField] = {}
        for name in columns.groups:
            field_name = names.setdefault(normalize(name, casefold=True), name)
            new = RawField(field_name, blank="missing", repeats="set", from_cells=True, notes_repeats=True)
            new.may_be_source = field_name if has_more and not options.names_columns else ""
            table_fields[name] = fields.setdefault(field_name, new)
        rows = ((number, [rater, *cells]) for number, cells in table.rows)
        with_rater = replace(table, columns=(_RATER, *table.columns), rows=rows)
        n_rows += sum(1 for _ in _read_rows(with_rater, columns, table_fields, request))
    request.require_weights(request.name, (name for table in tables.values() for name in table.columns))
    return RawInput(format, fields, n_rows, request.line, notes=notes)


def _new_fields(table: Rows, columns: Columns, options: ReadOptions) -> dict[str, RawField]:
    is_standard = columns.is_standard and table.blank != "missing"
    is_long = columns.is_long
    is_uncertain = is_long and not options.names_columns and len(table.columns) > _N_STANDARD
    groups = {name: {"text": indices} for name, indices in columns.groups.items()} if is_long else {"": columns.groups}
    names = [("item", columns.item), ("rater", columns.rater)]
    return {
        name: RawField(
            name,
            blank="none" if is_standard else "missing",
            repeats="set" if is_long else "refuse",
            from_cells=True,
            notes_repeats=is_long and not columns.is_standard,
            may_be_source=next(iter(columns.groups)) if is_uncertain else "",
            columns=tuple((role, table.columns[i]) for role, indices in [*names, *texts.items()] for i in indices),
        )
        for name, texts in groups.items()
    }


def _read_rows(table: Rows, columns: Columns, fields: Mapping[str, RawField], request: Request) -> Iterator[Row]:
    """Add the answers of a table; yields each row."""
    table = replace(table, has_values=request.options.kind not in (None, AUTO))
    is_long, is_standard = columns.is_long, columns.is_standard
    last = max(columns.used if is_long else columns.item)
    ends = f"the row ends before the column {table.columns[last]!r}"
    null_is_missing = is_standard and table.blank == "null missing" and not request.options.empty
    for row in table:
        if len(row.cells) <= last:
            raise InputError(f"{row.location}: {'expected item, rater and text' if is_standard else ends}.")
        item = row.name(columns.item, "item", is_standard=is_standard)
        row_rater = row.name(columns.rater, "rater", is_standard=is_standard) if is_long else ""
        if request.options.weight is not None:
            request.add_weight(row.location, item, dict(zip(row.table.columns, row.cells, strict=False)))
        for label, indices in columns.groups.items():
            raw_field, rater = (fields[label], row_rater) if is_long else (fields[""], label)
            if null_is_missing and is_missing(row.cells[indices[0]]):
                raw_field.add_item(item)
            else:
                raw_field.add(item, rater, row.texts(indices), row.number)
        yield row


def _refuse_open_quotes(table: Rows, columns: Columns, fields: Mapping[str, RawField]) -> None:
    """Refuse an answer over several lines that contains whole rows: a quote was opened and closed rows later."""
    item, rater = columns.item[0], columns.rater[0]
    answers = [answer for field in fields.values() for answer in field.answers]
    raters = {answer.rater for answer in answers}
    for answer in answers:
        lines = re.split(r"\r\n|\r|\n", (answer.texts or ("",))[0])
        for number, line in enumerate(lines[1:], start=answer.line - len(lines) + 2):
            cells = line.split(table.delimiter)
            if len(cells) > max(item, rater) and cells[rater].strip() in raters:
                raise InputError(
                    f"{table.location(number)}: this row is inside the quotes of the previous answer: close that quote."
                )


def _name_notes(
    table: Rows, columns: Columns, options: ReadOptions, types: Container[tuple[int, bool]]
) -> Iterator[str]:
    """Yield notes on columns that were recognized by name, and on ids that are both texts and numbers.

    Parameters
    ----------
    types : container of (int, bool)
        Columns, each with whether an id in it is a text.
    """
    if not options.names_columns and not columns.is_standard:
        text = next(iter(columns.groups.values()))
        roles = (("item", columns.item), ("rater", columns.rater), ("text", text))
        read_as = ", ".join(f"{role} = {table.columns[indices[0]]}" for role, indices in roles)
        yield (
            f"The columns were recognized by their names: {read_as}. The options {option('item')}, {option('rater')} "
            f"and {option('text')} choose others."
        )
    for role, indices in (("items", columns.item), ("raters", columns.rater)):
        if mixed := [table.columns[i] for i in indices if (i, True) in types and (i, False) in types]:
            yield (
                f"The {role} in {listed(mixed)} are a mix of texts and numbers: '1' and 1.0 count as one, '01' as "
                "another. Write each id one way."
            )


def _columns_of_rater(table: Rows, options: ReadOptions, first: tuple[str, ...]) -> Columns:
    """Return the columns of a table of one rater; tables of two columns have the columns of the first table."""
    folded, header = {name.casefold() for name in table.columns}, (_RATER, *table.columns)
    if options.names_columns or {"item", "text"} <= folded:
        return find_columns(header, replace(options, rater=_RATER), table.name)
    if (columns := columns_by_names(("rater", *table.columns))) is not None:
        return columns
    has = f"{table.name} has the columns {listed(table.columns)}"
    if len(table.columns) != 2:
        raise InputError(
            f"{has}: name them with {option('item')} and {option('text')}. If it has all raters, join the tables into "
            "one."
        )
    item, text = first if len(first) == 2 else table.columns
    if {item.casefold(), text.casefold()} != folded:
        raise InputError(f"{has}, and another table {listed(first)}: write each column one way.")
    return find_columns(header, replace(options, item=item, rater=_RATER, text=(text,)), table.name)

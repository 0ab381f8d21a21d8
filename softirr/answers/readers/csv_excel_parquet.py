"""Files with a table: CSV and TSV, as people and spreadsheets write them, Excel workbooks and Parquet files.

The libraries that read workbooks and Parquet files are imported only here.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from typing import IO, Any

from softirr.answers.readers.table_folders import DAMAGE
from softirr.answers.registry import Format, Request, Ways
from softirr.answers.rows import Rows, value_text, with_header
from softirr.answers.source import Source, csv_rows, first_line, refused
from softirr.errors import InputError, option
from softirr.numbers import plural
from softirr.text import listed

NO_RESULT = "#N/A"
"""Text of a formula that was saved without its result: a mark of a missing answer, as errors of Excel are."""

_LARGEST = 4 << 30
_MOST_ROWS, _MOST_CELLS = 1_048_576, 100_000_000
"""Rows that Excel has, and cells that are read: some ten minutes."""
_SEARCHED = 200
"""Number of rows in which a sheet shows that it has a table."""
_TAG = 200
_DELIMITERS = ",;\t|"
_STANDARD = {"item", "rater", "text"}
_SNIFFED = 20
_AROUND = " \t\ufeff"
"""Around a name in a header, in files that were joined."""
_FORMULA, _MERGED = re.compile(rb"<(?:\w+:)?f[\s/>]"), re.compile(rb"<(?:\w+:)?mergeCell[\s/>]")


def _is_workbook(source: Source) -> bool:
    if not source.is_zip:
        return False
    message = f"{source.name} is a damaged ZIP archive or Excel workbook: save it again."
    with refused(message, *DAMAGE, OSError), zipfile.ZipFile(source.seekable()) as archive:
        return "xl/workbook.xml" in archive.namelist()


def _read_workbook(source: Source, request: Request) -> Rows:
    """Return the rows of the chosen sheet, or of the only sheet with a table."""
    openpyxl = _needed("openpyxl", "An Excel workbook")
    file = source.seekable()
    with refused(_damaged(source.name)):  # openpyxl raises any exception for damaged files
        has_formulas, has_merged = _marks_inside(file, source.name)
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        title, notes = _chosen_sheet(book, request.options.sheet, source.name)
        formulas = openpyxl.load_workbook(file, read_only=True, data_only=False)[title] if has_formulas else None
        merged = openpyxl.load_workbook(file)[title].merged_cells.ranges if has_merged else ()
    if merged:
        raise InputError(
            f"{source.name}, sheet {title!r}: these cells are merged, so that only the first of each has a value: "
            f"{listed(sorted(str(area.coord) for area in merged))}. Separate them and fill each cell."
        )
    rows = _numbered(book[title], formulas, source.name)
    first = list(islice(rows, _SEARCHED))
    width = max((n for _, cells in first for n, cell in enumerate(cells, start=1) if cell is not None), default=0)
    padded = (  # each row has a cell for every column that the first rows fill
        (number, [*(cells if any(cells[width:]) else cells[:width]), *[None] * (width - len(cells))])
        for number, cells in chain(first, rows)
    )
    header, body = with_header(padded, source.name, request.options)
    return Rows(source.name, "xlsx", header, body, notes=notes, reader_options=("header", "sheet"))


def _needed(package: str, what: str) -> Any:
    """Return a library that only some formats need, or refuse the file with the command that installs it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise InputError(f"{what} needs {package}: pip install softirr[tables], or pip install {package}.") from None


def _chosen_sheet(book: Any, wanted_title: str | None, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the title of the sheet to read, and a note if there are others."""
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # the size in the file may be wrong, or include a million empty rows
    titles = [sheet.title for sheet in book.worksheets]
    if wanted_title is not None:
        if wanted_title not in titles:
            raise InputError(f"{name} has no sheet {wanted_title!r}; it has {', '.join(titles)}.")
        return wanted_title, ()
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    tables = [sheet.title for sheet in visible if _has_table(sheet)]
    if not tables:
        raise InputError(f"{name} has no sheet with a table in its first {_SEARCHED} rows.")
    if len(tables) > 1:
        raise InputError(
            f"{name} has tables on several sheets ({listed(tables)}): choose one with {option('sheet')}. If each has "
            "the answers of one rater, save each as a file in one folder, and give the folder."
        )
    other_titles = [repr(sheet.title) for sheet in visible if sheet.title not in tables]
    note = f"The sheet {tables[0]!r} was read; {option('sheet')} chooses another of {', '.join(other_titles)}."
    return tables[0], (note,) if other_titles else ()


def _has_table(sheet: Any) -> bool:
    rows = islice(sheet.iter_rows(values_only=True), _SEARCHED)
    return any(sum(cell not in (None, "") for cell in row) > 1 for row in rows)


def _damaged(name: str) -> str:
    return f"{name} is a damaged Excel workbook ({{error}}): open it in Excel and save it again."


def _marks_inside(file: IO[bytes], name: str) -> tuple[bool, bool]:
    """Return whether any sheet of a workbook has formulas and merged cells; the sheets are looked through in pieces."""
    patterns_inside: set[re.Pattern[bytes]] = set()
    with zipfile.ZipFile(file) as archive:
        sheets = [info for info in archive.infolist() if info.filename.startswith("xl/worksheets/")]
        if sum(info.file_size for info in archive.infolist()) > _LARGEST:
            raise InputError(f"{name} takes more than {_LARGEST >> 30} GiB unpacked: save the table as CSV in UTF-8.")
        for info in sheets:
            if info.is_dir():
                continue
            end = b""
            with archive.open(info) as sheet_file:
                while piece := sheet_file.read(1 << 20):
                    text = end + piece
                    patterns_inside |= {mark for mark in (_FORMULA, _MERGED) if mark.search(text)}
                    end = text[-_TAG:]
    file.seek(0)
    return _FORMULA in patterns_inside, _MERGED in patterns_inside


def _numbered(sheet: Any, formulas: Any, name: str) -> Iterator[tuple[int, list[str | None]]]:
    """Number and texts of each row that is not blank."""
    if formulas is not None:
        formulas.reset_dimensions()
    values = sheet.iter_rows(values_only=True)
    formula_rows = repeat(()) if formulas is None else formulas.iter_rows(values_only=True)
    n_cells = 0
    with refused(_damaged(name)):
        for number, (row, formula) in enumerate(zip(values, formula_rows, strict=formulas is not None), start=1):
            n_cells += len(row)
            if number > _MOST_ROWS or n_cells > _MOST_CELLS:
                raise InputError(
                    f"{name} has cells in row {number:,}, far from the others or more than {_MOST_CELLS:,} in all: "
                    "delete the stray cells, or save the table as CSV in UTF-8."
                )
            cells = [_text(value) for value in row]
            for column, value in enumerate(formula[: len(cells)]):
                if row[column] is None and value is not None:
                    cells[column] = NO_RESULT
            if any(cell is not None for cell in cells):
                yield number, cells


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value if value.strip() else None
    return None if value is None else value_text(value) or str(value)


def _read_parquet(source: Source, request: Request) -> Rows:
    arrow = _needed("pyarrow", "A Parquet file")
    parquet = importlib.import_module("pyarrow.parquet")
    with refused(f"{source.name} is a damaged Parquet file.", arrow.ArrowException, OSError, ValueError):
        file = parquet.ParquetFile(source.seekable())
        columns = tuple(file.schema_arrow.names)

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        number = 0
        with refused(f"{source.name} is a damaged Parquet file ({{error}}).", arrow.ArrowException, OSError):
            for batch in file.iter_batches(batch_size=8192):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, cells

    return Rows(source.name, "parquet", columns, rows(), blank="null missing", reader_options=())


def _read_delimited(source: Source, request: Request, delimiter: str | None = None) -> Rows:
    """The rows of a CSV or TSV file; the first lines show what separates the cells."""
    start = source.check_text()
    if not start.strip() and source.is_short:
        raise InputError(f"{source.name} is empty.")
    mark = delimiter or _delimiter(start, is_whole=source.is_short)
    if mark is None:
        raise InputError(
            f"{source.name} is none of: Label Studio JSON export, JSONL, CSV with the header item,rater,text, or "
            "another table with several columns."
        )
    columns, body = with_header(_lines(source, mark), source.name, request.options)
    rows = _checked(source.name, columns, body, has_header=request.options.header != "none")
    format, reader_options = "tsv" if mark == "\t" else "csv", ("header", "encoding")
    return Rows(source.name, format, columns, rows, unit="line", delimiter=mark, reader_options=reader_options)


def _lines(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank.

    The csv module ignores quotes in unquoted cells, so they are counted.
    """
    n_quotes = 0

    def lines() -> Iterator[str]:
        nonlocal n_quotes
        for line in source.lines():
            n_quotes += line.count('"')
            yield line

    for number, row in csv_rows(lines(), delimiter, source.name):
        is_odd, n_quotes = n_quotes % 2, 0
        if [cell.casefold() for cell in row] == ["sep=", ""]:  # Excel's own first line
            continue
        if is_odd and any(cell.endswith('"') for cell in row):
            raise InputError(f"{source.name}, line {number}: a closing quote has no opening quote.")
        yield number, row


def _checked(
    name: str, columns: Sequence[str], rows: Iterator[tuple[int, list[Any]]], *, has_header: bool
) -> Iterator[tuple[int, list[Any]]]:
    """The rows after the header; a wider row is refused."""
    header = list(columns) if has_header else None
    for number, row in rows:
        if len(row) > len(columns):
            raise InputError(
                f"{name}, line {number}: {plural(len(row), 'cell')} where the header has {len(columns)}: put quotes "
                "around a text that contains the separator."
            )
        if [cell.strip(_AROUND) for cell in row] == header:
            raise InputError(f"{name}, line {number}: the header is repeated: remove it when you join files.")
        yield number, row


def _delimiter(start: str, *, is_whole: bool) -> str | None:
    """What separates the columns: of the known header, else what gives several columns and rows of the same width."""
    line = first_line(start)
    if line.casefold().startswith("sep=") and len(line) == 5:
        return line[4]
    for mark in _DELIMITERS:
        if {cell.strip().casefold() for cell in next(_first_rows(line, mark, is_whole=True), [])} >= _STANDARD:
            return mark
    best, widest = None, 1
    for mark in _DELIMITERS:
        header, *later_rows = [*_first_rows(start, mark, is_whole=is_whole)] or [[]]
        width, n_named = len(header), sum(bool(cell.strip()) for cell in header)
        fitting = sum(width / 2 < len(row) <= width for row in later_rows)
        if width > widest and n_named > 1 and 2 * fitting > len(later_rows) > 0:
            best, widest = mark, width
    return best


def _first_rows(start: str, mark: str, *, is_whole: bool) -> Iterator[list[str]]:
    lines = list(io.StringIO(start, newline=""))
    with contextlib.suppress(InputError):
        for line, row in csv_rows(lines if is_whole or len(lines) < 3 else lines[:-1], mark, "", strict=False):
            yield row
            if line > _SNIFFED:
                return


FORMATS = (
    Format("xlsx", file=Ways(_is_workbook, _read_workbook)),
    Format("parquet", file=Ways(lambda source: source.start.startswith(b"PAR1"), _read_parquet)),
    Format(
        "csv",
        file=Ways(lambda source: source.check_text().lstrip()[:1] not in ("[", "{"), _read_delimited),
        is_general=True,
    ),
    Format("tsv", file=Ways(lambda source: False, lambda source, request: _read_delimited(source, request, "\t"))),
)

"""Answers that are read: Label Studio JSON exports, long CSV, JSONL and data frames."""

import codecs
import contextlib
import csv
import hashlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from softirr.errors import InputError
from softirr.tables import export_check
from softirr.tables.fields import ItemFields
from softirr.tables.frames import frame_table, is_frame
from softirr.tables.labelstudio import export_table
from softirr.tables.table import OLDER_DUPLICATE, AnnotationTable, Answer, Excluded

__all__ = ["contents", "long_fields", "read"]


def read(
    source: Any,
    *,
    control: str | None = None,
    casefold: bool = False,
    predictions_as_raters: bool = False,
    item: str = "item",
    rater: str = "rater",
    text: str = "text",
    raters: Sequence[str] | None = None,
    fields: Sequence[str] = (),
) -> AnnotationTable:
    r"""Read answers: a Label Studio JSON export, a long CSV ``item,rater,text``, JSONL ``{"item", "rater", "texts"}``, or a data frame.

    Parameters
    ----------
    source : path, "-" for standard input, open text stream, or data frame of pandas or polars
        A long frame has a row for each text: several rows of one item and rater are a set, and the text "" is an empty answer. A wide frame has a row for
        each item and a column for each rater. A cell may hold a list of texts, too.
    control : str, optional
        The TextArea to read from a Label Studio export; needed when the export has several.
    casefold : bool
        Texts that differ only in case are one text.
    predictions_as_raters : bool
        In a Label Studio export, count each model version as a rater.
    item, rater, text : str
        Columns of a long data frame; ``item`` of a wide one too.
    raters : sequence of str, optional
        The frame is wide, and these columns are its raters. An empty or missing cell is an answer that the rater did not give, and an empty list
        an empty answer.
    fields : sequence of str
        What to read about the items beside the answers, such as ``site``: values in ``data`` of Label Studio's tasks (``annotated_at`` is when the newest
        annotation was made), other columns of a CSV or data frame, other keys of JSONL.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        If the input can't be used; the message says what is wrong and on which line.

    Examples
    --------
    >>> import io
    >>> table = read(io.StringIO("item,rater,text\n1,ann,fever\n1,bob,high fever\n"))
    >>> table.raters
    ('ann', 'bob')
    """
    if is_frame(source):
        if control is not None or predictions_as_raters:
            raise InputError(
                "A data frame is no Label Studio export, so it has no controls and no predictions to choose from."
            )
        return frame_table(source, item=item, rater=rater, text=text, raters=raters, casefold=casefold, fields=fields)
    if not isinstance(source, str | os.PathLike | io.TextIOBase):
        raise InputError(f"A path, an open text file or a data frame can be read, but not a {type(source).__name__}.")
    if raters is not None or (item, rater, text) != ("item", "rater", "text"):
        raise InputError(
            "item, rater, text and raters name the columns of a data frame: read the file with pandas or polars first, and give its frame."
        )
    name, content, sha256 = _contents(source, _refuse_other_kinds)
    first = re.search(r"\S", content)
    start = first.group() if first else ""
    if not start:
        raise InputError(f"{name} is empty.")
    if start == "[":
        return export_table(
            name,
            content,
            control=control,
            casefold=casefold,
            predictions_as_raters=predictions_as_raters,
            input_sha256=sha256,
            fields=fields,
        )
    if start == "{" and _is_one_object(content):
        raise InputError(
            f'{name} is one JSON object: a Label Studio export is a list of tasks, and JSONL has {{"item": ..., "rater": ..., '
            '"texts": [...]} on each line.'
        )
    if control is not None or predictions_as_raters:
        raise InputError(f"{name} is no Label Studio export, so it has no controls and no predictions to choose from.")
    wanted = ItemFields(fields)
    rows = _jsonl_answers(name, content, wanted) if start == "{" else _csv_answers(name, content, wanted)
    return AnnotationTable.from_answers(
        rows[0], items=rows[1], excluded=rows[2], casefold=casefold, input_sha256=sha256, fields=wanted.by_item()
    )


def _is_one_object(text: str) -> bool:
    """Whether a text that begins with a brace holds a single JSON object that is no line of JSONL."""
    if len(text) > _LONGEST_OBJECT:
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not {"item", "rater", "texts"} & found.keys()


_LONGEST_OBJECT = 1_000_000  # beyond it the first line says enough

_Rows = tuple[list[Answer], list[str], list[Excluded]]


def contents(
    source: str | os.PathLike[str] | io.TextIOBase, refuse: Callable[[str, str], None] = lambda name, start: None
) -> tuple[str, str]:
    """Name of a source for messages, and its whole text.

    Parameters
    ----------
    source : path, "-" for standard input, or open text stream
    refuse : callable
        Called with the name and the beginning of the text; may raise before the rest is read.

    Returns
    -------
    tuple of (str, str)
    """
    return _contents(source, refuse)[:2]


def _contents(
    source: str | os.PathLike[str] | io.TextIOBase, refuse: Callable[[str, str], None]
) -> tuple[str, str, str]:
    """The same, and the SHA-256 of the bytes."""
    if isinstance(source, io.TextIOBase):
        whole = source.read()
        sha256 = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
        return getattr(source, "name", None) or "The input", whole.removeprefix("\ufeff"), sha256
    name = "Standard input" if source == "-" else " ".join(os.fspath(source).splitlines())
    try:
        if source == "-":
            if sys.stdin is None:  # closed by the caller
                raise InputError("Standard input is closed.")
            data = _whole(name, sys.stdin.buffer, refuse)
        else:
            with open(source, "rb") as file:
                data = _whole(name, file, refuse)
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise InputError(f"{name} can't be read: {getattr(error, 'strerror', None) or error}.") from None
    return name, _decoded(name, data), hashlib.sha256(data).hexdigest()


def _decoded(name: str, data: bytes, *, whole: bool = True) -> str:
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(data, final=whole)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} is not UTF-8 text: line {line} has a byte that does not belong there.") from None


# What a file begins with that is no text, and what to do about it.
_FOREIGN = {
    b"\x1f\x8b": "compressed (gzip): unpack it first",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook: unpack it, or save the table as CSV in UTF-8",
    b"\xff\xfe": "text in UTF-16: save it as UTF-8",
    b"\xfe\xff": "text in UTF-16: save it as UTF-8",
}


def _whole(name: str, file: IO[bytes], refuse: Callable[[str, str], None]) -> bytes:
    """All bytes of a stream; its beginning is looked at first, so that nonsense is not read in whole, however long it is."""
    start = file.read(65536)
    for mark, advice in _FOREIGN.items():
        if start.startswith(mark):
            raise InputError(f"{name} is {advice}.")
    if b"\0" in start:
        raise InputError(f"{name} is not text: it holds zero bytes.")
    refuse(name, _decoded(name, start, whole=False))
    return start + file.read()


def _refuse_other_kinds(name: str, start: str) -> None:
    text = start.lstrip()
    if text and text[0] not in "[{" and _delimiter(start) is None:
        raise _unknown_kind(name)


def _jsonl_answers(name: str, text: str, fields: ItemFields) -> _Rows:
    answers: dict[tuple[str, str], Answer] = {}
    there: set[str] = set()
    items: list[str] = []
    excluded: list[Excluded] = []
    for number, line in enumerate(io.StringIO(text), start=1):
        if not line.strip():
            continue
        item, rater, texts, row = _jsonl_row(f"{name}, line {number}", line)
        if fields.names:
            there |= row.keys() - {"item", "rater", "texts"}
            fields.add(f"{name}, line {number}", item, row)
        items.append(item)
        if answers.pop((item, rater), None) is not None:
            excluded.append(Excluded(item, rater, OLDER_DUPLICATE))
        if texts is not None:
            answers[item, rater] = Answer(item, rater, texts)
    fields.require(name, there)
    return list(answers.values()), items, excluded


def _jsonl_row(place: str, line: str) -> tuple[str, str, tuple[str, ...] | None, dict[str, Any]]:
    try:
        row = json.loads(line, object_pairs_hook=export_check.unique_keys)
    except export_check.RepeatedKey as error:
        raise InputError(f"{place}: the key {error} stands there twice.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{place}: not valid JSON.") from None
    if not isinstance(row, dict) or not {"item", "rater", "texts"} <= row.keys():
        raise InputError(f'{place}: expected {{"item": ..., "rater": ..., "texts": [...]}}.')
    names = []
    for key in ("item", "rater"):
        given = row[key]
        if isinstance(given, bool) or not isinstance(given, int | str) or not str(given).strip():
            raise InputError(f"{place}: {key} is neither a name nor a number.")
        names.append(_identifier(place, key, str(given)))
    item, rater = names
    texts = row["texts"]
    if texts is None:  # asked, but no answer: the item exists, the answer is missing
        return item, rater, None, row
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{place}: texts is not a list of strings.")
    return item, rater, tuple(texts), row


def _identifier(place: str, key: str, given: str) -> str:
    """Name of an item or rater without the white space around it: what looks the same has to be the same.

    A byte order mark inside a file is a trace of two files pasted together.
    """
    if "\ufeff" in given:
        raise InputError(f"{place}: the {key} holds a byte order mark: paste files together without it.")
    return given.strip()


def _csv_answers(name: str, text: str, fields: ItemFields) -> _Rows:
    delimiter = _delimiter(text)
    if delimiter is None:
        raise _unknown_kind(name)
    texts: dict[tuple[str, str], list[str]] = {}
    long: list[tuple[int, str]] = []  # answers over several lines, and the line that each ends on
    with long_fields():
        lines = _Lines(io.StringIO(text, newline=""))
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            header = next(reader)
            column = _columns(_first_line(text), delimiter)
            _check_header(name, header)
            names = [cell.strip() for cell in header]
            lines.quotes = 0
            for row in reader:
                quotes, lines.quotes = lines.quotes, 0
                if not row:
                    continue
                place = f"{name}, line {reader.line_num}"
                _check_row(place, row, header, max(column.values()))
                if quotes % 2 and any(cell.endswith('"') for cell in row):
                    raise InputError(f"{place}: a quote ends an answer that no quote begins.")
                item, rater = (_identifier(place, key, row[column[key]]) for key in ("item", "rater"))
                if not item or not rater:
                    raise InputError(f"{place}: the {'rater' if item else 'item'} is missing.")
                if item.count('"') % 2 or rater.count('"') % 2:
                    raise InputError(f"{place}: a quote stands within the item or the rater: a separator is lost.")
                answer = row[column["text"]]
                texts.setdefault((item, rater), []).append(answer)
                if fields.names:
                    fields.add(place, item, dict(zip(names, row, strict=False)))
                if "\n" in answer or "\r" in answer:
                    long.append((reader.line_num, answer))
        except csv.Error as error:
            raise InputError(f"{name}, line {reader.line_num}: not valid CSV ({error}).") from None
        _check_quotes(name, long, column, {rater for _, rater in texts}, delimiter)
    if not texts:
        raise InputError(f"{name} has a header but no answers.")
    fields.require(name, (cell for i, cell in enumerate(names) if i not in column.values()))
    return [Answer(item, rater, tuple(written)) for (item, rater), written in texts.items()], [], []


class _Lines:
    """Lines of a CSV file; counts the quotes in them, which the csv module does not tell of cells without quotes around them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.quotes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.quotes += line.count('"')
        return line


def _check_header(name: str, header: list[str]) -> None:
    names = [cell.strip().casefold() for cell in header]
    for key in ("item", "rater", "text"):
        if names.count(key) > 1:
            raise InputError(f"{name}, line 1: the header names {key} twice.")


def _check_row(place: str, row: list[str], header: list[str], last: int) -> None:
    if len(row) <= last:
        raise InputError(f"{place}: expected item, rater and text.")
    if len(row) > len(header):
        raise InputError(
            f"{place}: {len(row)} cells where the header has {len(header)}: put quotes around a text that holds the separator."
        )
    if row == header:
        raise InputError(f"{place}: the header stands there again: paste files together without it.")


def _check_quotes(
    name: str, long: list[tuple[int, str]], column: Mapping[str, int], raters: set[str], delimiter: str
) -> None:
    """Refuse an answer over several lines that has swallowed whole rows: a quote was opened and closed rows later."""
    for end, answer in long:
        lines = re.split(r"\r\n|\r|\n", answer)
        for number, line in enumerate(lines[1:], start=end - len(lines) + 2):
            cells = line.split(delimiter)
            if len(cells) > max(column["item"], column["rater"]) and cells[column["rater"]].strip() in raters:
                raise InputError(
                    f"{name}, line {number}: a row stands inside the quotes of the answer before it: a quote is not closed."
                )


def _unknown_kind(name: str) -> InputError:
    return InputError(f"{name} is none of: Label Studio JSON export, JSONL, CSV with the header item,rater,text.")


def _first_line(text: str) -> str:
    return (text[:65536].splitlines() or [""])[0]


def _delimiter(text: str) -> str | None:
    """What separates the columns of a table that has the right header."""
    return next((mark for mark in ",;\t" if _columns(_first_line(text), mark)), None)


def _columns(header: str, delimiter: str) -> dict[str, int]:
    """Column numbers of item, rater and text, or nothing if the header lacks one of them."""
    try:
        names = [name.strip().casefold() for name in next(csv.reader([header.rstrip("\r\n")], delimiter=delimiter), [])]
    except csv.Error:
        return {}
    wanted = ("item", "rater", "text")
    return {name: names.index(name) for name in wanted} if set(wanted) <= set(names) else {}


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Let one field be as long as it likes: the csv module stops at 128 KiB, which a long answer passes.

    Yields
    ------
    None
    """
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)

"""CSV files that people open in a spreadsheet: cells that never run as formulas, and judged pairs of texts."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from softirr.answers.source import contents, csv_rows
from softirr.errors import InputError

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_PROTECTED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")
SAME = "same"
DIFFERENT = "different"
FIRST_MORE_GENERAL = "first is more general"
SECOND_MORE_GENERAL = "second is more general"
CANT_TELL = "can't tell"
VALUES = (SAME, DIFFERENT, FIRST_MORE_GENERAL, SECOND_MORE_GENERAL, CANT_TELL)
"""Possible judgments of two texts."""
NOTHING_JUDGED = "No pair is judged: write same or different into the column judgment."
HEADER = ("unit", "pair", "text_a", "text_b", "judgment")
_CANT_TELL = ("cant tell", "can’t tell")
_DELIMITERS = ",;\t"
Source = str | os.PathLike[str] | io.TextIOBase


def plain_cell(value: Any) -> Any:
    """A cell that no spreadsheet runs: a text that it would take for a formula gets an apostrophe in front.

    None is empty.

    Returns
    -------
    object
        A changed text, or the value itself.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("-x"), plain_cell("fever"), plain_cell(-1.5)
    ("'=1+1", "'-x", 'fever', -1.5)
    """
    if value is None:
        return ""
    return "'" + value if isinstance(value, str) and _FORMULA.match(value) else value


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    r"""Rows as the text of a CSV file, each cell by :func:`plain_cell`.

    Parameters
    ----------
    rows : iterable of iterables
        The header first.

    Examples
    --------
    >>> csv_text([("text", "n"), ("=1+1", 2)])
    "text,n\n'=1+1,2\n"
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(plain_cell, row) for row in rows)
    return out.getvalue()


def cell_text(cell: str) -> str:
    """The text that :func:`plain_cell` wrote.

    Examples
    --------
    >>> cell_text("'=1+1"), cell_text("=1+1"), cell_text("'quoted'")
    ('=1+1', '=1+1', "'quoted'")
    """
    return cell[1:] if _PROTECTED.match(cell) else cell


_EARLIER_NAMES = {"judgement": "judgment"}
"""Columns of earlier releases, which are still read."""


@dataclass(frozen=True)
class Judgments:
    """The judgments of one judge.

    Attributes
    ----------
    judge : str
        Whose they are; a file's name.
    values : mapping of (unit id, pair number) to str
        One of ``VALUES``, or empty.
    texts : mapping of (unit id, pair number) to (str, str)
        The judged texts, if they are known: they are checked against the table.
    locations : mapping of (unit id, pair number) to str
        File and line, for messages.
    """

    judge: str
    values: Mapping[tuple[str, int], str]
    texts: Mapping[tuple[str, int], tuple[str, str]] | None = None
    locations: Mapping[tuple[str, int], str] | None = None

    def place(self, key: tuple[str, int]) -> str:
        """Return the file and line of a judgment, for messages."""
        location = self.locations.get(key) if self.locations else None
        return location or f"{self.judge}, unit {key[0]}, pair {key[1]}"


def rows(source: Source, columns: Sequence[str], what: str) -> tuple[str, Iterator[tuple[str, list[str]]]]:
    """Rows of a CSV file with a header; a spreadsheet may have put semicolons or tabs for the commas.

    Parameters
    ----------
    columns : sequence of str
        Columns wanted, in any order, with or without other columns. Only the last one may be missing at the end of a
        row.
    what : str
        Expected kind of file, for the message.

    Returns
    -------
    str
        The file's name.
    iterator of (str, list of str)
        Place of each row that is not blank (file and line), and its cells of those columns.

    Raises
    ------
    InputError
        Says the file and the line.
    """
    name, text = contents(source)
    header = text.partition("\n")[0].rstrip("\r")
    for delimiter in _DELIMITERS:
        names = [cell.strip().casefold() for cell in next(csv.reader([header], delimiter=delimiter), [])]
        names = [_EARLIER_NAMES.get(name, name) for name in names]
        if set(columns) <= set(names):
            return name, _rows(name, text, delimiter, {column: names.index(column) for column in columns})
    raise InputError(f"{name} is no {what}: line 1 must have the columns {','.join(columns)}.")


def _rows(name: str, text: str, delimiter: str, index_of: Mapping[str, int]) -> Iterator[tuple[str, list[str]]]:
    *needed, _ = index_of
    for line, row in islice(csv_rows(io.StringIO(text, newline=""), delimiter, name), 1, None):
        location = f"{name}, line {line}"
        lacking = next((column for column in needed if index_of[column] >= len(row)), None)
        if lacking is not None:
            raise InputError(f"{location}: the row ends before the column {lacking}.")
        # spreadsheets leave out empty cells at the end of a row
        yield location, [cell_text(row[i]) if i < len(row) else "" for i in index_of.values()]


def read_sheet(source: Source, *, judge: str | None = None) -> Judgments:
    r"""Read a judged sheet of the audit.

    Parameters
    ----------
    source : path, "-" for standard input, or open text stream
        CSV with the columns of ``HEADER``.
    judge : str, optional
        Who judged; the file's name by default.

    Raises
    ------
    InputError
        Says the file and the line.

    Examples
    --------
    >>> file = io.StringIO("unit,pair,text_a,text_b,judgment\n0-a-b,1,fever,pyrexia,same\n")
    >>> read_sheet(file, judge="eve").values
    {('0-a-b', 1): 'same'}
    """
    name, lines = rows(source, HEADER, "sheet of audit sample")
    values: dict[tuple[str, int], str] = {}
    texts: dict[tuple[str, int], tuple[str, str]] = {}
    locations: dict[tuple[str, int], str] = {}
    for location, (unit, number, text_a, text_b, judgment) in lines:
        digits = number.strip().removesuffix(".0")  # a spreadsheet's or data frame's 1.0
        if not digits.isdecimal():
            raise InputError(f"{location}: the pair is {number!r}, not a number.")
        key = unit.strip(), int(digits)
        value = checked(judgment, location)
        if key in values and values[key] != value:
            raise InputError(f"{location}: this pair is in the sheet twice, with different judgments.")
        values[key], texts[key], locations[key] = value, (text_a, text_b), location
    return Judgments(judge or name, values, texts, locations)


def checked(judgment: str, location: str) -> str:
    """The judgment in a cell: one of ``VALUES``, or empty.

    Parameters
    ----------
    location : str
        Where it is, for the message.

    Raises
    ------
    InputError
        If it is none of ``VALUES`` and not empty.
    """
    mark = " ".join(judgment.casefold().split())
    value = CANT_TELL if mark in _CANT_TELL else mark
    if value and value not in VALUES:
        raise InputError(f"{location}: the judgment is {judgment.strip()!r}, but can be {', '.join(VALUES)}, or empty.")
    return value


def check_judged(sheets: Sequence[Judgments]) -> None:
    """Refuse sheets without rows or without judgments.

    Raises
    ------
    InputError
    """
    if not any(sheet.values for sheet in sheets):
        raise InputError("The sheets have no rows: apply at least one sheet drawn by softirr audit sample.")
    if not any(value.strip() for sheet in sheets for value in sheet.values.values()):
        raise InputError(NOTHING_JUDGED)

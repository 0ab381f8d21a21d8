"""Texts in the cells of CSV files that people open in a spreadsheet.

No text becomes a formula, and each can be read back.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_PROTECTED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


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

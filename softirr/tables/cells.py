"""Texts in the cells of CSV files that people open in a spreadsheet.

No text becomes a formula, and each can be read back.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["cell_text", "plain_cell"]

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_PROTECTED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def plain_cell(value: Any) -> Any:
    """A cell that no spreadsheet runs: a text that it would take for a formula gets an apostrophe in front.

    None is empty.

    Parameters
    ----------
    value : object

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


def cell_text(cell: str) -> str:
    """The text that :func:`plain_cell` wrote.

    Parameters
    ----------
    cell : str

    Returns
    -------
    str

    Examples
    --------
    >>> cell_text("'=1+1"), cell_text("=1+1"), cell_text("'quoted'")
    ('=1+1', '=1+1', "'quoted'")
    """
    return cell[1:] if _PROTECTED.match(cell) else cell

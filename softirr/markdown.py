"""Rows of tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["table_head", "table_row"]


def table_row(cells: Iterable[object]) -> str:
    """One row.

    Parameters
    ----------
    cells : iterable
        Bars in them are escaped already.

    Returns
    -------
    str

    Examples
    --------
    >>> table_row(["measure", 0.5])
    '| measure | 0.5 |'
    """
    return f"| {' | '.join(map(str, cells))} |"


def table_head(columns: Sequence[str], *, names: int | None = None) -> tuple[str, str]:
    """The row of the columns and the line below it.

    Parameters
    ----------
    columns : sequence of str
    names : int, optional
        Number of columns on the left that are names; the others are aligned to the right. None aligns nothing.

    Returns
    -------
    (str, str)

    Examples
    --------
    >>> table_head(["measure", "error"], names=1)
    ('| measure | error |', '|---|---:|')
    """
    marks = ("---" if names is None or place < names else "---:" for place in range(len(columns)))
    return table_row(columns), f"|{'|'.join(marks)}|"

"""Rows of tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def table_row(cells: Iterable[object]) -> str:
    """One row.

    Parameters
    ----------
    cells : iterable
        Bars in them are escaped already.

    Examples
    --------
    >>> table_row(["measure", 0.5])
    '| measure | 0.5 |'
    """
    return f"| {' | '.join(map(str, cells))} |"


def table_head(columns: Sequence[str], *, right: Collection[int] = ()) -> tuple[str, str]:
    """The row of the columns and the line below it.

    Parameters
    ----------
    right : collection of int
        Indices of the columns that are aligned to the right.

    Examples
    --------
    >>> table_head(["measure", "error"], right={1})
    ('| measure | error |', '|---|---:|')
    """
    marks = ("---:" if column in right else "---" for column in range(len(columns)))
    return table_row(columns), f"|{'|'.join(marks)}|"

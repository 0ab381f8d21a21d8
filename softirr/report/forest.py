"""Forest plots: a line for each coefficient or difference with its interval, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from softirr.numbers import interval, number
from softirr.text import printable

_WIDTH = 40


@dataclass(frozen=True)
class Row:
    """A line of a forest plot.

    Attributes
    ----------
    is_difference : bool
        Differences are drawn apart, around 0.
    note : str
        A remark, such as the number of items.
    """

    label: str
    value: float | None
    ci95: tuple[float, float] | None
    is_difference: bool = False
    note: str = ""


def forest_text(rows: Sequence[Row]) -> Iterable[str]:
    """The plot as lines of text.

    Examples
    --------
    >>> for line in forest_text([Row("Basel", -0.2, (-0.3, -0.1)), Row("Bern", 0.1, (0.0, 0.2))]):
    ...     print(line)
    Basel  −0.20  −0.30 to −0.10  ├───────●───────┤
    Bern    0.10  0.00 to 0.20                            ├───────●───────┤
    """
    low, high = axis_range(rows)
    width = max((len(printable(row.label)) for row in rows), default=0)
    intervals = [interval(row.ci95, none="") for row in rows]
    second = max(map(len, intervals), default=0)
    third = max((len(row.note) for row in rows), default=0)
    values = [number(row.value) for row in rows]
    first = max(map(len, values), default=0)
    for row, value, ci95 in zip(rows, values, intervals, strict=True):
        start = f"{printable(row.label):<{width}}"
        if row.value is None:
            yield f"{start}  undefined: {row.note}"
            continue
        note = f"{row.note:>{third}}  " if third else ""
        yield f"{start}  {note}{value:>{first}}  {ci95:<{second}}  {_bar(row, low, high)}".rstrip()


def _bar(row: Row, low: float, high: float) -> str:
    assert row.value is not None
    marks = [" "] * (_WIDTH + 1)

    def column(value: float) -> int:
        return round((min(max(value, low), high) - low) / (high - low) * _WIDTH)

    if row.ci95 is not None:
        a, b = column(row.ci95[0]), column(row.ci95[1])
        marks[a : b + 1] = "─" * (b + 1 - a)
        marks[a], marks[b] = "├", "┤"
    marks[column(row.value)] = "●"
    return "".join(marks).rstrip()


def axis_range(rows: Sequence[Row]) -> tuple[float, float]:
    """Ends of an axis that shows all values and intervals."""
    ends = [end for row in rows if row.value is not None for end in (row.value, *(row.ci95 or ()))]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low - 0.5, high + 0.5) if high - low < 1e-9 else (low, high)

"""How the input of a table was read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """How a table was read.

    Attributes
    ----------
    format : str
        Such as ``csv`` or ``label-studio``.
    columns : tuple of (str, str)
        Role (item, rater, text, or a rater's or an item's name) and name of each column or field that was read.
    n_rows : int
        Rows, records or tasks.
    n_blank : int
        Empty cells, whatever they count as.
    n_repeated : int
        Rows beyond the first of one rater on one item.
    empty : {"missing", "none"}
        Meaning of an empty cell.
    """

    format: str
    columns: tuple[tuple[str, str], ...] = ()
    n_rows: int = 0
    n_blank: int = 0
    n_repeated: int = 0
    empty: str = "none"

"""Tables as CSV and Markdown."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from softirr.errors import writing
from softirr.markdown import table_head, table_row
from softirr.tables.cells import plain_cell

Value = float | int | str | None


def decimal(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """A number with this many decimals, never minus zero; with ``sign`` a plus before what is above 0."""
    rounded = round(value, digits) + 0.0
    return f"{rounded:{'+' if sign and rounded else ''},.{digits}f}"


@dataclass(frozen=True)
class Cell:
    """A value with the marks of the tables in Wullschleger et al. 2026.

    Attributes
    ----------
    value : float, int, str or None
        None where nothing is defined.
    bold, star : bool
    digits : int
        Decimals.
    sign : bool
        Show a plus.
    """

    value: Value
    bold: bool = False
    star: bool = False
    digits: int = 3
    sign: bool = False

    def text(self) -> str:
        """The value as readers see it."""
        if self.value is None:
            return "–"
        if isinstance(self.value, float):
            return decimal(self.value, self.digits, sign=self.sign)
        if isinstance(self.value, int):
            return f"{self.value:,}"
        return self.value


@dataclass(frozen=True)
class Table:
    """A table with its title and note.

    Attributes
    ----------
    name : str
        Of its files.
    title, note : str
    columns : tuple of str
    rows : tuple of tuple of Cell
    lead : int
        Columns on the left that are names.
    """

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    lead: int = 1

    def csv(self) -> str:
        """Plain values, with columns that say which are bold or starred."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        marked = [any(row[i].bold or row[i].star for row in self.rows) for i in range(len(self.columns))]
        header = []
        for column, has in zip(self.columns, marked, strict=True):
            header += [column, f"{column} mark"] if has else [column]
        writer.writerow(header)
        for row in self.rows:
            cells: list[object] = []
            for cell, has in zip(row, marked, strict=True):
                cells.append(plain_cell(_plain(cell)))
                if has:
                    cells.append(" ".join(["bold"] * cell.bold + ["star"] * cell.star))
            writer.writerow(cells)
        return out.getvalue()

    def markdown(self) -> str:
        """A Markdown table with its title and note."""
        rows = [table_row(map(_marked, row)) for row in self.rows]
        head = table_head(self.columns, names=self.lead)
        return "\n".join([f"**{self.title}**", "", *head, *rows, "", self.note, ""])


def write_text(path: Path, text: str) -> None:
    """Write a file; its folder is made if it is missing."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _plain(cell: Cell) -> str:
    if cell.value is None:
        return ""
    return f"{cell.value:.6g}" if isinstance(cell.value, float) else str(cell.value)


def _marked(cell: Cell) -> str:
    text = cell.text().replace("|", "\\|")
    if cell.bold:
        text = f"**{text}**"
    return f"{text}\\*" if cell.star else text

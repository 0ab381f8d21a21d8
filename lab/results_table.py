"""Tables of results, as CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from softirr.answers.sheets import plain_cell

Value = float | int | str | None


@dataclass(frozen=True)
class Cell:
    """A value with the marks of the tables in Wullschleger et al. 2026.

    Attributes
    ----------
    value : float, int, str or None
        None if nothing is defined.
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
        """The value as readers see it: a dash for None, and no minus zero."""
        if isinstance(self.value, float):
            rounded = round(self.value, self.digits) + 0.0
            return f"{rounded:{'+' if self.sign and rounded else ''},.{self.digits}f}"
        if isinstance(self.value, int):
            return f"{self.value:,}"
        return "–" if self.value is None else self.value

    def markdown(self) -> str:
        """The text with its marks."""
        text = self.text().replace("|", "\\|")
        if self.bold:
            text = f"**{text}**"
        return f"{text}\\*" if self.star else text

    def plain(self) -> str:
        """The value in a file."""
        if self.value is None:
            return ""
        return f"{self.value:.6g}" if isinstance(self.value, float) else str(self.value)


Row = tuple[Cell | Value, ...]


@dataclass(frozen=True)
class Table:
    """A table with its title and note.

    Attributes
    ----------
    name : str
        Name of its file, without the ending.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""
    name: str = ""

    def _cells(self) -> list[list[Cell]]:
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]

    def csv(self) -> str:
        """Plain values, with columns that mark bold and starred values."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        cells = self._cells()
        has_marks = [any(row[i].bold or row[i].star for row in cells) for i in range(len(self.columns))]
        header = []
        for column, has in zip(self.columns, has_marks, strict=True):
            header += [column, f"{column} mark"] if has else [column]
        writer.writerow(header)
        for row in cells:
            line: list[object] = []
            for cell, has in zip(row, has_marks, strict=True):
                line.append(plain_cell(cell.plain()))
                if has:
                    line.append(" ".join(["bold"] * cell.bold + ["star"] * cell.star))
            writer.writerow(line)
        return out.getvalue()

    def markdown(self) -> str:
        """A Markdown table below its title and note; columns without texts are aligned to the right."""
        cells = self._cells()
        right = {i for i in range(len(self.columns)) if not any(isinstance(row[i].value, str) for row in cells)}
        rows = [table_row(cell.markdown() for cell in row) for row in cells]
        note = [self.note, ""] if self.note else []
        return "\n".join([f"### {self.title}", "", *note, *table_head(self.columns, right=right), *rows, ""])


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

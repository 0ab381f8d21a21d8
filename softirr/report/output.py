"""A report as files: tables as CSV, XLSX and Parquet, one page, and JSON."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from softirr.answers.cells import plain_cell
from softirr.errors import writing
from softirr.report.frames import FrameKind, report_part
from softirr.report.meanings import soft_label
from softirr.report.methods import methods_paragraph
from softirr.report.page.render import report_page
from softirr.report.view import view

__all__ = ["write_report"]

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_LONGEST_CELL = 32_767  # of Excel
_MOST_ROWS = 1_048_576


def write_report(report: Mapping[str, Any], folder: str | Path, *, source: str | None = None) -> tuple[str, ...]:
    """Write a report into a folder, which is created if it is missing; files of the same names are replaced.

    ``coefficients``, ``items``, ``raters``, ``pairs``, ``matches``, ``meanings``, ``reasons`` and ``differences`` are
    written as CSV and Parquet and are sheets of ``report.xlsx``; ``soft_labels.jsonl`` has each item's distribution
    over meanings, ``report.html`` is one page with the figures that needs no server, ``methods.md`` one paragraph for a
    paper, and ``report.json`` the whole report. Items and raters have the names of the input, so that each table joins
    it. In CSV and XLSX a text that a spreadsheet would run gets an apostrophe in front.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.
    source : str, optional
        Name of the input, for the page.

    Returns
    -------
    tuple of str
        What could not be written because a library is not installed, one sentence each.

    Raises
    ------
    InputError
        If the folder can't be written.
    """
    folder = Path(folder)
    report_view = view(report)
    tables = {kind: report_part(report, kind, report_view) for kind in get_args(FrameKind)}
    notes = []
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
        lines = (json.dumps(soft_label(item), ensure_ascii=False) for item in report["items"])
        (folder / "soft_labels.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (folder / "methods.md").write_text(methods_paragraph(report), encoding="utf-8")
        (folder / "report.html").write_text(report_page(report_view, source=source), encoding="utf-8")
        for kind, (index, columns, rows) in tables.items():
            _write_csv(folder / f"{kind}.csv", [*index, *columns], rows)
        if importlib.util.find_spec("openpyxl") is not None:
            _write_workbook(folder / "report.xlsx", tables)
        else:
            notes.append("report.xlsx is not written, because openpyxl is not installed: pip install softirr[tables].")
        if importlib.util.find_spec("pyarrow") is not None:
            for kind, (index, columns, rows) in tables.items():
                _write_parquet(folder / f"{kind}.parquet", [*index, *columns], rows)
        else:
            notes.append(
                "Parquet files are not written, because pyarrow is not installed: pip install softirr[tables]."
            )
    return tuple(notes)


def _cell(value: Any) -> Any:
    """A list becomes one text, and no text a formula."""
    return plain_cell("; ".join(map(str, value)) if isinstance(value, list | tuple) else value)


def _write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _write_workbook(path: Path, tables: Mapping[str, tuple[list[str], list[str], list[tuple[Any, ...]]]]) -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    for kind, (index, columns, rows) in tables.items():
        sheet = book.create_sheet(kind)
        sheet.append([*index, *columns])
        for row in rows[: _MOST_ROWS - 1]:
            cells = [_cell(value) for value in row]
            sheet.append(
                [_CONTROLS.sub(" ", cell)[:_LONGEST_CELL] if isinstance(cell, str) else cell for cell in cells]
            )
    book.save(path)


def _write_parquet(path: Path, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    columns: dict[str, list[Any]] = {
        name: [list(row[i]) if isinstance(row[i], list | tuple) else row[i] for row in rows]
        for i, name in enumerate(head)
    }
    parquet.write_table(pyarrow.table(columns), path)

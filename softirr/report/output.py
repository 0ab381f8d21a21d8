"""A report as files: tables as CSV, one page, a methods paragraph, and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from softirr.answers.sheets import plain_cell
from softirr.errors import writing
from softirr.report.frames import FrameKind, report_part
from softirr.report.methods import methods_paragraph
from softirr.report.page.render import report_page
from softirr.report.view import view


def write_report(report: Mapping[str, Any], folder: str | Path, *, source: str | None = None) -> None:
    """Write a report into a folder, which is created if it is missing; files of the same names are replaced.

    ``coefficients``, ``items``, ``raters``, ``pairs``, ``matches`` and ``reasons`` are written as CSV; ``report.html``
    is one page with the figures that needs no server, ``methods.md`` one paragraph for a paper, and ``report.json`` the
    whole report. Items and raters have the names of the input, so that each table joins it. A text that a spreadsheet
    would run gets an apostrophe in front.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.
    source : str, optional
        Name of the input, for the page.

    Raises
    ------
    InputError
        If the folder can't be written.
    """
    folder = Path(folder)
    report_view = view(report)
    tables = {kind: report_part(report, kind, report_view) for kind in get_args(FrameKind)}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
        (folder / "methods.md").write_text(methods_paragraph(report), encoding="utf-8")
        (folder / "report.html").write_text(report_page(report_view, source=source), encoding="utf-8")
        for kind, (index, columns, rows) in tables.items():
            _write_csv(folder / f"{kind}.csv", [*index, *columns], rows)


def _cell(value: Any) -> Any:
    """A list becomes one text, and no text a formula."""
    return plain_cell("; ".join(map(str, value)) if isinstance(value, list | tuple) else value)


def _write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows([_cell(value) for value in row] for row in rows)

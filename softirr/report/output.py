"""A report as tables: data frames of pandas, CSV files, and a folder with the page and the methods paragraph."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from softirr.answers.sheets import plain_cell
from softirr.errors import InputError, writing
from softirr.report.methods import methods_paragraph
from softirr.report.view import View, view

FrameKind = Literal["coefficients", "items", "raters", "pairs", "reasons", "matches"]
_TEXTS: tuple[str, ...] = (
    "undefined",
    "suggestion",
    "reasons",
    "what_differs",
    "text_a",
    "text_b",
    "reason",
    "also",
    "words",
    "text",
    "relation",
)
_NO_INTERVAL = (None, None)
_COUNTS = ("n_items", "n_raters", "support")


def report_frame(report: Mapping[str, Any], kind: FrameKind) -> Any:
    """A part of ``AgreementReport.to_dict()`` as a data frame.

    Parameters
    ----------
    kind : {"coefficients", "items", "raters", "pairs", "reasons", "matches"}

    Raises
    ------
    InputError
        If the part is unknown, or pandas is not installed.
    """
    index, columns, rows = report_part(report, kind)
    try:
        import pandas as pd
    except ImportError:
        raise InputError("Data frames need pandas: pip install pandas.") from None
    frame = pd.DataFrame(rows, columns=[*index, *columns])
    numbers = [name for name in columns if name not in _TEXTS]
    return frame.astype({name: "float64" for name in numbers if name not in _COUNTS}).set_index(index)


def report_part(report: Mapping[str, Any], kind: FrameKind, report_view: View | None = None) -> _Part:
    """A part of a report as rows of plain values.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``.
    kind : {"coefficients", "items", "raters", "pairs", "reasons", "matches"}
    report_view : View, optional
        The view of the report, if it was built before.

    Returns
    -------
    (list of str, list of str, list of tuple)
        Columns that name a row, the other columns, and the rows.

    Raises
    ------
    InputError
        If the part is unknown.
    """
    if kind not in _PARTS:
        raise InputError(f"A report has no part {kind!r}: it has {', '.join(get_args(FrameKind))}.")
    return _PARTS[kind](report_view or view(report), report)


_Part = tuple[list[str], list[str], list[tuple[Any, ...]]]


def _coefficients(report_view: View, _: Mapping[str, Any]) -> _Part:
    columns = ["value", "standard_error", "low", "high", "undefined"]
    rows = [
        (row.key, row.value, row.standard_error, *(row.ci95 or _NO_INTERVAL), row.undefined)
        for row in report_view.coefficients
    ]
    return ["coefficient"], columns, rows


def _items(report_view: View, _: Mapping[str, Any]) -> _Part:
    columns = ["agreement", "kappa", "sigma", "n_raters", "suggestion", "reasons", "what_differs", "priority"]
    rows = [
        (
            *(row.id, row.agreement, row.kappa, row.sigma, row.n_raters, list(row.suggestion), list(row.reasons)),
            *(row.sentence, row.priority),
        )
        for row in (*report_view.items, *report_view.uncompared)
    ]
    return ["item"], columns, rows


def _raters(report_view: View, _: Mapping[str, Any]) -> _Part:
    rows = [
        (row.id, row.n_items, row.agreement, *(row.ci95 or _NO_INTERVAL), row.cohen_kappa, row.sigma)
        for row in report_view.people
    ]
    return ["rater"], ["n_items", "agreement", "low", "high", "cohen_kappa", "sigma"], rows


def _pairs(report_view: View, _: Mapping[str, Any]) -> _Part:
    columns = ["n_items", "agreement", "low", "high", "expected_agreement", "cohen_kappa", "sigma"]
    rows = [
        (*row.raters, row.n_items, row.agreement, *(row.ci95 or _NO_INTERVAL), row.expected, row.cohen_kappa, row.sigma)
        for row in report_view.pairs
    ]
    return ["rater_a", "rater_b"], columns, rows


def _reasons(_: View, report: Mapping[str, Any]) -> _Part:
    rows = [
        (
            item["id"],
            *reason["raters"],
            *reason["texts"],
            reason["equivalence"],
            reason["kind"],
            reason["also"],
            reason["words"],
        )
        for item in report["items"]
        for reason in item["reasons"]
    ]
    columns = ["text_a", "text_b", "equivalence", "reason", "also", "words"]
    return ["item", "rater_a", "rater_b"], columns, rows


def _matches(_: View, report: Mapping[str, Any]) -> _Part:
    """A row for each text: the texts of a match have its number, and one that no other rater has is not matched."""
    rows: list[tuple[Any, ...]] = []
    for item in report["items"]:
        for number, match in enumerate(item["matches"], start=1):
            values = (match["equivalence"], match["relation"], match["support"])
            rows += [(item["id"], number, rater, text, *values) for rater, text in match["texts"].items()]
        rows += [
            (item["id"], 0, rater, text, None, "unmatched", 1)
            for rater, texts in item["unmatched"].items()
            for text in texts
        ]
    return ["item", "match", "rater"], ["text", "equivalence", "relation", "support"], rows


_PARTS: dict[str, Callable[[View, Mapping[str, Any]], _Part]] = {
    "coefficients": _coefficients,
    "items": _items,
    "raters": _raters,
    "pairs": _pairs,
    "reasons": _reasons,
    "matches": _matches,
}


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
    from softirr.report.page.render import report_page  # only here, because Jinja takes time to load

    folder = Path(folder)
    report_view = view(report)
    tables = {kind: report_part(report, kind, report_view) for kind in get_args(FrameKind)}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
        (folder / "methods.md").write_text(methods_paragraph(report), encoding="utf-8")
        (folder / "report.html").write_text(report_page(report_view, source=source), encoding="utf-8")
        for kind, (index, columns, rows) in tables.items():
            with (folder / f"{kind}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow([*index, *columns])
                writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: Any) -> Any:
    """A list becomes one text, and no text a formula."""
    return plain_cell("; ".join(map(str, value)) if isinstance(value, list | tuple) else value)

"""A report as tables: data frames of pandas, CSV files, and a folder with the page and the methods paragraph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from softirr.answers.sheets import csv_text
from softirr.errors import InputError, writing
from softirr.json_object import JsonObject
from softirr.report.methods import methods_paragraph
from softirr.report.view import View, view

FrameKind = Literal["coefficients", "items", "raters", "pairs", "reasons", "matches"]
_COLUMNS: dict[FrameKind, tuple[list[str], list[str]]] = {
    "coefficients": (["coefficient"], ["value", "standard_error", "low", "high", "undefined"]),
    "items": (
        ["item"],
        ["agreement", "kappa", "sigma", "n_raters", "suggestion", "reasons", "what_differs", "priority"],
    ),
    "raters": (["rater"], ["n_items", "agreement", "low", "high", "cohen_kappa", "sigma"]),
    "pairs": (
        ["rater_a", "rater_b"],
        ["n_items", "agreement", "low", "high", "expected_agreement", "cohen_kappa", "sigma"],
    ),
    "reasons": (["item", "rater_a", "rater_b"], ["text_a", "text_b", "equivalence", "reason", "also", "words"]),
    "matches": (["item", "match", "rater"], ["text", "equivalence", "relation", "support"]),
}
"""Columns that name a row, and the other columns, of each part of a report."""
_NUMBERS = frozenset(
    {"value", "standard_error", "low", "high", "agreement", "kappa", "sigma", "priority", "expected_agreement"}
    | {"cohen_kappa", "equivalence"}
)
_SEPARATE = {"ci95": ("low", "high"), "raters": ("rater_a", "rater_b"), "texts": ("text_a", "text_b")}
"""Columns of two values that a row has under one name."""
_SOURCES = {
    "coefficient": "key",
    "item": "id",
    "rater": "id",
    "what_differs": "sentence",
    "expected_agreement": "expected",
    "reason": "kind",
}
"""Names that the values of a column have in a row."""


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
    return frame.astype({name: "float64" for name in columns if name in _NUMBERS}).set_index(index)


def report_part(
    report: Mapping[str, Any], kind: FrameKind, report_view: View | None = None
) -> tuple[list[str], list[str], list[list[Any]]]:
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
    (list of str, list of str, list of list)
        Columns that name a row, the other columns, and the rows.

    Raises
    ------
    InputError
        If the part is unknown.
    """
    if kind not in _COLUMNS:
        raise InputError(f"A report has no part {kind!r}: it has {', '.join(_COLUMNS)}.")
    index, columns = _COLUMNS[kind]
    rows = map(_with_columns, _entries(report, kind, report_view or view(report)))
    return index, columns, [[row[column] for column in (*index, *columns)] for row in rows]


def _entries(report: Mapping[str, Any], kind: FrameKind, report_view: View) -> Iterable[dict[str, Any]]:
    if kind == "reasons":
        return [{"item": item["id"], **reason} for item in report["items"] for reason in item["reasons"]]
    if kind == "matches":
        return (row for item in report["items"] for row in _matches(item))
    rows: dict[str, Iterable[JsonObject]] = {
        "coefficients": report_view.coefficients,
        "items": (*report_view.items, *report_view.uncompared),
        "raters": report_view.people,
        "pairs": report_view.pairs,
    }
    return (row.to_dict() for row in rows[kind])


def _matches(item: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """A row for each text: the texts of a match have its number, and one that no other rater has is not matched."""
    unmatched = {"match": 0, "equivalence": None, "relation": "unmatched", "support": 1}
    for number, match in enumerate(item["matches"], start=1):
        for rater, text in match["texts"].items():
            names = {"item": item["id"], "match": number, "rater": rater, "text": text}
            yield names | {name: match[name] for name in ("equivalence", "relation", "support")}
    for rater, texts in item["unmatched"].items():
        for text in texts:
            yield unmatched | {"item": item["id"], "rater": rater, "text": text}


def _with_columns(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its values under the names of the columns."""
    values = dict(entry)
    for name, columns in _SEPARATE.items():
        values |= zip(columns, entry.get(name) or (None, None), strict=True)
    return {column: values[source] for column, source in _SOURCES.items() if source in values} | values


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
    files = {
        "report.json": json.dumps(report, ensure_ascii=False),
        "methods.md": methods_paragraph(report),
        "report.html": report_page(report_view, source=source),
    }
    for kind in _COLUMNS:
        index, columns, rows = report_part(report, kind, report_view)
        files[f"{kind}.csv"] = csv_text([[*index, *columns], *(map(_cell, row) for row in rows)])
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")


def _cell(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value

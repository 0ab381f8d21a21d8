"""A report as data frames of pandas, which is imported only when a data frame is requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from softirr.errors import InputError
from softirr.report.view import View, view

FrameKind = Literal["coefficients", "items", "raters", "pairs", "reasons", "matches"]


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
_COUNTS = ("n_items", "n_raters", "support")


def _coefficients(report_view: View, _: Mapping[str, Any]) -> _Part:
    columns = ["value", "standard_error", "low", "high", "undefined"]
    rows = [
        (row.key, row.value, row.standard_error, *_ends(row.ci95), row.undefined) for row in report_view.coefficients
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
        (row.id, row.n_items, row.agreement, *_ends(row.ci95), row.cohen_kappa, row.sigma) for row in report_view.people
    ]
    return ["rater"], ["n_items", "agreement", "low", "high", "cohen_kappa", "sigma"], rows


def _pairs(report_view: View, _: Mapping[str, Any]) -> _Part:
    columns = ["n_items", "agreement", "low", "high", "expected_agreement", "cohen_kappa", "sigma"]
    rows = [
        (*row.raters, row.n_items, row.agreement, *_ends(row.ci95), row.expected, row.cohen_kappa, row.sigma)
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


def _ends(interval: Sequence[float] | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval[0], interval[1])


_PARTS: dict[str, Callable[[View, Mapping[str, Any]], _Part]] = {
    "coefficients": _coefficients,
    "items": _items,
    "raters": _raters,
    "pairs": _pairs,
    "reasons": _reasons,
    "matches": _matches,
}

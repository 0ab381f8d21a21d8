"""A report as data frames of pandas, which is imported only here and only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from softirr.errors import InputError
from softirr.report.differences import count_differences
from softirr.report.meanings import entropy, meanings
from softirr.report.triage import item_priority
from softirr.report.view import view

__all__ = ["FrameKind", "report_frame", "report_part"]

FrameKind = Literal["coefficients", "items", "raters", "pairs", "reasons", "differences", "matches", "meanings"]


def report_frame(report: Mapping[str, Any], kind: FrameKind) -> Any:
    """A part of ``AgreementReport.to_dict()`` as a data frame.

    Parameters
    ----------
    report : mapping
    kind : {"coefficients", "items", "raters", "pairs", "reasons", "differences", "matches", "meanings"}

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InputError
        If there is no such part, or pandas is not installed.
    """
    index, columns, rows = report_part(report, kind)
    try:
        import pandas as pd
    except ImportError:
        raise InputError("Data frames need pandas: pip install pandas.") from None
    frame = pd.DataFrame(rows, columns=[*index, *columns])
    numbers = [name for name in columns if name not in _TEXTS]
    return frame.astype({name: "float64" for name in numbers if name not in _COUNTS}).set_index(index)


def report_part(report: Mapping[str, Any], kind: FrameKind) -> _Part:
    """A part of a report as rows of plain values.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.
    kind : {"coefficients", "items", "raters", "pairs", "reasons", "differences", "matches", "meanings"}

    Returns
    -------
    (list of str, list of str, list of tuple)
        Columns that name a row, the other columns, and the rows.

    Raises
    ------
    InputError
        If there is no such part.
    """
    if kind not in _PARTS:
        raise InputError(f"A report has no part {kind!r}: it has {', '.join(get_args(FrameKind))}.")
    return _PARTS[kind](report)


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
_TEXTS += ("wording", "texts", "example", "text_of_rater", "text_of_other")
_COUNTS = ("n_items", "n_raters", "support", "pairs", "shared", "raters")


def _coefficients(report: Mapping[str, Any]) -> _Part:
    rows = [
        (name, one["value"], one["standard_error"], *_ends(one["ci95"]), one["undefined"])
        for name, one in report["coefficients"].items()
    ]
    return ["coefficient"], ["value", "standard_error", "low", "high", "undefined"], rows


def _items(report: Mapping[str, Any]) -> _Part:
    columns = ["agreement", "kappa", "sigma", "n_raters", "suggestion"]
    sentences = {row.id: row.sentence for row in view(report).items}
    rows = [
        (
            item["id"],
            *(item[name] for name in columns),
            list(dict.fromkeys(one["kind"] for one in item["reasons"])),
            sentences.get(item["id"], ""),
            item_priority(item),
        )
        for item in report["items"]
    ]
    return ["item"], [*columns, "reasons", "what_differs", "priority"], rows


def _reasons(report: Mapping[str, Any]) -> _Part:
    rows = [
        (item["id"], *one["raters"], *one["texts"], one["equivalence"], one["kind"], one["also"], one["words"])
        for item in report["items"]
        for one in item["reasons"]
    ]
    columns = ["text_a", "text_b", "equivalence", "reason", "also", "words"]
    return ["item", "rater_a", "rater_b"], columns, rows


def _differences(report: Mapping[str, Any]) -> _Part:
    """Types of difference of each rater and each other one; none where the reasons were not asked for."""
    shared = {} if report["reasons"] is None else {tuple(x["raters"]): x["n_items"] for x in report["rater_pairs"]}
    counts = count_differences(((item["id"], item["reasons"]) for item in report["items"]), shared)
    rows = [
        (
            *(one.rater, one.other, one.difference, one.pairs, one.items, one.shared),
            *(one.share, one.low, one.high),
            *(one.examples[0] if one.examples else (None, None, None)),
        )
        for one in counts
    ]
    columns = ["pairs", "n_items", "shared", "share", "low", "high", "example", "text_of_rater", "text_of_other"]
    return ["rater", "other", "difference"], columns, rows


def _matches(report: Mapping[str, Any]) -> _Part:
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


def _meanings(report: Mapping[str, Any]) -> _Part:
    """The distribution of each item over meanings."""
    rows = [
        (item["id"], number, one.wording, one.share, one.raters, entropy(own), list(one.texts))
        for item in report["items"]
        for own in (meanings(item),)
        for number, one in enumerate(own, start=1)
    ]
    return ["item", "meaning"], ["wording", "share", "raters", "entropy", "texts"], rows


def _raters(report: Mapping[str, Any]) -> _Part:
    rows = [
        (
            one["id"],
            one["n_items"],
            one["agreement"],
            *_ends(one["agreement_ci95"]),
            one["cohen_kappa"]["value"],
            one["sigma"]["value"],
        )
        for one in report["raters"]
    ]
    return ["rater"], ["n_items", "agreement", "low", "high", "cohen_kappa", "sigma"], rows


def _pairs(report: Mapping[str, Any]) -> _Part:
    rows = [
        (
            *one["raters"],
            one["n_items"],
            one["observed_agreement"],
            *_ends(one["observed_agreement_ci95"]),
            one["expected_agreement"],
            one["cohen_kappa"]["value"],
            one["sigma"]["value"],
        )
        for one in report["rater_pairs"]
    ]
    columns = ["n_items", "agreement", "low", "high", "expected_agreement", "cohen_kappa", "sigma"]
    return ["rater_a", "rater_b"], columns, rows


def _ends(interval: list[float] | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval[0], interval[1])


_PARTS: dict[str, Callable[[Mapping[str, Any]], _Part]] = {
    "coefficients": _coefficients,
    "items": _items,
    "raters": _raters,
    "pairs": _pairs,
    "reasons": _reasons,
    "differences": _differences,
    "matches": _matches,
    "meanings": _meanings,
}

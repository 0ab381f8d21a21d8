"""Parts of the report as tables for CSV files, and the facts about its computation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ml_backend.review.consensus import csv_rows
from softirr.report.page.formats import day
from softirr.report.page.view import how_computed

Row = Mapping[str, Any]
_MADE: dict[str, Callable[[Row], Any]] = {
    "ci95_low": lambda row: (row.get("ci95") or (None, None))[0],
    "ci95_high": lambda row: (row.get("ci95") or (None, None))[1],
    "priority": lambda row: round(row["priority"], 6),
    "reasons": lambda row: "; ".join(row["reasons"]),
    "standard_error": lambda row: row.get("standard_error"),
    "undefined": lambda row: row.get("undefined"),
}
"""Columns whose values are made of several entries of a row, or of one that may be missing."""
_COLUMNS = {
    "tasks": "task agreement annotators=n_raters priority reasons differs_from_the_others=differs reviewed_by=who "
    "reviewed_at=when link first_text=text why state note",
    "fields": "field=name kind coefficient value ci95_low ci95_high expected_agreement n_items deviates problem",
    "annotators": "id name ITEMS=n_items agreement ci95_low ci95_high cohen_kappa left_out more_general=general "
    "more_specific=specific",
    "annotator_pairs": "first second ITEMS=n_items observed_agreement ci95_low ci95_high expected_agreement "
    "cohen_kappa",
    "coefficients": "coefficient=key value standard_error ci95_low ci95_high expected_agreement=expected undefined",
    "disagreements": "kind first second times=pairs tasks",
    "reasons": "reason=kind first second tasks=n tasks_of_both=n_items",
    "consensus": "",
    "left_out": "task annotator=name reason",
}
"""Columns of each table, with the entry of a row where that has another name; ITEMS is the report's unit."""
TABLES = tuple(_COLUMNS)


def table(name: str, report: Row, *, queue: Sequence[Row] | None = None) -> Iterator[list[Any]]:
    """Rows of a table, the header first.

    Parameters
    ----------
    name : str
        One of `TABLES`.
    queue : sequence, optional
        The whole triage queue; the report has only its start.
    """
    if name == "consensus":
        yield from csv_rows(sorted(report["consensus"]["answers"], key=lambda row: row["task"]))
        return
    columns = [column.partition("=") for column in _COLUMNS[name].split()]
    yield [f"{report['unit']}s" if column == "ITEMS" else column for column, *_ in columns]
    entries = [entry or column for column, _, entry in columns]
    for row in _rows(name, report, report["queue"] if queue is None else queue):
        yield [_MADE[entry](row) if entry in _MADE else row[entry] for entry in entries]


def _rows(name: str, report: Row, queue: Sequence[Row]) -> Iterator[Row]:
    reasons = report["reasons"] or {"rater_pairs": (), "kinds": ()}
    match name:
        case "tasks":
            for row in queue:
                mark = row["done"] or row["sent_back"] or {}
                differs = report["names"].get(row["dissenter"], row["dissenter"])
                yield {**row, "differs": differs, **{one: mark.get(one) for one in ("who", "when", "note")}}
        case "annotator_pairs":
            for row in report["rater_pairs"]:
                yield {**row, **_first_and_second(row["names"])}
        case "reasons":
            for row in reasons["rater_pairs"]:
                for kind, n in row["kinds"].items():
                    yield {**row, **_first_and_second(row["names"]), "kind": kind, "n": n}
        case "disagreements":
            for kind in reasons["kinds"]:
                for one in kind["examples"]:
                    texts = _first_and_second([text or "" for text in one["texts"]])
                    tasks = " ".join(one.get("items") or [one["item"]])
                    yield {"kind": kind["kind"], **texts, "pairs": one.get("pairs"), "tasks": tasks}
        case "left_out":
            yield from report["excluded"]["all"]
        case _:
            yield from report[{"fields": "field_table", "annotators": "raters"}.get(name, name)]


def _first_and_second(pair: Sequence[str]) -> dict[str, str]:
    return dict(zip(("first", "second"), pair, strict=True))


def facts(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Facts about the computation of the report, as terms and values."""
    provenance, settings = report["provenance"], report["settings"] or {}
    rows: list[tuple[str, Any]] = [
        *how_computed(provenance, report["expected_agreement"]),
        ("Field", report["control"]),
        ("Computed", day(provenance.get("computed_at"))),
        ("Took", f"{provenance['seconds']:.1f} s" if provenance.get("seconds") else None),
        ("softirr", provenance.get("softirr")),
    ]
    for name, entry in settings.items():
        if (
            name not in ("measure", "panel", "suggestions", "policy", "terminologies")
            and isinstance(entry, Mapping)
            and entry.get("source") != "default"
        ):
            value = report["reviewers"] if name == "reviewers" else entry.get("value")
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            rows.append((f"Setting {name}", f"{shown} ({entry.get('source')})"))
    return [(term, str(value)) for term, value in rows if value]

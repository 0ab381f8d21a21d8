"""Parts of the report as tables for CSV files, and the facts about its computation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ml_backend.report.codes import coverage
from ml_backend.review.consensus import csv_rows
from softirr.report.page.formats import day
from softirr.report.page.view import how_computed

TABLES = (
    *("tasks", "fields", "annotators", "annotator_pairs", "coefficients"),
    *("disagreements", "reasons", "consensus", "left_out"),
)
FIELD_ENDS = ("expected_agreement", "n_items", "deviates", "problem")


def table(
    name: str, report: Mapping[str, Any], *, queue: Sequence[Mapping[str, Any]] | None = None
) -> Iterator[list[Any]]:
    """Rows of a table, the header first.

    Parameters
    ----------
    name : str
        One of `TABLES`.
    queue : sequence, optional
        The whole triage queue, of which the report has only the start.
    """
    match name:
        case "tasks":
            yield [
                "task",
                "agreement",
                "annotators",
                "priority",
                "reasons",
                "differs_from_the_others",
                "reviewed_by",
                "reviewed_at",
                "link",
                "first_text",
                "why",
                "state",
                "note",
            ]
            for row in report["queue"] if queue is None else queue:
                done = row["done"] or row["sent_back"] or {}
                differs = report["names"].get(row["dissenter"], row["dissenter"])
                yield [
                    *(
                        row["task"],
                        row["agreement"],
                        row["n_raters"],
                        round(row["priority"], 6),
                        "; ".join(row["reasons"]),
                    ),
                    *(differs, done.get("who"), done.get("when"), row["link"], row["text"], row["why"]),
                    *(row["state"], done.get("note")),
                ]
        case "fields":
            yield ["field", "kind", "coefficient", "value", "ci95_low", "ci95_high", *FIELD_ENDS]
            for row in report["field_table"]:
                low, high = row["ci95"] or (None, None)
                yield [
                    *(row["name"], row["kind"], row["coefficient"], row["value"], low, high),
                    *(row[name] for name in FIELD_ENDS),
                ]
        case "annotators":
            yield [
                *(
                    "id",
                    "name",
                    f"{report['unit']}s",
                    "agreement",
                    "ci95_low",
                    "ci95_high",
                    "cohen_kappa",
                    "left_out",
                    "more_general",
                    "more_specific",
                ),
            ]
            for row in report["raters"]:
                low, high = row["ci95"] or (None, None)
                yield [
                    *(row["id"], row["name"], row["n_items"], row["agreement"], low, high),
                    *(row["cohen_kappa"], row["left_out"], row["general"], row["specific"]),
                ]
        case "annotator_pairs":
            yield [
                "first",
                "second",
                f"{report['unit']}s",
                "observed_agreement",
                "ci95_low",
                "ci95_high",
                "expected_agreement",
                "cohen_kappa",
            ]
            for row in report["rater_pairs"]:
                low, high = row["ci95"] or (None, None)
                yield [
                    *row["names"],
                    row["n_items"],
                    row["observed_agreement"],
                    low,
                    high,
                    row["expected_agreement"],
                    row["cohen_kappa"],
                ]
        case "coefficients":
            yield ["coefficient", "value", "standard_error", "ci95_low", "ci95_high", "expected_agreement", "undefined"]
            for row in report["coefficients"]:
                low, high = row.get("ci95") or (None, None)
                yield [
                    row["key"],
                    row["value"],
                    row.get("standard_error"),
                    low,
                    high,
                    row["expected"],
                    row.get("undefined"),
                ]
        case "reasons":
            yield ["reason", "first", "second", "tasks", "tasks_of_both"]
            for row in (report["reasons"] or {"rater_pairs": ()})["rater_pairs"]:
                for kind, n in row["kinds"].items():
                    yield [kind, *row["names"], n, row["n_items"]]
        case "consensus":
            yield from csv_rows(sorted(report["consensus"]["answers"], key=lambda row: row["task"]))
        case "disagreements":
            yield ["kind", "first", "second", "times", "tasks"]
            for kind in (report["reasons"] or {"kinds": ()})["kinds"]:
                for one in kind["examples"]:
                    tasks = " ".join(one.get("items") or [one["item"]])
                    yield [kind["kind"], *(text or "" for text in one["texts"]), one.get("pairs"), tasks]
        case _:
            yield ["task", "annotator", "reason"]
            for row in report["excluded"]["all"]:
                yield [row["task"], row["name"], row["reason"]]


def facts(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Facts about the computation of the report, as terms and values."""
    provenance, settings = report["provenance"], report["settings"] or {}
    rows: list[tuple[str, Any]] = [
        *how_computed(provenance, report["expected_agreement"]),
        ("Texts that the terminologies know", coverage(report)),
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

"""The numbers of a report's JSON by address, and whether a surface writes a number as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from softirr.report.view.rows import in_triage_order, priority

BOTH_ENDS = ("low", "high")
NAMES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "headline.without": lambda entry: entry["rater"],
    "raters": lambda entry: entry["id"],
    "items": lambda entry: entry["id"],
    "rater_pairs": lambda entry: " & ".join(entry["raters"]),
    "items.pairs": lambda entry: " & ".join(entry["raters"]),
    "reasons.kinds": lambda entry: entry["kind"],
    "reasons.rater_pairs": lambda entry: " & ".join(entry["raters"]),
    "reasons.what_if": lambda entry: entry["attribute"],
}
"""Names of the entries of a list; entries of other lists have numbers."""
BY_NAME = ("coefficients", "by_closeness", "plain", "off", "needed_for_width", "tendency", "kinds")
"""Objects with keys that are names of the project, not of the format."""


def leaves(value: Any, path: str = "", address: str = "", *, listed: bool = False) -> Iterator[tuple[str, str, Any]]:
    """(path, address, value) of every number; the path has no names of items, raters and coefficients."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int | float):
        yield path, address, value
    elif isinstance(value, dict):
        is_keyed_by_name = path.rpartition(".")[2] in BY_NAME and not listed
        for key, entry in value.items():
            child_path = path if is_keyed_by_name else f"{path}.{key}".strip(".")
            yield from leaves(entry, child_path, f"{address}.{key}".strip("."), listed=is_keyed_by_name)
    else:
        for index, entry in enumerate(value):
            name = BOTH_ENDS[index] if path.endswith("ci95") else str(index)
            if isinstance(entry, dict) and path in NAMES:
                name = NAMES[path](entry)
            yield from leaves(entry, path, f"{address}[{name}]", listed=True)


def counted(report: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Numbers of entries, which other surfaces show as numbers."""
    yield "n_compared", "n_compared", sum(item["agreement"] is not None for item in report["items"])
    yield "excluded", "excluded", len(report["excluded"])
    for reason, n in Counter(entry["reason"] for entry in report["excluded"]).items():
        yield "excluded.reason", f"excluded.{reason}", n
    for rater in report["raters"]:
        left_out = sum(entry["rater"] == rater["id"] for entry in report["excluded"])
        yield "excluded.rater", f"excluded of {rater['id']}", left_out
    for index, item in enumerate(in_triage_order(report["items"])):
        yield "order", f"order[{index}]", item["id"]
        yield "priority", f"priority[{item['id']}]", priority(item)
    n = sum(item["agreement"] is not None for item in report["items"])
    for kind in report["reasons"]["kinds"]:
        yield "share of kind", f"share of {kind['kind']}", kind["items"] / n
    for pair in report["reasons"]["rater_pairs"]:
        for kind, items in pair["kinds"].items():
            yield "share of pair", f"share of {kind} of {' & '.join(pair['raters'])}", items / pair["n_items"]
    yield "judgments", "headline.judgments", report["coefficients"]["krippendorff_alpha"]["judgments"]


def numbers(report: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Path and value of each number of a report by its address."""
    return {address: (path, value) for path, address, value in [*leaves(report), *counted(report)]}


def agrees(value: Any, surface_text: Any) -> bool:
    """Whether a number is shown exactly, or rounded to the digits shown."""
    if isinstance(value, str) or not isinstance(surface_text, str):
        return bool(value == surface_text)
    digits_text = surface_text.replace("−", "-").replace(",", "")
    if digits_text.endswith("%"):
        return digits_text in (f"{value:.0%}", f"{100 * value:.1f} %")
    digits = len(digits_text.partition(".")[2])
    return float(digits_text) == value or (digits < 5 and f"{value:z.{digits}f}" == digits_text)

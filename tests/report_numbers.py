"""The numbers of a report's JSON by address, and whether a surface writes a number as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from softirr.report.triage import in_triage_order, item_priority

BOTH_ENDS = ("low", "high")
NAMES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "headline.without": lambda one: one["rater"],
    "raters": lambda one: one["id"],
    "items": lambda one: one["id"],
    "rater_pairs": lambda one: " & ".join(one["raters"]),
    "items.pairs": lambda one: " & ".join(one["raters"]),
    "reasons.kinds": lambda one: one["kind"],
    "reasons.rater_pairs": lambda one: " & ".join(one["raters"]),
    "reasons.what_if": lambda one: one["attribute"],
}
"""What the entries of a list are called; others have numbers."""
BY_NAME = ("coefficients", "by_closeness", "plain", "off", "needed_for_width", "tendency", "kinds")
"""Objects whose keys are names of the project, not of the format."""


def leaves(value: Any, path: str = "", address: str = "", *, listed: bool = False) -> Iterator[tuple[str, str, Any]]:
    """(path, address, value) of every number; the path has no names of items, raters and coefficients."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int | float):
        yield path, address, value
    elif isinstance(value, dict):
        named = path.rpartition(".")[2] in BY_NAME and not listed
        for key, one in value.items():
            own = path if named else f"{path}.{key}".strip(".")
            yield from leaves(one, own, f"{address}.{key}".strip("."), listed=named)
    else:
        for index, one in enumerate(value):
            name = BOTH_ENDS[index] if path.endswith("ci95") else str(index)
            if isinstance(one, dict) and path in NAMES:
                name = NAMES[path](one)
            yield from leaves(one, path, f"{address}[{name}]", listed=True)


def counted(report: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Numbers of entries, which other surfaces show as numbers."""
    yield "n_compared", "n_compared", sum(item["agreement"] is not None for item in report["items"])
    yield "excluded", "excluded", len(report["excluded"])
    for reason, n in Counter(one["reason"] for one in report["excluded"]).items():
        yield "excluded.reason", f"excluded.{reason}", n
    for rater in report["raters"]:
        left_out = sum(one["rater"] == rater["id"] for one in report["excluded"])
        yield "excluded.rater", f"excluded of {rater['id']}", left_out
    for index, item in enumerate(in_triage_order(report["items"])):
        yield "order", f"order[{index}]", item["id"]
        yield "priority", f"priority[{item['id']}]", item_priority(item)
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


def agrees(value: Any, written: Any) -> bool:
    """Whether a number is written as it is, or rounded to the digits that are written."""
    if isinstance(value, str) or not isinstance(written, str):
        return bool(value == written)
    plain = written.replace("−", "-").replace(",", "")
    if plain.endswith("%"):
        return plain in (f"{value:.0%}", f"{100 * value:.1f} %")
    digits = len(plain.partition(".")[2])
    return float(plain) == value or (digits < 5 and f"{value:z.{digits}f}" == plain)

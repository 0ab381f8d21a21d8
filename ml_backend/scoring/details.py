"""The stored details of scored tasks and of a project's report, and a project's reasons, counted from its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ml_backend.labelstudio.answers import rater_order
from ml_backend.scoring.preparation import PLACE
from softirr.numbers import plural

if TYPE_CHECKING:
    from softirr.report.reason_counts import ReasonSummary

MOST_REASONS = 200
"""Maximum number of text pairs of a task and field with a stored reason."""
MOST_EXCLUDED = 1000
MOST_MEANINGS, MOST_ITEMS = 500, 1000
"""Maximum numbers of clusters of a report, and of the items that each lists."""


def control_details(items: Sequence[Any]) -> dict[str, Any]:
    """Return the details of one control of one task; the agreement of several groups of regions is their mean."""
    agreements = [item.agreement for item in items if item.agreement is not None]
    pairs: dict[tuple[str, str], list[float]] = {}
    for item in items:
        for a, b, value in item.pairs:
            pairs.setdefault((a, b), []).append(value)
    suggested = {_group(item): list(item.suggestion) for item in items if PLACE in item.id and item.suggestion}
    original = _by_rater(item.written for item in items)
    return {
        "agreement": sum(agreements) / len(agreements) if agreements else None,
        "n_raters": max((item.n_raters for item in items), default=0),
        "pairs": [[a, b, sum(values) / len(values)] for (a, b), values in pairs.items()],
        "matches": [match for item in items for match in _matches_of(item)],
        "unmatched": _by_rater(item.unmatched for item in items),
        "suggestion": list(dict.fromkeys(text for item in items for text in item.suggestion)),
        "reasons": [_reason(reason) for item in items for reason in item.reasons][:MOST_REASONS],
        **({"written": original} if original else {}),
        **({"suggested": suggested} if suggested else {}),
    }


def _by_rater(texts_of_items: Iterable[Mapping[str, Iterable[str]]]) -> dict[str, list[str]]:
    """Return each rater's texts in all items."""
    texts_of: dict[str, list[str]] = {}
    for texts_of_item in texts_of_items:
        for rater, texts in texts_of_item.items():
            texts_of.setdefault(rater, []).extend(texts)
    return texts_of


def _group(item: Any) -> str:
    """Return the number of the group of matched regions that an item is; empty for a whole task."""
    return str(item.id.partition(PLACE)[2])


def _matches_of(item: Any) -> list[dict[str, Any]]:
    """Return the matches of an item, with the number of its group of matched regions."""
    group = {"place": int(_group(item))} if PLACE in item.id else {}
    return [(dict(match) if isinstance(match, Mapping) else match.to_dict()) | group for match in item.matches]


def _reason(reason: Any) -> dict[str, Any]:
    """Return a reason, with the number of the more general text, which `counted_reasons` needs."""
    entry: dict[str, Any] = reason.to_dict()
    return entry if reason.broader is None else {**entry, "broader": reason.broader}


def counted_reasons(tasks: Iterable[tuple[int, Mapping[str, Any]]], control: str) -> tuple[ReasonSummary, list[str]]:
    """Count why texts of a project do not match, from the details of its tasks, so that no pair is explained twice.

    Parameters
    ----------
    tasks : iterable of (int, mapping)
        Numbers of tasks and their details (`Scorer.task_details`).

    Returns
    -------
    ReasonSummary, list of str
        At most `MOST_REASONS` pairs of a task count; a warning names the tasks that have more.
    """
    from softirr.report.reason_counts import StoredReason, summarize_reasons

    shared: Counter[tuple[str, str]] = Counter()
    incomplete: list[int] = []

    def stored() -> Iterator[tuple[str, list[StoredReason]]]:
        for number, details in tasks:
            if (field := details["controls"].get(control)) is None:
                continue
            shared.update((a, b) for a, b, _ in field["pairs"])
            reasons = field.get("reasons", ())
            if len(reasons) >= MOST_REASONS:
                incomplete.append(number)
            yield str(number), [StoredReason.from_dict(entry) for entry in reasons]

    reasons_found = summarize_reasons(stored(), shared)
    in_order = sorted(reasons_found.rater_pairs, key=lambda row: tuple(map(rater_order, row[0])))
    names = f"task {incomplete[0]}" if len(incomplete) == 1 else plural(len(incomplete), "task")
    sentence = (
        f"Many texts of {names} do not match: the reasons of {MOST_REASONS} pairs of texts of a task are counted."
    )
    return replace(reasons_found, rater_pairs=tuple(in_order)), [sentence] if incomplete else []


def without_items(report: dict[str, Any], n_compared: int) -> dict[str, Any]:
    """Return a report on a field as a summary has it: without its items, and with long lists cut."""
    excluded = report.get("excluded", [])
    result = {name: value for name, value in report.items() if name != "items"}
    if "meanings" in report:
        clusters = report["meanings"][:MOST_MEANINGS]
        result["meanings"] = [{**cluster, "items": cluster["items"][:MOST_ITEMS]} for cluster in clusters]
    return result | {"n_compared": n_compared, "n_excluded": len(excluded), "excluded": excluded[:MOST_EXCLUDED]}

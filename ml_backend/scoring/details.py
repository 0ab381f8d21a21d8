"""What is kept of a scored task, and the reasons of a project counted from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ml_backend.labelstudio.answers import rater_order
from ml_backend.scoring.stored_answers import PLACE
from softirr.plural import plural

if TYPE_CHECKING:
    from softirr.report.reason_counts import ReasonSummary

__all__ = ["control_details", "counted_reasons", "cut_reasons", "note_cut"]

MOST_PLACES = 200
"""Places of regions of a task whose agreement is kept."""
MOST_REASONS = 200
"""Pairs of texts of a task and field whose reason is kept."""


def control_details(items: Sequence[Any]) -> dict[str, Any]:
    """Details of one control of one task; the agreement of several places is their mean."""
    known = [item.agreement for item in items if item.agreement is not None]
    pairs: dict[tuple[str, str], list[float]] = {}
    unmatched: dict[str, list[str]] = {}
    written: dict[str, list[str]] = {}
    for item in items:
        for a, b, value in item.pairs:
            pairs.setdefault((a, b), []).append(value)
        for rater, texts in item.unmatched.items():
            unmatched.setdefault(rater, []).extend(texts)
        for rater, texts in item.written.items():
            written.setdefault(rater, []).extend(texts)
    return {
        "agreement": sum(known) / len(known) if known else None,
        "n_raters": max((item.n_raters for item in items), default=0),
        "pairs": [[a, b, sum(values) / len(values)] for (a, b), values in pairs.items()],
        "matches": [match for item in items for match in _matches_of(item)],
        "unmatched": unmatched,
        "suggestion": list(dict.fromkeys(text for item in items for text in item.suggestion)),
        "reasons": [_told(one) for item in items for one in item.reasons][:MOST_REASONS],
        **({"written": written} if written else {}),
        **_places_of(items),
    }


def _matches_of(item: Any) -> list[dict[str, Any]]:
    """The matches of an item, with the number of its place where regions are compared by overlap."""
    place = {"place": int(item.id.partition(PLACE)[2])} if PLACE in item.id else {}
    return [(dict(match) if isinstance(match, Mapping) else match.to_dict()) | place for match in item.matches]


def _places_of(items: Sequence[Any]) -> dict[str, Any]:
    """The agreement and the suggestion of each place by its number, where regions are compared by overlap."""
    numbered = {item.id.partition(PLACE)[2]: item for item in items[:MOST_PLACES] if PLACE in item.id}
    if not numbered:
        return {}
    return {
        "places": {number: item.agreement for number, item in numbered.items()},
        "suggested": {number: list(item.suggestion) for number, item in numbered.items() if item.suggestion},
    }


def _told(one: Any) -> dict[str, Any]:
    """A reason, with the place of the more general text, which counting asks for."""
    entry: dict[str, Any] = one.to_dict()
    broader = one.broader
    return entry if broader is None else {**entry, "broader": broader}


def counted_reasons(tasks: Iterable[tuple[int, Mapping[str, Any]]], control: str) -> ReasonSummary:
    """Why texts of a project do not match, counted from the details of its tasks, so that no pair is explained twice.

    Parameters
    ----------
    tasks : iterable of (int, mapping)
        Numbers of tasks and their details (`Scorer.task_details`).
    control : str

    Returns
    -------
    ReasonSummary
        Of a task at most `MOST_REASONS` pairs count.
    """
    from softirr.report.reason_counts import StoredReason, summarize_reasons

    shared: Counter[tuple[str, str]] = Counter()

    def stored() -> Iterator[tuple[str, list[StoredReason]]]:
        for number, details in tasks:
            field = details["controls"].get(control)
            if field is not None:
                shared.update((a, b) for a, b, _ in field["pairs"])
                yield str(number), [StoredReason.from_dict(one) for one in field.get("reasons", ())]

    counted = summarize_reasons(stored(), shared)
    in_order = sorted(counted.rater_pairs, key=lambda one: tuple(map(rater_order, one[0])))
    return replace(counted, rater_pairs=tuple(in_order))


def note_cut(
    tasks: Iterable[tuple[int, Mapping[str, Any]]], control: str, cut: set[int]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The same tasks; those with as many reasons as are kept of a task are added to `cut`."""
    for number, details in tasks:
        if len((details["controls"].get(control) or {}).get("reasons", ())) >= MOST_REASONS:
            cut.add(number)
        yield number, details


def cut_reasons(cut: Collection[int]) -> list[str]:
    """The warning that not every reason of these tasks is counted."""
    if not cut:
        return []
    tasks = f"task {min(cut)}" if len(cut) == 1 else plural(len(cut), "task")
    return [f"Many texts of {tasks} do not match: of a task, the reasons of {MOST_REASONS} pairs of texts are counted."]

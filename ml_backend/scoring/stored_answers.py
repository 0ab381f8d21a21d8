"""Stored answers as tables: an item is a task, or a place of it where regions are compared by overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ml_backend.settings import ProjectSettings
from softirr.answers.table import AnnotationTable, Answer, Excluded, Split

__all__ = ["PLACE", "capped", "places", "table_of", "with_written", "written_in"]

PLACE = "#"
"""Separates the task's number and the number of a place in it."""


_MOST_EXCLUDED = 1000


def capped(report: dict[str, Any], n_compared: int) -> dict[str, Any]:
    """A report on a project's field as a summary keeps it: without its items, and with the first excluded answers."""
    excluded = report.get("excluded", [])
    return {name: value for name, value in report.items() if name != "items"} | {
        "n_compared": n_compared,
        "n_excluded": len(excluded),
        "excluded": excluded[:_MOST_EXCLUDED],
    }


def places(number: int, entry: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Sequence[str]]]]:
    """The items of a task's control: one, or one for each place where regions overlap."""
    groups = entry.get("groups")
    if not groups:
        return [(str(number), entry["answers"])]
    return [(f"{number}{PLACE}{place}", group) for place, group in enumerate(groups)]


def _written_places(number: int, entry: Mapping[str, Any]) -> dict[str, Mapping[str, Sequence[str]]]:
    """The same items with their answers as they were written; nothing where answers are not split."""
    if not entry.get("split"):
        return {}
    return dict(places(number, {"answers": entry["written"], "groups": entry.get("written_groups")}))


def with_written(
    table: AnnotationTable, written: Mapping[str, Mapping[str, Sequence[str]]], split: Mapping[str, Any] | None
) -> AnnotationTable:
    """A table of split answers that knows how they were written, so that suggestions are joined in the same way."""
    if split is None:
        return table
    places_and_raters = zip(table.item.tolist(), table.rater.tolist(), table.written, strict=True)
    as_written = tuple(
        tuple(written.get(table.items[item], {}).get(table.raters[rater], own))
        for item, rater, own in places_and_raters
    )
    several = sum(
        len(table.answers[answer]) > len(own) for answer, own in zip(table.answer.tolist(), as_written, strict=True)
    )
    splitting = Split(split["mode"], tuple(split["marks"]), split["joiner"], several)
    return replace(table, written=as_written, split=splitting)


def table_of(
    answers: Iterable[tuple[int, Mapping[str, Any]]], control: str, settings: ProjectSettings
) -> AnnotationTable:
    """The answers to one control over a project (`Store.answers`) as a table; an item is a task, or a place of it."""
    from softirr.meaning.policy.splitting import split_in_words, unsplit

    items: list[str] = []
    rows: list[Answer] = []
    excluded: list[Excluded] = []
    written: dict[str, Mapping[str, Sequence[str]]] = {}
    split: Mapping[str, Any] | None = None
    for number, entry in answers:
        field = entry.get(control)
        if field is None:
            items.append(str(number))
            continue
        for place, by_rater in places(number, field):
            items.append(place)
            rows.extend(Answer(place, rater, tuple(texts)) for rater, texts in by_rater.items())
        written |= _written_places(number, field)
        split = field.get("split") or split
        excluded.extend(Excluded(str(number), rater, reason) for rater, reason in field["excluded"])
    table = AnnotationTable.from_answers(rows, items=items, excluded=excluded, casefold=settings.casefold)
    table = replace(with_written(table, written, split), marks=settings.missing)
    if table.split is None:
        return table
    return replace(
        table, warnings=(*table.warnings, split_in_words(table.split, len(table.written), unsplit(table.written)))
    )


def written_in(
    answers: Iterable[tuple[int, Mapping[str, Any]]], control: str
) -> tuple[dict[str, Mapping[str, Sequence[str]]], Mapping[str, Any] | None]:
    """The answers to a control as they were written, by item, and how they were split; nothing where they were not."""
    written: dict[str, Mapping[str, Sequence[str]]] = {}
    split: Mapping[str, Any] | None = None
    for number, entry in answers:
        if control in entry:
            written |= _written_places(number, entry[control])
            split = entry[control].get("split") or split
    return written, split

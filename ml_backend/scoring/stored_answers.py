"""Stored answers as tables: an item is a task, or a place of it where regions are compared by overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ml_backend.settings import ProjectSettings
from softirr.answers.splitting import LONGEST, Split
from softirr.answers.table import AnnotationTable, Answer, Excluded

__all__ = ["PLACE", "capped", "places", "rows_of", "table_of", "with_split"]

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


def rows_of(number: int, entry: Mapping[str, Any]) -> Iterator[tuple[str, list[Answer]]]:
    """Yield each item of a task's control with its answers; split answers also have the texts as they were written."""
    written = dict(places(number, {"answers": entry.get("written", {}), "groups": entry.get("written_groups")}))
    for item, by_rater in places(number, entry):
        as_written = written.get(item, {})
        yield (
            item,
            [
                Answer(item, rater, tuple(texts), tuple(as_written[rater]) if rater in as_written else None)
                for rater, texts in by_rater.items()
            ],
        )


def with_split(table: AnnotationTable, mode: str | None) -> AnnotationTable:
    """Return a table of stored answers that has how they were split."""
    if mode is None:
        return table
    lengths = zip(table.answer.tolist(), table.written, strict=True)
    return replace(table, split=Split(mode, sum(len(table.answers[answer]) > len(texts) for answer, texts in lengths)))


def table_of(
    answers: Iterable[tuple[int, Mapping[str, Any]]], control: str, settings: ProjectSettings
) -> AnnotationTable:
    """Return the stored answers to a control over a project as a table; an item is a task, or a place of it."""
    items: list[str] = []
    rows: list[Answer] = []
    excluded: list[Excluded] = []
    is_split = settings.policy.split == "none"
    for number, entry in answers:
        if (field := entry.get(control)) is None:
            items.append(str(number))
            continue
        is_split |= "written" in field
        for item, of_item in rows_of(number, field):
            items.append(item)
            rows += of_item
        excluded.extend(Excluded(str(number), rater, reason) for rater, reason in field["excluded"])
    table = AnnotationTable.from_answers(rows, items=items, excluded=excluded, casefold=settings.casefold)
    table = with_split(replace(table, marks=settings.missing), settings.policy.split if is_split else None)
    if table.split is None or table.split.mode == "none":
        return table
    n_long = sum(any(len(text) > LONGEST for text in texts) for texts in table.written)
    return replace(table, warnings=(*table.warnings, table.split.sentence(len(table.written), n_long)))

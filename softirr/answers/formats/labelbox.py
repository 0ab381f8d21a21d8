"""Labelbox's export (version 2, NDJSON): the classifications of a project, a label for each labeler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from softirr.answers.gathered import Records, Request, Tables, chosen_texts, gathered_tables
from softirr.answers.labelstudio import mappings
from softirr.answers.registry import Format, Ways
from softirr.answers.table import SKIPPED
from softirr.errors import InputError
from softirr.text import is_blank

__all__ = ["FORMATS"]

_Answer = str | tuple[str, ...]


def _is_it(record: Mapping[str, Any]) -> bool:
    return _is_old(record) or (
        isinstance(record.get("data_row"), Mapping) and isinstance(record.get("projects"), Mapping)
    )


def _is_old(record: Mapping[str, Any]) -> bool:
    return {"DataRow ID", "Labeled Data", "Label"} <= record.keys()


def _read(records: Records, request: Request) -> Tables:
    """The tables of the classifications asked for, or of the only one with texts, or the only one of choices.

    The newest label of each labeler counts.
    """
    kept: list[tuple[str, str, str, dict[str, _Answer] | None]] = []
    names: dict[str, str] = {}
    n_rows = 0
    for line, record in records:
        place = request.line(line)
        if isinstance(record, Mapping) and _is_old(record):
            raise InputError(f"{request.name} is Labelbox's export of version 1: export the project again as NDJSON.")
        if not isinstance(record, Mapping) or not _is_it(record) or not record["data_row"].get("id"):
            raise InputError(f"{place}: expected a data row of Labelbox, with data_row and projects.")
        n_rows += 1
        row = record["data_row"]
        item = str(row["id"])
        names[item] = str(row.get("external_id") or row.get("global_key") or row["id"])
        for labels in _labels(record, place):
            for label in sorted(labels, key=lambda one: str(_details(one).get("created_at") or "")):
                rater = _details(label).get("created_by")
                if not isinstance(rater, str) or is_blank(rater):
                    raise InputError(f"{place}: a label does not name its labeler (label_details.created_by).")
                kept.append((item, rater, place, None if _is_skipped(label) else dict(_answers(label))))
    times = Counter(names.values())
    given = [(name, answer) for *_, answers in kept for name, answer in (answers or {}).items()]
    free = dict.fromkeys(name for name, answer in given if isinstance(answer, str))
    known = list(free if free and not request.texts else dict.fromkeys(name for name, _ in given))
    gathered = {name: request.gathered() for name in chosen_texts(request, known, "classification")}
    for row_id, rater, place, answers in kept:
        # files of one name are several data rows
        item = names[row_id] if times[names[row_id]] == 1 else row_id
        for name, one in gathered.items():
            if answers is None:
                one.drop(item, rater, SKIPPED)
            else:
                one.add(item, rater, answers.get(name), place)
    return gathered_tables(request, "labelbox", gathered, n_rows=n_rows)


def _labels(record: Mapping[str, Any], place: str) -> Iterator[list[Mapping[str, Any]]]:
    """The labels of each project."""
    if len(record["projects"]) > 1:
        raise InputError(f"{place}: the data row is in several projects: export one project.")
    for project in record["projects"].values():
        labels = project.get("labels") if isinstance(project, Mapping) else None
        if not isinstance(labels, list) or not all(isinstance(one, Mapping) for one in labels):
            raise InputError(f"{place}: a project of the data row has no list of labels.")
        yield labels


def _details(label: Mapping[str, Any]) -> Mapping[str, Any]:
    details = label.get("label_details")
    return details if isinstance(details, Mapping) else {}


def _is_skipped(label: Mapping[str, Any]) -> bool:
    """Whether the labeler skipped the data row."""
    performance = label.get("performance_details")
    return isinstance(performance, Mapping) and performance.get("skipped") is True


def _answers(label: Mapping[str, Any]) -> Iterator[tuple[str, _Answer]]:
    """Name and answer of each classification, and of those that a choice asks for: a text, or names of choices."""
    annotations = label.get("annotations")
    left = list(mappings(annotations.get("classifications"))) if isinstance(annotations, Mapping) else []
    while left:
        one = left.pop(0)
        name, text = str(one.get("name") or one.get("value")), one.get("text_answer")
        if isinstance(text, Mapping) and isinstance(text.get("content"), str) and not is_blank(text["content"]):
            yield name, text["content"]
        choices = [*mappings([one.get("radio_answer")]), *mappings(one.get("checklist_answers"))]
        if choices:
            yield name, tuple(str(choice.get("name") or choice.get("value")) for choice in choices)
        left += [part for choice in choices for part in mappings(choice.get("classifications"))]


FORMATS = (Format("labelbox", records=Ways(_is_it, _read)),)

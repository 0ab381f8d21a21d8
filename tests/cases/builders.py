"""Small exports of Label Studio with invented answers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import softirr
from softirr.answers.table import AnnotationTable

EXACT = ("--measure", "exact", "--json")
"""Options of `softirr score` for literally equal answers."""

USERS = {"kim": 7, "lou": 9}
"""Raters and the ids of their accounts; the email address is NAME@lab.test."""


def result(name: str, type_: str, value: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A result of an annotation."""
    return {"id": f"r-{name}", "from_name": name, "to_name": "shown", "type": type_, "value": dict(value)} | more


def textarea(name: str, *texts: str, **more: Any) -> dict[str, Any]:
    """A result of a TextArea; `where` is the place of a region."""
    where = more.pop("where", {})
    return result(name, "textarea", {**where, "text": list(texts)}, origin="manual", **more)


def chat(number: int, role: str, content: str) -> dict[str, Any]:
    """A message of a chat."""
    message = {"role": role, "content": content}
    return result("talk", "chatmessage", {"chatmessage": message}, id=f"m{number}", to_name="talk")


def task(number: int, answers: Mapping[str, Iterable[Mapping[str, Any]]], **data: Any) -> dict[str, Any]:
    """A task with an annotation of each rater."""
    annotations = [
        {
            "id": 100 * number + USERS[rater],
            "completed_by": {"id": USERS[rater], "email": f"{rater}@lab.test"},
            "result": list(results),
            "was_cancelled": False,
            "updated_at": "2026-04-02T08:00:00Z",
        }
        for rater, results in answers.items()
    ]
    return {"id": number, "data": {"shown": f"narrative {number}", **data}, "annotations": annotations}


def export(name: str, answers: Mapping[int, Mapping[str, str]], **more: Any) -> list[dict[str, Any]]:
    """Tasks with a text of each rater under one TextArea."""
    return [
        task(number, {rater: [textarea(name, text)] for rater, text in by_rater.items()}, **more)
        for number, by_rater in answers.items()
    ]


def flat_rows(name: str, answers: Mapping[int, Mapping[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """Rows of JSON_MIN: one for each annotation."""
    return [
        {"shown": f"narrative {number}", "id": number, name: value, "annotator": USERS[rater]}
        | {"annotation_id": 100 * number + USERS[rater], "updated_at": "2026-04-02T08:00:00Z", "lead_time": 4.5}
        | more
        for number, by_rater in answers.items()
        for rater, value in by_rater.items()
    ]


def csv_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Rows as Label Studio's CSV export writes them: lists as JSON."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({key: value if isinstance(value, str) else json.dumps(value) for key, value in row.items()})
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def alpha(report: Any) -> float:
    return float(report["coefficients"]["krippendorff_alpha"]["value"])


def observed(report: Any) -> float:
    return float(report["coefficients"]["observed_agreement"]["value"])


def expected_alpha(rows: list[tuple[str, str, Any]]) -> float:
    table = AnnotationTable.from_answers(rows)
    return float(softirr.agreement(table, "exact").coefficients["krippendorff_alpha"].value)

"""Exports of annotation tools, after the documentation of each (version stated)."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

from tests.answers.formats.common import RATERS, ROWS, Rows, by_item, json_lines
from tests.answers.plain_rows import annotation, json_file, region, task

AT = "2026-01-05T10:00:00Z"


def label_studio(folder: Path, answers: Rows = ROWS) -> Path:
    """Label Studio 1.23, JSON."""
    tasks = []
    for item, answers_of_item in by_item(answers):
        annotations = [
            annotation(100 * int(item) + number, RATERS.index(rater) + 1, was_cancelled=False)
            | {"result": [region([text], name="finding", id="r", origin="manual")]}
            for number, (rater, text) in enumerate(answers_of_item)
        ]
        tasks.append(task(int(item), *annotations, data={"text": f"Case {item}"}))
    return json_file(folder / "export.json", tasks)


def _flat(answers: Rows) -> list[dict[str, Any]]:
    dates = {"created_at": AT, "updated_at": AT}
    return [
        {"text": f"Case {item}", "id": int(item), "finding": text, "annotator": RATERS.index(rater) + 1}
        | {"annotation_id": number, **dates, "lead_time": 3.5}
        for number, (item, rater, text) in enumerate(answers, start=1)
    ]


def json_min(folder: Path, answers: Rows = ROWS) -> Path:
    """Label Studio 1.23, JSON_MIN."""
    return json_file(folder / "min.json", _flat(answers))


def label_studio_csv(folder: Path, answers: Rows = ROWS) -> Path:
    """Label Studio 1.23, CSV: columns in alphabetical order, quotes around texts."""
    path = folder / "label-studio.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, sorted(_flat(answers)[0]), quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows(_flat(answers))
    return path


def prodigy(folder: Path, answers: Rows = ROWS) -> Path:
    """Prodigy 1.18, ``prodigy db-out`` of a text_input interface."""
    entries = [
        {
            "text": f"Case {item}",
            "_input_hash": 1000 + int(item),
            "_task_hash": -77,
            "field_rows": 1,
            "_view_id": "blocks",
        }
        | {"user_input": text, "answer": "accept", "_timestamp": 1767600000}
        | {"_annotator_id": f"findings-{rater}", "_session_id": f"findings-{rater}"}
        for item, rater, text in answers
    ]
    return json_lines(entries, folder / "prodigy.jsonl")


def argilla_flat(folder: Path, answers: Rows = ROWS) -> Path:
    """Argilla 2, ``records.to_list(flatten=True)`` or ``to_datasets()``, as JSON lines."""
    entries = [
        {
            "id": item,
            "_server_id": "3f1c",
            "text": f"Case {item}",
            "finding.responses": [text for _, text in answers_of_item],
            "finding.responses.users": [f"uuid-{rater}" for rater, _ in answers_of_item],
            "finding.responses.status": ["submitted"] * len(answers_of_item),
        }
        for item, answers_of_item in by_item(answers)
    ]
    return json_lines(entries, folder / "argilla.jsonl")


def argilla_json(folder: Path, answers: Rows = ROWS) -> Path:
    """Argilla 2, ``records.to_json()``."""
    entries = [
        {
            "id": item,
            "fields": {"text": f"Case {item}"},
            "metadata": {},
            "suggestions": {},
            "responses": {"finding": [{"value": text, "user_id": f"uuid-{rater}"} for rater, text in answers_of_item]},
            "vectors": {},
            "_server_id": "3f1c",
        }
        for item, answers_of_item in by_item(answers)
    ]
    return json_file(folder / "argilla.json", entries)


def doccano_zip(folder: Path, answers: Rows = ROWS) -> Path:
    """doccano 1.8, JSONL of a sequence-to-sequence project: a ZIP archive with a file for each member."""
    path = folder / "doccano.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for rater in dict.fromkeys(rater for _, rater, _ in answers):
            lines = [
                {"id": int(item), "text": f"Case {item}", "label": [text], "Comments": []}
                for item, who, text in answers
                if who == rater
            ]
            archive.writestr(f"{rater}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return path


def doccano_users(folder: Path, answers: Rows = ROWS) -> Path:
    """doccano 1.0, JSONL with the annotators' numbers."""
    entries = [
        {
            "id": int(item),
            "text": f"Case {item}",
            "annotations": [{"text": text, "user": RATERS.index(rater) + 1} for rater, text in answers_of_item],
            "meta": {},
        }
        for item, answers_of_item in by_item(answers)
    ]
    return json_lines(entries, folder / "doccano.jsonl")

"""Raters who name one of five findings, as rows, as a table and as a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import softirr

Cli = Callable[..., Any]
Row = tuple[str, str, str]
WORDS = ("fever", "cough", "rash", "nausea", "headache")
PEOPLE = {"ann": 0.8, "bob": 0.8, "cid": 0.8}


def rows_of(n: int, accuracy: Mapping[str, float], seed: int = 0, start: int = 0) -> list[Row]:
    """Answers to n items by raters with these accuracies."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(start, start + n):
        truth = rng.integers(len(WORDS))
        for rater, share in accuracy.items():
            answer = truth if rng.random() < share else rng.integers(len(WORDS))
            rows.append((str(item), rater, WORDS[answer]))
    return rows


def table_of(rows: Iterable[Row]) -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(rows)


def written(path: Path, rows: Iterable[Row], **fields: Callable[[Row], object]) -> str:
    """A CSV file of the rows, with more columns."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [("item", "rater", "text", *fields), *((*row, *(of(row) for of in fields.values())) for row in rows)]
        )
    return str(path)


def exported(path: Path, rows: Iterable[Row], created_at: str = "2026-02-03T09:00:00Z", earlier: str = "") -> str:
    """An export of Label Studio with these annotations (predictions, of a model) after the `earlier` ones.

    The field `case` repeats after 20 tasks.
    """
    tasks = {str(task["id"]): task for task in json.loads(Path(earlier).read_text())} if earlier else {}
    for number, (item, rater, text) in enumerate(rows):
        task = tasks.setdefault(
            item, {"id": int(item), "data": {"case": int(item) % 20}, "annotations": [], "predictions": []}
        )
        result = [{"type": "textarea", "from_name": "t", "value": {"text": [text]}}]
        annotation = {"id": number, "result": result, "created_at": created_at, "updated_at": created_at}
        if rater.startswith("model:"):
            task["predictions"].append({**annotation, "model_version": rater.removeprefix("model:")})
        else:
            task["annotations"].append({**annotation, "completed_by": rater})
    path.write_text(json.dumps(list(tasks.values())))
    return str(path)

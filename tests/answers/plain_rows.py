"""Tables as plain values, files with plain content, and the message about a file that is refused."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.answers.labelstudio import raw_answers, read_task
from softirr.answers.table import AnnotationTable, Answer, Excluded


def answers(table: AnnotationTable) -> dict[tuple[str, str], tuple[str, ...]]:
    """The texts of each item and rater."""
    return {
        (table.items[i], table.raters[r]): table.texts_of(a)
        for i, r, a in zip(table.item, table.rater, table.answer, strict=True)
    }


def rows(table: AnnotationTable) -> set[tuple[str, str, tuple[str, ...]]]:
    """Item, rater and texts of each answer."""
    return {(*key, texts) for key, texts in answers(table).items()}


def left_out(table: AnnotationTable) -> list[tuple[str, str, str]]:
    """Item, rater and reason of each answer that does not count."""
    return [(left_out.item, left_out.rater, left_out.reason) for left_out in table.excluded]


def task_rows(
    task: Mapping[str, Any], control: str, *, predictions: bool = False
) -> tuple[list[Answer], list[Excluded]]:
    """The answers to a control in a task of Label Studio, and those that do not count."""
    rows = raw_answers(read_task(task, predictions=predictions), control)
    answers = [Answer(row.item, row.rater, row.texts or ()) for row in rows if not row.reason]
    return answers, [Excluded(row.item, row.rater, row.reason) for row in rows if row.reason]


def read(source: Any, **options: Any) -> AnnotationTable:
    """The table of a file, or of the text of one."""
    return softirr.read(io.StringIO(source) if isinstance(source, str) else source, **options)


def refusal(source: Any, **options: Any) -> str:
    """The message with which :func:`read` refuses an input."""
    with pytest.raises(softirr.InputError) as caught:
        read(source, **options)
    return str(caught.value)


def text_file(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def json_file(path: Path, content: Any) -> Path:
    return text_file(path, json.dumps(content))


def region(texts: list[str], *, name: str = "findings", **more: Any) -> dict[str, Any]:
    """A result of a TextArea of Label Studio."""
    return {"from_name": name, "to_name": "text", "type": "textarea", "value": {"text": texts}, **more}


def annotation(number: int, rater: Any, *texts: str, **more: Any) -> dict[str, Any]:
    """An annotation with these texts, or with no result."""
    result = [region(list(texts))] if texts else []
    dated = {"updated_at": "2026-01-01T00:00:00Z"}
    return {"id": number, "completed_by": rater, "result": result} | dated | more


def task(number: int, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": number, "data": {}, "annotations": list(annotations), **more}

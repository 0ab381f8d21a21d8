"""Items with their suggested answers as tasks with predictions, which Label Studio imports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from softirr.answers.json_values import line_values, list_values
from softirr.answers.labelstudio import (
    AGREEMENT_VERSION,
    task_id,
)
from softirr.answers.labelstudio_results import (
    mappings,
)
from softirr.answers.layout import shown
from softirr.answers.source import Source
from softirr.errors import InputError, writing
from softirr.plural import plural

__all__ = ["label_studio_tasks", "labeling_config", "write_label_studio_tasks"]

_ITEM = "item"
_ANSWERS = "_answers"
"""Ending of the key of a task's data with the answers to a field."""
_OTHER_NAME = "answer"
"""Control of a field without a name."""


def write_label_studio_tasks(reports: Mapping[str, Mapping[str, Any]], path: str | Path, source: str) -> str:
    """Write the tasks into a file that Label Studio imports.

    Parameters
    ----------
    reports : mapping of str to mapping
        By field: what ``AgreementReport.to_dict()`` gives of fields of texts.
    path : path
        The file, which is replaced.
    source : str
        The input. Of Label Studio's JSON export, tasks keep their data and results their controls.

    Returns
    -------
    str
        What to do with the file, in one sentence.

    Raises
    ------
    InputError
        If no field contains texts, the export was read from standard input or has texts of regions, or the file can't
        be written.
    """
    if not reports:
        raise InputError("Only suggested texts can be written as predictions, and no field has texts.")
    export = _export(source)
    tasks = label_studio_tasks(reports, export)
    with writing(path):
        Path(path).write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    n = plural(sum(bool(task["predictions"]) for task in tasks), "task")
    if export is not None:
        return (
            f"{path} has {n} with predictions. Import it into a project with the labeling configuration of the export."
        )
    config = labeling_config(reports)
    return f"{path} has {n} with predictions. Import it into a project with this labeling configuration: {config}"


def label_studio_tasks(
    reports: Mapping[str, Mapping[str, Any]], export: Iterable[Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Tasks with a prediction each: the suggested texts, and the agreement as the score.

    Parameters
    ----------
    reports : mapping of str to mapping
        By field: what ``AgreementReport.to_dict()`` gives.
    export : iterable of mapping, optional
        Tasks of the export of Label Studio that was scored. Without them, the data of a task are the name of the item
        and the answers of its raters.

    Returns
    -------
    list of dict
        ``data`` and ``predictions``, which is empty where fewer than two raters answered.

    Raises
    ------
    InputError
        If texts of the export are of regions: a prediction can't have them without their region.
    """
    by_item: dict[str, dict[str, Mapping[str, Any]]] = {}
    for field, report in reports.items():
        for item in report["items"]:
            by_item.setdefault(item["id"], {})[field] = item
    if export is None:
        controls = {field: (name, f"{name}{_ANSWERS}") for field, name in _controls(reports).items()}
        return [
            {
                "data": {_ITEM: item} | {controls[field][1]: _answers(entry) for field, entry in fields.items()},
                "predictions": _predictions(fields, controls),
            }
            for item, fields in by_item.items()
        ]
    tasks = list(export)
    original_tasks = dict(_places(tasks, reports))
    return [
        {"data": task.get("data") or {}, "predictions": _predictions(by_item.get(task_id(task), {}), original_tasks)}
        for task in tasks
    ]


def labeling_config(fields: Iterable[str]) -> str:
    """The labeling configuration for tasks that were made from a table.

    Examples
    --------
    >>> labeling_config(["finding"]).partition("<TextArea ")[2].partition(" edit")[0]
    'name="finding" toName="finding_answers"'
    """
    controls = "".join(
        f'<Text name="{name}{_ANSWERS}" value="${name}{_ANSWERS}"/>'
        f'<TextArea name="{name}" toName="{name}{_ANSWERS}" editable="true" maxSubmissions="50"/>'
        for name in _controls(fields).values()
    )
    return f'<View><Header value="${_ITEM}"/>{controls}</View>'


def _controls(fields: Iterable[str]) -> dict[str, str]:
    """A name for the control of each field."""
    names: dict[str, str] = {}
    for field in fields:
        name = re.sub(r"\W", "_", field, flags=re.ASCII).strip("_") or _OTHER_NAME
        while name in names.values():
            name += "_"
        names[field] = name
    return names


def _answers(item: Mapping[str, Any]) -> str:
    """The texts of each rater, a line each."""
    texts_by_rater: dict[str, list[str]] = {}
    for match in item["matches"]:
        for rater, text in match["texts"].items():
            texts_by_rater.setdefault(rater, []).append(text)
    for rater, texts in item["unmatched"].items():
        texts_by_rater.setdefault(rater, []).extend(texts)
    return "\n".join(f"{rater}: {'; '.join(texts_by_rater[rater])}" for rater in sorted(texts_by_rater))


def _predictions(
    fields: Mapping[str, Mapping[str, Any]], controls: Mapping[str, tuple[str, str]]
) -> list[dict[str, Any]]:
    compared = {name: item for name, item in fields.items() if item["agreement"] is not None and name in controls}
    if not compared:
        return []
    result = [
        {
            "id": f"softirr-{controls[name][0]}",
            "from_name": controls[name][0],
            "to_name": controls[name][1],
            "type": "textarea",
            "value": {"text": list(item["suggestion"])},
            "score": item["agreement"],
        }
        for name, item in compared.items()
    ]
    score = sum(item["agreement"] for item in compared.values()) / len(compared)
    return [{"model_version": AGREEMENT_VERSION, "score": score, "result": result}]


def _places(tasks: Iterable[Mapping[str, Any]], fields: Iterable[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Control of each field, and the object tag that it refers to."""
    unseen_fields = set(fields)
    for task in tasks:
        for annotation in mappings(task.get("annotations")):
            for region in mappings(annotation.get("result")):
                name, value = region.get("from_name"), region.get("value")
                if region.get("type") != "textarea" or name not in unseen_fields:
                    continue
                if isinstance(value, Mapping) and value.keys() - {"text"}:
                    raise InputError(
                        f"The texts of {shown(str(name))} are of regions, and a prediction can't have them without "
                        "their region."
                    )
                yield str(name), (str(name), str(region.get("to_name")))


def _export(source: str) -> list[Mapping[str, Any]] | None:
    """Tasks of an export of Label Studio; None for other input."""
    if source == "-" or Path(source).is_dir():
        return None
    file = Source(source)
    start = file.start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start not in (b"[", b"{"):
        return None
    values = list_values(file) if start == b"[" else line_values(file)
    tasks: list[Mapping[str, Any]] = []
    for _, value in values:
        if not isinstance(value, Mapping) or "annotations" not in value or "id" not in value:
            return None
        tasks.append({key: value.get(key) for key in ("id", "data", "annotations")})
    return tasks

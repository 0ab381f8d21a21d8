"""Checks of Label Studio's content after a sync, through its API."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import requests

from ml_backend.demo.server import Api
from softirr.numbers import plural

VERSION = "agreement"
TOLERANCE = 1e-6


def problems(api: Api, project: int, score: Mapping[str, Any], links: Mapping[str, str]) -> list[str]:
    """Problems as sentences; none if everything is correct.

    Parameters
    ----------
    score
        Output of ``softirr score --json`` for the project's export.
    links
        Addresses that ``softirr-ls connect`` printed.
    """
    expected = {int(item["id"]): item["agreement"] for item in score["items"] if item["n_raters"] >= 2}
    faults = _predictions(api, project, expected)
    faults += _column(api, project, expected)
    faults += _triage(api, project, expected)
    settings = api.get(f"/api/projects/{project}/")
    if settings["model_version"] != VERSION:
        faults.append(
            f"The project's model_version is {settings['model_version']!r}, so the score column shows something else."
        )
    if settings["show_collab_predictions"]:
        faults.append("Annotators are shown the suggestions before they answer (show_collab_predictions).")
    for name, address in links.items():
        status = requests.get(address, timeout=60).status_code
        if status != 200:
            faults.append(f"The address of the {name} is answered with status {status}.")
    return faults


def _predictions(api: Api, project: int, expected: Mapping[int, float]) -> list[str]:
    """Exactly one prediction for each task that two or more answered, none for others, with the right score."""
    present: dict[int, list[float | None]] = defaultdict(list)
    for prediction in api.get("/api/predictions/", project=project):
        if prediction["model_version"] == VERSION:
            present[int(prediction["task"])].append(prediction["score"])
    faults = []
    if not expected:
        faults.append("No task has two answers.")
    for task in sorted(expected.keys() | present.keys()):
        scores = present.get(task, [])
        if len(scores) != (task in expected):
            faults.append(
                f"Task {task} has {plural(len(scores), 'prediction')} of version {VERSION} where "
                f"{int(task in expected)} is right."
            )
        elif task in expected and (scores[0] is None or abs(scores[0] - expected[task]) > TOLERANCE):
            faults.append(f"Task {task} has the score {scores[0]}; softirr score says {expected[task]}.")
    return faults


def _column(api: Api, project: int, expected: Mapping[int, float]) -> list[str]:
    """The Data Manager's score column: filled for the same tasks, and it sorts both ways."""
    faults = []
    for ordering, descending in (("tasks:predictions_score", False), ("-tasks:predictions_score", True)):
        rows = api.tasks(project, query=json.dumps({"ordering": [ordering]}))
        column = {int(row["id"]): row["predictions_score"] for row in rows if row["predictions_score"] is not None}
        different = [
            task
            for task in expected.keys() | column.keys()
            if abs(column.get(task, -1.0) - expected.get(task, -1.0)) > TOLERANCE
        ]
        if different:
            faults.append(f"The score column differs from softirr score in tasks {sorted(different)}.")
        if list(column.values()) != sorted(column.values(), reverse=descending):
            faults.append(f"The score column does not sort by {ordering}.")
    return faults


def _triage(api: Api, project: int, expected: Mapping[int, float]) -> list[str]:
    """A tab of the Data Manager that begins with the lowest agreement."""
    views = [
        view for view in api.get("/api/dm/views/", project=project) if "triage" in view["data"].get("title", "").lower()
    ]
    if len(views) != 1:
        return [f"The Data Manager has {len(views)} triage tabs."]
    column = [row["predictions_score"] for row in api.tasks(project, view=views[0]["id"])]
    scores = [score for score in column if score is not None]
    if scores != sorted(scores) or (expected and (not scores or abs(scores[0] - min(expected.values())) > TOLERANCE)):
        return ["The triage tab does not begin with the lowest agreement."]
    return []

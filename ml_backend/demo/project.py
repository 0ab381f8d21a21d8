"""The example projects of the demo: users, tasks and their answers, and checks of their content after a sync."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import requests

from ml_backend.demo import example
from ml_backend.demo.processes import ServerError
from ml_backend.demo.server import ADMIN_PASSWORD, Api, LabelStudio
from softirr.numbers import plural

CONTROL = "findings"
TITLE = "Adverse events (softirr demo)"
GERMAN_TITLE = "Unerwünschte Ereignisse (softirr demo, German)"
LABEL_CONFIG = f"""<View>
  <Header value="Case narrative"/>
  <Text name="narrative" value="$narrative"/>
  <Header value="Adverse events in this narrative, one per line"/>
  <TextArea name="{CONTROL}" toName="narrative" editable="true" maxSubmissions="20" rows="1"
            placeholder="Type one finding and press Enter"/>
</View>
"""
DESCRIPTION = "Invented narratives, each read by three of four annotators. Log in as one of them or as the lead."
VERSION = "agreement"
TOLERANCE = 1e-6


def make_projects(server: LabelStudio) -> dict[str, Any]:
    """Make users and both example projects; returns their numbers, the lead's token, and the users."""
    lead = server.login()
    token = server.new_token(lead)
    api = Api(server.url, token)
    me = api.get("/api/current-user/whoami")["id"]
    api.patch(f"/api/users/{me}/", {"first_name": "Lena", "last_name": "Vogel"})
    users: dict[str, int] = {}
    for name in example.annotators():
        first, last = name.split(" ")
        users[name], _ = server.sign_up(email_of(name), ADMIN_PASSWORD, first_name=first, last_name=last)
    tasks = [_task(narrative, users) for narrative in example.narratives()]
    for model, findings in example.models().items():
        for task, texts in zip(tasks, findings, strict=True):
            task["predictions"].append({"model_version": model, "result": _result(texts)})
    german = [_task(narrative, users) for narrative in example.narratives(example.GERMAN)]
    projects = {"project": _import(api, TITLE, tasks), "german": _import(api, GERMAN_TITLE, german)}
    return {**projects, "token": token, "users": users}


def _import(api: Api, title: str, tasks: Sequence[Mapping[str, Any]]) -> int:
    """Make a project with these tasks; returns its number."""
    body = {
        "title": title,
        "description": DESCRIPTION,
        "label_config": LABEL_CONFIG,
        "maximum_annotations": 3,
        "show_collab_predictions": False,
    }
    project: int = api.post("/api/projects/", body)["id"]
    reply = api.post(f"/api/projects/{project}/import", tasks)
    if reply["task_count"] != len(tasks):
        raise ServerError(f"Label Studio imported {reply['task_count']} of {len(tasks)} tasks.")
    api.patch(f"/api/projects/{project}/", {"model_version": ""})  # the score column shows no model's scores
    return project


def _task(narrative: example.Narrative, users: Mapping[str, int]) -> dict[str, Any]:
    annotations = []
    for rater, texts in narrative.answers.items():
        annotations.append(
            {
                "completed_by": users[rater],
                "was_cancelled": texts is None,
                "ground_truth": False,
                "lead_time": 12.0 + len(narrative.text) / 20,
                "result": _result(texts or ()),
            }
        )
    return {"data": {"id": narrative.id, "narrative": narrative.text}, "annotations": annotations, "predictions": []}


def _result(texts: Sequence[str]) -> list[dict[str, Any]]:
    region = {
        "from_name": CONTROL,
        "to_name": "narrative",
        "type": "textarea",
        "origin": "manual",
        "value": {"text": list(texts)},
    }
    return [region] if texts else []


def email_of(name: str) -> str:
    """The address with which a demo's annotator logs in."""
    return name.lower().replace(" ", ".") + "@example.org"


def true_value(name: str = "krippendorff_alpha") -> float:
    """A coefficient of the example with each text replaced by its concept."""
    import softirr

    value = softirr.agreement(example.table(concepts=True), measure="exact").coefficients[name].value
    if value is None:
        raise ServerError(f"The example's key gives no {name}.")
    return float(value)


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

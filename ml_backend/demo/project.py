"""The example projects of the demo: users, tasks and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.demo import example
from ml_backend.demo.processes import ServerError
from ml_backend.demo.server import ADMIN_PASSWORD, Api, LabelStudio

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

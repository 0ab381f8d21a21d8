"""Changes of a project in Label Studio."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from ml_backend.demo.processes import ServerError
from ml_backend.settings import MODEL_VERSION
from tests.labelstudio.conftest import LABEL_CONFIG, Harness, User, textarea


def answer_changes(
    ls: Harness, project: int, tasks: list[int], users: tuple[User, User, User]
) -> dict[str, Callable[[], Any]]:
    """Changes of single answers, in an order in which each can be made."""
    ann, ben, cleo = users
    annotation_ids: dict[str, int] = {}

    def remember(name: str, number: int) -> None:
        annotation_ids[name] = number

    return {
        "a third answer": lambda: remember("third", ls.annotate(tasks[0], cleo, ["pyrexia"])),
        "an edit": lambda: ls.edit(annotation_ids["third"], cleo, ["fever", "cough 0"]),
        "an empty answer": lambda: remember("empty", ls.annotate(tasks[1], cleo, [])),
        "a skip with text": lambda: ls.annotate(tasks[2], cleo, ["not counted"], skip=True),
        "a deleted answer": lambda: ls.api.delete(f"/api/annotations/{annotation_ids['empty']}/"),
        "below two answers": lambda: ls.api.delete(f"/api/annotations/{answer_of(ls, tasks[3], ann.id)}/"),
        "two again": lambda: ls.annotate(tasks[3], cleo, ["fever"]),
        "a second answer of one user": lambda: ls.annotate(tasks[4], ben, ["something quite different"]),
        "an answer turned into a skip": lambda: ben.api.patch(
            f"/api/annotations/{answer_of(ls, tasks[5], ben.id)}/", {"was_cancelled": True}
        ),
        "a draft": lambda: cleo.api.post(
            f"/api/tasks/{tasks[6]}/drafts?project={project}", {"result": textarea(["draft"])}
        ),
    }


def project_changes(ls: Harness, project: int, tasks: list[int], cleo: User) -> dict[str, Callable[[], Any]]:
    """Copied suggestions, and changes of tasks, of the label config and of predictions."""

    def reimport() -> None:
        exported = [task for task in ls.export(project) if task["id"] in tasks[:3]]
        ls.import_tasks(
            project,
            [
                {"data": task["data"], "annotations": [{**a, "id": None} for a in task["annotations"]]}
                for task in exported
            ],
        )

    def copied(task: int) -> None:
        prediction = next(p for p in ls.predictions(project) if p["task"] == task)
        result = [{**region, "origin": "prediction"} for region in prediction["result"]]
        body = {"result": result, "parent_prediction": prediction["id"], "lead_time": 1.0}
        cleo.api.post(f"/api/tasks/{task}/annotations/", body)

    return {
        "suggestions copied": lambda: copied(tasks[7]),
        "deleted tasks": lambda: [ls.api.delete(f"/api/tasks/{task}/") for task in tasks[20:23]],
        "tasks imported with answers": reimport,
        "answers from predictions' page": lambda: ls.annotate(
            tasks[8], cleo, ["<script>alert(1)</script>", "عربي 🤒 fe\u0000ver"]
        ),
        "another control": lambda: ls.api.patch(
            f"/api/projects/{project}/",
            {
                "label_config": LABEL_CONFIG.replace(
                    "</View>", '<Choices name="c" toName="text"><Choice value="x"/></Choices></View>'
                )
            },
        ),
        "our predictions removed": lambda: ls.api.delete(
            f"/api/projects/{project}/model-versions/", {"model_version": MODEL_VERSION}
        ),
    }


def answer_of(ls: Harness, task: int, user: int) -> int:
    """The annotation of a user on a task."""
    listed = ls.api.get(f"/api/tasks/{task}/annotations/")
    return next(
        a["id"]
        for a in listed
        if (a["completed_by"] if isinstance(a["completed_by"], int) else a["completed_by"]["id"]) == user
    )


def change_tasks(
    ls: Harness,
    user: User,
    answers: dict[int, list[int]],
    tasks: list[int],
    *,
    stop: threading.Event,
    done: Counter[str],
) -> None:
    """Edit and delete until the event is set; counts what was done."""
    for k, task in enumerate(itertools.cycle(tasks)):
        if stop.wait(0.5):
            return
        if not answers[task]:
            continue
        try:
            if k % 10 == 4:
                ls.api.delete(f"/api/annotations/{answers[task].pop()}/")
                done["deleted annotations"] += 1
            elif k % 10 == 9:
                ls.api.delete(f"/api/tasks/{task}/")
                answers[task].clear()
                done["deleted tasks"] += 1
            else:
                ls.edit(answers[task][0], user, [f"fever {k}"])
                done["edits"] += 1
        except ServerError:
            done["refused"] += 1

"""Projects and answers in the demo's Label Studio, and the output of softirr's command line for them."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ml_backend.demo import Demo
from ml_backend.demo.project import CONTROL
from tests.programs import run_program

MEASURE = "indel"


def text_result(texts: Iterable[str]) -> list[dict[str, Any]]:
    """The result of an annotation in which somebody wrote these texts; empty without one."""
    value = {"text": list(texts)}
    if not value["text"]:
        return []
    return [{"from_name": CONTROL, "to_name": "narrative", "type": "textarea", "origin": "manual", "value": value}]


def annotation(user: int, result: list[dict[str, Any]]) -> dict[str, Any]:
    """An annotation of a user, to be imported with its task."""
    return {"completed_by": user, "was_cancelled": False, "ground_truth": False, "result": result}


@contextlib.contextmanager
def connected_project(
    demo: Demo, title: str, label_config: str, tasks: list[Any], *options: str, overlap: int = 3
) -> Iterator[tuple[int, list[int], dict[str, Any]]]:
    """Number, tasks and links of a scored second project, which is removed at the end."""
    body = {"title": title, "label_config": label_config, "maximum_annotations": overlap}
    number = int(demo.api.post("/api/projects/", body | {"show_collab_predictions": False})["id"])
    reply = demo.api.post(f"/api/projects/{number}/import?return_task_ids=true", tasks)
    links = demo._json("connect", "--project", str(number), "--url", demo.url, *options)["links"]
    demo._json("sync", "--project", str(number))
    yield number, [int(task) for task in reply["task_ids"]], links
    demo._json("disconnect", "--project", str(number))
    demo.api.delete(f"/api/projects/{number}/")


def of_command_line(demo: Demo, folder: Path, *command: str, more: Iterable[str] = ()) -> dict[str, Any]:
    """Output of a softirr command for the project's current export."""
    path = folder / "export.json"
    path.write_text(json.dumps(demo.api.export(demo.project)), encoding="utf-8")
    options = ["--control", CONTROL, "--measure", MEASURE, "--json"]
    done = run_program(sys.executable, "-m", "softirr", *command, path, *more, *options)
    report: dict[str, Any] = json.loads(done.stdout)
    return report

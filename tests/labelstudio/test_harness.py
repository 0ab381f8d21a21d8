"""The harness itself: a server that can be annotated by several people and exported, and that calls nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from ml_backend.demo.processes import ServerError
from tests.labelstudio.conftest import Harness, annotation


def test_export_names_the_author_of_each_answer(ls: Harness, tmp_path: Path) -> None:
    ann, ben = ls.create_user("Ann"), ls.create_user("Ben")
    project = ls.create_project()
    first, second = ls.import_tasks(
        project, [{"data": {"text": "one"}}, {"data": {"text": "two"}, "annotations": [annotation(ann.id, ["rash"])]}]
    )
    ls.annotate(first, ann, ["fever", "cough"])
    ls.annotate(first, ben, [], skip=True)
    annotation_of_ben = ls.annotate(second, ben, [])
    ls.edit(annotation_of_ben, ben, ["exanthem"])

    tasks = {task["id"]: task for task in ls.export(project)}
    exported_texts = {
        (task, answer["completed_by"]): (
            answer["was_cancelled"],
            [text for region in answer["result"] for text in region["value"]["text"]],
        )
        for task in tasks
        for answer in tasks[task]["annotations"]
    }
    assert exported_texts == {
        (first, ann.id): (False, ["fever", "cough"]),
        (first, ben.id): (True, []),
        (second, ann.id): (False, ["rash"]),
        (second, ben.id): (False, ["exanthem"]),
    }
    assert ls.export_file(project, tmp_path).read_text().startswith("[")
    assert ls.predictions(project) == []


def test_a_local_backend_is_not_refused(ls: Harness) -> None:
    project = ls.create_project()
    hook = ls.api.post(
        "/api/webhooks/", {"url": "http://localhost:9/webhook", "project": project, "send_payload": True}
    )
    assert hook["is_active"]


def test_pages_ask_nothing_of_an_error_tracker(ls: Harness) -> None:
    page = requests.get(f"{ls.url}/user/login/", timeout=60).text
    assert "sentry-cdn" not in page


def test_unknown_token_raises_a_readable_error(ls: Harness) -> None:
    from ml_backend.demo.server import Api

    with pytest.raises(ServerError, match="did not accept the access token"):
        Api(ls.url, "nonsense").get("/api/projects/")

"""Agreed answers in a real Label Studio: a reviewer's own ground truth, which is nobody's answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ml_backend.labelstudio.config import text_controls
from ml_backend.labelstudio.own_session import OwnSession, text_results
from ml_backend.web.agreed import entries
from softirr.answers.labelstudio import AGREED_ID
from tests.labelstudio.backend import Commands, differences, score_of_export
from tests.labelstudio.conftest import LABEL_CONFIG, Harness, User, annotation


def session_of(ls: Harness, user: User) -> OwnSession:
    """Return Label Studio as the person sees it in their browser."""
    cookies = ls.server.login(user.email, user.password).cookies
    return OwnSession(ls.url, session=str(cookies["sessionid"]), csrf=cookies["csrftoken"])


def answered_tasks(ls: Harness, project: int, users: tuple[User, User, User]) -> list[int]:
    """A task that the reviewer answered, too; two that they did not, one of them imported without `ground_truth`."""
    ann, ben, rae = users
    annotations = [annotation(ann.id, ["fever", "cough"]), annotation(ben.id, ["fever"])]
    as_imported = [{name: answer[name] for name in answer if name != "ground_truth"} for answer in annotations]
    return ls.import_tasks(
        project,
        [
            {"data": {"text": "a"}, "annotations": [*annotations, annotation(rae.id, ["pyrexia"])]},
            {"data": {"text": "b"}, "annotations": annotations},
            {"data": {"text": "c"}, "annotations": as_imported},
        ],
    )


def test_an_accepted_answer_is_the_reviewers_ground_truth(ls: Harness, tmp_path: Path) -> None:
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    ann, ben, rae = (ls.person(name) for name in ("Ann", "Ben", "Rae"))
    project = ls.create_project(maximum_annotations=3)
    accepted, starred, by_import = answered_tasks(ls, project, (ann, ben, rae))
    commands.sync(project)
    score_before = score_of_export(ls.export_file(project, tmp_path))
    store = commands.store()

    def agreed() -> dict[int, dict[str, Any]]:
        row = store.project(ls.url, project)
        assert row is not None
        return {entry["task"]: entry for entry in entries(store, row)}

    imported = ls.api.get(f"/api/tasks/{by_import}/")["annotations"]
    assert all(answer["ground_truth"] for answer in imported) and agreed() == {}, "nobody chose these"
    session = session_of(ls, rae)
    result = text_results(text_controls(LABEL_CONFIG), {"findings": ["high fever"]})
    numbers = [session.save_ground_truth(project, task, result) for task in (accepted, starred)]
    for number, task in zip(numbers, (accepted, starred), strict=True):
        saved = next(answer for answer in session.annotations(task) if answer["id"] == number)
        assert saved["ground_truth"] is True and saved["completed_by"] == rae.id
        assert all(region["id"].startswith(AGREED_ID) for region in saved["result"]), "Label Studio keeps the ids"
    commands.sync(project, "--changes")
    texts = {task: entry["texts"] for task, entry in agreed().items()}
    assert texts == {accepted: ["high fever"], starred: ["high fever"]}
    assert agreed()[accepted]["user"] == str(rae.id)
    # It is not an answer: scores stay, also those of an export, and a task with two answers of three waits on.
    assert score_of_export(ls.export_file(project, tmp_path)) == score_before
    assert differences(ls.predictions(project), {str(accepted): score_before[str(accepted)]}) == []
    # A star that a person sets takes the place of the accepted answer.
    first = next(answer for answer in session.annotations(starred) if answer["completed_by"] == ann.id)
    ls.api.patch(f"/api/annotations/{first['id']}/", {"ground_truth": True})
    session.delete_annotation(numbers[0])
    commands.sync(project, "--changes")
    assert {task: entry["texts"] for task, entry in agreed().items()} == {starred: ["fever", "cough"]}
    assert agreed()[starred]["user"] == str(ls.admin), "who set it, not whose annotation it is"
    final = commands.sync(project)
    assert (final["created"], final["updated"], final["deleted"]) == (0, 0, 0)
    store.close()

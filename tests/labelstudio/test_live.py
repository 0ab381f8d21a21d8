"""A connected project follows the annotators' work through Label Studio's own calls."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ml_backend.settings import MODEL_VERSION
from tests.labelstudio.backend import Commands, Serving, eventually, wrong
from tests.labelstudio.conftest import Harness, annotation
from tests.ml_backend.store_calls import n_scored, scored_at
from tests.servers import postgres


@pytest.fixture(scope="module")
def serving(ls: Harness, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    # The next regular sync is an hour away: only Label Studio's calls can trigger an update.
    environment = {"SOFTIRR_RECONCILE_SECONDS": "3600", "BASIC_AUTH_USER": "us", "BASIC_AUTH_PASS": "pass word"}
    commands = Commands(tmp_path_factory.mktemp("state"), ls.url, ls.token, environment=environment)
    with commands.serve(wait=False) as running:
        running.process.wait_until(lambda: requests_get(f"{running.url}/health") in (200, 401), timeout=120)
        yield running


def requests_get(address: str) -> int:
    try:
        return requests.get(address, timeout=5).status_code
    except requests.RequestException:
        return 0


@pytest.fixture(scope="module")
def project(ls: Harness, serving: Serving) -> int:
    number, _, _ = ls.answered([(["fever"], ["a fever"])] * 15)
    serving.commands.json("connect", "--project", str(number), "--url", serving.url)
    return number


def test_each_event_shows_in_the_predictions(ls: Harness, serving: Serving, project: int, tmp_path: Path) -> None:
    def right() -> bool:
        return not wrong(ls, project, tmp_path)

    eventually(right, what="the first sync")
    tasks = sorted(p["task"] for p in ls.predictions(project))
    cleo = ls.person("Cleo")
    annotations: dict[str, int] = {}
    events: dict[str, Callable[[], Any]] = {
        "answer": lambda: annotations.update(answer=ls.annotate(tasks[0], cleo, ["rash"])),
        "edit": lambda: ls.edit(annotations["answer"], cleo, ["fever"]),
        "skip": lambda: ls.annotate(tasks[1], cleo, ["rash"], skip=True),
        "deletion": lambda: ls.api.delete(f"/api/annotations/{annotations['answer']}/"),
        "import": lambda: ls.import_tasks(
            project, [{"data": {"text": "y"}, "annotations": [annotation(1, ["a"]), annotation(cleo.id, ["b"])]}]
        ),
        "task deleted": lambda: ls.api.delete(f"/api/tasks/{tasks[2]}/"),
        "several deleted": lambda: ls.api.call(
            "POST",
            f"/api/dm/actions?id=delete_tasks&project={project}",
            json={"project": project, "selectedItems": {"all": False, "included": tasks[3:5]}},
        ),
    }
    for what, event in events.items():
        event()
        eventually(right, what=what)


def test_a_project_that_is_connected_while_it_is_empty(ls: Harness, serving: Serving, tmp_path: Path) -> None:
    """Connect, then import: what everybody does."""
    ann, ben = ls.person("Ann"), ls.person("Ben")
    number = ls.create_project()
    serving.commands.json("connect", "--project", str(number), "--url", serving.url)
    store = serving.commands.store()
    row = store.project(ls.url, number)
    assert row is not None
    eventually(lambda: {job["state"] for job in store.jobs(row["id"])} == {"done"}, what="the run of an empty project")
    ls.import_tasks(
        number,
        [
            {
                "data": {"text": f"{n}"},
                "annotations": [annotation(ann.id, ["fever"]), annotation(ben.id, [f"rash {n}"])],
            }
            for n in range(30)
        ],
    )
    eventually(
        lambda: not wrong(ls, number, tmp_path),
        what="the predictions of what was imported",
    )
    assert {job["state"] for job in store.jobs(row["id"])} <= {"done", "running", "queued"}, "no run failed"
    assert serving.commands.json("sync", "--project", str(number))["unchanged"] == 30
    store.close()


def test_label_studios_own_buttons_make_no_duplicates(
    ls: Harness, serving: Serving, project: int, tmp_path: Path
) -> None:
    """Retrieve Predictions and Start training end in one prediction a task."""

    def right() -> bool:
        return not wrong(ls, project, tmp_path)

    everything = {"project": project, "selectedItems": {"all": True, "excluded": []}}
    ls.api.delete(f"/api/projects/{project}/model-versions/", {"model_version": MODEL_VERSION})
    ls.api.call("POST", f"/api/dm/actions?id=retrieve_tasks_predictions&project={project}", json=everything)
    stored_predictions = [p for p in ls.predictions(project) if p["model_version"] == MODEL_VERSION]
    assert stored_predictions, "Label Studio stored what /predict answered"
    eventually(right, what="after Retrieve Predictions")
    ls.api.call("POST", f"/api/dm/actions?id=retrieve_tasks_predictions&project={project}", json=everything)
    (connection,) = ls.api.get("/api/ml/", project=project)
    assert connection["state"] == "CO"
    store = serving.commands.store()
    requested_time = time.time()
    ls.api.post(f"/api/ml/{connection['id']}/train")

    def recomputed() -> bool:
        """A run has ended since; it may have been waiting already, for Retrieve Predictions."""
        last = store.jobs(1)[0]
        return last["state"] == "done" and last["finished_at"] > requested_time

    eventually(recomputed, what="Start training recomputes")
    store.close()
    eventually(right, what="after Start training")


def test_versions_in_the_model_menu(ls: Harness, project: int) -> None:
    (connection,) = ls.api.get("/api/ml/", project=project)
    assert MODEL_VERSION in str(ls.api.get(f"/api/ml/{connection['id']}/versions"))
    assert connection["basic_auth_pass_is_set"]


def test_one_edit_rescans_nothing_else_and_the_report_follows(ls: Harness, serving: Serving, project: int) -> None:
    store = serving.commands.store()
    eventually(lambda: store.jobs(1)[0]["state"] == "done", what="quiet")
    times_before = scored_at(store, 1)
    row = store.project_by_id(1)
    assert row is not None
    kappa = row["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
    cleo = ls.person("Dora")
    task = ls.predictions(project)[0]["task"]
    ls.annotate(task, cleo, ["something else entirely"])
    eventually(lambda: n_scored(store, 1, times_before) > 0, what="the edit was scored")

    def changed() -> bool:
        second_project = store.project_by_id(1)
        assert second_project is not None
        agreement = second_project["summary"]["controls"]["findings"]["coefficients"]["observed_agreement"]["value"]
        return bool(agreement != kappa)

    eventually(changed, what="the project's coefficients follow")
    eventually(lambda: store.jobs(1)[0]["state"] == "done", what="quiet")
    assert n_scored(store, 1, times_before) == 1
    store.close()


def test_metrics_can_be_seen(ls: Harness, serving: Serving, project: int) -> None:
    auth = ("us", "pass word")
    assert requests.get(f"{serving.url}/metrics", timeout=30).status_code == 401
    text = requests.get(f"{serving.url}/metrics", auth=auth, timeout=30).text
    assert 'softirr_jobs{state="done"}' in text
    log = serving.log.read_text()
    assert ls.token not in log
    assert "fever" not in log
    assert "pass word" not in log


@pytest.mark.postgres
def test_on_postgresql(ls: Harness, tmp_path: Path) -> None:
    """As Docker Compose runs it: the store in PostgreSQL, two web workers."""
    with tempfile.TemporaryDirectory(prefix="softirr-postgres-") as home, postgres(Path(home)) as database:
        auth = {"BASIC_AUTH_USER": "us", "BASIC_AUTH_PASS": "pass word"}
        environment = {"SOFTIRR_DATABASE_URL": database, "WORKERS": "2", **auth}
        commands = Commands(tmp_path / "state", ls.url, ls.token, environment=environment)
        project, tasks, _ = ls.answered([(["fever"], ["a fever"])] * 15)

        def right() -> bool:
            return not wrong(ls, project, tmp_path)

        with commands.serve() as serving:
            commands.json("connect", "--project", str(project), "--url", serving.url)
            eventually(right, what="the first sync")
            ls.annotate(tasks[0], ls.person("Cleo"), ["rash", "عربي 🤒 <b>fe\u0000ver</b>"])
            ls.api.delete(f"/api/tasks/{tasks[1]}/")
            eventually(right, what="a new answer and a deleted task")
            serving.kill()
        ls.api.delete(f"/api/tasks/{tasks[2]}/")
        with commands.serve() as serving:
            eventually(right, what="what happened while it was away")
            text = requests.get(f"{serving.url}/metrics", auth=("us", "pass word"), timeout=30).text
            assert 'softirr_jobs{state="done"}' in text
        assert not list((tmp_path / "state").glob("*.sqlite3")), "nothing of it stands in files"

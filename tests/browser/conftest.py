"""One real Label Studio with the demo's project, one real backend, one real Chromium for the tests in this folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ml_backend.demo import Demo
from ml_backend.demo.processes import ServerError
from ml_backend.demo.project import email_of
from ml_backend.demo.server import ADMIN_EMAIL, ADMIN_PASSWORD, find_label_studio
from ml_backend.store import schema
from ml_backend.store.reviews import ReviewStore
from tests.browser.browsers import PATIENCE
from tests.browser.projects import MEASURE, annotation, of_command_line, text_result

REVIEWS = (schema.audits, schema.acts, schema.requests)
"""Tables of judgments, decisions and requests, emptied so that no test depends on earlier tests or tries."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    for item in items:
        if folder in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.labelstudio)
            # Label Studio's own interface is not ours to make punctual: one more try, named in the summary
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo as a user starts it."""
    try:
        find_label_studio()
    except ServerError as problem:
        if os.environ.get("CI"):
            pytest.fail(str(problem))
        pytest.skip(str(problem))
    with contextlib.ExitStack() as stack:
        demo = Demo(tmp_path_factory.mktemp("demo"), measure=MEASURE, stack=stack)
        demo.open(fresh=True)
        demo.start()
        yield demo


@pytest.fixture(scope="module")
def files_first_test() -> Iterator[bool]:
    """True once for each file."""
    return iter([True])


@pytest.fixture(autouse=True)
def as_started(request: pytest.FixtureRequest, files_first_test: Iterator[bool]) -> None:
    """The demo's project as it is after its start, in whatever order tests and files run.

    Tasks and answers are in Label Studio, and each test restores those that it changes. The backend reads pending
    changes before the first test of a file.
    """
    if "demo" not in request.fixturenames:
        return
    demo: Demo = request.getfixturevalue("demo")
    project = demo.row()["id"]
    with demo._store() as store:
        reviews = ReviewStore(store)
        decided = bool(store.decisions(project))
        judged = any(reviews.judges(audit["id"]) for audit in reviews.audits(project))
        connection = store.engine.connect().execution_options(write=True)
        with connection, connection.begin():
            for table in REVIEWS:
                connection.execute(sa.delete(table).where(table.c.project == project))
        if not (decided or judged or next(files_first_test, False)):
            return
        if decided:
            store.forget_scores(project)
        store.update_project(project, summary_stale=True, summary_due=0.0)
    demo._json("sync", "--project", str(demo.project))


class People:
    """Browser contexts of people who are logged in to Label Studio."""

    def __init__(self, chromium: Any, demo: Demo):
        self.chromium, self.demo = chromium, demo
        self._logins: dict[tuple[str, str], Any] = {}

    def context(self, email: str = ADMIN_EMAIL, *, base: str | None = None, **options: Any) -> Any:
        """A fresh context with the person's cookies."""
        base = base or self.demo.server.url
        options = {"viewport": {"width": 1440, "height": 1000}, **options}
        return self.stranger(**options, storage_state=self._login(email, base))

    def stranger(self, **options: Any) -> Any:
        """A fresh context of somebody who is not logged in; nothing outside this machine can be reached."""
        context = self.chromium.new_context(**options)
        context.set_default_timeout(PATIENCE)
        context.route(lambda url: "://localhost" not in url, lambda route: route.abort())
        return context

    def _login(self, email: str, base: str) -> Any:
        if (email, base) not in self._logins:
            context = self.stranger()
            page = context.new_page()
            page.goto(f"{base}/user/login/")
            page.fill("input[name=email]", email)
            page.fill("input[name=password]", ADMIN_PASSWORD)
            page.click("button[type=submit]")
            page.wait_for_url(lambda url: "login" not in url, wait_until="commit")
            self._logins[email, base] = context.storage_state()
            context.close()
        return self._logins[email, base]


@pytest.fixture(scope="session")
def people(chromium: Any, demo: Demo) -> People:
    return People(chromium, demo)


@pytest.fixture
def page(people: People) -> Iterator[Any]:
    """A tab of the lead."""
    context = people.context()
    yield context.new_page()
    context.close()


@pytest.fixture
def annotator(people: People) -> Iterator[Any]:
    """A tab of the annotator Anna Brandt."""
    context = people.context(email_of("Anna Brandt"))
    yield context.new_page()
    context.close()


@pytest.fixture
def score(demo: Demo, tmp_path: Path) -> Callable[[], dict[str, Any]]:
    """Output of ``softirr score`` for the project's current export; items by id."""

    def run() -> dict[str, Any]:
        report = of_command_line(demo, tmp_path, "score")
        report["items"] = {int(item["id"]): item for item in report["items"]}
        return report

    return run


@pytest.fixture
def new_task(demo: Demo) -> Iterator[Callable[..., int]]:
    """Import a task with answers of some annotators; it is removed again."""
    numbers: list[int] = []

    def make(narrative: str, answers: dict[str, list[str]]) -> int:
        users = demo.files.state["users"]
        annotations = [annotation(users[name], text_result(texts)) for name, texts in answers.items()]
        body = [{"data": {"narrative": narrative}, "annotations": annotations}]
        reply = demo.api.post(f"/api/projects/{demo.project}/import?return_task_ids=true", body)
        numbers.append(int(reply["task_ids"][0]))
        return numbers[-1]

    yield make
    for task in numbers:
        demo.api.delete(f"/api/tasks/{task}/")


@pytest.fixture
def clean(people: Any) -> Iterator[Any]:
    """A tab of the lead that must not complain: no error in the console, nothing refused by the policy."""
    context = people.context(viewport={"width": 1100, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert problems == []

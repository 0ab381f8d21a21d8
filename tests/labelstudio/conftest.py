"""A real Label Studio 1.23.2 for the tests in this folder.

It is taken from ``SOFTIRR_LABEL_STUDIO`` or from the environment that the Makefile makes. Without one these tests are
skipped with the reason, and fail in CI, where they must run. With pytest-xdist each worker has a separate server.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo.processes import ServerError
from ml_backend.demo.server import Api, LabelStudio, find_label_studio, label_studio

LABEL_CONFIG = """<View>
  <Text name="text" value="$text"/>
  <TextArea name="findings" toName="text" maxSubmissions="20" editable="true"/>
</View>"""

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    for item in items:
        if folder in item.path.parents:
            item.add_marker(pytest.mark.labelstudio)


@dataclass(frozen=True)
class User:
    """An annotator with a personal token."""

    id: int
    email: str
    password: str
    token: str
    api: Api


class Harness:
    """The server and what tests do with it. `url` and `token` are what a backend is given."""

    def __init__(self, server: LabelStudio):
        self.server = server
        self.url = server.url
        self.session = server.login()
        self.token = server.new_token(self.session)
        self.api = Api(server.url, self.token)
        self.admin = int(self.api.get("/api/current-user/whoami")["id"])
        self._people: dict[str, User] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the backend's commands."""
        return {"LABEL_STUDIO_URL": self.url, "LABEL_STUDIO_API_KEY": self.token}

    def create_project(self, title: str = "", *, label_config: str = LABEL_CONFIG, **fields: Any) -> int:
        """A new project; its id."""
        body = {
            "title": title or f"Project {next(_numbers)}",
            "label_config": label_config,
            "maximum_annotations": 2,
            **fields,
        }
        return int(self.api.post("/api/projects/", body)["id"])

    def create_user(self, first_name: str = "", last_name: str = "") -> User:
        """A new annotator who can log in and has a personal access token."""
        number = next(_numbers)
        email, password = f"annotator{number}.{os.getpid()}@example.org", "annotator-password"
        names = {"first_name": first_name or f"Annotator{number}", "last_name": last_name or "Example"}
        user, token = self.server.sign_up(email, password, **names)
        return User(user, email, password, token, Api(self.url, token))

    def person(self, name: str) -> User:
        """The annotator with this first name, who is the same in all projects: making one takes most of a second."""
        if name not in self._people:
            self._people[name] = self.create_user(name)
        return self._people[name]

    def import_tasks(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Import tasks (``{"data": ..., "annotations": [...]}``); their ids in the order given."""
        reply = self.api.post(f"/api/projects/{project}/import?return_task_ids=true", list(tasks))
        return [int(task) for task in reply["task_ids"]]

    def answered(self, tasks: Iterable[Sequence[Iterable[str]]]) -> tuple[int, list[int], list[User]]:
        """A new project with these answers of Ann, Ben, ...: its id, the ids of the tasks, and the users."""
        given_tasks = list(tasks)
        users = [self.person(name) for name in ("Ann", "Ben", "Cleo")[: len(given_tasks[0])]]
        project = self.create_project()
        imported = [
            {
                "data": {"text": f"narrative {n}"},
                "annotations": [annotation(user.id, texts) for user, texts in zip(users, answers, strict=True)],
            }
            for n, answers in enumerate(given_tasks)
        ]
        return project, self.import_tasks(project, imported), users

    def annotate(
        self,
        task: int,
        user: User,
        texts: Iterable[str],
        *,
        skip: bool = False,
        control: str = "findings",
        to_name: str = "text",
    ) -> int:
        """Answer a task as a user, through the API as the labeling screen does; the annotation's id."""
        body = {"result": textarea(texts, control=control, to_name=to_name), "was_cancelled": skip, "lead_time": 10.0}
        return int(user.api.post(f"/api/tasks/{task}/annotations/", body)["id"])

    def edit(
        self, annotation: int, user: User, texts: Iterable[str], *, control: str = "findings", to_name: str = "text"
    ) -> None:
        """Replace the texts of an annotation."""
        user.api.patch(f"/api/annotations/{annotation}/", {"result": textarea(texts, control=control, to_name=to_name)})

    def export(self, project: int) -> list[dict[str, Any]]:
        """Every task of a project with its annotations and predictions."""
        return self.api.export(project)

    def export_file(self, project: int, folder: Path) -> Path:
        """The JSON export as a file, as a user downloads it."""
        path = folder / f"project-{project}.json"
        path.write_text(json.dumps(self.export(project)), encoding="utf-8")
        return path

    def predictions(self, project: int) -> list[dict[str, Any]]:
        return list(self.api.get("/api/predictions/", project=project))


def textarea(texts: Iterable[str], *, control: str = "findings", to_name: str = "text") -> list[dict[str, Any]]:
    """A TextArea's result as the labeling screen sends it; no texts, no result."""
    kept_texts = list(texts)
    result = {
        "from_name": control,
        "to_name": to_name,
        "type": "textarea",
        "origin": "manual",
        "value": {"text": kept_texts},
    }
    return [result] if kept_texts else []


def annotation(user: int, texts: Iterable[str], *, skip: bool = False, **fields: Any) -> dict[str, Any]:
    """An annotation for `Harness.import_tasks`: quicker than `annotate` where many are wanted."""
    return {"completed_by": user, "was_cancelled": skip, "ground_truth": False, "result": textarea(texts), **fields}


@pytest.fixture(scope="session")
def start_label_studio() -> Callable[..., Any]:
    """Start a further server: ``with start_label_studio(folder, environment={...}) as server``."""
    try:
        executable = find_label_studio()
    except ServerError as problem:
        if os.environ.get("CI"):
            pytest.fail(str(problem))
        pytest.skip(str(problem))

    def start(folder: Path, **options: Any) -> Any:
        return label_studio(folder, executable=executable, **options)

    return start


@pytest.fixture(scope="session")
def ls(start_label_studio: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """The server that tests share. Make projects and users of your own in it."""
    with start_label_studio(tmp_path_factory.mktemp("label-studio")) as server:
        yield Harness(server)


@pytest.fixture
def commands(ls: Harness, tmp_path: Path) -> Any:
    """The commands of a backend with an empty store."""
    from tests.labelstudio.backend import Commands  # which takes what is above

    return Commands(tmp_path / "state", ls.url, ls.token)


@pytest.fixture(scope="module")
def serving(ls: Harness, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A running backend that the tests of a file share."""
    from tests.labelstudio.backend import Commands

    with Commands(tmp_path_factory.mktemp("state"), ls.url, ls.token).serve() as running:
        yield running


@pytest.fixture
def project(ls: Harness) -> int:
    """A project of three tasks with two answers each."""
    return ls.answered([(["fever"], ["a fever"])] * 3)[0]

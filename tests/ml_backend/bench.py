"""A backend with its own store in front of the fake Label Studio."""

from __future__ import annotations

import base64
import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from ml_backend.auth.keys import CONNECTION_USER, Keys
from ml_backend.labelstudio.client import Client
from ml_backend.project_settings import effective
from ml_backend.scoring.scorer import Scorer
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.store.store import Row, Store
from ml_backend.web.links import Links
from ml_backend.web.project_report import ProjectReports
from ml_backend.worker.project_run import ProjectRun
from ml_backend.worker.update import ProjectUpdate, UpdateResult
from tests.ml_backend.fake_label_studio import URL, FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER

OPEN: list[Store] = []
"""Stores that a test has made; a fixture closes them at its end."""


class Bench:
    """A store (in the folder, unless `database_url` names a migrated one) and what syncs the fake with it."""

    def __init__(self, folder: Path, fake: FakeLabelStudio | None = None, **settings: Any):
        self.fake = fake or FakeLabelStudio()
        self.folder = folder
        self.settings = Settings.from_environment(
            {}, data=folder, label_studio_url=URL, api_key="secret-token", **{"measure": "indel", **settings}
        )
        folder.mkdir(parents=True, exist_ok=True)
        if "database_url" not in settings:
            (folder / "softirr.sqlite3").write_bytes(empty_database())
        self.services = Services(self.settings)
        self.store: Store = self.services.store
        OPEN.append(self.store)
        self.scorer = Scorer()

    def client(self, **options: Any) -> Client:
        options = {"wait": lambda seconds: None, **options}
        return Client(URL, "", auth=httpx.Auth(), transport=httpx.MockTransport(self.fake), **options)

    def sync(self, *, full: bool = False, check: Callable[[], None] = lambda: None) -> UpdateResult:
        """One run, as a job makes it."""
        try:
            with self.client() as client:
                run = ProjectRun(self.store, client, self.settings, NUMBER, lambda *_: None, check)
                return ProjectUpdate(run, self.scorer).run(full=full)
        finally:
            self.fake.later()

    def connect(self) -> dict[str, str]:
        """The project as ``softirr-ls connect`` leaves it, with scores or without.

        The headers with which Label Studio calls then.
        """
        row = self.store.ensure_project(URL, NUMBER)
        if not row["connection"]:
            self.store.update_project(row["id"], connection={"mode": "connected"})
        return self.caller()

    def caller(self, number: int = NUMBER) -> dict[str, str]:
        """Headers of the connection's basic auth."""
        row = self.store.project(URL, number)
        password = Keys(self.store.secret()).password(number, generation=row["key_round"] if row else 0)
        return {"Authorization": "Basic " + base64.b64encode(f"{CONNECTION_USER}:{password}".encode()).decode()}

    def choose(self, **options: Any) -> None:
        """Options as ``softirr-ls`` notes them."""
        row = self.store.ensure_project(URL, NUMBER, born=self.fake.project["created_at"])
        self.store.choose(row["id"], options)

    def report(self) -> dict[str, Any]:
        """Return the view of the report on the project's first field."""
        row = self.row
        settings = effective(self.settings, connection=row["extra_params"], command_options=row["chosen"]).values
        control = next(iter(row["summary"]["controls"]))
        return ProjectReports(self.store).view(row, control, settings, Links(URL, NUMBER)).to_dict()

    def task(self, number: int) -> Row:
        """A task as it is stored."""
        return self.store.get_tasks(self.row["id"], [number])[number]

    def export(self) -> Path:
        """A file with the tasks as Label Studio exports them."""
        file = self.folder / "export.json"
        file.write_text(json.dumps(list(self.fake.tasks.values())), encoding="utf-8")
        return file

    @property
    def row(self) -> Row:
        row = self.store.project(URL, NUMBER)
        assert row is not None
        return row


@functools.cache
def empty_database() -> bytes:
    """An empty database of the present schema: migrating one for each of hundreds of stores would take minutes."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/empty")
        store.migrate()
        content = content_of(store)
        store.close()
        return content


def content_of(store: Store) -> bytes:
    """The file of a store in SQLite."""
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return Path(str(store.engine.url.database)).read_bytes()


def answered(fake: FakeLabelStudio, n: int = 5) -> list[int]:
    """Tasks with three answers each, more or less alike."""
    return [
        fake.add_task({1: ["fever", f"{k * 'dry '}cough"], 2: ["fevers", "cough"], 3: [f"rash {k}"]}) for k in range(n)
    ]

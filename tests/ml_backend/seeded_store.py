"""A store with a scored project, without a Label Studio, for tests of the pages."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from ml_backend.app import create_app
from ml_backend.auth.keys import Keys, Person, PersonalLinks
from ml_backend.labelstudio.answers import answers_hash
from ml_backend.project_settings import ProjectSettings
from ml_backend.review.audits import judged_sheets
from ml_backend.review.computations import answer_requests
from ml_backend.review.requests import ProjectWork
from ml_backend.scoring.details import counted_reasons
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.scorer import ReportContent
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row, Store
from tests.ml_backend.bench import OPEN, content_of, empty_database

LABEL_STUDIO = "http://labels.example:8080"
NUMBER = 12
HOSTILE = "</script><script>window.__pwned=1</script><img src=x onerror=alert(1)>"
INDEL = ProjectSettings(measure="indel")
RATERS = {"2": "Ann Example", "3": "Ben Sample", "4": "Chloé Martin"}
Answers = Mapping[str, Sequence[str]]

TASKS: dict[int, Answers] = {
    101: {"2": ["fever", "cough"], "3": ["Fever.", "a cough"], "4": ["fever"]},
    102: {"2": ["heart attack"], "3": ["myocardial infarction"], "4": ["heart attack"]},
    103: {"2": ["broken arm"], "3": ["broken arm"], "4": ["broken arm"]},
    104: {"2": ["migraine"], "3": [], "4": ["headache", "nausea"]},
    105: {"2": ["asthma"], "3": ["bronchial asthma"]},
    106: {"2": ["anaemia"]},
    107: {},
}

_scored: dict[str, bytes] = {}
"""Databases of `Seeded.scored` by the arguments: scoring one for each of hundreds of tests would take a minute."""


class Seeded:
    """An app over a seeded store; `client` sends requests as a browser on our own page would."""

    def __init__(self, folder: Path, *, database: bytes | None = None, **settings: Any):
        self.settings = Settings.from_environment(
            {},
            data=folder,
            label_studio_url=LABEL_STUDIO,
            database_url=f"sqlite:///{folder / 'store.sqlite3'}",
            **{"measure": "indel", **settings},
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "store.sqlite3").write_bytes(empty_database() if database is None else database)
        self.services = Services(self.settings)
        self.store: Store = self.services.store
        OPEN.append(self.store)
        self.app: Flask = create_app(services=self.services)
        self.app.testing = True
        self.client: FlaskClient = self.app.test_client()
        self.project = self.store.ensure_project(LABEL_STUDIO, NUMBER)["id"]
        self.update(
            title="Findings",
            raters=RATERS,
            required=3,
            pulled_at=1.0,
            controls=[{"name": "findings", "to_name": "text", "per_region": False}],
            connection={"mode": "connected"},
        )

    @classmethod
    def scored(
        cls, folder: Path, tasks: Mapping[int, Answers] = TASKS, measure: str = "indel", **pulled: Any
    ) -> Seeded:
        """A store with tasks that are scored."""
        arguments = json.dumps([tasks, measure, pulled])
        if arguments in _scored:
            return cls(folder, database=_scored[arguments])
        seeded = cls(folder)
        seeded.put(tasks, **pulled)
        seeded.score(measure=measure)
        _scored[arguments] = content_of(seeded.store)
        return seeded

    @property
    def row(self) -> Row:
        row = self.store.project_by_id(self.project)
        assert row is not None
        return row

    @property
    def reviews(self) -> ReviewStore:
        return ReviewStore(self.store)

    def task(self, number: int) -> Row:
        return self.store.get_tasks(self.project, [number])[number]

    def update(self, **values: Any) -> None:
        """Set columns of the project's row."""
        self.store.update_project(self.project, **values)

    def project_work(self, settings: ProjectSettings) -> ProjectWork:
        return ProjectWork(self.store, self.services.scorer, self.row, settings)

    def work(self, settings: ProjectSettings) -> int:
        """Answer the waiting requests, as the scorer process does; returns the number of answers."""
        return answer_requests(self.project_work(settings))

    def get(self, path: str, key: str | None = None, client: FlaskClient | None = None, **query: Any) -> Any:
        """A GET about the project with the report's key, as of a browser that kept no cookie, or of somebody known."""
        return self._open("GET", path, client, {"project": NUMBER, **query}, key)

    def delete(self, path: str, client: FlaskClient | None = None) -> Any:
        return self._open("DELETE", path, client, {"project": NUMBER})

    def _open(
        self, method: str, path: str, client: FlaskClient | None, query: Mapping[str, Any], key: str | None = None
    ) -> Any:
        self.client._cookies.clear() if hasattr(self.client, "_cookies") else None
        key_query = {} if client is not None else {"k": self.key("report") if key is None else key}
        return (client or self.client).open(path, method=method, query_string={**key_query, **query})

    def csv(self, path: str, client: FlaskClient | None = None) -> list[dict[str, str]]:
        """The rows of a file, by the names of its columns."""
        return list(csv.DictReader(io.StringIO(self.get(path, client=client).text.removeprefix("\ufeff"))))

    def report(self, **query: Any) -> dict[str, Any]:
        """The report as a reviewer gets it."""
        report: dict[str, Any] = self.get("/api/report", client=self.as_person(), **query).json
        return report

    def page(self, address: str = "", role: str = "reviewer") -> str:
        """The report's page, or what is below its address, with single spaces."""
        return " ".join(self.as_person(role).get(f"/report/{NUMBER}{address}").text.split())

    def send(self, path: str, *, client: FlaskClient | None = None, **body: Any) -> Any:
        """A POST about the project with the report's key, or of somebody who is known."""
        headers = {} if client is not None else {"X-Softirr-Key": self.key("report")}
        return (client or self.client).post(path, json={"project": NUMBER, **body}, headers=headers)

    def key(self, door: Any = "panel", number: int = NUMBER) -> str:
        return Keys(self.store.secret()).key(number, door, generation=self.row["key_round"])

    def as_person(self, role: Any = "reviewer", user: str = "9", name: str = "Rae Viewer") -> FlaskClient:
        """The browser of somebody who opened a personal link."""
        client = self.app.test_client()
        client.set_cookie(f"softirr-person-{NUMBER}", self.token(role, user, name))
        return client

    def token(self, role: Any = "reviewer", user: str = "9", name: str = "Rae Viewer", until: float = 2e9) -> str:
        """A personal link's token."""
        who = Person(user, name, role, "link")
        generation = self.row["key_round"]
        return PersonalLinks(self.store.secret()).make(who, NUMBER, generation=generation, until=until)

    def put(
        self,
        tasks: Mapping[int, Answers] = TASKS,
        *,
        control: str = "findings",
        excluded: Mapping[int, Sequence[tuple[str, str]]] | None = None,
        updated_at: Mapping[int, str] | None = None,
        facts: Mapping[int, Mapping[str, Any]] | None = None,
        other_controls: Mapping[str, Mapping[int, Answers]] | None = None,
    ) -> None:
        """Store tasks as a pull would; `other_controls` has their answers to other controls."""
        rows = []
        for number, task in tasks.items():
            left_out = [list(entry) for entry in (excluded or {}).get(number, ())]
            of_control = {control: task} | {
                name: other_tasks[number] for name, other_tasks in (other_controls or {}).items()
            }
            answers = {
                name: {
                    "answers": {rater: list(texts) for rater, texts in answers_of_task.items()},
                    "excluded": left_out if name == control else [],
                }
                for name, answers_of_task in of_control.items()
            }
            rows.append(
                {
                    "number": number,
                    "updated_at": (updated_at or {}).get(number, "2026-11-20T12:00:00Z"),
                    "n_annotations": len(task),
                    "answers": answers,
                    "answers_hash": answers_hash(answers),
                    "facts": (facts or {}).get(number),
                    "prediction_hash": "",
                }
            )
        self.store.put_read(self.project, rows)

    def score(self, **settings: Any) -> None:
        """Score what is not scored, and the project, as a job would."""
        project_settings = ProjectSettings(**{"measure": "indel", **settings})
        store, scorer = self.store, self.services.scorer
        waiting = store.unscored(self.project, 100_000)
        decisions = store.decisions(self.project)
        prepared = AnswerPreparation.of(self.row, project_settings)
        details = scorer.task_details({row["number"]: row["answers"] for row in waiting}, prepared, decisions=decisions)
        store.put_scored(
            self.project,
            [
                {
                    "number": row["number"],
                    "answers_hash": row["answers_hash"],
                    "agreement": details[row["number"]]["agreement"],
                    "details": details[row["number"]],
                    "desired": None,
                }
                for row in waiting
            ],
        )
        controls = dict.fromkeys(name for _, answers in store.answers(self.project) for name in answers)
        summary = {
            "controls": {
                name: scorer.summary(
                    store.answers(self.project),
                    name,
                    prepared,
                    ReportContent(
                        decisions=decisions,
                        judgments=judged_sheets(ReviewStore(store), self.project, name),
                        reasons=counted_reasons(store.details(self.project), name)[0],
                    ),
                )
                for name in controls
            },
            "seconds": 0.0,
            "settings": {},
            "provenance": scorer.provenance(project_settings.measure, project_settings.policy),
        }
        store.update_project(self.project, summary=summary, summary_at=1.0, summary_stale=False, due_at=None)


def ask(seeded: Seeded, task: int | None, key: str | None = None, *, client: Any = None, **parameters: Any) -> Any:
    """The panel of a reviewer or, with a `key`, of somebody who has only the key."""
    query = {"project": NUMBER, "k": seeded.key() if key is None else key, **parameters}
    client = client or (seeded.as_person() if key is None else seeded.client)
    return client.get("/api/panel", query_string=query | ({"task": task} if task else {}))

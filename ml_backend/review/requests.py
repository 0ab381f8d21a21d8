"""What pages ask the worker to compute: rows of the table ``requests``, and the project that a request is about."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.scorer import Scorer
from ml_backend.store.database import Row, Tables
from ml_backend.store.schema import projects, requests
from ml_backend.store.store import Store
from softirr.answers.table import AnnotationTable

MOST_REQUESTS = 20
"""Requests of one kind that a project keeps, the newest ones."""
SHEET, RESULT, LOOK, MODELS = "audit sheet", "audit result", "audit look", "models"
"""Kinds of requests: draw the pairs of an audit, evaluate it, look at its interval, compare models with people."""


class RequestStore(Tables):
    """Reads and writes the requests in the store's database."""

    def ask(self, project: int, kind: str, question: Mapping[str, Any]) -> int:
        """Request an answer, or the same answer again; returns the request's number. The oldest ones are dropped."""
        now = time.time()
        with self.writing() as connection:
            # Locked, so that two callers don't both find no request.
            connection.execute(sa.select(projects.c.id).where(projects.c.id == project).with_for_update())
            query = sa.select(requests.c.id, requests.c.question).where(requests.c.project == project)
            query = query.where(requests.c.kind == kind).order_by(requests.c.asked_at.desc())
            earlier = connection.execute(query).all()
            number = next((row.id for row in earlier if row.question == question), None)
            if number is not None:
                repeat = sa.update(requests).where(requests.c.id == number)
                connection.execute(repeat.values(asked_at=now, wanted_at=now))
                return int(number)
            old = [row.id for row in earlier[MOST_REQUESTS - 1 :]]
            connection.execute(sa.delete(requests).where(requests.c.id.in_(old)))
            values = {"project": project, "kind": kind, "question": dict(question), "asked_at": now, "wanted_at": now}
            key = connection.execute(sa.insert(requests).values(**values)).inserted_primary_key
            assert key is not None
            return int(key[0])

    def find(self, project: int, kind: str, question: Mapping[str, Any]) -> Row | None:
        """Return the request of a question; None if nobody made it."""
        listed = self._newest_first(project, requests.c.kind == kind)
        return next((row for row in listed if row["question"] == question), None)

    def withdraw(self, project: int, kind: str, question: Mapping[str, Any]) -> None:
        """Remove a request and its result."""
        if (row := self.find(project, kind, question)) is not None:
            self.execute(sa.delete(requests).where(requests.c.id == row["id"]))

    def answered(self, project: int) -> list[tuple[int, float]]:
        """Return the numbers of the answered requests, and when they were answered."""
        query = sa.select(requests.c.id, requests.c.result_at).where(requests.c.project == project)
        rows = self.rows(query.where(requests.c.result_at.is_not(None)).order_by(requests.c.id))
        return [(row["id"], row["result_at"]) for row in rows]

    def wanted(self, project: int) -> list[Row]:
        """Return the requests without a present answer, newest first."""
        return self._newest_first(project, requests.c.wanted_at.is_not(None))

    def answer(self, row: Row, *, result: Mapping[str, Any] | None, problem: str | None, based_on: str) -> None:
        """Store the answer; a request made in the meantime stays pending."""
        values = {"result": result, "problem": problem, "result_at": time.time(), "based_on": based_on}
        update = sa.update(requests).where(requests.c.id == row["id"])
        self.execute(update.values(**values))
        self.execute(update.where(requests.c.wanted_at == row["wanted_at"]).values(wanted_at=None))

    def _newest_first(self, project: int, which: sa.ColumnElement[bool]) -> list[Row]:
        query = sa.select(requests).where(requests.c.project == project, which)
        return self.rows(query.order_by(requests.c.asked_at.desc()))


def _ignore(*_: object) -> None:
    pass


@dataclass(frozen=True)
class ProjectWork:
    """A project, and the store and scorer that compute on it.

    Attributes
    ----------
    project : mapping
        The project's row.
    report : callable
        Called as ``report(phase, done, total)``.
    check : callable
        Called often; raises to break off.
    """

    store: Store
    scorer: Scorer
    project: Row
    settings: ProjectSettings
    report: Callable[[str, int, int | None], None] = _ignore
    check: Callable[[], None] = _ignore

    @property
    def preparation(self) -> AnswerPreparation:
        """How the project's answers are prepared."""
        return AnswerPreparation.of(self.project, self.settings)

    def table(self, control: str) -> AnnotationTable:
        """Return the answers to a field."""
        return self.preparation.table(self.store.answers(self.project["id"]), control)

    def progress(self, phase: str) -> Callable[[int, int], None]:
        """Return a function that a computation of many pairs calls with the numbers of done and of all pairs."""

        def progress(done: int, total: int) -> None:
            self.check()
            self.report(phase, done, total)

        return progress


def basis_of(project: Mapping[str, Any]) -> str:
    """Return what results are based on: the report that the project has."""
    return str(project["summary_at"])

"""What pages ask the worker to compute: rows of the table ``requests``, each answered by a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.scorer import Scorer
from ml_backend.store.requests import RequestStore
from ml_backend.store.store import Row, Store
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError

SHEET, RESULT, LOOK, MODELS = "audit sheet", "audit result", "audit look", "models"
"""Kinds of requests: draw the pairs of an audit, evaluate it, look at its interval, compare models with people."""


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


Computation = Callable[[ProjectWork, Mapping[str, Any]], Mapping[str, Any]]
"""Computes the result of a question; raises InputError if that is impossible."""


def answer_requests(work: ProjectWork, computations: Mapping[str, Computation]) -> int:
    """Answer the requests of a project, oldest first; returns their number. A failure is stored as the problem."""
    requests = RequestStore(work.store)
    waiting = requests.wanted(work.project["id"])
    for row in reversed(waiting):
        work.check()
        work.report(row["kind"], 0, None)
        result: Mapping[str, Any] | None = None
        problem = None
        try:
            result = computations[row["kind"]](work, row["question"])
        except InputError as error:
            problem = str(error)
        requests.answer(row, result=result, problem=problem, based_on=basis_of(work.project))
    return len(waiting)


def basis_of(project: Mapping[str, Any]) -> str:
    """Return what results are based on: the report that the project has."""
    return str(project["summary_at"])

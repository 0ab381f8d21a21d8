"""What computes on a project on request of a page: its store, its measure and its settings, in one object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ml_backend.labelstudio.answers import unanswered_of, without
from ml_backend.labelstudio.client import Client
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import ProjectSettings
from ml_backend.store.store import Row, Store

__all__ = ["ProjectWork", "counted_answers"]


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True)
class ProjectWork:
    """A project, and what is computed with.

    Attributes
    ----------
    store : Store
    scorer : Scorer
    project : mapping
        The project's row.
    settings : ProjectSettings
    client : Client, optional
        Label Studio's, for what is not in the store.
    report : callable
        Called as ``report(phase, done, total, pairs)``.
    check : callable
        Called often; raises to break off.
    """

    store: Store
    scorer: Scorer
    project: Row
    settings: ProjectSettings
    client: Client | None = None
    report: Callable[[str, int, int | None, int], None] = _nothing
    check: Callable[[], None] = _nothing

    def answers(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The project's answers, as its summary counts them."""
        return counted_answers(self.store, self.project)

    def progress(self, phase: str) -> Callable[[int, int], None]:
        """What a computation of many pairs calls with the number that is done and the number of all."""

        def progress(done: int, total: int) -> None:
            self.check()
            self.report(phase, done, total, done)

        return progress


def counted_answers(store: Store, project: Row) -> Iterator[tuple[int, dict[str, Any]]]:
    """(task number, stored answers) of a project's tasks; what nobody answers in the whole project is missing."""
    unanswered = unanswered_of(project)
    return ((number, without(given, unanswered)) for number, given in store.answers(project["id"]))

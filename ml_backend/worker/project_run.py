"""The state that the parts of one run over a project share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.store.store import Row, Store


class Stopped(Exception):
    """Work is broken off, because the process ends or a command needs the project."""


@dataclass(frozen=True)
class ProjectRun:
    """One run over one project.

    Attributes
    ----------
    project, number : int
        Its key in the store and its number in Label Studio.
    report : callable
        Called as ``report(phase, done, total)``.
    check : callable
        Called often; raises `Stopped` to break off.
    """

    store: Store
    client: Client
    project: int
    number: int
    report: Callable[[str, int, int | None], None]
    check: Callable[[], None]

    def row(self) -> Row:
        """Return the project's row as it is now."""
        row = self.store.project_by_id(self.project)
        if row is None:
            raise LabelStudioError(f"Project {self.number} was removed from the store meanwhile.")
        return row

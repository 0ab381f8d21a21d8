"""Storing and undoing reviewers' decisions, and scoring the affected tasks again."""

import json
from collections.abc import Sequence

import sqlalchemy as sa

from ml_backend.auth.keys import Person
from ml_backend.services import Services
from ml_backend.store.schema import projects, tasks
from ml_backend.store.store import Row
from softirr.text import normalize

MOST_PAIRS = 64  # of one request: a match of ten annotators has 45
LONGEST = 20_000


def decide(
    services: Services, project: Row, pairs: Sequence[tuple[str, str]], *, same: bool, who: Person, task: int | None
) -> dict[int, tuple[str, str]]:
    """Store a decision on pairs of texts and mark the affected tasks for scoring; returns the pairs by decision id."""
    sorted_pairs = (sorted((normalize(a), normalize(b))) for a, b in pairs)
    clean = sorted({(a, b) for a, b in sorted_pairs if a and b and a != b})
    for a, b in clean:
        services.store.decide(project["id"], a, b, same=same, task=task, **who.signature)
    rescore(services, project, clean)
    ids = {(row["text_a"], row["text_b"]): row["id"] for row in services.store.decisions(project["id"])}
    return {ids[pair]: pair for pair in clean}


def undo(services: Services, project: Row, number: int, *, who: Person) -> bool:
    """Undo a decision; False if it is not a current one."""
    decision = next((row for row in services.store.decisions(project["id"]) if row["id"] == number), None)
    if decision is None or not services.store.undecide(
        project["id"], decision["text_a"], decision["text_b"], **who.signature
    ):
        return False
    rescore(services, project, [(decision["text_a"], decision["text_b"])])
    return True


def rescore(services: Services, project: Row, pairs: Sequence[tuple[str, str]]) -> None:
    """Mark the tasks with both texts of a pair for scoring, and request the project's coefficients."""
    store = services.store
    column = sa.cast(tasks.c.answers, sa.Text)
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        for a, b in pairs:
            holds = [column.contains(json.dumps(text), autoescape=True) for text in (a, b)]
            connection.execute(
                sa.update(tasks).where(tasks.c.project == project["id"], *holds).values(scored_hash=None)
            )
        connection.execute(sa.update(projects).where(projects.c.id == project["id"]).values(summary_stale=True))
    services.store.want(project["id"])

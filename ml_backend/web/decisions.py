"""Storing and undoing reviewers' decisions, and scoring the affected tasks again."""

import json
from collections.abc import Sequence

import sqlalchemy as sa

from ml_backend.auth.keys import Person
from ml_backend.store.schema import projects, tasks
from ml_backend.store.store import Row
from ml_backend.web.running import services
from softirr.text import normalize

MOST_PAIRS = 64  # of one request: a match of ten annotators has 45
LONGEST = 20_000


def decide(
    project: Row,
    pairs: Sequence[tuple[str, str]],
    *,
    same: bool,
    who: Person,
    task: int | None,
    cause: str | None = None,
) -> int:
    """Store a decision on pairs of texts and mark the affected tasks for scoring; return the number of pairs."""
    clean = _clean(pairs)
    for a, b in clean:
        services().store.decide(project["id"], a, b, same=same, task=task, cause=cause, **who.signature)
    rescore(project, clean)
    return len(clean)


def withdraw(project: Row, pairs: Sequence[tuple[str, str]], *, who: Person) -> int:
    """Withdraw decisions on pairs of texts; return how many there were."""
    clean = [pair for pair in _clean(pairs) if services().store.undecide(project["id"], *pair, **who.signature)]
    rescore(project, clean)
    return len(clean)


def _clean(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    ordered = (sorted((normalize(a), normalize(b))) for a, b in pairs)
    return sorted({(a, b) for a, b in ordered if a and b and a != b})


def rescore(project: Row, pairs: Sequence[tuple[str, str]]) -> None:
    """Mark the tasks with both texts of a pair for scoring, and request the project's coefficients."""
    store = services().store
    column = sa.cast(tasks.c.answers, sa.Text)
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        for a, b in pairs:
            holds = [column.contains(json.dumps(text), autoescape=True) for text in (a, b)]
            connection.execute(
                sa.update(tasks).where(tasks.c.project == project["id"], *holds).values(scored_hash=None)
            )
        connection.execute(sa.update(projects).where(projects.c.id == project["id"]).values(summary_stale=True))
    services().store.want(project["id"])

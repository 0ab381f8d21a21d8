"""Computations requested on the pages, which the scorer process runs once the project is up to date."""

from __future__ import annotations

from collections.abc import Callable

from ml_backend.labelstudio.client import Client
from ml_backend.report import compare, policies, side_by_side
from ml_backend.review import audits, codebook
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import ProjectSettings
from ml_backend.store.store import Row, Store


def run_wanted(
    store: Store,
    scorer: Scorer,
    project: Row,
    settings: ProjectSettings,
    *,
    client: Client | None = None,
    report: Callable[[str, int, int | None, int], None] = lambda *_: None,
    check: Callable[[], None] = lambda: None,
) -> int:
    """Draw and evaluate audits, compare measures and policies, make codebooks, and what the comparison page asks for; returns their number.

    Without a `client`, what the comparison page asks for waits.
    """
    done = audits.run_asked(store, scorer, project, settings, report=report, check=check)
    done += policies.run_wanted(store, scorer, project, settings, report=report, check=check)
    done += compare.run_wanted(store, scorer, project, settings, report=report, check=check)
    done += codebook.run_wanted(store, scorer, project, settings, report=report, check=check)
    if client is None:
        return done
    return done + side_by_side.run_wanted(store, scorer, project, settings, client, report=report, check=check)

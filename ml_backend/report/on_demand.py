"""Computations requested on the pages, which the scorer process runs once the project is up to date."""

from __future__ import annotations

from collections.abc import Callable

from ml_backend.labelstudio.client import Client
from ml_backend.report import policies, side_by_side
from ml_backend.report.questions import KINDS, MEASURES
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
    """Draw and evaluate audits, look at policies, make codebooks, and compare; returns their number.

    Without a `client`, comparisons that read Label Studio wait.
    """
    done = audits.run_asked(store, scorer, project, settings, report=report, check=check)
    done += policies.run_wanted(store, scorer, project, settings, report=report, check=check)
    done += codebook.run_wanted(store, scorer, project, settings, report=report, check=check)
    kinds = KINDS if client is not None else (MEASURES,)
    return done + side_by_side.run_wanted(
        store, scorer, project, settings, client, kinds=kinds, report=report, check=check
    )

"""Comparison of several measures on a project's answers, computed on request by the scorer process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import ProjectSettings
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store
from softirr.errors import InputError

KEPT = ("observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "sigma", "ks")
MOST = 8
Report = Callable[[str, int, int | None, int], None]


def run_wanted(
    store: Store,
    scorer: Scorer,
    project: Row,
    settings: ProjectSettings,
    *,
    report: Report = lambda *_: None,
    check: Callable[[], None] = lambda: None,
) -> int:
    """Compute the requested comparisons, each measure with the project's settings; returns their number.

    A measure whose model is missing gets a sentence in place of its numbers.
    """
    reviews = ReviewStore(store)
    wishes = reviews.wanted_comparisons(project["id"])
    for wish in wishes:
        based_on = state(store, project)
        found: list[dict[str, Any]] = []
        for name in wish["measures"]:
            check()
            report("comparing", len(found), len(wish["measures"]), 0)
            try:
                summary = scorer.summary(
                    store.answers(project["id"]),
                    wish["control"],
                    replace(settings, measure=name),
                    decisions=store.decisions(project["id"]),
                    progress=lambda *_: check(),
                )
            except InputError as error:
                found.append({"measure": name, "error": str(error)})
                continue
            coefficients = {key: summary["coefficients"][key] for key in KEPT if key in summary["coefficients"]}
            expected = summary["expected_agreement"]
            found.append({"measure": name, "coefficients": coefficients, "expected_agreement": expected})
        reviews.put_comparison(wish, found, based_on)
    return len(wishes)


def state(store: Store, project: Row) -> str:
    """Hash of the answers and decisions that a comparison is based on."""
    with store.engine.connect() as connection:
        query = sa.select(tasks.c.number, tasks.c.answers_hash).where(tasks.c.project == project["id"])
        rows = connection.execute(query.order_by(tasks.c.number)).all()
    said = [(row["pair"], row["same"]) for row in store.decisions(project["id"])]
    return hashlib.sha256(repr((list(map(tuple, rows)), sorted(said))).encode()).hexdigest()

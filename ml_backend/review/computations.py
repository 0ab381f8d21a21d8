"""The functions that answer the requests of pages, by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.review import audits
from ml_backend.review.requests import LOOK, MODELS, RESULT, SHEET, ProjectWork
from ml_backend.store.reviews import ReviewStore


def compare_with_people(work: ProjectWork, question: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the models among the raters of a field with the people."""
    from softirr.report.compare_models import compare_models

    control, settings = question["control"], work.settings
    with work.scorer.alone_with(settings.measure, work.progress(MODELS)) as progress:
        comparison = compare_models(
            work.table(control),
            measure=work.scorer.judged_measure(settings, work.store.decisions(work.project["id"])),
            judgments=audits.judged_sheets(ReviewStore(work.store), work.project["id"], control),
            cache=work.scorer.cache(settings.measure),
            progress=progress,
        ).to_dict()
    return {name: comparison[name] for name in ("coefficient", "differences", "warnings")}


COMPUTATIONS = {SHEET: audits.draw, RESULT: audits.evaluate, LOOK: audits.look, MODELS: compare_with_people}

"""The worker's computations for panel and pages: the report of a whole project, and the answers to requests."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from ml_backend.review import audits
from ml_backend.review.requests import LOOK, MODELS, RESULT, SHEET, ProjectWork, RequestStore, basis_of
from ml_backend.scoring.details import counted_reasons, language_warnings
from ml_backend.scoring.other_fields import other_field, raw_fields
from ml_backend.store.reviews import ReviewStore
from softirr.errors import InputError
from softirr.meaning.measures.suitability import BUNDLED

SUMMARY_SHARE = 20.0
"""Coefficients take at most one part in this many of the time while people are at work."""


def summarize(
    work: ProjectWork, controls: Sequence[str], other_fields: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], float]:
    """Compute the report on each text; returns it, and the time from which it may be computed again.

    A project without texts gets reports on its other controls.

    Parameters
    ----------
    controls : sequence of str
        Text controls that somebody answers.
    other_fields : sequence of (name, kind)
        Controls of other kinds (`config.other_controls`), for the table of fields.
    """
    # The thread's own time excludes other programs, which make little work take long on a busy machine.
    started, thread_started = time.monotonic(), time.thread_time()
    store, project = work.store, work.project["id"]
    reports = {control: _text_report(work, control) for control in controls}
    fields, fits = [], {}
    raw = raw_fields(store.fields(project) if other_fields else ())
    for name, kind in other_fields:
        work.check()
        answers = raw.pop(name, None)
        if answers is None or not any(answer.texts for answer in answers.answers):
            continue
        row, fit, report = other_field(answers, kind, work.settings)
        fields.append(row)
        if fit is not None:
            fits[name] = asdict(fit)
            if not controls:
                reports[name] = report
    due = time.time() + SUMMARY_SHARE * (time.thread_time() - thread_started)
    return {
        "controls": reports,
        **({"fields": fields, "fits": fits} if fields else {}),
        "median_seconds": _median_seconds(work),
        "not_compared": _not_compared(work),
        "seconds": time.monotonic() - started,
    }, due


def _text_report(work: ProjectWork, control: str) -> dict[str, Any]:
    store, project = work.store, work.project["id"]
    reasons, warnings = counted_reasons(store.details(project), control)
    report = audits.field_report(work, control, work.progress("coefficients"), reasons=reasons)
    languages = language_warnings(store.details(project), control) if work.settings.measure == BUNDLED else []
    return report | {"warnings": [*report["warnings"], *warnings, *languages]}


def _median_seconds(work: ProjectWork) -> dict[str, float]:
    """Return each annotator's median time for a task, in seconds."""
    seconds: dict[str, list[float]] = {}
    for by_rater in work.store.facts(work.project["id"], "seconds"):
        for rater, value in by_rater.items():
            seconds.setdefault(rater, []).append(value)
    return {rater: median(values) for rater, values in seconds.items()}


def _not_compared(work: ProjectWork) -> dict[str, int]:
    """Return the number of results of each type that softirr does not compare, such as boxes and relations."""
    counts: Counter[str] = Counter()
    for of_task in work.store.facts(work.project["id"], "not_compared"):
        counts.update(of_task)
    return dict(counts.most_common())


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


Computation = Callable[[ProjectWork, Mapping[str, Any]], Mapping[str, Any]]
"""Computes the result of a question; raises InputError if that is impossible."""
COMPUTATIONS: dict[str, Computation] = {
    SHEET: audits.draw,
    RESULT: audits.evaluate,
    LOOK: audits.look,
    MODELS: compare_with_people,
}


def answer_requests(work: ProjectWork) -> int:
    """Answer the requests of a project, oldest first; returns their number. A failure is stored as the problem."""
    requests = RequestStore(work.store)
    waiting = requests.wanted(work.project["id"])
    for row in reversed(waiting):
        work.check()
        work.report(row["kind"], 0, None)
        result: Mapping[str, Any] | None = None
        problem = None
        try:
            result = COMPUTATIONS[row["kind"]](work, row["question"])
        except InputError as error:
            problem = str(error)
        requests.answer(row, result=result, problem=problem, based_on=basis_of(work.project))
    return len(waiting)

"""The report of a whole project, which panel and pages show."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ml_backend.labelstudio.answers import without
from ml_backend.review.audits import judged_sheets
from ml_backend.scoring.details import counted_reasons, cut_reasons, note_cut
from ml_backend.scoring.other_fields import FieldAnswers, other_field
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import ProjectSettings
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Store

__all__ = ["summarize"]

SUMMARY_SHARE = 20.0
"""Coefficients take at most one part in this many of the time while people are at work."""


def summarize(
    store: Store,
    scorer: Scorer,
    project: int,
    controls: Sequence[str],
    settings: ProjectSettings,
    check: Callable[[], None],
    *,
    unanswered: Collection[str],
    others: Sequence[tuple[str, str]] = (),
    progress: Callable[[int, int], None],
) -> tuple[dict[str, Any], float]:
    """Compute the report on each text; returns it, and the time from which it may be computed again.

    In a project without texts the reports are on its other controls.

    Parameters
    ----------
    project : int
        Key in the store.
    unanswered : collection of str
        Controls that nobody answers in the whole project.
    others : sequence of (name, kind)
        Controls of other kinds (`config.other_controls`), for the table of fields.
    check : callable
        Called often; raises to break off.
    progress : callable
        Called as ``progress(done, total)``.
    """
    # The thread's own time excludes other programs, which make little work take long on a busy machine.
    started, own = time.monotonic(), time.thread_time()

    def checked(done: int, total: int) -> None:
        check()
        progress(done, total)

    cut: dict[str, set[int]] = {control: set() for control in controls}
    reports = {
        control: scorer.summary(
            ((number, without(given, unanswered)) for number, given in store.answers(project)),
            control,
            settings,
            decisions=store.decisions(project),
            reasons=counted_reasons(
                note_cut(store.details(project), control, cut[control]),
                control,
            ),
            judgments=judged_sheets(ReviewStore(store), project, control),
            progress=checked,
        )
        for control in controls
    }
    for control, report in reports.items():
        report["cut_reasons"] = cut_reasons(cut[control])
    fields, fits = [], {}
    answers = FieldAnswers(store.fields(project) if others else ())
    for name, kind in others:
        check()
        if (field := other_field(answers.take(name), name, kind, settings)) is None:
            continue
        fields.append(field.row)
        if field.fit is None or field.report is None:
            continue
        fits[name] = field.fit.to_dict()
        if not controls:
            reports[name] = field.report
    due = time.time() + SUMMARY_SHARE * (time.thread_time() - own)
    return {
        "controls": reports,
        **({"fields": fields, "fits": fits} if fields else {}),
        "seconds": time.monotonic() - started,
    }, due

"""Calibration of a project's measure by its reviewers' decisions, from 50 decisions on.

Reviewers choose what they decide, so decisions say nothing about the project as a whole (the audit does). They show how reliable the measure's
probabilities are for such texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ml_backend.scoring.decided import verdicts
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import ProjectSettings
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row, Store
from softirr.errors import InputError

if TYPE_CHECKING:
    from softirr.measures.calibration import Calibration

FROM = 50
"""Fewest decisions for a calibration."""
AGAIN = 0.1
"""Change of the number of decisions, as a share, after which it is fitted again: each fit scores the whole project again."""


def refit(store: Store, scorer: Scorer, project: Row, settings: ProjectSettings) -> bool:
    """Update the project's calibration; True if it changed, in which case every task is marked for scoring.

    Call it before scoring. The measure's own scores are in the cache, so that scoring again runs no model.
    """
    reviews = ReviewStore(store)
    before = reviews.calibration(project["id"])
    decided = verdicts(store.decisions(project["id"]), casefold=settings.casefold)
    if len(decided) < FROM:
        if before is None:
            return False
        reviews.drop_calibration(project["id"])
        return _changed(store, project, before["report"] is not None)
    same_measure = before is not None and before["measure"] == settings.measure_name and _readable(before)
    if before is not None and same_measure and abs(len(decided) - before["n"]) < AGAIN * before["n"]:
        return False
    report, problem = None, None
    try:
        report = _fitted(scorer, settings, decided)
    except InputError as error:  # all decisions are equal, so no calibration can be fitted yet
        problem = str(error)
    reviews.put_calibration(
        project["id"], measure=settings.measure_name, n=len(decided), report=report, problem=problem
    )
    return _changed(store, project, report is not None or (before is not None and before["report"] is not None))


def current(store: Store, project: int, measure: str) -> Calibration | None:
    """The calibration for scoring with this measure (`ProjectSettings.measure_name`), or None."""
    from softirr.measures.calibration import Calibration

    kept = ReviewStore(store).calibration(project)
    if kept is None or kept["report"] is None or kept["measure"] != measure or not _readable(kept):
        return None
    return Calibration.from_dict(kept["report"]["calibration"])


def _readable(kept: Row) -> bool:
    """Calibrations of earlier releases lack the prior, without which agreement by chance is too high."""
    return kept["report"] is None or "prior" in kept["report"]["calibration"]


def view(kept: Row | None) -> dict[str, Any] | None:
    """The calibration in the report: the error before and after, and both reliability curves."""
    if kept is None or kept["report"] is None:
        return None
    found = kept["report"]
    return {
        "n": found["pairs"],
        "measure": kept["measure"],
        "method": found["calibration"]["method"],
        **{
            when: {
                "ece": found[f"ece_{when}"],
                "bins": [
                    {"mean": one["mean_p"], "share": one["share_same"], "n": one["n"]}
                    for one in found[f"reliability_{when}"]
                    if one["n"]
                ],
            }
            for when in ("before", "after")
        },
    }


def _fitted(scorer: Scorer, settings: ProjectSettings, decided: Mapping[tuple[str, str], bool]) -> dict[str, Any]:
    from softirr.measures.calibration import JudgedPairs, calibrate

    pairs = JudgedPairs(tuple(decided), tuple(float(same) for same in decided.values()))
    with scorer.alone_with(settings.measure):
        measure = scorer.measure_under(settings.measure, settings.policy, settings.terminologies)
        return calibrate(pairs, measure, cache=scorer.cache(), progress=None).to_dict()


def _changed(store: Store, project: Row, matters: bool) -> bool:
    if matters:
        store.forget_scores(project["id"])
        store.update_project(project["id"], summary_stale=True)
    return matters

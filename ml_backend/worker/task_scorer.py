"""Scoring the tasks of one project: details, and the hash of the prediction that each task should have."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.answers import answers_hash, texts_of
from ml_backend.labelstudio.predictions import prediction_hash
from ml_backend.review.release import is_released
from ml_backend.scoring.other_fields import FieldFit, fits_of
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.task_score import counting, counts_fields, scored_by
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.worker.control_states import ControlStates
from ml_backend.worker.project_run import ProjectRun

log = logging.getLogger(__name__)

FIRST_BATCH, SCORE_BATCH = 2, 500
LEAST_CHANGE = 0.005
"""Change of a score by other tasks' answers that is written: the ranks of ratings move a little with every answer."""


class TaskScorer:
    """Scores tasks of one project during one run.

    Parameters
    ----------
    states : ControlStates
        States of the TextAreas, which determine how answers are prepared.
    """

    def __init__(self, run: ProjectRun, scorer: Scorer, states: ControlStates):
        self._run, self._scorer, self._states = run, scorer, states
        self._store, self._project, self._settings = run.store, run.project, run.settings
        self._has_fields = counts_fields(run.settings)
        summary = run.before["summary"]
        # None before the first summary: predictions wait for it if controls without texts count
        self._fits = None if summary is None else fits_of(summary)

    def batches(self, end: Callable[[], int]) -> Iterator[list[Row]]:
        """Yield the tasks without a score in order of number, up to `end()`; empty batches while there are none.

        A batch is as large as all before it together, between `FIRST_BATCH` and `SCORE_BATCH`, so that the first
        scores are there in seconds.
        """
        n_done, last = 0, -1
        while True:
            size = min(max(n_done, FIRST_BATCH), SCORE_BATCH)
            rows = self._store.unscored(self._project, size, above=last, end=end(), fields=self._has_fields)
            yield rows
            n_done, last = n_done + len(rows), rows[-1]["number"] if rows else last

    def score(self, rows: Sequence[Row]) -> None:
        """Score tasks and store the results, unless the states of the TextAreas changed meanwhile.

        Parameters
        ----------
        rows : sequence of mapping
            A batch.
        """
        decisions, preparation = self._store.decisions(self._project), self._states.preparation
        answers = {row["number"]: texts_of(row["answers"]) for row in rows}
        details, set_aside = self._scorer.score_or_set_aside(
            answers, preparation, decisions=decisions, progress=lambda *_: self._run.check()
        )
        for number in set_aside:
            log.warning("project %d: task %d could not be scored and is set aside", self._run.number, number)
        changed = {number: {"answers": none, "answers_hash": answers_hash(none)} for number, none in set_aside.items()}
        self._store.put_answers(self._project, changed)
        rows = [{**row, **changed.get(row["number"], {})} for row in rows]
        with self._states.lock:
            if self._states.preparation is preparation:
                self._put(rows, scored_by(rows, details, self._fits or {}, self._settings))
        if self._store.decisions(self._project) != decisions:  # decided meanwhile: these scores may be older than that
            self._store.forget_scores_of(self._project, [row["number"] for row in rows])

    def fit_again(self, fits: Mapping[str, FieldFit]) -> dict[str, FieldFit]:
        """Score the tasks by their fields with the project's present fits; their texts are not compared again.

        Tasks are read only if a fit changes scores. A fit that changes all scores by less than `LEAST_CHANGE` is
        dropped in favor of the old one.

        Returns
        -------
        dict of str to FieldFit
            The fits that scores are made with.
        """
        waited, old_fits = self._fits is None, counting(self._fits or {}, self._settings)
        near = {name: fit for name, fit in old_fits.items() if name in fits and fit.is_near(fits[name], LEAST_CHANGE)}
        self._fits = {**fits, **near}
        if not waited and counting(self._fits, self._settings) == old_fits:
            return self._fits
        for rows in self._store.scored(self._project):
            self._run.check()
            details = {row["number"]: row["details"] for row in rows}
            now = scored_by(rows, details, self._fits, self._settings)
            self._put([row for row in rows if waited or _differs(row["details"], now[row["number"]])], now)
        return self._fits

    def _put(self, rows: Sequence[Row], details: Mapping[int, Mapping[str, Any]]) -> None:
        """Store details of tasks, and the hash of the prediction that each should have."""
        waits = self._has_fields and self._fits is None
        reviews, numbers = ReviewStore(self._store), [row["number"] for row in rows]
        marks = reviews.marks(self._project, tasks=numbers)
        scored = []
        for row in rows:
            task = details[row["number"]]
            is_shown = is_released(self._settings, self._run.required, row, marks.get(row["number"]))
            is_desired = is_shown and not waits and task["agreement"] is not None
            desired = prediction_hash(self._run.prediction(task)) if is_desired else None
            scored.append({**row, "agreement": task["agreement"], "details": task, "desired": desired})
        self._store.put_scored(self._project, scored)
        marks_now = reviews.marks(self._project, tasks=numbers)
        if marks_now != marks:  # marked meanwhile, which decides whether a prediction is shown
            changed_tasks = [number for number in numbers if marks.get(number) != marks_now.get(number)]
            self._store.forget_scores_of(self._project, changed_tasks)


def _differs(previous: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a score has changed by more than a little."""
    old, new = previous["agreement"], now["agreement"]
    return (old is None) != (new is None) or (old is not None and abs(old - new) >= LEAST_CHANGE)

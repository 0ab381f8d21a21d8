"""Scoring the tasks of one project: details, and the hash of the prediction that each task should have."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio.answers import answers_hash, texts_of
from ml_backend.review.release import is_released
from ml_backend.scoring.other_fields import FieldFit
from ml_backend.scoring.scorer import Scorer, score_or_set_aside, without_texts
from ml_backend.scoring.task_score import counting, counts_fields, scored_by
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.worker.control_states import ControlStates
from ml_backend.worker.project_run import ProjectRun, Stopped

log = logging.getLogger(__name__)

FIRST_BATCH, SCORE_BATCH = 2, 500
SCORE_EVERY = 0.1
"""Seconds between two looks at the tasks that were read."""
LEAST_CHANGE = 0.005
"""Change of a score by other tasks' answers that is written: the ranks of ratings move a little with every answer."""


class TaskScorer:
    """Scores tasks of one project during one run.

    Parameters
    ----------
    states : ControlStates
        States of the TextAreas, which determine how answers are prepared.
    required : int
        Annotations that each task is to get.
    build : callable
        Details of a task -> its prediction (`predictions.build`).
    fits : mapping or None
        Fits of the controls without texts. None before the first summary; predictions wait for it if these controls
        count.
    """

    def __init__(
        self,
        run: ProjectRun,
        scorer: Scorer,
        states: ControlStates,
        *,
        required: int,
        build: Callable[[Mapping[str, Any]], dict[str, Any]],
        fits: Mapping[str, FieldFit] | None,
    ):
        self._store, self._scorer = run.store, scorer
        self._project, self._number, self._check = run.project, run.number, run.check
        self._states, self._settings = states, states.settings
        self._required, self._build, self._fits = required, build, fits

    def unscored(self, *, only: Sequence[int] | None = None, n_done: int = 0, **which: Any) -> list[Row]:
        """Return some tasks to score as `TaskStore.unscored` does: all of `only`, or a batch.

        A batch is as large as all before it together, between `FIRST_BATCH` and `SCORE_BATCH`, so that the first
        scores are there in seconds.
        """
        limit = min(max(n_done, FIRST_BATCH), SCORE_BATCH) if only is None else len(only)
        has_fields = counts_fields(self._settings)
        return self._store.unscored(self._project, limit, only=only, fields=has_fields, **which)

    @contextlib.contextmanager
    def scoring_beside(self, last_read: Callable[[], int]) -> Iterator[None]:
        """Score tasks in a second thread while the block reads more: Label Studio needs seconds for each page.

        Parameters
        ----------
        last_read : callable
            Returns the number of the last task that was read.
        """
        is_read = threading.Event()
        with ThreadPoolExecutor(1, thread_name_prefix="scoring") as pool:
            scoring = pool.submit(self._score_until, is_read, last_read)
            try:
                yield
            finally:
                is_read.set()
            scoring.result()

    def _score_until(self, is_read: threading.Event, last_read: Callable[[], int]) -> None:
        last, done = -1, 0
        while not is_read.wait(SCORE_EVERY):
            if rows := self.unscored(above=last, end=last_read(), n_done=done):
                last = rows[-1]["number"]
                done += len(rows)
                self.score(rows)

    def score(self, rows: Sequence[Row]) -> None:
        """Score tasks and store the results, unless the states of the TextAreas changed meanwhile.

        Parameters
        ----------
        rows : sequence of mapping
            Rows of `unscored`.
        """
        decisions, preparation = self._store.decisions(self._project), self._states.preparation

        def score(answers: Mapping[int, Mapping[str, Any]]) -> dict[int, dict[str, Any]]:
            return self._scorer.task_details(
                answers, preparation, decisions=decisions, progress=lambda *_: self._check()
            )

        answers = {row["number"]: texts_of(row["answers"]) for row in rows}
        details, reasons = score_or_set_aside(score, answers, (Stopped,))
        rows = [self._set_aside(row, reasons[row["number"]]) if row["number"] in reasons else row for row in rows]
        details |= score({row["number"]: row["answers"] for row in rows if row["number"] in reasons})
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
        counting_fits = counting(self._fits or {}, self._settings)
        near = {
            name: fit for name, fit in counting_fits.items() if name in fits and fit.is_near(fits[name], LEAST_CHANGE)
        }
        waited, self._fits = self._fits is None, {**fits, **near}
        if not waited and near == counting(self._fits, self._settings) == counting_fits:
            return self._fits
        for rows in self._store.scored(self._project):
            self._check()
            details = {row["number"]: row["details"] for row in rows}
            now = scored_by(rows, details, self._fits, self._settings)
            self._put([row for row in rows if waited or _differs(details[row["number"]], now[row["number"]])], now)
        return self._fits

    def _put(self, rows: Sequence[Row], details: Mapping[int, Mapping[str, Any]]) -> None:
        """Store details of tasks, and the hash of the prediction that each should have."""
        scored = []
        waits = counts_fields(self._settings) and self._fits is None
        marks = ReviewStore(self._store).marks(self._project)
        for row in rows:
            task = details[row["number"]]
            desired = None
            if task["agreement"] is not None and not waits and self._is_released(row, marks.get(row["number"])):
                desired = shapes.prediction_hash(self._build(task))
            scored.append(
                {
                    "number": row["number"],
                    "answers_hash": row["answers_hash"],
                    "agreement": task["agreement"],
                    "details": task,
                    "desired": desired,
                }
            )
        self._store.put_scored(self._project, scored)

    def _is_released(self, row: Row, mark: Row | None) -> bool:
        return is_released(
            self._settings,
            self._required,
            row["n_annotations"],
            row["answers"],
            mark=mark,
            answers_hash=row["answers_hash"],
        )

    def _set_aside(self, row: Row, reason: str) -> Row:
        """The row of a task without its texts, stored like this.

        The project is scored without it and lists it with the reason.
        """
        log.warning("project %d: task %d could not be scored and is set aside", self._number, row["number"])
        answers = without_texts(row["answers"], reason)
        self._store.put_answers(self._project, [(row["number"], answers, answers_hash(answers))])
        return {**row, "answers": answers, "answers_hash": answers_hash(answers)}


def _differs(previous: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a score has changed by more than a little."""
    old, new = previous["agreement"], now["agreement"]
    return (old is None) != (new is None) or (old is not None and abs(old - new) >= LEAST_CHANGE)

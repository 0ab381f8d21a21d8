"""One update of one project: read what differs, score it, write what differs.

An update can be interrupted anywhere; the next one completes it.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import asdict, dataclass
from typing import Any

from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.review.computations import answer_requests, summarize
from ml_backend.review.notes import Note, note_on_types, notes_of_reports
from ml_backend.review.requests import ProjectWork
from ml_backend.scoring.measures import Stopped, needs_model
from ml_backend.scoring.other_fields import fits_of
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.task_score import counts_fields
from ml_backend.store.database import Row
from ml_backend.worker.control_states import ControlStates
from ml_backend.worker.project_run import Found, ProjectRun
from ml_backend.worker.reading import FEW, NEWEST, NOT_LISTED, TaskReader
from ml_backend.worker.task_scorer import TaskScorer
from ml_backend.worker.writing import PredictionWriter

log = logging.getLogger(__name__)

SCORE_EVERY = 0.1
"""Seconds between two looks at the tasks that were read."""
WRITE_EVERY = 60.0
"""Seconds between two writes during long scoring."""
ROUNDS = 3
FIRST_TASKS = 3
"""Tasks of a large new project that a model scores, and that are written, before the others are read."""
ATTEND_EVERY = 1.0
"""Minimum number of seconds between two looks at annotators' changes during long work."""
_PAUSE = 4
"""Pause after a look, as a multiple of the time that it took."""


@dataclass(frozen=True)
class UpdateResult:
    """The result of one update; `unchanged` counts predictions that were already correct, `notes` are for people."""

    project: int
    items: int
    created: int
    updated: int
    deleted: int
    unchanged: int
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``softirr-ls sync --json``."""
        return {**asdict(self), "notes": [asdict(note) for note in self.notes]}


class ProjectUpdate:
    """One update of one project.

    Annotators keep working while a large project is read and scored. Their changes are processed first: the request for
    an update stays, so that another run follows, which compares the whole project and serves whatever else was
    requested.
    """

    def __init__(self, run: ProjectRun, scorer: Scorer):
        self._run, self._scorer = run, scorer
        self._store, self._project, settings = run.store, run.project, run.settings
        self._provenance = scorer.provenance(settings.measure, settings.policy, settings.terminologies)
        fingerprint = run.fingerprint(self._provenance)
        if run.before["fingerprint"] != fingerprint:  # every task has to be read and scored again
            self._store.forget_scores(self._project)
            self._read_again(fingerprint=fingerprint, summary_stale=True, summary_due=0.0, pulled_at=None)
        elif run.has_other_report_settings():
            self._set(summary_stale=True, summary_due=0.0)
        self._states = ControlStates(run)
        self._tasks = TaskScorer(run, scorer, self._states)
        self._writer = PredictionWriter(run)
        self._reader = TaskReader(run, self._states.note, self._attend)
        self._attended_at, self._pause = time.monotonic(), ATTEND_EVERY

    def run(self, *, full: bool = False) -> UpdateResult:
        """Bring the project up to date.

        Parameters
        ----------
        full : bool
            Read every task, not only those that changed.

        Raises
        ------
        softirr.errors.SoftirrError
            With one sentence: the reason.
        """
        started = time.monotonic()
        if full:
            self._read_again(pulled_at=None)
        self._read_score_and_write(summarize_now=full)
        self._reader.users.update()
        self._attending(answer_requests)
        self._set(checked_at=time.time())
        if not self._reader.incomplete and self._store.marked(self._project, 1):
            self._store.want(self._project)
        result = self._result()
        log.info(
            "project %d: %d items, %d created, %d updated, %d deleted, %d unchanged in %.1f s",
            *(result.project, result.items, result.created, result.updated, result.deleted, result.unchanged),
            time.monotonic() - started,
        )
        return result

    def _set(self, **values: Any) -> None:
        self._store.update_project(self._project, **values)

    def _read_again(self, **values: Any) -> None:
        """Have every task read again, and set columns of the project."""
        self._store.read_again(self._project)
        self._set(**values)

    def _result(self) -> UpdateResult:
        totals, counts = self._store.totals(self._project), dict(self._writer.counts)
        unchanged = totals["predictions"] - counts["created"] - counts["updated"] - len(self._writer.rejected)
        counts["deleted"] += self._reader.removed
        row = self._run.row()
        summary = row["summary"] or {}
        notes = [NOT_LISTED] if self._reader.incomplete else []
        notes += self._states.unanswered_notes()
        notes += notes_of_reports((summary.get("controls") or {}).values(), row["raters"])
        notes += note_on_types(summary.get("not_compared") or {})
        distinct = tuple(dict.fromkeys(notes))
        return UpdateResult(self._run.number, totals["tasks"], **counts, unchanged=max(0, unchanged), notes=distinct)

    # --- reading, scoring and writing ---------------------------------------------------------------------------------

    def _read_score_and_write(self, *, summarize_now: bool) -> None:
        """Read, score and write until Label Studio has the desired predictions, and compute the report meanwhile."""
        number = self._run.number
        for _ in range(ROUNDS):
            counts_before = self._reader.remote_counts()
            self._read()
            self._states.settle(changed=self._run.row()["summary_stale"])
            self._score()
            self._write_and_summarize(now=summarize_now)
            if self._writer.is_complete():
                return
            if self._reader.incomplete or self._reader.remote_counts() != counts_before or self._reader.find_newest():
                # People's changes in the meantime make the numbers differ; the next run looks again.
                log.info("project %d: it changes while it is read, the rest is left to the next run", number)
                return
            if not self._store.unknown_predictions(self._project):
                log.warning("project %d: predictions differ from what was written, reading it again", number)
                self._store.forget_predictions(self._project)
        raise LabelStudioError(f"Label Studio did not store all predictions of project {number}.")

    def _read(self) -> None:
        """Read what differs; the latest changes are scored and written before the whole list is compared."""
        row, now, versions = self._run.row(), time.time(), self._reader.other_versions()
        is_complete = row["pulled_at"] is not None and now - row["pulled_at"] <= self._run.operator.full_pull_seconds
        if not is_complete and row["pulled_at"] is not None:
            self._read_again(pulled_at=None)
        if versions != row["other_versions"]:
            self._read_again(other_versions=versions)
        is_new = not self._store.totals(self._project)["tasks"]
        if is_new and self._run.remote["task_number"] > FEW and needs_model(self._run.settings.measure):
            self._process(self._reader.find_newest()[:FIRST_TASKS])  # so that people see scores in seconds
        # Not after a change of settings: stored answers are not prepared under the new ones.
        stale = [] if row["pulled_at"] is None else self._reader.find_newest()
        if 0 < len(stale) < NEWEST:  # more are read by the page
            self._process(stale)
        if is_complete and len(stale) < NEWEST and now < (row["list_due"] or 0.0) and not self._reader.differs():
            self._reader.read_marked()
        else:
            with self._run.beside(self._score_until):
                self._reader.read_all()

    def _score_until(self, is_read: threading.Event) -> None:
        """Score the tasks that are read, because Label Studio needs seconds for a page."""
        for rows in self._tasks.batches(lambda: self._reader.last_read):
            if rows:
                self._tasks.score(rows)
            if is_read.wait(SCORE_EVERY):
                break

    def _score(self) -> None:
        """Score the tasks without a score; during long scoring, predictions are written from time to time."""
        total = self._store.count_unscored(self._project)
        # One pass over the tasks by number, up to the newest one now, so that it ends whatever changes meanwhile.
        done, end = 0, self._store.highest(self._project)
        written_at = time.monotonic()
        for rows in self._tasks.batches(lambda: end):
            self._run.check()
            if not rows:
                break
            self._run.report("scoring", done, max(total, done + len(rows)))
            self._tasks.score(rows)
            done += len(rows)
            if done == len(rows) < total:  # so that people see the first scores
                self._writer.write(only=[row["number"] for row in rows])
            elif time.monotonic() - written_at > WRITE_EVERY:
                self._writer.write()
                written_at = time.monotonic()
            self._attend(first=self._writer.write)

    # --- annotators' latest changes -----------------------------------------------------------------------------------

    def _process(self, numbers: Sequence[int]) -> None:
        """Read, score and write a few tasks before the others."""
        self._reader.read_each(numbers)
        if rows := self._store.unscored(self._project, len(numbers), only=numbers):
            self._tasks.score(rows)
        self._writer.write(only=numbers)

    def _attend(self, *, first: Callable[[], None] = lambda: None) -> None:
        """Process annotators' latest changes during long work, if a request was made since the run began.

        Parameters
        ----------
        first : callable
            Called before reading, because tasks that are read again must be scored again.
        """
        started_at = time.monotonic()
        if started_at - self._attended_at < self._pause or not self._store.is_due(self._project):
            return
        self._attended_at = math.inf  # reading attends to changes too, but not while this does
        first()
        self._process(self._reader.find_newest())
        self._attended_at = time.monotonic()
        # the request stays, so a slow Label Studio would be asked without a break
        self._pause = max(ATTEND_EVERY, _PAUSE * (self._attended_at - started_at))

    def _attending(self, compute: Callable[[ProjectWork], Found], *, first: Callable[[], None] = lambda: None) -> Found:
        """Compute in a second thread; do something else first in the meantime, then process annotators' changes."""

        def begin(is_over: threading.Event) -> Found:
            def check() -> None:
                if is_over.is_set():
                    raise Stopped
                run.check()

            return compute(ProjectWork(self._store, self._scorer, run.row(), run.settings, run.report, check))

        run = self._run
        with run.beside(begin) as working:
            first()
            while not wait([working], timeout=ATTEND_EVERY / 2).done:
                run.check()
                self._attend()
        return working.result()

    # --- predictions and report ---------------------------------------------------------------------------------------

    def _write_and_summarize(self, *, now: bool) -> None:
        """Write predictions, and compute the report of the whole project if answers changed.

        Label Studio needs seconds for many predictions: the report is computed in this time. It takes at most one part
        in 20 of the time.
        """
        row, changed, decisions = self._run.row(), self._reader.changed, self._store.decisions(self._project)
        is_due = now or time.time() >= (row["summary_due"] or 0.0)
        if row["summary"] is not None and not (row["summary_stale"] and is_due):
            self._writer.write()
            return  # the worker runs again when the report is due
        self._run.report("coefficients", 0, None)
        unanswered = self._states.preparation.unanswered
        names = [control.name for control in self._run.controls]
        names = [name for name in names if name not in unanswered] or names
        summary, due = self._attending(
            lambda work: summarize(work, names, self._run.other_controls), first=self._writer.write
        )
        if counts_fields(self._run.settings):  # first, so that an interrupted run scores again
            fits = self._tasks.fit_again(fits_of(summary))
            summary |= {"fits": {name: asdict(fit) for name, fit in fits.items()}} if fits else {}
        notes = (*self._states.unanswered_notes(), *note_on_types(summary["not_compared"]))
        summary |= {
            "left_out": [note.what for note in notes],
            "settings": self._run.effective.to_dict(),
            "provenance": self._provenance,
        }

        def finish(_: Row) -> dict[str, Any]:
            # answers or decisions changed meanwhile
            is_stale = self._reader.changed > changed or self._store.decisions(self._project) != decisions
            return {"summary": summary, "summary_at": time.time(), "summary_stale": is_stale, "summary_due": due}

        self._store.change_project(self._project, finish)
        if counts_fields(self._run.settings):
            self._writer.write()

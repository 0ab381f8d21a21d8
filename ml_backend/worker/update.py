"""One update of one project: read what differs, score it, write what differs.

An update can be interrupted anywhere; the next one completes it.
"""

import functools
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio.answers import Reading
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import control_names, other_controls
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.review.computations import answer_requests, summarize
from ml_backend.review.notes import note_on_types, notes_of_reports
from ml_backend.review.requests import ProjectWork
from ml_backend.scoring.measures import needs_model
from ml_backend.scoring.other_fields import fits_of
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.task_score import counts_fields
from ml_backend.settings import Settings
from ml_backend.store.store import Store, is_connected
from ml_backend.worker.control_states import ControlStates
from ml_backend.worker.latest_changes import LatestChanges
from ml_backend.worker.project_run import ProjectRun
from ml_backend.worker.project_setup import look_at_project
from ml_backend.worker.reading import FEW, NEWEST, TaskReader
from ml_backend.worker.task_scorer import TaskScorer
from ml_backend.worker.update_result import UpdateResult
from ml_backend.worker.writing import PredictionWriter

log = logging.getLogger(__name__)

WRITE_EVERY = 60.0
"""Seconds between two writes during long scoring."""
ROUNDS = 3
FIRST_TASKS = 3
"""Tasks of a large new project that a model scores, and that are written, before the others are read."""


class ProjectUpdate:
    """One update of one project.

    Parameters
    ----------
    report : callable, optional
        Called as ``report(phase, done, total)``.
    check : callable, optional
        Called often; raises `Stopped` to break off.
    """

    def __init__(
        self,
        store: Store,
        client: Client,
        settings: Settings,
        scorer: Scorer,
        *,
        report: Callable[[str, int, int | None], None] = lambda *_: None,
        check: Callable[[], None] = lambda: None,
    ):
        self.store, self.client, self.settings, self.scorer = store, client, settings, scorer
        self._report, self._check = report, check

    def run(self, number: int, *, full: bool = False) -> UpdateResult:
        """Bring project `number` up to date.

        Annotators keep working while a large project is read and scored; their changes are processed first.

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
        self._begin(number)
        if full:
            self.store.read_again(self.project)
            self.store.update_project(self.project, pulled_at=None)
        self._read_and_write()
        self._writer.keep_version(self._setup.remote, is_connected=is_connected(self._run.row()["connection"]))
        self._reader.users.update()
        self._summarize(now=full)
        self._latest.beside(lambda check: answer_requests(self._work(check)))
        self.store.update_project(self.project, checked_at=time.time())
        if not self._reader.incomplete and self.store.marked(self.project, 1):
            self.store.want(self.project)
        result = self._result()
        log.info(
            "project %d: %d items, %d created, %d updated, %d deleted, %d unchanged in %.1f s",
            *(number, result.items, result.created, result.updated, result.deleted, result.unchanged),
            time.monotonic() - started,
        )
        return result

    def _read_and_write(self) -> None:
        """Read, score and write until Label Studio has the desired predictions."""
        for _ in range(ROUNDS):
            counts_before = self._reader.remote_counts()
            self._read()
            self._states.settle(changed=bool(self._reader.changed))
            self._score_and_write()
            if self._writer.is_complete():
                return
            if self._reader.incomplete or self._reader.remote_counts() != counts_before or self._reader.find_newest():
                # People's changes in the meantime make the numbers differ; the next run looks again.
                log.info("project %d: it changes while it is read, the rest is left to the next run", self.number)
                return
            if not self.store.unknown_predictions(self.project):
                log.warning("project %d: predictions differ from what was written, reading it again", self.number)
                self.store.forget_predictions(self.project)
        raise LabelStudioError(f"Label Studio did not store all predictions of project {self.number}.")

    def _result(self) -> UpdateResult:
        totals, counts = self.store.totals(self.project), dict(self._writer.counts)
        unchanged = totals["predictions"] - counts["created"] - counts["updated"] - len(self._writer.rejected)
        counts["deleted"] += self._reader.removed
        row = self._run.row()
        summary = row["summary"] or {}
        notes = [*self._reader.notes(), *self._states.unanswered_notes()]
        notes += notes_of_reports((summary.get("controls") or {}).values(), row["raters"])
        notes += note_on_types(summary.get("not_compared") or {})
        items = totals["tasks"]
        return UpdateResult(
            self.number, items, **counts, unchanged=max(0, unchanged), notes=tuple(dict.fromkeys(notes))
        )

    def _begin(self, number: int) -> None:
        """Ask Label Studio for the project, and prepare to read, score and write it."""
        self._report("reading", 0, None)
        self.number = number
        setup = self._setup = look_at_project(self.store, self.client, self.settings, number)
        row, label_config, settings = setup.row, setup.label_config, setup.values
        self.project: int = row["id"]
        run = self._run = ProjectRun(self.store, self.client, row["id"], number, self._report, self._check)
        self._states = ControlStates(run, setup.controls, settings)
        fingerprint = setup.fingerprint(self._provenance())
        if row["fingerprint"] != fingerprint:  # every task has to be read and scored again
            self.store.forget_scores(self.project)
            self.store.read_again(self.project)
            values = {"fingerprint": fingerprint, "summary_stale": True, "summary_due": 0.0, "pulled_at": None}
            self.store.update_project(self.project, **values)
        build = functools.partial(shapes.build, controls=setup.controls, suggestions=settings.suggestions)
        fits = None if row["summary"] is None else fits_of(row["summary"])
        self._tasks = TaskScorer(run, self.scorer, self._states, required=setup.required, build=build, fits=fits)
        self._writer = PredictionWriter(run, label_config=label_config, build=build, bulk_size=self.settings.bulk_size)
        reading = Reading(
            setup.controls,
            settings,
            control_names(label_config),
            setup.history,
            [name for name, _ in other_controls(label_config)],
        )
        self._reader = TaskReader(
            run,
            reading,
            note=self._states.note,
            page_size=self.settings.page_size,
            between_pages=lambda: self._latest.attend(),
        )
        self._latest = LatestChanges(run, self._reader, self._score_and_write_tasks)

    def _provenance(self) -> dict[str, Any]:
        settings = self._setup.values
        return self.scorer.provenance(settings.measure, settings.policy, settings.terminologies)

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read what differs; the latest changes are scored and written before the whole list is compared."""
        row, now, versions = self._run.row(), time.time(), self._reader.other_versions()
        is_complete = row["pulled_at"] is not None and now - row["pulled_at"] <= self.settings.full_pull_seconds
        if not is_complete and row["pulled_at"] is not None:
            self.store.read_again(self.project)
            self.store.update_project(self.project, pulled_at=None)
        if versions != row["other_versions"]:
            self.store.read_again(self.project)
            self.store.update_project(self.project, other_versions=versions)
        is_new = not self.store.totals(self.project)["tasks"]
        if is_new and self._setup.remote["task_number"] > FEW and needs_model(self._setup.values.measure):
            self._read_first()
        # Not after a change of settings: stored answers are not prepared under the new ones.
        stale = [] if row["pulled_at"] is None else self._reader.find_newest()
        if 0 < len(stale) < NEWEST:  # more are read by the page
            self._reader.read_each(stale)
            self._score_and_write()
        if is_complete and len(stale) < NEWEST and now < (row["list_due"] or 0.0) and not self._reader.differs():
            self._reader.read_marked()
        else:
            with self._tasks.scoring_beside(lambda: self._reader.last_read):
                self._reader.read_all()

    def _read_first(self) -> None:
        """Read, score and write a few tasks of a new project, so that people see scores in seconds."""
        numbers = self._reader.find_newest()[:FIRST_TASKS]
        self._reader.read_each(numbers)
        self._score_and_write_tasks(numbers)

    # --- scoring ------------------------------------------------------------------------------------------------------

    def _score_and_write(self) -> None:
        if self._reader.changed:  # stored now, so that an interrupted run does not lose it
            self.store.update_project(self.project, summary_stale=True)
        total = self.store.count_unscored(self.project)
        # One pass over the tasks by number, up to the newest one now, so that it ends whatever changes meanwhile.
        done, last, end = 0, -1, self.store.highest(self.project)
        written_at = time.monotonic()
        while True:
            self._check()
            if done:
                self._latest.attend(first=self._writer.write)
            rows = self._tasks.unscored(above=last, end=end, n_done=done)
            if not rows:
                break
            last = rows[-1]["number"]
            self._report("scoring", done, max(total, done + len(rows)))
            self._tasks.score(rows)
            done += len(rows)
            if done == len(rows) < total:  # so that people see the first scores
                self._writer.write(only=[row["number"] for row in rows])
            elif time.monotonic() - written_at > WRITE_EVERY:
                self._writer.write()
                written_at = time.monotonic()
        self._writer.write()

    def _score_and_write_tasks(self, numbers: Sequence[int]) -> None:
        if rows := self._tasks.unscored(only=numbers):
            self._tasks.score(rows)
        self._writer.write(only=numbers)

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def _work(self, check: Callable[[], None]) -> ProjectWork:
        return ProjectWork(self.store, self.scorer, self._run.row(), self._setup.values, self._report, check)

    def _summary(self, check: Callable[[], None]) -> tuple[dict[str, Any], float]:
        """Compute the report of the whole project, and the time from which it may be computed again."""
        unanswered = self._states.preparation.unanswered
        names = [control.name for control in self._setup.controls]
        return summarize(
            self._work(check),
            [name for name in names if name not in unanswered] or names,
            other_controls(self._setup.label_config),
            functools.partial(self._report, "coefficients"),
        )

    def _summarize(self, *, now: bool) -> None:
        """Compute the report of the whole project if answers changed; at most one part in 20 of the time."""
        row = self._run.row()
        if not (self._reader.changed or row["summary_stale"] or row["summary"] is None):
            return
        self.store.update_project(self.project, summary_stale=True)
        if row["summary"] is not None and not now and time.time() < (row["summary_due"] or 0.0):
            return  # the worker runs again when it is due
        self._report("coefficients", 0, None)
        changed = self._reader.changed
        summary, due = self._latest.beside(self._summary)
        if counts_fields(self._setup.values):  # first, so that an interrupted run scores again
            fits = self._tasks.fit_again(fits_of(summary))
            summary |= {"fits": {name: fit.to_dict() for name, fit in fits.items()}} if fits else {}
        summary |= {
            "left_out": [
                note.what for note in (*self._states.unanswered_notes(), *note_on_types(summary["not_compared"]))
            ],
            "settings": self._setup.effective.to_dict(),
            "provenance": self._provenance(),
        }
        self.store.update_project(
            self.project,
            summary=summary,
            summary_at=time.time(),
            summary_stale=self._reader.changed > changed,  # an answer changed meanwhile
            summary_due=due,
        )
        if counts_fields(self._setup.values):
            self._writer.write()
            if self.store.unknown_predictions(self.project):
                self._reader.read_marked()
                self._writer.write()
            self._writer.keep_version(self._setup.remote, is_connected=is_connected(self._run.row()["connection"]))

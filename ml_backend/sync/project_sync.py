"""Updating one project: read changes, score them, write differences. A run can be interrupted anywhere and repeated."""

import functools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio.answers import Reading
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import coded_controls, control_names, other_controls
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.report import on_demand
from ml_backend.review.project_work import ProjectWork
from ml_backend.scoring.other_fields import fits_of
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.task_score import counts_fields
from ml_backend.settings import Settings
from ml_backend.store.store import Row, Store, is_connected
from ml_backend.sync import other_backends
from ml_backend.sync.control_states import ControlStates
from ml_backend.sync.notes import Note, notes_of_reports
from ml_backend.sync.project_run import ProjectRun
from ml_backend.sync.project_setup import look_at_project
from ml_backend.sync.reader import FEW_STALE, TaskReader
from ml_backend.sync.summary import summarize
from ml_backend.sync.task_scorer import TaskScorer
from ml_backend.sync.waiting import Stopped, Waiting
from ml_backend.sync.writer import PredictionWriter

log = logging.getLogger(__name__)

SCORE_BATCH = 500
WRITE_EVERY = 60.0  # seconds between writes while a long scoring runs
ROUNDS = 3


@dataclass(frozen=True)
class SyncResult:
    """The result of one run; `unchanged` counts predictions that were already correct, `notes` are for people."""

    project: int
    items: int
    created: int
    updated: int
    deleted: int
    unchanged: int
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The output of ``softirr-ls sync --json``."""
        return {**asdict(self), "notes": [asdict(note) for note in self.notes]}


class ProjectSync:
    """One update of one project.

    Parameters
    ----------
    report : callable, optional
        Called as ``report(phase, done, total, pairs)``.
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
        report: Callable[[str, int, int | None, int], None] = lambda *_: None,
        check: Callable[[], None] = lambda: None,
    ):
        self.store, self.client, self.settings, self.scorer = store, client, settings, scorer
        self._report, self._check = report, check
        self._pairs = 0
        self._stale_noted = False
        self._waiting = Waiting(
            take=self._take_wanted,
            process=self._process_waiting,
            want=lambda: self.store.want(self.project),
            check=check,
        )

    def run(self, number: int, *, full: bool = False) -> SyncResult:
        """Bring project `number` up to date.

        Annotators keep working while a large project is read and scored; their changes are processed first.

        Parameters
        ----------
        full : bool
            Read every task, not only those that changed.

        Raises
        ------
        softirr.errors.SoftirrError
            With one sentence that says why it can't be done.
        """
        started = time.monotonic()
        self._begin(number)
        self._others.meet()
        for round_number in range(1, ROUNDS + 1):
            before = self._reader.remote_counts()
            self._read(round_number, full=full)
            if self._reader.changed and self._states.opposites_changed():
                self._begin(number)
                self._others.meet()
                self._reader.pull_all()
            self._states.find_unanswered()
            self._states.decide_splitting(changed=bool(self._reader.changed))
            self._score_and_write()
            if self._reader.settle():
                self._score_and_write()
            if self._others.rival() is not None or self._writer.all_there():
                break
            changed = self._reader.remote_counts() != before or self._reader.is_behind()
            if self._reader.incomplete or changed:
                # What people add and delete meanwhile makes the numbers differ; the next run looks again.
                log.info("project %d: it changes while it is read, the rest is left to the next run", number)
                break
            log.warning("project %d: predictions differ from what was written, reading it again", number)
        else:
            raise LabelStudioError(f"Label Studio did not store all predictions of project {number}.")
        self._show_scores()
        self._reader.users.update()
        self._summarize(now=full)
        self._waiting.beside(self._answer_pages)
        self.store.update_project(self.project, checked_at=time.time())
        if self._waiting.is_more or not self._states.opposites_are_stored():
            self.store.want(self.project)
        totals = self.store.totals(self.project)
        counts = self._writer.counts
        unchanged = totals["predictions"] - counts["created"] - counts["updated"] - len(self._writer.rejected)
        result = SyncResult(
            number, totals["tasks"], **counts, unchanged=max(0, unchanged), notes=tuple(dict.fromkeys(self._notes()))
        )
        log.info(
            "project %d: %d items, %d created, %d updated, %d deleted, %d unchanged in %.1f s",
            *(number, result.items, result.created, result.updated, result.deleted, result.unchanged),
            time.monotonic() - started,
        )
        return result

    def _read(self, round_number: int, *, full: bool) -> None:
        """Update the store: read changed tasks, tasks with an unknown state, or everything."""
        if full or self._must_pull_all():
            if round_number == 1:
                self._reader.pull_all()
                return
        elif round_number == 1:
            self._catch_up()
            self._reader.compare_counts()
        if self.store.in_flight(self.project):
            self._reader.read_doubtful()
        elif round_number > 1:
            self._reader.pull_all()

    def _notes(self) -> list[Note]:
        """Notes for people about the result."""
        notes = [*self._reader.notes, *self._states.unanswered_notes()]
        notes += self._others.notes()
        row = self._run.row()
        return notes + notes_of_reports(((row["summary"] or {}).get("controls") or {}).values(), row["raters"])

    # --- what the project looks like ----------------------------------------------------------------------------------

    def _begin(self, number: int) -> None:
        self._report("reading", 0, None, 0)
        self.number = number
        setup = self._setup = look_at_project(self.store, self.client, self.settings, number)
        row, label_config, settings = setup.row, setup.label_config, setup.values
        self.project: int = row["id"]
        run = self._run = ProjectRun(self.store, self.client, row["id"], number, self._report_phase, self._check)
        self._states = ControlStates(run, controls=setup.controls, settings=settings)
        self._fingerprint = setup.fingerprint(self._provenance(), self._states.opposites)
        own_mark = other_backends.mark(
            self.store.secret(),
            measure=settings.measure,
            scoring=self._fingerprint,
            connection=row["connection"],
        )
        self._others = other_backends.OtherBackends(self.store, self.client, row, own_mark)
        self._tasks = TaskScorer(
            run,
            self.scorer,
            settings=settings,
            required=setup.required,
            build=functools.partial(
                shapes.build,
                controls=setup.controls,
                suggestions=settings.suggestions,
                writer=own_mark,
                coded=coded_controls(label_config),
            ),
            fits=None if row["summary"] is None else fits_of(row["summary"]),
        )
        self._writer = PredictionWriter(
            run, label_config=label_config, build=self._tasks.prediction, bulk_size=self.settings.bulk_size
        )
        self._reader = TaskReader(
            run,
            reading=Reading(
                setup.controls,
                settings,
                control_names(label_config),
                setup.history,
                self._states.splittings,
                self._states.opposites,
                [name for name, _ in other_controls(label_config)],
            ),
            note=self._note,
            fingerprint=self._fingerprint,
            page_size=self.settings.page_size,
            between_pages=self._waiting.serve,
            codes=lambda texts: self.scorer.codes(texts, settings),
        )

    def _report_phase(self, phase: str, done: int, total: int | None) -> None:
        self._report(phase, done, total, self._pairs)

    def _note(self, page: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> None:
        self._others.note_page(page, rows)
        self._states.note(rows)

    def _provenance(self) -> dict[str, Any]:
        chosen = self._setup.values
        return self.scorer.provenance(chosen.measure, chosen.policy, chosen.terminologies)

    def _write(self, *, only: Sequence[int] | None = None) -> None:
        """Write the differences, unless another backend writes."""
        if self._others.rival() is None:
            self._writer.write(only=only)

    def _must_pull_all(self) -> bool:
        row = self._run.row()
        if row["fingerprint"] != self._fingerprint or row["pulled_at"] is None or row["watermark"] is None:
            return True
        if time.time() - row["pulled_at"] > self.settings.full_pull_seconds:
            return True
        return len(self.store.suspects(self.project)) > FEW_STALE

    # --- scoring ------------------------------------------------------------------------------------------------------

    def _process_waiting(self) -> bool:
        """Read, score and write some tasks that changed; returns whether there may be more of them."""
        numbers, more = self._reader.pull_some()
        rows = self._unscored(len(numbers), only=numbers)
        if rows:
            self._note_stale()
            self._score(rows, lambda *_: None)
        self._write(only=numbers)
        return more

    def _take_wanted(self) -> bool:
        """Whether a change was announced since the last check; it then counts as processed."""
        wanted, full = self.store.take_wanted(self.project)
        if full:
            self.store.want(self.project, full=True)  # follows after this run
        return wanted

    def _catch_up(self) -> None:
        """Read changes; the latest are scored and written before the rest is read."""
        if self._reader.pull_newest():
            self._score_and_write()
        self._reader.pull_changes()

    def _score_and_write(self) -> None:
        self._note_stale()
        total = self.store.count_unscored(self.project)
        # One pass over the tasks by number, up to the newest one now, so that it ends whatever changes meanwhile.
        done, last, end = 0, -1, self.store.highest(self.project)
        last_write = time.monotonic()
        while True:
            self._check()
            if done:
                self._waiting.serve(first=self._write)
            rows = self._unscored(SCORE_BATCH, after=last, end=end)
            if not rows:
                break
            last = rows[-1]["number"]
            self._report_phase("scoring", done, max(total, done + len(rows)))
            self._score(rows, functools.partial(self._report_scoring, done, max(total, done)))
            done += len(rows)
            if time.monotonic() - last_write > WRITE_EVERY:
                self._write()
                last_write = time.monotonic()
        self._write()

    def _unscored(self, limit: int, **which: Any) -> list[Row]:
        return self.store.unscored(self.project, limit, **which, fields=counts_fields(self._setup.values))

    def _report_scoring(self, done: int, total: int, pairs: int, _of: int) -> None:
        self._report("scoring", done, total, self._pairs + pairs)

    def _note_stale(self) -> None:
        """Store it, so that an interrupted run loses nothing."""
        if self._reader.changed and not self._stale_noted:
            self.store.update_project(self.project, summary_stale=True)
            self._stale_noted = True

    def _score(self, rows: Sequence[Row], progress: Callable[[int, int], None]) -> None:
        self._pairs += self._tasks.score(rows, self._states.unanswered, (Stopped,), progress)

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def _show_scores(self) -> None:
        """Let Label Studio show our scores, unless another backend writes."""
        if self._others.rival() is None:
            self._writer.keep_version(self._setup.remote, is_connected(self._run.row()["connection"]))

    def _answer_pages(self, check: Callable[[], None]) -> int:
        """Compute what pages have asked for."""
        row, settings = self._run.row(), self._setup.values
        work = ProjectWork(self.store, self.scorer, row, settings, self.client, self._report, check)
        return on_demand.run_wanted(work)

    def _summarize(self, *, now: bool) -> None:
        row = self._run.row()
        if not (self._reader.changed or row["summary_stale"] or row["summary"] is None):
            return
        if row["summary"] is not None and not now and time.time() < (row["summary_due"] or 0.0):
            self.store.update_project(self.project, summary_stale=True)  # the timer wakes us when it is due
            return
        self._report_phase("coefficients", 0, None)
        self.store.update_project(self.project, summary_stale=True)
        changed = self._reader.changed
        left_out = frozenset(self._states.unanswered)
        shown = [control.name for control in self._setup.controls if control.name not in left_out]
        summary, due = self._waiting.beside(
            functools.partial(
                summarize,
                self.store,
                self.scorer,
                self.project,
                shown or [control.name for control in self._setup.controls],
                self._setup.values,
                unanswered=left_out,
                others=other_controls(self._setup.label_config),
                progress=lambda done, total: self._report("coefficients", done, total, self._pairs + done),
            )
        )
        if counts_fields(self._setup.values):  # first, so that scores are made again where this is broken off
            fits = self._tasks.fit_again(fits_of(summary), self._check)
            summary |= {"fits": {name: fit.to_dict() for name, fit in fits.items()}} if fits else {}
        self.store.update_project(
            self.project,
            summary={
                **summary,
                "left_out": [note.what for note in self._states.unanswered_notes()],
                "settings": self._setup.effective.to_dict(),
                "provenance": self._provenance(),
            },
            summary_at=time.time(),
            summary_stale=self._reader.changed > changed,  # someone edited meanwhile: again when the next run is due
            summary_due=due,
        )
        if counts_fields(self._setup.values):
            self._write()
            if self.store.in_flight(self.project):  # the ids of their predictions are unknown
                self._reader.read_doubtful()
                self._write()
            self._show_scores()  # the first predictions may have waited for this

"""Updating one project: read changes, score them, write differences. A run can be interrupted anywhere and repeated."""

import functools
import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import softirr
from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio import splits, tasks
from ml_backend.labelstudio.answers import Reading, answered, unanswered_of
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import (
    Control,
    check_kinds,
    check_score,
    chosen_controls,
    coded_controls,
    control_names,
    other_controls,
    text_controls,
    with_score,
)
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.history import History, has_now, with_controls
from ml_backend.labelstudio.marks import Opposites, opposites_of
from ml_backend.report import on_demand
from ml_backend.scoring.other_fields import fits_of
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.task_score import counts_fields
from ml_backend.settings import MODEL_VERSION, EffectiveSettings, Settings, effective
from ml_backend.store.splittings import Decision, SplittingStore
from ml_backend.store.store import Row, Store, is_connected
from ml_backend.sync import columns, other_backends
from ml_backend.sync.notes import Note, notes_of_reports
from ml_backend.sync.reader import FEW_STALE, TaskReader
from ml_backend.sync.summary import summarize
from ml_backend.sync.task_scorer import TaskScorer
from ml_backend.sync.writer import PredictionWriter
from softirr.tables.missing import MissingMarks

log = logging.getLogger(__name__)
Found = TypeVar("Found")

SCORE_BATCH = 500
WRITE_EVERY = 60.0  # seconds between writes while a long scoring runs
LOOK_EVERY = 0.5  # seconds between checks for changes
ROUNDS = 3


class Stopped(Exception):
    """The process is about to end; finished work is recorded and the rest is pending in the store."""


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
        self._looked_at = time.monotonic()
        self._stale_noted = False
        self._more_waits = False  # more changes than could be processed between two steps
        self._columns_note: Note | None = None
        self._served = 0  # number of times that annotators' changes were processed

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
            before = self._counts_in_label_studio()
            self._read(round_number, full=full)
            if self._marks_changed():
                self._begin(number)
                self._others.meet()
                self._reader.pull_all()
            self._look_for_unanswered()
            self._decide_splitting()
            self._score_and_write()
            if self._reader.settle():
                self._score_and_write()
            if self._others.rival(self._reader.writers) is not None or self._writer.all_there():
                break
            changed = self._counts_in_label_studio() != before or self._reader.is_behind()
            if self._reader.incomplete or changed:
                # What people add and delete meanwhile makes the numbers differ; the next run looks again.
                log.info("project %d: it changes while it is read, the rest is left to the next run", number)
                break
            log.warning("project %d: predictions differ from what was written, reading it again", number)
        else:
            raise LabelStudioError(f"Label Studio did not store all predictions of project {number}.")
        if self._others.rival(self._reader.writers) is None:
            self._keep_fields()
        self._reader.update_raters()
        self._summarize(now=full)
        self._write_columns(full=full)
        self._beside(
            lambda check: on_demand.run_wanted(
                self.store,
                self.scorer,
                self._reader.row(),
                self._effective.values,
                client=self.client,
                report=self._report,
                check=check,
            )
        )
        self.store.update_project(self.project, checked_at=time.time())
        if self._more_waits or opposites_of(self._reader.row()) != self._opposites:
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

    def _counts_in_label_studio(self) -> tuple[int, int]:
        remote = self.client.project(self.number)
        return remote["task_number"], remote["total_annotations_number"]

    def _notes(self) -> list[Note]:
        """Notes for people about the result."""
        notes = [*self._reader.notes, *self._left_out()]
        if self._columns_note is not None:
            notes.append(self._columns_note)
        if (rival := self._others.rival(self._reader.writers)) is not None:
            notes.append(other_backends.note(rival, self.number))
        elif n := self._overwritten():
            notes.append(other_backends.note_of_overwriting(n, self.number))
        row = self._reader.row()
        return notes + notes_of_reports(((row["summary"] or {}).get("controls") or {}).values(), row["raters"])

    def _overwritten(self) -> int:
        """How many predictions of other programs differ from this backend's."""
        wanted = self.store.predictions_of(self.project, list(self._reader.foreign))
        return sum(bool(hashes - {wanted[n][0]}) for n, hashes in self._reader.foreign.items() if n in wanted)

    # --- what the project looks like ----------------------------------------------------------------------------------

    def _begin(self, number: int) -> None:
        self._report("reading", 0, None, 0)
        self.number = number
        self._remote = self.client.project(number)
        self._required = int(self._remote.get("maximum_annotations") or 1)
        label_config = self._label_config = self._remote.get("label_config") or ""
        row = self.store.ensure_project(self.settings.label_studio_url, number, born=self._remote.get("created_at"))
        self.project: int = row["id"]
        controls = text_controls(label_config)
        opposites = self._opposites = opposites_of(row)
        seen = {
            "label_config": label_config,
            "title": self._remote.get("title") or "",
            "required": self._required,
            "controls": [
                {
                    **control.to_dict(),
                    **({"unanswered": True} if control.name in unanswered_of(row) else {}),
                    **({"opposites": opposites[control.name].to_dict()} if control.name in opposites else {}),
                }
                for control in controls
            ],
        }
        self._unanswered = unanswered_of(row)
        history = self._history(row, {control.name for control in controls})
        if history != row["control_history"]:
            seen["control_history"] = history
        if any(row[name] != value for name, value in seen.items()):
            self.store.update_project(self.project, **seen)
        self._effective: EffectiveSettings = effective(
            self.settings, connection=row["extra_params"], chosen=row["chosen"]
        )
        self._controls: tuple[Control, ...] = chosen_controls(label_config, self._effective.values.controls)
        self._effective = replace(self._effective, values=with_score(self._effective.values, self._controls))
        check_kinds(label_config, self._effective.values.kinds)
        check_score(label_config, self._effective.values.score)
        self._splittings = self._known_splittings()
        self._fingerprint = self._current_fingerprint()
        own_mark = other_backends.mark(
            self.store.secret(),
            measure=self._effective.values.measure,
            scoring=self._fingerprint,
            connection=row["connection"],
        )
        self._others = other_backends.OtherBackends(self.store, self.client, row, own_mark)
        self._tasks = TaskScorer(
            self.store,
            self.scorer,
            project=self.project,
            number=number,
            settings=self._effective.values,
            required=self._required,
            build=functools.partial(
                shapes.build,
                controls=self._controls,
                suggestions=self._effective.values.suggestions,
                writer=own_mark,
                coded=coded_controls(label_config),
            ),
            fits=None if row["summary"] is None else fits_of(row["summary"]),
        )
        self._writer = PredictionWriter(
            self.store,
            self.client,
            project=self.project,
            number=number,
            label_config=label_config,
            build=self._tasks.prediction,
            bulk_size=self.settings.bulk_size,
            report=lambda done, total: self._report("writing", done, total, self._pairs),
            check=self._check,
        )
        self._reader = TaskReader(
            self.store,
            self.client,
            project=self.project,
            number=number,
            reading=Reading(
                self._controls,
                self._effective.values,
                control_names(label_config),
                history,
                self._splittings,
                self._opposites,
                [name for name, _ in other_controls(label_config)],
            ),
            unanswered=self._unanswered,
            on_answered=lambda names: self._set_unanswered(self._unanswered - names),
            on_opposites=self._store_opposites,
            fingerprint=self._fingerprint,
            page_size=self.settings.page_size,
            report=lambda done, total: self._report("reading", done, total, self._pairs),
            check=self._check,
            between_pages=self._serve_waiting,
            codes=lambda texts: self.scorer.codes(texts, self._effective.values),
        )

    def _history(self, row: Row, names: set[str]) -> History:
        """The periods in which the label config had each TextArea.

        TextAreas of the first reading count as there from the start.
        """
        known: History = row["control_history"] or {
            control["name"]: [[None, None]] for control in row["controls"] or [{"name": name} for name in names]
        }
        if has_now(known) == names:
            return known
        newest = tasks.newest_change(self.client, self.number)
        return with_controls(known, names, tasks.exact(newest)) if newest else {name: [[None, None]] for name in names}

    def _provenance(self) -> dict[str, Any]:
        chosen = self._effective.values
        return self.scorer.provenance(chosen.measure, chosen.policy, chosen.terminologies)

    def _current_fingerprint(self) -> str:
        provenance = self._provenance()
        names = sorted(control_names(self._label_config))
        controls = [control.to_dict() for control in self._controls]
        # Another release may read and score differently: it reads everything again, also the tasks that were set aside.
        parts: list[Any] = [softirr.__version__, self._effective.values.fingerprint(), provenance, controls, names]
        if self._effective.values.predictions == "complete" and self._required > 2:  # else nothing is withheld
            parts.append(["predictions of complete tasks", self._required])
        if opposites := {name: one.to_dict() for name, one in self._opposites.items()}:
            parts.append(["opposites", opposites])
        if others := other_controls(self._label_config):
            parts.append(["other controls", others])
        if self._effective.values.terminologies:
            parts.append([control.to_dict() for control in coded_controls(self._label_config)])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    def _write(self, *, only: Sequence[int] | None = None) -> None:
        """Write the differences, unless another backend writes."""
        if self._others.rival(self._reader.writers) is None:
            self._writer.write(only=only)

    def _look_for_unanswered(self) -> None:
        """Find controls that nobody answers in the whole project, whose empty answers are not informative."""
        wanted = {control.name for control in self._controls} - self._unanswered
        for _, answers in self.store.answers(self.project) if wanted else ():
            wanted -= answered(answers)
            if not wanted:
                return
        if wanted:
            self._set_unanswered(self._unanswered | wanted)

    def _known_splittings(self) -> dict[str, Decision]:
        """How the answers of each field are split; decisions of another mode are forgotten."""
        decided = SplittingStore(self.store)
        decisions = decided.decisions(self.project)
        mode = self._effective.values.policy.split
        if any(one.splitting.mode != mode for one in decisions.values()):
            decided.forget(self.project)
            return {}
        return decisions

    def _decide_splitting(self) -> None:
        """Decide how the answers of each field are split, where that is open, and split the stored answers again."""
        mode = self._effective.values.policy.split
        names = [control.name for control in self._controls if control.name not in self._unanswered]
        open_names = [name for name in names if name not in self._splittings or not self._splittings[name].stays]
        if mode == "none" or not open_names or not (self._reader.changed or set(names) - set(self._splittings)):
            return
        decisions = splits.decide(self.store.answers(self.project), open_names, mode)
        decided = SplittingStore(self.store)
        for name, one in decisions.items():
            decided.put(self.project, name, one)
        changed = {name for name, one in decisions.items() if _splits(self._splittings.get(name)) != _splits(one)}
        self._splittings.update(decisions)  # the reader sees it, too
        if changed:
            self._split_stored(changed)

    def _split_stored(self, names: set[str]) -> None:
        """Split the stored answers to some controls again; which parts are missing depends on all parts."""
        marks = MissingMarks.of(self._effective.values.missing)
        for _ in range(2):
            for part in splits.split_stored(
                self.store.answers(self.project), self._splittings, names, marks, self._opposites
            ):
                self._check()
                SplittingStore(self.store).put_answers(self.project, part)
            if (there := self._opposites_there()) == self._opposites:
                break
            self._store_opposites(there)
            self._opposites.clear()  # the reader sees it, too
            self._opposites.update(there)
        self.store.update_project(self.project, summary_stale=True, summary_due=0.0)

    def _marks_changed(self) -> bool:
        """Whether other marks for a missing answer are answers now, so that the tasks must be read again."""
        if not self._reader.changed or not (self._opposites or opposites_of(self._reader.row())):
            return False
        there = self._opposites_there()
        self._store_opposites(there)
        return there != self._opposites

    def _opposites_there(self) -> dict[str, Opposites]:
        """The texts of all stored answers that make marks for a missing answer answers."""
        marks = MissingMarks.of(self._effective.values.missing)
        by_control: dict[str, Opposites] = {}
        texts = {control.name for control in self._controls}
        for _, answers in self.store.answers(self.project) if texts else ():
            for name, entry in answers.items():
                by_control[name] = by_control.get(name, Opposites()) | Opposites.of([entry], marks)
        return {name: one for name, one in by_control.items() if one}

    def _store_opposites(self, opposites: Mapping[str, Opposites]) -> None:
        controls = [
            {key: value for key, value in control.items() if key != "opposites"}
            | ({"opposites": opposites[control["name"]].to_dict()} if control["name"] in opposites else {})
            for control in self._reader.row()["controls"]
        ]
        self.store.update_project(self.project, controls=controls)

    def _set_unanswered(self, names: set[str]) -> None:
        self._unanswered = names
        self._reader.set_unanswered(names)
        self.store.forget_scores(self.project)
        controls = [
            {**{key: value for key, value in control.items() if key != "unanswered"}}
            | ({"unanswered": True} if control["name"] in names else {})
            for control in self._reader.row()["controls"]
        ]
        self.store.update_project(self.project, controls=controls, summary_stale=True, summary_due=0.0)

    def _left_out(self) -> list[Note]:
        """The controls that nobody answers, unless nothing has been read."""
        if not self.store.totals(self.project)["annotations"]:
            return []
        return [
            Note(
                f"Nobody has answered the TextArea “{control.name}” in the whole project, so it is left out.",
                "If it was renamed, answers stay under the old name: rename it back, or have the tasks answered again. "
                "If it does not matter, choose the others with --control.",
            )
            for control in self._controls
            if control.name in self._unanswered
        ]

    def _must_pull_all(self) -> bool:
        row = self._reader.row()
        if row["fingerprint"] != self._fingerprint or row["pulled_at"] is None or row["watermark"] is None:
            return True
        if time.time() - row["pulled_at"] > self.settings.full_pull_seconds:
            return True
        return len(self.store.suspects(self.project)) > FEW_STALE

    # --- scoring ------------------------------------------------------------------------------------------------------

    def _serve_waiting(self, *, first: Callable[[], None] = lambda: None) -> None:
        """Process annotators' changes between two steps of long work, a bounded number of them.

        Parameters
        ----------
        first : callable
            What has to be done before, if somebody waits: tasks that are read again have to be scored again.
        """
        if not self._someone_waits():
            return
        first()
        numbers, more = self._reader.pull_some()
        self._more_waits |= more
        rows = self._unscored(len(numbers), only=numbers)
        if rows:
            self._note_stale()
            self._score(rows, lambda *_: None)
        self._write(only=numbers)
        self._served += 1

    def _catch_up(self) -> None:
        """Read changes; the latest are scored and written before the rest is read."""
        if self._reader.pull_newest():
            self._score_and_write()
        self._reader.pull_changes()

    def _someone_waits(self) -> bool:
        """Whether a change was announced since the last check, at least a moment ago; it then counts as processed."""
        if time.monotonic() - self._looked_at < LOOK_EVERY:
            return False
        self._looked_at = time.monotonic()
        wanted, full = self.store.take_wanted(self.project)
        if full:
            self.store.want(self.project, full=True)  # follows after this run
        return wanted

    def _score_and_write(self) -> None:
        self._note_stale()
        total = self.store.count_unscored(self.project)
        # One pass over the tasks by number, up to the newest one now, so that it ends whatever changes meanwhile.
        done, last, end = 0, -1, self.store.highest(self.project)
        last_write = time.monotonic()
        while True:
            self._check()
            if done:
                self._serve_waiting(first=self._write)
            rows = self._unscored(SCORE_BATCH, after=last, end=end)
            if not rows:
                break
            last = rows[-1]["number"]
            self._report("scoring", done, max(total, done + len(rows)), self._pairs)
            self._score(rows, functools.partial(self._report_scoring, done, max(total, done)))
            done += len(rows)
            if time.monotonic() - last_write > WRITE_EVERY:
                self._write()
                last_write = time.monotonic()
        self._write()

    def _unscored(self, limit: int, **which: Any) -> list[Row]:
        return self.store.unscored(self.project, limit, **which, fields=counts_fields(self._effective.values))

    def _report_scoring(self, done: int, total: int, pairs: int, _of: int) -> None:
        self._report("scoring", done, total, self._pairs + pairs)

    def _note_stale(self) -> None:
        """Store it, so that an interrupted run loses nothing."""
        if self._reader.changed and not self._stale_noted:
            self.store.update_project(self.project, summary_stale=True)
            self._stale_noted = True

    def _score(self, rows: Sequence[Row], progress: Callable[[int, int], None]) -> None:
        self._pairs += self._tasks.score(rows, self._unanswered, (Stopped,), progress)

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def _keep_fields(self) -> None:
        """The score column fills only while ``model_version`` is ours.

        Both fields go in one request, or one resets the other.
        """
        current = None if self._writer.version_was_removed else self._remote.get("model_version")
        if current == MODEL_VERSION and not self._remote.get("show_collab_predictions"):
            return
        connected = is_connected(self._reader.row()["connection"])
        if current not in (None, "", MODEL_VERSION) and not connected:
            log.warning(
                "project %d: its model version is not %s, so the score column is not ours", self.number, MODEL_VERSION
            )
            return
        if current not in (None, "", MODEL_VERSION) or not self.store.totals(self.project)["predictions"]:
            return
        self.client.update_project(self.number, model_version=MODEL_VERSION, show_collab_predictions=False)

    def _write_columns(self, *, full: bool) -> None:
        """Write the triage tab's columns into the tasks' data, where the project wants them and this backend writes."""
        if not self._effective.values.triage_columns or self._others.rival(self._reader.writers) is not None:
            return
        self._columns_note = columns.write(
            self.store,
            self.client,
            self._reader.row(),
            full=full,
            report=lambda done, total: self._report("columns", done, total, self._pairs),
            check=self._check,
        )

    def _summarize(self, *, now: bool) -> None:
        row = self._reader.row()
        if not (self._reader.changed or row["summary_stale"] or row["summary"] is None):
            return
        if row["summary"] is not None and not now and time.time() < (row["summary_due"] or 0.0):
            self.store.update_project(self.project, summary_stale=True)  # the timer wakes us when it is due
            return
        self._report("coefficients", 0, None, self._pairs)
        self.store.update_project(self.project, summary_stale=True)
        changed = self._reader.changed
        left_out = frozenset(self._unanswered)
        shown = [control.name for control in self._controls if control.name not in left_out]
        summary, due = self._beside(
            functools.partial(
                summarize,
                self.store,
                self.scorer,
                self.project,
                shown or [control.name for control in self._controls],
                self._effective.values,
                unanswered=left_out,
                others=other_controls(self._label_config),
                progress=lambda done, total: self._report("coefficients", done, total, self._pairs + done),
            )
        )
        if counts_fields(self._effective.values):  # first, so that scores are made again where this is broken off
            fits = self._tasks.fit_again(fits_of(summary), self._check)
            summary |= {"fits": {name: fit.to_dict() for name, fit in fits.items()}} if fits else {}
        self.store.update_project(
            self.project,
            summary={
                **summary,
                "left_out": [note.what for note in self._left_out()],
                "settings": self._effective.to_dict(),
                "provenance": self._provenance(),
            },
            summary_at=time.time(),
            summary_stale=self._reader.changed > changed,  # someone edited meanwhile: again when the next run is due
            summary_due=due,
        )
        if counts_fields(self._effective.values):
            self._write()
            if self.store.in_flight(self.project):  # the ids of their predictions are unknown
                self._reader.read_doubtful()
                self._write()
            if self._others.rival(self._reader.writers) is None:
                self._keep_fields()  # the first predictions may have waited for this

    def _beside(self, work: Callable[[Callable[[], None]], Found]) -> Found:
        """Run long work in a separate thread, and process annotators' changes in the meantime.

        Parameters
        ----------
        work
            Gets a function to call often, which raises when the work is to be broken off.
        """
        broken_off = threading.Event()

        def check() -> None:
            if broken_off.is_set():
                raise Stopped
            self._check()

        served = self._served
        with ThreadPoolExecutor(1, thread_name_prefix="beside") as pool:
            working = pool.submit(work, check)
            try:
                while not wait([working], timeout=LOOK_EVERY / 2).done:
                    self._check()
                    self._serve_waiting()
            except BaseException:
                broken_off.set()
                raise
            result = working.result()
        if self._served > served:
            self.store.want(self.project)  # the check of the whole project, with its counts, follows this run
        return result


def _splits(decision: Decision | None) -> Any:
    return None if decision is None else decision.splitting

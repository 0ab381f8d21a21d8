"""Updating one project: read changes, score them, write differences. A run can be interrupted anywhere and repeated."""

import functools
import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio import splits, tasks
from ml_backend.labelstudio.answers import NO_SUCH_CONTROL, OTHER_CONFIG, answered, unanswered_of, without
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import Control, chosen_controls, coded_controls, control_names, text_controls
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.history import History, has_now, with_controls
from ml_backend.labelstudio.register import Register, stronger
from ml_backend.report import on_demand
from ml_backend.review import calibration as calibration_of_project
from ml_backend.scoring.scorer import Scorer, counted_reasons
from ml_backend.settings import MODEL_VERSION, EffectiveSettings, Settings, effective
from ml_backend.store.splittings import Decision, SplittingStore
from ml_backend.store.store import Row, Store, is_connected
from ml_backend.sync import columns, rivals
from ml_backend.sync.notes import Note
from ml_backend.sync.reader import FEW_STALE, TaskReader
from ml_backend.sync.writer import PredictionWriter

log = logging.getLogger(__name__)
Found = TypeVar("Found")

SCORE_BATCH = 500
WRITE_EVERY = 60.0  # seconds between writes while a long scoring runs
MOST_EXCLUDED = 1000  # answers left out that a summary lists
LOOK_EVERY = 0.5  # seconds between checks for changes
ROUNDS = 3
RULES = 4  # which answers count and what is kept of their scores; with another number every project is read and scored again
SUMMARY_SHARE = 20.0  # coefficients take at most one part in this many of the time while people are at work


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
    """One run for one project.

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
        self._others: dict[str, Mapping[str, Any]] = {}  # other connected backends
        self._gone: set[str] = set()  # disconnected backends whose predictions may still be there
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
        self._meet_others()
        for round_number in range(1, ROUNDS + 1):
            before = self._counts_in_label_studio()
            self._read(round_number, full=full)
            self._look_for_unanswered()
            self._decide_splitting()
            calibration_of_project.refit(self.store, self.scorer, self._reader.row(), self._effective.values)
            self._score_and_write()
            if self._reader.settle():
                self._score_and_write()
            if self._rival() is not None or self._writer.all_there():
                break
            changed = self._counts_in_label_studio() != before or self._reader.is_behind()
            if self._reader.incomplete or changed:
                # What people add and delete meanwhile makes the numbers differ; the next run looks again.
                log.info("project %d: it changes while it is read, the rest is left to the next run", number)
                break
            log.warning("project %d: predictions differ from what was written, reading it again", number)
        else:
            raise LabelStudioError(f"Label Studio did not store all predictions of project {number}.")
        if self._rival() is None:
            self._keep_fields()
        self._reader.update_raters()
        self._summarize(now=full)
        self._write_columns()
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
        if self._more_waits:
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
        if (rival := self._rival()) is not None:
            notes.append(rivals.note(rival, self.number))
        elif n := self._overwritten():
            notes.append(rivals.note_of_overwriting(n, self.number))
        summary = self._reader.row()["summary"] or {}
        excluded = [entry for report in summary.get("controls", {}).values() for entry in report.get("excluded", ())]
        if n := _n_answers(excluded, NO_SUCH_CONTROL):
            notes.append(
                Note(
                    f"{n if n < MOST_EXCLUDED else f'At least {n}'} answers were given while the label config did not have one of "
                    "its TextAreas: they count as missing there and are listed in the report.",
                    "Have the tasks answered again, if these answers are to count.",
                )
            )
        if n := _n_answers(excluded, OTHER_CONFIG):
            notes.append(
                Note(
                    f"{n if n < MOST_EXCLUDED else f'At least {n}'} answers were given under another label config, to a "
                    "TextArea that it no longer has: they count as missing and are listed in the report.",
                    "Rename the TextArea back if it is the same question.",
                )
            )
        return notes

    def _overwritten(self) -> int:
        """How many predictions of other programs differ from this backend's."""
        wanted = self.store.predictions_of(self.project, list(self._reader.foreign))
        return sum(bool(hashes - {wanted[n][0]}) for n, hashes in self._reader.foreign.items() if n in wanted)

    # --- what the project looks like ----------------------------------------------------------------------------------

    def _begin(self, number: int) -> None:
        self._report("reading", 0, None, 0)
        self.number = number
        self._remote = self.client.project(number)
        label_config = self._label_config = self._remote.get("label_config") or ""
        row = self.store.ensure_project(self.settings.label_studio_url, number, born=self._remote.get("created_at"))
        self.project: int = row["id"]
        controls = text_controls(label_config)
        seen = {
            "label_config": label_config,
            "title": self._remote.get("title") or "",
            "required": self._remote.get("maximum_annotations") or 1,
            "controls": [
                {**control.to_dict(), **({"unanswered": True} if control.name in unanswered_of(row) else {})}
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
        self._controls: tuple[Control, ...] = chosen_controls(controls, self._effective.values.controls)
        self._writer = PredictionWriter(
            self.store,
            self.client,
            project=self.project,
            number=number,
            label_config=label_config,
            build=self._prediction,
            bulk_size=self.settings.bulk_size,
            report=lambda done, total: self._report("writing", done, total, self._pairs),
            check=self._check,
        )
        self._splittings = self._known_splittings()
        self._fingerprint = self._current_fingerprint()
        self._connection = dict(row["connection"])
        self._mark = rivals.mark(
            self.store.secret(),
            measure=self._effective.values.measure,
            scoring=self._fingerprint,
            connection=self._connection,
        )
        self._reader = TaskReader(
            self.store,
            self.client,
            project=self.project,
            number=number,
            controls=self._controls,
            names=control_names(label_config),
            history=history,
            splittings=self._splittings,
            unanswered=self._unanswered,
            on_answered=lambda names: self._set_unanswered(self._unanswered - names),
            settings=self._effective.values,
            fingerprint=self._fingerprint,
            page_size=self.settings.page_size,
            report=lambda done, total: self._report("reading", done, total, self._pairs),
            check=self._check,
            between_pages=self._serve_waiting,
            codes=lambda texts: self.scorer.codes(texts, self._effective.values),
        )

    def _history(self, row: Row, names: set[str]) -> History:
        """The periods in which the label config had each TextArea; those of the first reading count as there from the start."""
        known: History = row["control_history"] or {
            control["name"]: [[None, None]] for control in row["controls"] or [{"name": name} for name in names]
        }
        if has_now(known) == names:
            return known
        newest = tasks.newest_change(self.client, self.number)
        return with_controls(known, names, tasks.exact(newest)) if newest else {name: [[None, None]] for name in names}

    def _meet_others(self) -> None:
        """Find the other backends that are connected to the project, and announce this one to them."""
        register = Register(self.client, self.number)
        own, ours = self._mark["backend"], self._mark | {"connection": self._connection.get("connection_id")}
        gone = register.gone(own)
        noted = self._connection.get("rival")
        if noted is not None and "connection" in noted and register.exists and noted["backend"] not in register.marks:
            gone.add(noted["backend"])
        known = [*register.others(own).values(), *([noted] if noted else [])]
        loses = stronger(self._mark, known) is not None and self.store.totals(self.project)["predictions"] > 0
        if loses and not self.client.model_versions(self.number).get(MODEL_VERSION):
            gone |= {found["backend"] for found in known}  # a backend that still works announces itself again
        register.change(own, ours if is_connected(self._connection) else None, without=gone)
        self._others, self._gone = register.others(own), gone
        if noted is not None and noted["backend"] in gone:
            log.info("project %d: the other backend is gone, this one writes again", self.number)
            for name in ("rival", "rival_note"):
                self._connection.pop(name, None)
            self.store.update_project(self.project, connection=self._connection, pulled_at=None)

    def _provenance(self) -> dict[str, Any]:
        chosen = self._effective.values
        return self.scorer.provenance(chosen.measure, chosen.policy, chosen.terminologies)

    def _current_fingerprint(self) -> str:
        provenance = self._provenance()
        names = sorted(control_names(self._label_config))
        controls = [control.to_dict() for control in self._controls]
        parts = [RULES, self._effective.values.fingerprint(), provenance, controls, names]
        if self._effective.values.terminologies:
            parts.append([control.to_dict() for control in coded_controls(self._label_config)])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    def _rival(self) -> Mapping[str, Any] | None:
        """Another backend that scores this project differently and takes precedence; it is stored until `connect`."""
        noted = self._connection.get("rival")
        known = {name: mark for name, mark in self._reader.writers.items() if name not in self._gone} | self._others
        if noted is not None:
            known.setdefault(
                noted["backend"], noted
            )  # its present announcement takes precedence over what an earlier run found
        known.pop(self._mark["backend"], None)
        found = stronger(self._mark, known.values())
        if found is not None and self._connection and found != noted:
            said = rivals.note(found, self.number).what
            log.warning("project %d: %s", self.number, said)
            self._connection |= {"rival": dict(found), "rival_note": said}
            self.store.update_project(self.project, connection=self._connection)
        return found

    def _write(self, *, only: Sequence[int] | None = None) -> None:
        """Write the differences, unless another backend writes."""
        if self._rival() is None:
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
        found = decided.decisions(self.project)
        mode = self._effective.values.policy.split
        if any(one.splitting.mode != mode for one in found.values()):
            decided.forget(self.project)
            return {}
        return found

    def _decide_splitting(self) -> None:
        """Decide how the answers of each field are split, where that is open, and split the stored answers again."""
        mode = self._effective.values.policy.split
        names = [control.name for control in self._controls if control.name not in self._unanswered]
        open_names = [name for name in names if name not in self._splittings or not self._splittings[name].stays]
        if mode == "none" or not open_names or not (self._reader.changed or set(names) - set(self._splittings)):
            return
        made = splits.decide(self.store.answers(self.project), open_names, mode)
        decided = SplittingStore(self.store)
        for name, one in made.items():
            decided.put(self.project, name, one)
        changed = {name for name, one in made.items() if _splits(self._splittings.get(name)) != _splits(one)}
        self._splittings.update(made)  # the reader sees it, too
        if changed:
            for part in splits.split_stored(self.store.answers(self.project), self._splittings, changed):
                self._check()
                decided.put_answers(self.project, part)
            self.store.update_project(self.project, summary_stale=True, summary_due=0.0)

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
        rows = self.store.unscored(self.project, len(numbers), only=numbers)
        if rows:
            self._note_stale()
            self._score(rows, lambda _n, _m: None)
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
            rows = self.store.unscored(self.project, SCORE_BATCH, after=last, end=end)
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

    def _report_scoring(self, done: int, total: int, pairs: int, _of: int) -> None:
        self._report("scoring", done, total, self._pairs + pairs)

    def _note_stale(self) -> None:
        """Store it, so that an interrupted run loses nothing."""
        if self._reader.changed and not self._stale_noted:
            self.store.update_project(self.project, summary_stale=True)
            self._stale_noted = True

    def _score(self, rows: Sequence[Row], progress: Callable[[int, int], None]) -> None:
        settings = self._effective.values
        decisions = self.store.decisions(self.project)
        details = self.scorer.task_details(
            {row["number"]: without(row["answers"], self._unanswered) for row in rows},
            settings,
            decisions=decisions,
            calibration=self._calibration(),
            progress=progress,
        )
        scored = []
        for row in rows:
            found = details[row["number"]]
            desired = None
            if found["agreement"] is not None:
                desired = shapes.prediction_hash(self._prediction(found))
                self._pairs += sum(len(entry["pairs"]) for entry in found["controls"].values())
            scored.append(
                {
                    "number": row["number"],
                    "answers_hash": row["answers_hash"],
                    "agreement": found["agreement"],
                    "details": found,
                    "desired": desired,
                }
            )
        self.store.put_scored(self.project, scored)
        if self.store.decisions(self.project) != decisions:  # decided meanwhile: these scores may be older than that
            self.store.forget_scores_of(self.project, [row["number"] for row in rows])
        self.store.count(tasks_scored=len(rows), **self.scorer.take_cache_counts())

    def _calibration(self) -> Any:
        return calibration_of_project.current(self.store, self.project, self._effective.values.measure_name)

    def _prediction(self, details: Mapping[str, Any]) -> dict[str, Any]:
        return shapes.build(
            details,
            self._controls,
            suggestions=self._effective.values.suggestions,
            writer=self._mark,
            coded=coded_controls(self._label_config),
        )

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def _keep_fields(self) -> None:
        """The score column fills only while ``model_version`` is ours; both fields go in one request, or one resets the other."""
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

    def _write_columns(self) -> None:
        """Write the triage tab's columns into the tasks' data, where the project wants them and this backend writes."""
        if not self._effective.values.triage_columns or self._rival() is not None:
            return
        self._columns_note = columns.write(
            self.store,
            self.client,
            self._reader.row(),
            report=lambda done, total: self._report("columns", done, total, self._pairs),
            check=self._check,
        )

    def _summarize(self, *, now: bool) -> None:
        row = self._reader.row()
        if not (self._reader.changed or row["summary_stale"] or row["summary"] is None):
            return
        due = row["summary_due"] or 0.0
        if row["summary"] is not None and not now and time.time() < due:
            self.store.update_project(self.project, summary_stale=True)  # the timer wakes us when it is due
            return
        self._report("coefficients", 0, None, self._pairs)
        self.store.update_project(self.project, summary_stale=True)
        changed = self._reader.changed
        reports, seconds, own = self._beside(self._coefficients)
        at = time.time()
        self.store.update_project(
            self.project,
            summary={
                "controls": reports,
                "left_out": [note.what for note in self._left_out()],
                "seconds": seconds,
                "settings": self._effective.to_dict(),
                "provenance": self._provenance(),
            },
            summary_at=at,
            summary_stale=self._reader.changed > changed,  # someone edited meanwhile: again when the next run is due
            summary_due=at + SUMMARY_SHARE * own,
        )

    def _coefficients(self, check: Callable[[], None]) -> tuple[dict[str, Any], float, float]:
        """Compute the report on each control, with its duration and this thread's processor time."""
        started, own = time.monotonic(), time.thread_time()

        def progress(done: int, total: int) -> None:
            check()
            self._report("coefficients", done, total, self._pairs + done)

        left_out = frozenset(self._unanswered)
        shown = [control for control in self._controls if control.name not in left_out] or self._controls
        reports = {
            control.name: self.scorer.summary(
                ((number, without(given, left_out)) for number, given in self.store.answers(self.project)),
                control.name,
                self._effective.values,
                decisions=self.store.decisions(self.project),
                calibration=self._calibration(),
                reasons=counted_reasons(self.store.details(self.project), control.name),
                progress=progress,
            )
            for control in shown
        }
        # the thread's own time excludes other programs, which make little work take long on a busy machine
        return reports, time.monotonic() - started, time.thread_time() - own

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
            found = working.result()
        if self._served > served:
            self.store.want(self.project)  # the check of the whole project, with its counts, follows this run
        return found


def _splits(decision: Decision | None) -> Any:
    return None if decision is None else decision.splitting


def _n_answers(excluded: Sequence[Mapping[str, Any]], reason: str) -> int:
    """How many answers are left out for this reason."""
    return len({(entry["item"], entry["rater"]) for entry in excluded if entry["reason"].startswith(reason)})

"""Bring one project up to date: read what changed, score it, write what differs. Can be broken off anywhere and run again."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from ml_backend import calibration_of_project
from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import Control, chosen_controls, text_controls
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.labelstudio.extraction import pulled_row
from ml_backend.report import on_demand
from ml_backend.scoring import Scorer
from ml_backend.settings import MODEL_VERSION, EffectiveSettings, Settings, effective
from ml_backend.store import Row, Store
from ml_backend.writer import PredictionWriter

log = logging.getLogger(__name__)

SCORE_BATCH = 500
WRITE_EVERY = 60.0  # seconds between writes while a long scoring runs
OVERLAP = timedelta(seconds=10)  # a change can become visible later than its time stamp says,
SETTLED_AFTER = 30.0  # but not this many seconds later
FEW_STALE = 50  # tasks that are read one by one
LOOK_EVERY = 0.5  # seconds between looks at what came up meanwhile
EARLIEST = "1970-01-01T00:00:00Z"
ROUNDS = 3
SUMMARY_SHARE = 20.0  # coefficients take at most one part in this many of the time while people are at work
FULL_ON_MISMATCH_EVERY = 600.0


class Stopped(Exception):
    """The process is to end; what is done is noted, the rest stands in the store."""


@dataclass(frozen=True)
class SyncResult:
    """What one run did; `unchanged` counts predictions that were right already."""

    project: int
    items: int
    created: int
    updated: int
    deleted: int
    unchanged: int

    def to_dict(self) -> dict[str, int]:
        """As ``softirr-ls sync --json`` prints it."""
        return asdict(self)


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
        self._changed = 0
        self._looked_at = time.monotonic()

    def run(self, number: int, *, full: bool = False) -> SyncResult:
        """Bring project `number` up to date.

        Annotators go on while a big project is read and scored: what they do meanwhile is served before the rest.

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
        for round_number in range(1, ROUNDS + 1):
            self._pull(full=full or round_number > 1 or self._must_pull_all())
            calibration_of_project.refit(self.store, self.scorer, self._refresh(), self._effective.values)
            self._score_and_write()
            if self._settle():
                self._score_and_write()
            if self._writer.all_there():
                break
            log.warning("project %d: predictions differ from what was written, reading it again", number)
        else:
            raise LabelStudioError(f"Label Studio did not store all predictions of project {number}.")
        self._keep_fields()
        self._summarise(now=full)
        on_demand.run_wanted(
            self.store,
            self.scorer,
            self._refresh(),
            self._effective.values,
            report=self._report,
            check=self._check,
        )
        self.store.update_project(self.project, checked_at=time.time())
        totals = self.store.totals(self.project)
        counts = self._writer.counts
        unchanged = totals["predictions"] - counts["created"] - counts["updated"] - len(self._writer.rejected)
        result = SyncResult(number, totals["tasks"], **counts, unchanged=max(0, unchanged))
        log.info(
            "project %d: %d items, %d created, %d updated, %d deleted, %d unchanged in %.1f s",
            *(number, result.items, result.created, result.updated, result.deleted, result.unchanged),
            time.monotonic() - started,
        )
        return result

    # --- what the project looks like ----------------------------------------------------------------------------------

    def _begin(self, number: int) -> None:
        self._report("reading", 0, None, 0)
        self.number = number
        self._remote = self.client.project(number)
        label_config = self._remote.get("label_config") or ""
        row = self.store.ensure_project(self.settings.label_studio_url, number, born=self._remote.get("created_at"))
        self.project: int = row["id"]
        controls = text_controls(label_config)
        seen = {
            "label_config": label_config,
            "title": self._remote.get("title") or "",
            "required": self._remote.get("maximum_annotations") or 1,
            "controls": [control.to_dict() for control in controls],
        }
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
        self._fingerprint = self._current_fingerprint()
        self._row = self._refresh()

    def _refresh(self) -> Row:
        row = self.store.project_by_id(self.project)
        if row is None:
            raise LabelStudioError(f"Project {self.number} was removed from the store meanwhile.")
        return row

    def _current_fingerprint(self) -> str:
        provenance = self.scorer.provenance(self._effective.values.measure)
        parts = [self._effective.values.fingerprint(), provenance, [control.to_dict() for control in self._controls]]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    def _must_pull_all(self) -> bool:
        row = self._refresh()
        if row["fingerprint"] != self._fingerprint or row["pulled_at"] is None or row["watermark"] is None:
            return True
        if time.time() - row["pulled_at"] > self.settings.full_pull_seconds:
            return True
        return self.store.in_flight(self.project) > 0 or len(self.store.suspects(self.project)) > 50

    # --- reading ------------------------------------------------------------------------------------------------------

    def _pull(self, *, full: bool) -> None:
        if full:
            self._pull_all()
        else:
            self._pull_changes()
            self._compare_counts()

    def _pull_all(self) -> None:
        row = self._refresh()
        if row["fingerprint"] != self._fingerprint:
            self.store.forget_scores(self.project)
            self.store.update_project(self.project, fingerprint=self._fingerprint, summary_stale=True)
        self._update_raters()
        generation = row["generation"] + 1
        # Counted up before the first page: a run that is broken off must not lend its number to the next.
        self.store.update_project(self.project, generation=generation)
        # Asked before the first page: what changes while the pages are read is newer, and read once more by the next run.
        newest = tasks.newest_change(self.client, self.number)
        versions = self._versions()
        self._read_pages(generation=generation, total=self._remote.get("task_number"), serve=True)
        gone = self.store.drop_older(self.project, generation)
        self._changed += gone
        now = time.time()
        self.store.update_project(
            self.project, pulled_at=now, watermark=newest or EARLIEST, watermark_at=now, seen_versions=versions
        )

    def _pull_changes(self) -> None:
        row = self._refresh()
        suspects = self.store.suspects(self.project)
        if suspects:
            seen: set[int] = set()
            self._read_pages(generation=row["generation"], only=suspects, seen=seen)
            gone = [number for number in suspects if number not in seen]
            self.store.drop_tasks(self.project, gone)
            self._changed += len(gone)
        if row["watermark"] is None:
            return
        now = time.time()
        if row["watermark_at"] is None:
            newest = self._read_pages(generation=row["generation"], updated_after=row["watermark"])
        else:
            newest = self._read_stale(row["generation"], _earlier(row["watermark"]))
        if newest and newest > row["watermark"]:
            self.store.update_project(self.project, watermark=newest, watermark_at=now)

    def _read_stale(self, generation: int, since: str) -> str | None:
        """Read the tasks whose ``updated_at`` is another than noted; the newest of all that changed since then.

        What was imported a moment ago is within the overlap, and may be the whole project: only its dates are looked at.
        """
        changes = tasks.changes(self.client, self.number, since)
        noted = self.store.stamps(self.project, list(changes))
        stale = [number for number, stamp in changes.items() if noted.get(number) != stamp]
        if len(stale) > FEW_STALE:
            self._read_pages(generation=generation, updated_after=_earlier(min(changes[number] for number in stale)))
        elif stale:
            self._read_pages(generation=generation, only=stale)
        return max(changes.values(), default=None)

    def _settle(self) -> bool:
        """Some time after a change, read whole what is within the overlap once more; False if that is not due."""
        row = self._refresh()
        now = time.time()
        if row["watermark_at"] is None or now - row["watermark_at"] <= SETTLED_AFTER:
            return False
        since = _earlier(row["watermark"])
        newest = self._read_pages(generation=row["generation"], updated_after=since, serve=True)
        moved = newest is not None and newest > row["watermark"]
        self.store.update_project(
            self.project, watermark=newest if moved else row["watermark"], watermark_at=now if moved else None
        )
        return True

    def _versions(self) -> dict[str, int] | None:
        """How many predictions of other versions there are, where they matter: writing one changes no date."""
        if not self._effective.values.predictions_as_raters:
            return None
        return {name: n for name, n in self.client.model_versions(self.number).items() if name != MODEL_VERSION}

    def _read_pages(
        self,
        *,
        generation: int,
        total: int | None = None,
        updated_after: str | None = None,
        only: Sequence[int] | None = None,
        seen: set[int] | None = None,
        serve: bool = False,
    ) -> str | None:
        """Note the tasks' answers and predictions; returns the newest ``updated_at`` of the first page.

        Whatever changes after the first page was read is newer than that; of later pages this can't be said. With `serve`
        what annotators do meanwhile is served between two pages.
        """
        newest: str | None = None
        done = 0
        known_raters = set(self._refresh()["raters"])
        pages = tasks.pages(
            self.client, self.number, page_size=self.settings.page_size, updated_after=updated_after, only=only
        )
        for page in pages:
            self._check()
            rows = [pulled_row(task, self._controls, self._effective.values, generation=generation) for task in page]
            self._changed += self.store.put_pulled(self.project, rows)
            if not done:
                newest = max((row["updated_at"] for row in rows if row["updated_at"]), default=None)
            done += len(rows)
            if seen is not None:
                seen.update(row["number"] for row in rows)
            self._report("reading", done, total, self._pairs)
            new = {r for row in rows for entry in row["answers"].values() for r in entry["answers"]} - known_raters
            if any(rater.isdigit() for rater in new):
                self._update_raters()
            known_raters |= new
            if serve and self._someone_waits() and self.store.count_unscored(self.project) <= SCORE_BATCH:
                self._pull_changes()
                self._score_and_write()
        return newest

    def _someone_waits(self) -> bool:
        """Whether a change was announced since the last look, a moment ago at least; taken as served then."""
        if time.monotonic() - self._looked_at < LOOK_EVERY:
            return False
        self._looked_at = time.monotonic()
        wanted, full = self.store.take_wanted(self.project)
        if full:
            self.store.want(self.project, full=True)  # has its turn after this run
        return wanted

    def _update_raters(self) -> None:
        names = self.client.users()
        row = self._refresh()
        if {**row["raters"], **names} != row["raters"]:
            self.store.update_project(self.project, raters={**row["raters"], **names})

    def _compare_counts(self) -> None:
        """Deletions of tasks and of annotations change no ``updated_at`` that could be asked for: compare the numbers."""
        row = self._refresh()
        for attempt in range(2):
            remote = self.client.project(self.number)
            totals = self.store.totals(self.project)
            expected = remote.get("task_number"), remote.get("total_annotations_number")
            if expected == (totals["tasks"], totals["annotations"]) and self._versions() == row["seen_versions"]:
                return
            if attempt == 0:
                self._pull_changes()
        pulled_at = row["pulled_at"] or 0
        # Annotators at work make the numbers differ for a moment; that alone must not read everything again and again.
        if time.time() - pulled_at > self._mismatch_pause(expected, totals):
            log.info("project %d: numbers of tasks or annotations differ, reading everything", self.number)
            self._pull_all()

    @staticmethod
    def _mismatch_pause(expected: tuple[Any, Any], totals: dict[str, int]) -> float:
        # Small projects are read in a moment, so there is no reason to wait.
        return 0.0 if totals["tasks"] <= 2000 else FULL_ON_MISMATCH_EVERY

    # --- scoring ------------------------------------------------------------------------------------------------------

    def _score_and_write(self) -> None:
        total = self.store.count_unscored(self.project)
        done = 0
        last_write = time.monotonic()
        while True:
            self._check()
            if done and self._someone_waits():
                self._pull_changes()
            rows = self.store.unscored(self.project, SCORE_BATCH)
            if not rows:
                break
            self._report("scoring", done, max(total, done + len(rows)), self._pairs)
            self._score(rows, lambda n, _m, at=done: self._report("scoring", at, max(total, at), self._pairs + n))
            done += len(rows)
            if time.monotonic() - last_write > WRITE_EVERY:
                self._writer.write()
                last_write = time.monotonic()
        self._writer.write()

    def _score(self, rows: Sequence[Row], progress: Callable[[int, int], None]) -> None:
        settings = self._effective.values
        decisions = self.store.decisions(self.project)
        details = self.scorer.task_details(
            {row["number"]: row["answers"] for row in rows},
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
        return calibration_of_project.current(self.store, self.project, self._effective.values.measure)

    def _prediction(self, details: Mapping[str, Any]) -> dict[str, Any]:
        return shapes.build(details, self._controls, suggestions=self._effective.values.suggestions)

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def _keep_fields(self) -> None:
        """The score column fills only while ``model_version`` is ours; both fields go in one request, or one resets the other."""
        current = None if self._writer.version_was_removed else self._remote.get("model_version")
        if current == MODEL_VERSION and not self._remote.get("show_collab_predictions"):
            return
        connected = bool(self._refresh()["connection"])
        if current not in (None, "", MODEL_VERSION) and not connected:
            log.warning(
                "project %d: its model version is not %s, so the score column is not ours", self.number, MODEL_VERSION
            )
            return
        if current not in (None, "", MODEL_VERSION) or not self.store.totals(self.project)["predictions"]:
            return
        self.client.update_project(self.number, model_version=MODEL_VERSION, show_collab_predictions=False)

    def _summarise(self, *, now: bool) -> None:
        row = self._refresh()
        if not (self._changed or row["summary_stale"] or row["summary"] is None):
            return
        due = row["summary_due"] or 0.0
        if row["summary"] is not None and not now and time.time() < due:
            self.store.update_project(self.project, summary_stale=True)  # the timer wakes us when it is due
            return
        self._report("coefficients", 0, None, self._pairs)
        self.store.update_project(self.project, summary_stale=True)
        started = time.monotonic()
        reports = {
            control.name: self.scorer.summary(
                self.store.answers(self.project),
                control.name,
                self._effective.values,
                decisions=self.store.decisions(self.project),
                calibration=self._calibration(),
                progress=lambda done, total: (
                    self._check(),
                    self._report("coefficients", done, total, self._pairs + done),
                ),
            )
            for control in self._controls
        }
        seconds = time.monotonic() - started
        summary = {
            "controls": reports,
            "seconds": seconds,
            "settings": self._effective.to_dict(),
            "provenance": self.scorer.provenance(self._effective.values.measure),
        }
        at = time.time()
        self.store.update_project(
            self.project,
            summary=summary,
            summary_at=at,
            summary_stale=False,
            summary_due=at + SUMMARY_SHARE * seconds,
        )


def _earlier(moment: str) -> str:
    """The watermark less the overlap."""
    return (datetime.fromisoformat(moment.replace("Z", "+00:00")) - OVERLAP).isoformat().replace("+00:00", "Z")

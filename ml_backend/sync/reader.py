"""Read what changed in one project, and as little else as can be."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.answers import pulled_row
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.settings import MODEL_VERSION, ProjectSettings
from ml_backend.store.store import Row, Store

log = logging.getLogger(__name__)

OVERLAP = timedelta(seconds=10)  # a change can become visible later than its time stamp says,
SETTLED_AFTER = 30.0  # but not this many seconds later
FEW_STALE = 50  # tasks that are read one by one
NEWEST = 20  # tasks that are looked at before the whole overlap is
EARLIEST = "1970-01-01T00:00:00Z"
FULL_ON_MISMATCH_EVERY = 600.0


class TaskReader:
    """Reads the tasks of one project into the store during one run.

    Parameters
    ----------
    project, number : int
        Its key in the store and its number in Label Studio.
    controls : sequence of Control
        The controls that count.
    fingerprint : str
        Names settings, model and controls; where another one is noted, every task is to be read and scored again.
    report : callable
        Called as ``report(done, total)``.
    check : callable
        Called often; raises to break off.
    between_pages : callable
        Called between two pages of a long reading.

    Attributes
    ----------
    changed : int
        Tasks with other answers than before, or gone, so far.
    """

    def __init__(
        self,
        store: Store,
        client: Client,
        *,
        project: int,
        number: int,
        controls: Sequence[Control],
        settings: ProjectSettings,
        fingerprint: str,
        page_size: int,
        report: Callable[[int, int | None], None],
        check: Callable[[], None],
        between_pages: Callable[[], None],
    ):
        self.store, self.client = store, client
        self.project, self.number = project, number
        self._controls, self._settings, self._fingerprint = controls, settings, fingerprint
        self._page_size = page_size
        self._report, self._check, self._between_pages = report, check, between_pages
        self.changed = 0

    def row(self) -> Row:
        """The project's row as it is now."""
        row = self.store.project_by_id(self.project)
        if row is None:
            raise LabelStudioError(f"Project {self.number} was removed from the store meanwhile.")
        return row

    def pull_all(self) -> None:
        """Read every task, and forget those that are gone."""
        row = self.row()
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
        self._read_pages(generation=generation, total=self.client.project(self.number).get("task_number"), serve=True)
        gone = self.store.drop_older(self.project, generation)
        self.changed += gone
        now = time.time()
        self.store.update_project(
            self.project, pulled_at=now, watermark=newest or EARLIEST, watermark_at=now, seen_versions=versions
        )

    def pull_changes(self) -> None:
        """Read what changed since the last time, and what a hint says may be gone."""
        row = self.row()
        suspects = self.store.suspects(self.project)
        if suspects:
            self._look_at(suspects)
        if row["watermark"] is None:
            return
        now = time.time()
        if row["watermark_at"] is None:
            newest = self._read_pages(generation=row["generation"], updated_after=row["watermark"])
        else:
            newest = self._read_stale(row["generation"], _earlier(row["watermark"]))
        if newest and newest > row["watermark"]:
            self.store.update_project(self.project, watermark=newest, watermark_at=now)

    def pull_newest(self) -> bool:
        """Read what changed last, where going through the overlap may take long; whether there was something.

        A moment after an import the overlap is the whole of it, and an annotator's edit would wait for that.
        """
        row = self.row()
        if row["watermark"] is None or row["watermark_at"] is None:
            return False
        stale = self._stale(tasks.newest(self.client, self.number, NEWEST))
        if not 0 < len(stale) < NEWEST:  # so many are read by the page, later
            return False
        self._read_pages(generation=row["generation"], only=stale)
        return True

    def _stale(self, dated: Mapping[int, tuple[str, int]]) -> list[int]:
        """The tasks whose ``updated_at`` is another than noted."""
        noted = self.store.stamps(self.project, list(dated))
        return [number for number, (stamp, _) in dated.items() if noted.get(number) != stamp]

    def _read_stale(self, generation: int, since: str) -> str | None:
        """Read the tasks whose ``updated_at`` is another than noted; the newest of all that changed since then.

        What was imported a moment ago is within the overlap, and may be the whole project: only its dates are looked at.
        """
        changes = tasks.dates(self.client, self.number, updated_after=since)
        stale = self._stale(changes)
        if len(stale) > FEW_STALE:
            self._read_pages(generation=generation, updated_after=_earlier(min(changes[number][0] for number in stale)))
        elif stale:
            self._read_pages(generation=generation, only=stale)
        return max((stamp for stamp, _ in changes.values()), default=None)

    def settle(self) -> bool:
        """Some time after a change, read whole what is within the overlap once more; False if that is not due."""
        row = self.row()
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
        if not self._settings.predictions_as_raters:
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
        known_raters = set(self.row()["raters"])
        pages = tasks.pages(self.client, self.number, page_size=self._page_size, updated_after=updated_after, only=only)
        for page in pages:
            self._check()
            rows = [pulled_row(task, self._controls, self._settings, generation=generation) for task in page]
            self.changed += self.store.put_pulled(self.project, rows)
            if not done:
                newest = max((row["updated_at"] for row in rows if row["updated_at"]), default=None)
            done += len(rows)
            if seen is not None:
                seen.update(row["number"] for row in rows)
            self._report(done, total)
            new = {r for row in rows for entry in row["answers"].values() for r in entry["answers"]} - known_raters
            if any(rater.isdigit() for rater in new):
                self._update_raters()
            known_raters |= new
            if serve:
                self._between_pages()
        return newest

    def _update_raters(self) -> None:
        names = self.client.users()
        row = self.row()
        if {**row["raters"], **names} != row["raters"]:
            self.store.update_project(self.project, raters={**row["raters"], **names})

    def compare_counts(self) -> None:
        """Deletions of tasks and of annotations change no ``updated_at`` that could be asked for: compare the numbers."""
        if self._counts_agree():
            return
        self.pull_changes()
        if self._counts_agree():
            return
        self._look_where_counts_differ()
        row = self.row()
        # Annotators at work make the numbers differ for a moment; that alone must not read everything again and again.
        if not self._counts_agree() and time.time() - (row["pulled_at"] or 0) > self._mismatch_pause():
            log.info("project %d: numbers of tasks, annotations or predictions differ, reading everything", self.number)
            self.pull_all()

    def _counts_agree(self) -> bool:
        remote, totals = self.client.project(self.number), self.store.totals(self.project)
        expected = remote.get("task_number"), remote.get("total_annotations_number")
        return expected == (totals["tasks"], totals["annotations"]) and self._versions() == self.row()["seen_versions"]

    def _look_where_counts_differ(self) -> None:
        """Read the tasks that are new or have another number of annotations, and forget those that are gone."""
        listed = tasks.dates(self.client, self.number)
        noted = self.store.annotation_counts(self.project)
        other = [number for number, (_, count) in listed.items() if noted.get(number) != count]
        gone = [number for number in noted if number not in listed]
        if len(other) <= FEW_STALE:
            self.store.drop_tasks(self.project, gone)
            self.changed += len(gone)
            self._look_at(other)

    def _look_at(self, numbers: Sequence[int]) -> None:
        """Read these tasks; forget those that are no more."""
        seen: set[int] = set()
        self._read_pages(generation=self.row()["generation"], only=numbers, seen=seen)
        gone = [number for number in numbers if number not in seen]
        self.store.drop_tasks(self.project, gone)
        self.changed += len(gone)

    def _mismatch_pause(self) -> float:
        # Small projects are read in a moment, so there is no reason to wait.
        return 0.0 if self.store.totals(self.project)["tasks"] <= 2000 else FULL_ON_MISMATCH_EVERY


def _earlier(moment: str) -> str:
    """The watermark less the overlap."""
    return (datetime.fromisoformat(moment.replace("Z", "+00:00")) - OVERLAP).isoformat().replace("+00:00", "Z")

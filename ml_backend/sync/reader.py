"""Reading the changed tasks of one project with as few requests as possible."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.agreed import agreed_in
from ml_backend.labelstudio.answers import Reading, pulled_row
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.agreed import AgreedStore
from ml_backend.sync.notes import Note
from ml_backend.sync.project_run import ProjectRun
from ml_backend.sync.users import Users

log = logging.getLogger(__name__)

OVERLAP = timedelta(seconds=10)  # a change can become visible later than its time stamp says, but not after
SETTLED_AFTER = 30.0  # seconds
FEW_STALE = 50  # tasks that are read one by one
NEWEST = 20  # tasks that are read before the whole overlap
EARLIEST = "1970-01-01T00:00:00.000000Z"
FULL_ON_MISMATCH_EVERY = 600.0
SMALL = 2_000  # tasks of a project
TRIES_TO_LIST = 2

_Counts = tuple[int, int, dict[str, int] | None]  # tasks, annotations, predictions of each other version


class TaskReader:
    """Reads the tasks of one project into the store during one run.

    Parameters
    ----------
    run : ProjectRun
    reading : Reading
        What decides how answers are read; its splittings may change while tasks are read.
    note : callable
        Called with some tasks as Label Studio returns them, and with their rows, before these are stored.
    fingerprint : str
        Names settings, model and controls; where another one is noted, every task is to be read and scored again.
    between_pages : callable
        Called between two pages of a long reading.
    codes : callable
        The concepts of texts, where the project has a terminology (`Scorer.codes`).

    Attributes
    ----------
    users : Users
    changed : int
        Tasks with other answers than before, or gone, so far.
    notes : list of Note
        What could not be read.
    incomplete : bool
        Whether Label Studio's list of tasks could not be trusted.
    """

    def __init__(
        self,
        run: ProjectRun,
        *,
        reading: Reading,
        note: Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], None],
        fingerprint: str,
        page_size: int,
        between_pages: Callable[[], None],
        codes: Callable[[Sequence[str]], dict[str, Any] | None] = lambda _: None,
    ):
        self.store, self.client, self.row = run.store, run.client, run.row
        self.project, self.number = run.project, run.number
        self._run = run
        self._reading, self._fingerprint = reading, fingerprint
        self._note = note
        self._page_size, self._between_pages, self._codes = page_size, between_pages, codes
        self._agreed = AgreedStore(run.store)
        self.users = Users(run)
        self.changed = 0
        self.notes: list[Note] = []
        self.incomplete = False
        self._unmet: set[int] = set()  # tasks that were missing when they were read one by one

    def pull_all(self) -> None:
        """Read every task, and delete the stored tasks that no longer exist."""
        row = self.row()
        if row["fingerprint"] != self._fingerprint:
            self.store.forget_scores(self.project)
            self.store.update_project(self.project, fingerprint=self._fingerprint, summary_stale=True, summary_due=0.0)
        self.users.update()
        generation = row["generation"] + 1
        # Incremented before the first page, so that the next run does not reuse the number of an interrupted run.
        self.store.update_project(self.project, generation=generation)
        # Requested before the first page: changes during the reading are newer, so the next run reads them again.
        newest = tasks.newest_change(self.client, self.number)
        versions = self._versions()
        self._read_pages(generation=generation, total=self.client.project(self.number)["task_number"], serve=True)
        complete = self._find_missed(generation)
        now = time.time()
        self.store.update_project(
            self.project,
            pulled_at=now if complete else None,  # an incomplete reading is done again by the next run
            watermark=tasks.exact(newest or EARLIEST),
            watermark_at=now,
            seen_versions=versions,
        )

    def _find_missed(self, generation: int) -> bool:
        """Read the tasks that the complete pull missed, and delete those that are gone.

        False if the list of tasks is unreliable.
        """
        missed = self.store.older(self.project, generation)
        if not missed and self.client.project(self.number)["task_number"] <= self.store.totals(self.project)["tasks"]:
            return True
        listed, sound = self._listed()
        if unread := self._unread(listed, generation):
            self._read_pages(generation=generation, after=unread[0] - 1)
            if self._unread(listed, generation):  # deleted meanwhile, or not visible yet
                listed, sound = self._listed()
        unread = self._unread(listed, generation)
        self._drop([number for number in missed if number not in listed], listed, sound)
        if sound and not unread:
            return True
        self.incomplete = True
        self.notes.append(
            Note(
                "Label Studio did not list all tasks of the project: nothing was removed for that.",
                "The next run reads everything again. If this stays, look at Label Studio's log and at proxies before "
                "it.",
            )
        )
        log.warning("project %d: %d of the listed tasks could not be read", self.number, len(unread))
        return False

    def _unread(self, listed: Mapping[int, Any], generation: int) -> list[int]:
        """Tasks of a list that the complete pull number `generation` did not read."""
        read = set(self.store.annotation_counts(self.project)) - set(self.store.older(self.project, generation))
        return sorted(set(listed) - read)

    def _listed(self) -> tuple[dict[int, tuple[str, int]], bool]:
        """Every task with its date and number of annotations, and whether the list is as long as the project's count.

        A list that is too short must not remove anything. It may be too short by a task or two where tasks come and go
        meanwhile; then it is asked for again.
        """
        listed: dict[int, tuple[str, int]] = {}
        for _ in range(TRIES_TO_LIST):
            before = self.client.project(self.number)["task_number"]
            listed = tasks.dates(self.client, self.number)
            after = self.client.project(self.number)["task_number"]
            if len(listed) >= min(before, after):
                return listed, True
        log.warning(
            "project %d: Label Studio lists %d tasks and counts %d, nothing is removed", self.number, len(listed), after
        )
        return listed, False

    def _drop(self, numbers: Iterable[int], listed: Mapping[int, Any], sound: bool) -> None:
        """Delete these tasks, which were missing on reading, if a reliable list does not have them either."""
        gone = [number for number in numbers if number not in listed]
        if sound and gone:
            self.store.drop_tasks(self.project, gone)
            self.changed += len(gone)

    def pull_changes(self) -> None:
        """Read tasks that changed since the last run, and tasks that a webhook reports as changed or deleted."""
        row = self.row()
        suspects = [number for number in self.store.suspects(self.project) if number not in self._unmet]
        if suspects:
            self._look_at(suspects)
        if row["watermark"] is None:
            return
        now = time.time()
        if row["watermark_at"] is None:
            newest = self._read_pages(generation=row["generation"], updated_after=row["watermark"])
        else:
            newest = self._read_stale(row["generation"], _earlier(row["watermark"]))
        if newest and tasks.exact(newest) > tasks.exact(row["watermark"]):
            self.store.update_project(self.project, watermark=tasks.exact(newest), watermark_at=now)

    def pull_newest(self) -> bool:
        """Read the latest changes, where reading the overlap may take long; returns whether there were any.

        Just after an import the overlap is the whole import, and an annotator's edit would have to wait for it.
        """
        row = self.row()
        if row["watermark"] is None or row["watermark_at"] is None:
            return False
        stale = self._stale(tasks.newest(self.client, self.number, NEWEST))
        if not 0 < len(stale) < NEWEST:  # so many are read in pages, later
            return False
        self._read_pages(generation=row["generation"], only=stale)
        return True

    def pull_some(self) -> tuple[list[int], bool]:
        """Read a few tasks that changed last or that a hint names; returns them, and whether there may be more.

        The work is bounded, so that a long run always reaches its next step.
        """
        suspects = [number for number in self.store.suspects(self.project) if number not in self._unmet]
        self._look_at(suspects[:NEWEST])
        stale = self._stale(tasks.newest(self.client, self.number, NEWEST))
        if stale:
            self._read_pages(generation=self.row()["generation"], only=stale)
        return sorted({*stale, *suspects[:NEWEST]}), len(stale) == NEWEST or len(suspects) > NEWEST

    def is_behind(self) -> bool:
        """Whether tasks changed since they were read."""
        return bool(self._stale(tasks.newest(self.client, self.number, NEWEST)))

    def _stale(self, dated: Mapping[int, tuple[str, int]]) -> list[int]:
        """The tasks whose ``updated_at`` differs from the stored one."""
        noted = self.store.stamps(self.project, list(dated))
        return [number for number, (stamp, _) in dated.items() if noted.get(number) != stamp]

    def _read_stale(self, generation: int, since: str) -> str | None:
        """Read the tasks whose ``updated_at`` differs from the stored one; returns the newest date since then.

        A recent import is within the overlap and may be the whole project, so only its dates are read.
        """
        changes = tasks.dates(self.client, self.number, updated_after=since)
        stale = self._stale(changes)
        if len(stale) > FEW_STALE:
            self._read_pages(generation=generation, updated_after=_earlier(min(changes[number][0] for number in stale)))
        elif stale:
            self._read_pages(generation=generation, only=stale)
        return max((stamp for stamp, _ in changes.values()), default=None)

    def settle(self) -> bool:
        """Some time after a change, read the whole overlap once more; False if that is not due."""
        row = self.row()
        now = time.time()
        if row["watermark_at"] is None or now - row["watermark_at"] <= SETTLED_AFTER:
            return False
        since = _earlier(row["watermark"])
        newest = self._read_pages(generation=row["generation"], updated_after=since, serve=True)
        watermark = tasks.exact(row["watermark"])
        latest = max(watermark, tasks.exact(newest)) if newest else watermark
        self.store.update_project(self.project, watermark=latest, watermark_at=now if latest > watermark else None)
        return True

    def _versions(self) -> dict[str, int] | None:
        """Number of predictions of other versions, where they count: writing one does not change ``updated_at``."""
        if not self._reading.settings.predictions_as_raters:
            return None
        return {name: n for name, n in self.client.model_versions(self.number).items() if name != MODEL_VERSION}

    def _read_pages(
        self,
        *,
        generation: int,
        total: int | None = None,
        updated_after: str | None = None,
        only: Sequence[int] | None = None,
        after: int = 0,
        seen: set[int] | None = None,
        serve: bool = False,
    ) -> str | None:
        """Note the tasks' answers and predictions; returns the newest ``updated_at`` of the first page.

        Changes after the reading of the first page are newer than its dates; this does not hold for later pages.
        `serve` processes annotators' changes between two pages.
        """
        newest: str | None = None
        done = 0
        pages = tasks.pages(
            self.client,
            self.number,
            page_size=self._page_size,
            updated_after=updated_after,
            only=only,
            after=after,
            data=True,
        )
        for page in pages:
            self._run.check()
            self.users.identify_drafters(page)
            rows = [pulled_row(task, self._reading, generation=generation) for task in page]
            self._note(page, rows)
            self.changed += self.store.put_pulled(self.project, rows)
            self._note_agreed(page, rows)
            if not done:
                newest = max((row["updated_at"] for row in rows if row["updated_at"]), default=None)
            done += len(rows)
            if seen is not None:
                seen.update(row["number"] for row in rows)
            self._run.report("reading", done, total)
            self.users.meet(rows)
            if serve:
                self._between_pages()
        return newest

    def _note_agreed(self, page: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> None:
        """Note reviewers' annotations made from the suggestion, and ground truths, as agreed answers."""
        reviewers = {*self._reading.settings.reviewers, *self.row()["connection"].get("leads", ())}
        read: dict[int, dict[str, dict[str, Any]]] = {}
        of_task = {row["number"]: row for row in rows}
        for task in page:
            row = of_task[int(task["id"])]
            agreed = agreed_in(task, row["answers"], self._reading, reviewers=reviewers)
            for entry in agreed.values():
                entry["reviewer"] = self.users.name(entry["reviewer_id"])
            if not task.get("unreadable"):
                read[row["number"]] = agreed
        self._agreed.note_read(self.project, read, codes=self._codes)

    def compare_counts(self) -> None:
        """Compare the numbers of tasks and annotations, because deletions change no ``updated_at`` of any task."""
        self.drop_unmet()
        before = self.remote_counts()
        if self._agrees(before):
            return
        self.pull_changes()
        if self._agrees(self.remote_counts()):
            return
        self._look_where_counts_differ()
        after = self.remote_counts()
        # The numbers differ for a moment while annotators work; this alone must not cause complete readings.
        if self._agrees(after) or after != before:
            return
        is_small = self.store.totals(self.project)["tasks"] <= SMALL  # read in a moment, so there is no reason to wait
        if is_small or time.time() - (self.row()["pulled_at"] or 0) > FULL_ON_MISMATCH_EVERY:
            log.info("project %d: numbers of tasks, annotations or predictions differ, reading everything", self.number)
            self.pull_all()

    def remote_counts(self) -> _Counts:
        """Tasks, annotations and predictions of other versions, as Label Studio counts them now."""
        remote = self.client.project(self.number)
        return remote["task_number"], remote["total_annotations_number"], self._versions()

    def _agrees(self, counts: _Counts) -> bool:
        stored = self.store.totals(self.project)
        return counts == (stored["tasks"], stored["annotations"], self.row()["seen_versions"])

    def read_doubtful(self) -> None:
        """Read the tasks with an unknown state after an interrupted write; all tasks where these are many."""
        doubtful = self.store.doubtful(self.project, FEW_STALE + 1)
        if len(doubtful) > FEW_STALE:
            self.pull_all()
        elif doubtful:
            self._look_at(doubtful)
            self.drop_unmet()

    def drop_unmet(self) -> None:
        """Delete the tasks that were missing on reading, if a complete list confirms that they are gone."""
        if self._unmet:
            self._drop(self._unmet, *self._listed())
            self._unmet.clear()

    def _look_where_counts_differ(self) -> None:
        """Read the tasks that are new or have another number of annotations, and delete those that are gone."""
        listed, sound = self._listed()
        noted = self.store.annotation_counts(self.project)
        other = [number for number, (_, count) in listed.items() if noted.get(number) != count]
        self._drop([number for number in noted if number not in listed], listed, sound)
        if len(other) <= FEW_STALE:
            self._look_at(other)

    def _look_at(self, numbers: Sequence[int]) -> None:
        """Read these tasks; `compare_counts` deletes missing ones once a complete list confirms that they are gone."""
        seen: set[int] = set()
        self._read_pages(generation=self.row()["generation"], only=numbers, seen=seen)
        self._unmet.update(number for number in numbers if number not in seen)


def _earlier(moment: str) -> str:
    """The watermark minus the overlap."""
    return tasks.exact((datetime.fromisoformat(moment.replace("Z", "+00:00")) - OVERLAP).isoformat())

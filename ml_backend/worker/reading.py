"""Reading the tasks that differ from what Label Studio lists."""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.agreed import agreed_in, ground_truth_of
from ml_backend.labelstudio.answers import pulled_row
from ml_backend.labelstudio.predictions import prediction_hash
from ml_backend.review.notes import Note
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.acts import AgreedStore
from ml_backend.store.database import Row
from ml_backend.store.tasks import NO_PREDICTION
from ml_backend.worker.project_run import ProjectRun
from ml_backend.worker.users import Users
from softirr.answers.labelstudio_results import mappings

log = logging.getLogger(__name__)

LATE = timedelta(seconds=10)
"""Maximum delay between the time stamp of a change and the time when it becomes visible."""
AGAIN_AFTER = 30.0
"""Seconds after which a task with such a recent change is read once more."""
FEW = 50
"""Number of tasks up to which each is read with a separate request."""
NEWEST = 20
"""Number of tasks that are compared before the whole list, so that an annotator's edit does not wait for it."""
TRIES_TO_LIST = 2
LISTING_SHARE = 20.0
"""The list of a large project takes at most one part in this many of the time."""

Listed = dict[int, tuple[str, int]]
"""Task -> ``updated_at`` and number of annotations that are not skipped."""
NOT_LISTED = Note(
    "Label Studio did not list all tasks of the project: nothing was removed for that.",
    "The next run reads everything again. If this stays, look at Label Studio's log and at proxies before it.",
)


class TaskReader:
    """Reads the tasks of one project into the store during one run.

    Parameters
    ----------
    note : callable
        Called with the rows of some tasks before they are stored.
    between_pages : callable
        Called between two pages of a long reading.

    Attributes
    ----------
    changed : int
        Number of tasks with other answers than before, or gone, so far.
    removed : int
        Number of duplicate predictions removed so far.
    last_read : int
        Number of the last task of the pages read so far; they are in order of number.
    incomplete : bool
        Whether Label Studio's list of tasks was unreliable.
    """

    def __init__(self, run: ProjectRun, note: Callable[[Sequence[Row]], None], between_pages: Callable[[], None]):
        self._run, self._note, self._between_pages = run, note, between_pages
        self.store, self.client = run.store, run.client
        self.project, self.number = run.project, run.number
        self.users = Users(run)
        self.changed = self.removed = 0
        self.last_read = -1
        self.incomplete = False
        self._newest = ""

    # --- what differs -------------------------------------------------------------------------------------------------

    def find_newest(self) -> list[int]:
        """Return the tasks that changed last and were not read since, at most `NEWEST`."""
        dated = tasks.newest(self.client, self.number, NEWEST)
        rows = self.store.get_tasks(self.project, list(dated), columns=("updated_at", "n_listed"))
        return self._stale(dated, {number: (row["updated_at"], row["n_listed"]) for number, row in rows.items()})

    def read_each(self, numbers: Collection[int]) -> set[int]:
        """Read each of these tasks with a separate request; returns those that exist."""
        page_size = self._run.operator.page_size
        return self._read_pages(tasks.separate_tasks(self.client, self.number, numbers, page_size=page_size))

    def read_all(self) -> None:
        """Compare the whole list of tasks with the store: read what differs, and drop what is gone."""
        started = time.monotonic()
        listed, is_sound = self._list()
        self._newest = max((stamp for stamp, _ in listed.values()), default="")
        stamps = self.store.stamps(self.project)
        stale = self._stale(listed, stamps)
        unread = self._read_stale(stale, listed)
        if unread:  # deleted meanwhile, or not visible yet
            listed, is_sound = self._list()
            unread = self._read_stale([number for number in unread if number in listed], listed)
        if is_sound:
            gone = [number for number in stamps if number not in listed]
            self.store.drop_tasks(self.project, gone)
            self.changed += len(gone)
        self.incomplete = bool(unread) or not is_sound
        if unread:
            log.warning("project %d: %d of the listed tasks could not be read", self.number, len(unread))
        now = time.time()
        values: dict[str, Any] = {"list_due": now + LISTING_SHARE * (time.monotonic() - started)}
        if self.incomplete or self._run.row()["pulled_at"] is None:
            values["pulled_at"] = None if self.incomplete else now
        self.store.update_project(self.project, **values)

    def read_marked(self) -> None:
        """Read the few tasks that the store marks, without the list; with many, or if one is gone, compare the list."""
        marked_tasks = self.store.marked(self.project, FEW + 1)
        if len(marked_tasks) > FEW or len(self.read_each(marked_tasks)) < len(marked_tasks):
            self.read_all()

    def remote_counts(self) -> tuple[int, int, dict[str, int] | None]:
        """Return the numbers of tasks, annotations and other versions' predictions in Label Studio."""
        remote = self.client.project(self.number)
        return remote["task_number"], remote["total_annotations_number"], self.other_versions()

    def differs(self) -> bool:
        """Whether Label Studio counts other tasks or annotations than the store, which changes no date of a task."""
        totals = self.store.totals(self.project)
        return self.remote_counts()[:2] != (totals["tasks"], totals["annotations"])

    def other_versions(self) -> dict[str, int] | None:
        """Return the number of predictions of other versions if they count; writing one does not change any date."""
        if not self._run.settings.predictions_as_raters:
            return None
        return {name: n for name, n in self.client.model_versions(self.number).items() if name != MODEL_VERSION}

    def _list(self) -> tuple[Listed, bool]:
        """Return every task, and whether there are as many as the project counts.

        A list that is too short must not remove anything. It may lack a task or two while tasks come and go; then it is
        requested again.
        """
        for _ in range(TRIES_TO_LIST):
            n_before = self.client.project(self.number)["task_number"]
            is_new = self.store.totals(self.project)["tasks"] <= FEW < n_before
            listed = self._read_new(n_before) if is_new else tasks.dates(self.client, self.number)
            n_after = self.client.project(self.number)["task_number"]
            if len(listed) >= min(n_before, n_after):
                return listed, True
        counts = len(listed), n_after
        log.warning("project %d: Label Studio lists %d tasks and counts %d, nothing is removed", self.number, *counts)
        return listed, False

    def _read_new(self, n_tasks: int) -> Listed:
        """Read a large project with hardly anything in the store: its pages name all tasks, so it needs no list."""
        pages = tasks.pages(self.client, self.number, page_size=self._run.operator.page_size)
        read, stamps = self._read_pages(pages, total=n_tasks), self.store.stamps(self.project)
        return {number: (stamps[number][0] or "", stamps[number][1]) for number in read}

    @staticmethod
    def _stale(listed: Mapping[int, tuple[str, int]], stamps: Mapping[int, tuple[str | None, int]]) -> list[int]:
        return [number for number, dated in listed.items() if stamps.get(number) != dated]

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read_stale(self, stale: Collection[int], listed: Listed) -> list[int]:
        """Read these tasks, many by the page and few by themselves; returns those that could not be read."""
        unread = set(stale)
        for _ in range(2):
            if len(unread) <= min(FEW, len(listed) / 2):
                break
            since, size = min(listed[number][0] for number in unread), self._run.operator.page_size
            earliest = _earlier(since) if since else None
            pages = tasks.pages(self.client, self.number, page_size=size, updated_after=earliest, above=min(unread) - 1)
            unread -= self._read_pages(pages, total=len(unread))
        if len(unread) <= FEW:
            unread -= self.read_each(unread)
        return sorted(unread)

    def _read_pages(self, pages: Iterator[list[dict[str, Any]]], *, total: int | None = None) -> set[int]:
        """Store the answers and predictions of tasks; returns the tasks."""
        read: set[int] = set()
        asked_at = time.time()
        for page in pages:
            self._run.check()
            self.users.identify_drafters(page)
            numbers = [int(task["id"]) for task in page]
            stored = self.store.get_tasks(self.project, numbers, columns=("updated_at", "desired"))
            rows = [self._row(task, stored.get(number)) for number, task in zip(numbers, page, strict=True)]
            self._note(rows)
            self._note_agreed(page, rows, asked_at)
            self.changed += self.store.put_read(self.project, rows)
            read.update(numbers)
            self.last_read = numbers[-1]
            self._run.report("reading", len(read), total)
            self.users.meet(rows)
            self._between_pages()
            asked_at = time.time()
        return read

    def _row(self, task: Mapping[str, Any], stored: Row | None) -> dict[str, Any]:
        """Return the row of a task that was just read."""
        row = pulled_row(task, self._run.reading)
        stamp = row["updated_at"] or ""
        self._newest = max(self._newest, stamp)
        is_recent = bool(stamp) and tasks.exact(stamp) > _earlier(self._newest)
        is_new = stored is None or stored["updated_at"] != stamp
        again_at = time.time() + AGAIN_AFTER if is_recent and is_new else None
        return row | {"again_at": again_at} | self._prediction(task, None if stored is None else stored["desired"])

    def _prediction(self, task: Mapping[str, Any], desired: str | None) -> dict[str, Any]:
        """Return the id and hash of a task's prediction of our version, and remove its duplicates."""
        hashes = {
            prediction["id"]: prediction_hash(prediction)
            for prediction in mappings(task.get("predictions"))
            if prediction.get("model_version") == MODEL_VERSION
        }
        if not hashes:
            return {"prediction_id": None, "prediction_hash": NO_PREDICTION}
        first = min(hashes, key=lambda number: (hashes[number] != desired, number))
        for number in hashes.keys() - {first}:
            self.client.delete_prediction(number)
            self.removed += 1
        return {"prediction_id": first, "prediction_hash": hashes[first]}

    def _note_agreed(self, page: Sequence[Mapping[str, Any]], rows: Sequence[Row], asked_at: float) -> None:
        """Record ground truths that people set in Label Studio as agreed answers."""
        read: dict[int, dict[str, dict[str, Any]]] = {}
        starred: dict[int, int | None] = {}
        for task, row in zip(page, rows, strict=True):
            if not task.get("unreadable"):
                read[row["number"]] = agreed = agreed_in(task, row["answers"], self._run.reading)
                starred[row["number"]] = (ground_truth_of(task) or {}).get("id")
                for entry in agreed.values():
                    entry["reviewer"] = self.users.name(entry["reviewer_id"])
        AgreedStore(self.store).note_read(self.project, read, starred, asked_at=asked_at)


def _earlier(moment: str) -> str:
    """Return the time before which no change of this time stamp or a later one can have been invisible."""
    return tasks.exact((datetime.fromisoformat(moment.replace("Z", "+00:00")) - LATE).isoformat())

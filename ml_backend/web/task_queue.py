"""The triage queue of a project: the order of tasks in the report and of "next" in the panel.

First the tasks that every annotator has finished, in the order in which a review helps most; then those that wait for
answers, those that were sent back to their annotators, and those that are done.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ml_backend.review.release import mark_state
from ml_backend.store.store import Row
from ml_backend.web.links import Links
from ml_backend.web.responses import moment
from ml_backend.web.task_rows import Candidate, TaskRow

STATES = ("ready", "waiting", "sent back", "done")
"""States of a task in the order of the queue."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A task of the queue.

    Attributes
    ----------
    sentence : str
        What differs, as the panel shows it.
    state : str
        One of `STATES`.
    mark : mapping or None
        The reviewer's mark on the task.
    """

    candidate: Candidate
    sentence: str
    state: str
    mark: Row | None

    @property
    def task(self) -> int:
        """Number of the task."""
        return self.candidate.task

    def view(self, links: Links) -> dict[str, Any]:
        """Return the entry as pages and programs read it."""
        is_back = self.mark is not None and bool(self.mark["sent_back"]) and self.state in ("ready", "waiting")
        return {
            **asdict(self.candidate),
            "sentence": self.sentence,
            "link": links.queued(self.task),
            "state": self.state,
            "answered_again": is_back,
            "done": mark_details(self.mark) if self.state == "done" else None,
            "sent_back": mark_details(self.mark) if self.state == "sent back" else None,
        }


class Queue:
    """The queue, ordered on creation.

    Parameters
    ----------
    marks : mapping of int to mapping
        Marks by task: answers_hash, reviewer, at, sent_back, note.
    required : int
        Annotations that each task is to get.
    """

    def __init__(self, rows: Iterable[TaskRow], marks: Mapping[int, Row], links: Links, *, required: int = 1):
        self._links = links
        entries = [entry for row in rows if (entry := _entry(row, marks.get(row["number"]), required)) is not None]
        entries.sort(key=lambda entry: (STATES.index(entry.state), entry.candidate.order))
        self._entries = entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def view(self, *, done: bool | None = None) -> list[dict[str, Any]]:
        """Return the entries as pages and programs read them: only the done tasks, only the others, or all."""
        return [entry.view(self._links) for entry in self if done is None or done == (entry.state == "done")]

    def after(self, task: int | None, *, tab: str | None = None) -> dict[str, Any]:
        """Return the next task to look at, as ``GET /api/queue/next`` answers.

        Parameters
        ----------
        task : int or None
            The open task, which keeps its position when it is marked; None for the start of the list.
        tab : str, optional
            Tab of the Data Manager that the link stays in.
        """
        ready = [entry for entry in self if entry.state == "ready"]
        current = next((entry for entry in self if entry.task == task and entry.state != "waiting"), None)
        position = (
            0
            if current is None
            else bisect_right(ready, current.candidate.order, key=lambda entry: entry.candidate.order)
        )
        following = ready[position].task if position < len(ready) else None
        return {
            "task": following,
            "link": None if following is None else self._links.queued(following, tab=tab),
            "position": None if following is None else position + 1,
            "total": len(ready),
            "left": sum(entry.task != task for entry in ready),
        }


def mark_details(mark: Row | None) -> dict[str, Any] | None:
    """Return who marked a task, when, and the note of a task that was sent back."""
    if mark is None:
        return None
    signature = {"who": mark["reviewer"], "when": moment(mark["at"])}
    return {**signature, "note": mark["note"]} if mark["sent_back"] else signature


def _entry(row: TaskRow, mark: Row | None, required: int) -> Entry | None:
    if row["candidate"] is None:
        return None
    is_ready = row["n_given"] >= required
    state = mark_state(mark, row["answers_hash"]) or ("ready" if is_ready else "waiting")
    return Entry(row["candidate"], row["sentence"], state, mark)

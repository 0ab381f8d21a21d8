"""The triage queue of a project: the order of tasks in the report and of "next" in the panel.

First the tasks that every annotator has finished, in the order in which a review helps most; then those that wait for
answers, those that were sent back to their annotators, and those that are done.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ml_backend.review.release import mark_state
from ml_backend.store.store import Row
from ml_backend.web.links import Links
from ml_backend.web.responses import moment
from ml_backend.web.task_rows import TaskRow

STATES = ("ready", "waiting", "sent back", "done")
"""States of a task in the order of the queue."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A task of the queue.

    Attributes
    ----------
    row : mapping
        The task, with a priority.
    state : str
        One of `STATES`.
    mark : mapping or None
        The reviewer's mark on the task.
    """

    row: TaskRow
    state: str
    mark: Row | None

    @property
    def task(self) -> int:
        """Number of the task."""
        return int(self.row["number"])

    @property
    def order(self) -> tuple[float, int]:
        """Sort key: highest priority first; ties by task number."""
        return -self.row["priority"], self.task

    def view(self, links: Links) -> dict[str, Any]:
        """Return the entry as pages and programs read it."""
        is_back = self.mark is not None and bool(self.mark["sent_back"]) and self.state in ("ready", "waiting")
        return {
            "task": self.task,
            **{name: self.row[name] for name in ("priority", "agreement", "n_raters", "sentence")},
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
        scored = (row for row in rows if row["priority"] is not None)
        entries = (_entry(row, marks.get(row["number"]), required) for row in scored)
        self._entries = sorted(entries, key=lambda entry: (STATES.index(entry.state), entry.order))

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
        position = 0 if current is None else bisect_right(ready, current.order, key=lambda entry: entry.order)
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


def _entry(row: TaskRow, mark: Row | None, required: int) -> Entry:
    is_ready = row["n_given"] >= required
    state = mark_state(mark, row["answers_hash"]) or ("ready" if is_ready else "waiting")
    return Entry(row, state, mark)

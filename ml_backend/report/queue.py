"""The triage queue of a project: every task with an agreement, in the order in which a review helps most, with marks of done tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ml_backend.report.links import Links
from ml_backend.report.rows import TaskRow
from ml_backend.review.panel_payload import moment, word
from ml_backend.review.triage_queue import LOW, Candidate, by_reason, ordered
from ml_backend.store.store import Row

_Entry = tuple[Candidate, Row | None]  # the mark of a done task whose answers have not changed since


class Queue:
    """The queue, ordered on creation; entries are described only when they are requested.

    Parameters
    ----------
    rows : iterable of TaskRow
    names : mapping
        Names of annotators.
    done : mapping of int to mapping
        Marks by task: answers_hash, reviewer, at.
    """

    def __init__(self, rows: Iterable[TaskRow], names: Mapping[str, str], done: Mapping[int, Row], links: Links):
        rows = list(rows)
        self._names, self._links = names, links
        self._told = {row["number"]: (row["text"], row["why"]) for row in rows if row["candidate"] is not None}
        hashes = {
            row["number"]: row["answers_hash"] for row in rows if row["candidate"] is not None and row["number"] in done
        }
        marks = {task: done[task] for task, digest in hashes.items() if done[task]["answers_hash"] == digest}
        candidates = ordered(row["candidate"] for row in rows if row["candidate"] is not None)
        self._open: list[_Entry] = [(one, None) for one in candidates if one.task not in marks]
        self._done: list[_Entry] = [(one, marks[one.task]) for one in candidates if one.task in marks]

    @property
    def n_open(self) -> int:
        """Tasks that are not done."""
        return len(self._open)

    @property
    def n_low(self) -> int:
        """Tasks of low agreement that are not done."""
        return sum(one.agreement < LOW for one, _ in self._open)

    @property
    def n_done(self) -> int:
        """Tasks that are done."""
        return len(self._done)

    def tasks(self) -> list[int]:
        """Numbers of all tasks in this order."""
        return [one.task for one, _ in self._entries(None)]

    def with_reason(self, kind: str, *, done: bool | None = None) -> int:
        """Tasks with a pair of texts that does not match for this reason."""
        return sum(kind in one.kinds for one, _ in self._entries(done))

    def view(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        done: bool | None = None,
        reason: str | None = None,
        sort: str | None = None,
    ) -> list[dict[str, Any]]:
        """Entries `start` to `stop` of the queue, done tasks last.

        Parameters
        ----------
        done : bool, optional
            Only the done tasks, or only the others.
        reason : str, optional
            Only tasks with a pair of texts that does not match for this reason.
        sort : {"reason"}, optional
            Tasks with the same most frequent reason stand together.
        """
        entries = [entry for entry in self._entries(done) if reason is None or reason in entry[0].kinds]
        if sort == "reason":
            entries.sort(key=lambda entry: by_reason(entry[0]))
        return [self._said(*entry) for entry in entries[start:stop]]

    def _entries(self, done: bool | None) -> Sequence[_Entry]:
        return {None: [*self._open, *self._done], True: self._done, False: self._open}[done]

    def _said(self, one: Candidate, mark: Row | None) -> dict[str, Any]:
        return {
            **one.to_dict(),
            "word": word(one.agreement),
            "text": self._told[one.task][0],
            "why": self._told[one.task][1],
            "reasons": one.reasons(self._names),
            "link": self._links.task(one.task),
            "done": None if mark is None else {"who": mark["reviewer"], "when": moment(mark["at"])},
        }

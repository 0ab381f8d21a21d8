"""The triage queue of a project: one list in one order, which the report, the Data Manager's tab and the panel share.

First the tasks that every annotator has finished with, in the order in which a review helps most; then those that wait
for answers, those that were sent back to their annotators, and those that are done.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ml_backend.review.agreement_words import is_low, word
from ml_backend.review.moments import moment
from ml_backend.review.triage_queue import Candidate, by_priority, by_reason, mark_state
from ml_backend.store.store import Row
from ml_backend.web.links import Links
from ml_backend.web.task_rows import TaskRow

STATES = ("ready", "waiting", "sent back", "done")
_Entry = tuple[Candidate, str, Row | None]  # task, its state, and its mark, where there is one


class Queue:
    """The queue, ordered on creation; entries are described only when they are requested.

    Parameters
    ----------
    names : mapping
        Names of annotators.
    marks : mapping of int to mapping
        Marks by task: answers_hash, reviewer, at, sent_back, note.
    required : int
        Annotations that each task is to get.
    chance : float, optional
        The agreement that chance alone gives in the project (`ml_backend.review.agreement_words.chance_of`).
    """

    def __init__(
        self,
        rows: Iterable[TaskRow],
        names: Mapping[str, str],
        marks: Mapping[int, Row],
        links: Links,
        *,
        required: int = 1,
        chance: float | None = None,
    ):
        self._names, self._links, self._chance = names, links, chance
        self._sentences: dict[int, str] = {}
        self._by_state: dict[str, list[_Entry]] = {state: [] for state in STATES}
        for row in rows:
            if row["candidate"] is None:
                continue
            self._sentences[row["number"]] = row["sentence"]
            mark = marks.get(row["number"])
            ready = row["n_given"] >= required
            state = mark_state(mark, row["answers_hash"]) or ("ready" if ready else "waiting")
            self._by_state[state].append((row["candidate"], state, mark))
        for entries in self._by_state.values():
            entries.sort(key=lambda entry: by_priority(entry[0]))

    @property
    def n_open(self) -> int:
        """Tasks that are not done."""
        return len(self._entries(False))

    @property
    def n_low(self) -> int:
        """Tasks with moderate agreement or less that are neither done nor sent back."""
        candidates = (one for state in ("ready", "waiting") for one, *_ in self._by_state[state])
        return sum(is_low(one.agreement, self._chance) for one in candidates)

    @property
    def n_done(self) -> int:
        """Tasks that are done."""
        return len(self._by_state["done"])

    @property
    def n_waiting(self) -> int:
        """Tasks that an annotator has not answered yet."""
        return len(self._by_state["waiting"])

    @property
    def n_sent_back(self) -> int:
        """Tasks that were sent back and whose answers have not changed since."""
        return len(self._by_state["sent back"])

    def tasks(self) -> list[int]:
        """Numbers of all tasks in this order."""
        return [one.task for one, *_ in self._entries(None)]

    def with_reason(self, kind: str, *, done: bool | None = None) -> int:
        """Tasks with a pair of texts that does not match for this reason."""
        return sum(kind in one.kinds for one, *_ in self._entries(done))

    def view(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        done: bool | None = None,
        reason: str | None = None,
        only: Collection[int] | None = None,
        sort: str | None = None,
    ) -> list[dict[str, Any]]:
        """Entries `start` to `stop` of the queue.

        Parameters
        ----------
        done : bool, optional
            Only the done tasks, or only the others.
        reason : str, optional
            Only tasks with a pair of texts that does not match for this reason.
        only : collection of int, optional
            Only these tasks.
        sort : {"reason"}, optional
            Tasks with the same most frequent reason stand together.
        """
        entries = [entry for entry in self._entries(done) if _is_wanted(entry[0], reason, only)]
        if sort == "reason":
            entries.sort(key=lambda entry: by_reason(entry[0]))
        return [self._said(*entry) for entry in entries[start:stop]]

    def states(self) -> Iterable[tuple[Candidate, str, Row | None]]:
        """Each task with its state and its mark, in the order of the queue."""
        return self._entries(None)

    def after(
        self, task: int | None, *, reason: str | None = None, sort: str | None = None, tab: str | None = None
    ) -> dict[str, Any]:
        """The next task to look at, as ``GET /api/queue/next`` answers.

        Parameters
        ----------
        task : int or None
            The task that is open; None for the start of the list. It keeps its place when it is marked meanwhile.
        reason, sort : str, optional
            As for `view`.
        tab : str, optional
            Tab of the Data Manager that the link stays in.
        """
        key = by_reason if sort == "reason" else by_priority
        ready = sorted((one for one, *_ in self._by_state["ready"] if _is_wanted(one, reason, None)), key=key)
        here = next((one for one, state, _ in self._entries(None) if one.task == task and state != "waiting"), None)
        place = 0 if here is None else bisect_right(ready, key(here), key=key)
        following = ready[place] if place < len(ready) else None
        left = [one for one in ready if one.task != task]
        return {
            "task": None if following is None else following.task,
            "link": None if following is None else self._links.queued(following.task, tab=tab),
            "place": None if following is None else place + 1,
            "total": len(ready),
            "left": len(left),
            "first": None if not left else {"task": left[0].task, "link": self._links.queued(left[0].task, tab=tab)},
            "waiting": self.n_waiting,
            "sent_back": self.n_sent_back,
            "done": self.n_done,
        }

    def _entries(self, done: bool | None) -> list[_Entry]:
        wanted = {None: STATES, True: ("done",), False: STATES[:-1]}[done]
        return [entry for state in wanted for entry in self._by_state[state]]

    def _said(self, one: Candidate, state: str, mark: Row | None) -> dict[str, Any]:
        reasons = one.reasons(self._names, self._chance)
        if mark is not None and mark["sent_back"] and state in ("ready", "waiting"):
            reasons.insert(0, f"answered again after {mark['reviewer'] or 'a reviewer'} sent it back")
        return {
            **one.to_dict(),
            "word": word(one.agreement, self._chance),
            "sentence": self._sentences[one.task],
            "reasons": reasons,
            "link": self._links.queued(one.task),
            "state": state,
            "done": mark_details(mark) if state == "done" else None,
            "sent_back": mark_details(mark) if state == "sent back" else None,
        }


def mark_details(mark: Row | None) -> dict[str, Any] | None:
    """Who marked a task, when, and the note of a task that was sent back."""
    if mark is None:
        return None
    shown = {"who": mark["reviewer"], "when": moment(mark["at"])}
    return {**shown, "note": mark["note"]} if mark["sent_back"] else shown


def _is_wanted(one: Candidate, reason: str | None, only: Collection[int] | None) -> bool:
    return (reason is None or reason in one.kinds) and (only is None or one.task in only)

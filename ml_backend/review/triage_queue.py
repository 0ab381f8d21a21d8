"""The order in which a reviewer should look at tasks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from softirr.report.view.rows import dissenter, priority


@dataclass(frozen=True, slots=True)
class Candidate:
    """One task of the queue.

    Attributes
    ----------
    priority : float
        The higher, the more a review helps (:func:`softirr.report.view.rows.priority`).
    """

    task: int
    priority: float
    agreement: float
    n_raters: int

    @property
    def order(self) -> tuple[float, int]:
        """Sort key: highest priority first; ties by task number."""
        return -self.priority, self.task


def candidate(task: int, agreement: float, pairs: Iterable[Sequence[Any]]) -> Candidate:
    """Return a task with its priority in the queue."""
    values = [(str(a), str(b), float(value)) for a, b, value in pairs]
    n_raters = len({rater for a, b, _ in values for rater in (a, b)})
    _, without = dissenter(agreement, values) or (None, None)
    return Candidate(task, priority(agreement, n_raters, without), agreement, n_raters)


def mark_state(mark: Mapping[str, Any] | None, answers_hash: str) -> str | None:
    """Return ``done`` or ``sent back``; None without a mark, or if the answers have changed since."""
    if mark is None or mark["answers_hash"] != answers_hash:
        return None
    return "sent back" if mark["sent_back"] else "done"

"""The order in which a reviewer should look at tasks, with the reasons."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ml_backend.review.agreement_words import is_low, word
from softirr.meaning.policy.attributes import KIND_NAMES
from softirr.meaning.policy.reasons import REASON_NAMES, REASONS
from softirr.plural import plural
from softirr.report.triage import dissenter, priority

NO_REASON = "nothing in particular"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One task of the queue.

    Attributes
    ----------
    priority : float
        The higher, the more a review helps (:func:`softirr.report.triage.priority`).
    dissenter : str or None
        The annotator without whom agreement rises most.
    without : float or None
        Agreement without that annotator.
    n_unmatched : int
        Texts without a match.
    kinds : tuple of str
        Why texts do not match (:data:`softirr.meaning.policy.reasons.REASONS`), the most frequent reason first.
    """

    task: int
    priority: float
    agreement: float
    n_raters: int
    dissenter: str | None
    without: float | None
    n_unmatched: int
    kinds: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)

    def reasons(self, name: Mapping[str, str], chance: float | None = None) -> list[str]:
        """The reasons for its priority in words.

        Parameters
        ----------
        name : mapping
            Names of the annotators.
        chance : float, optional
            The agreement that chance alone gives in the project (`ml_backend.review.agreement_words.chance_of`).
        """
        words = []
        if is_low(self.agreement, chance):
            words.append(f"{word(self.agreement, chance)} agreement")
        if self.dissenter is not None and self.without is not None:
            who = name.get(self.dissenter, self.dissenter)
            words.append(f"{who} differs from the others, who agree at {self.without:.2f}")
        if self.n_raters > 3:
            words.append(f"{self.n_raters} annotators")
        if self.n_unmatched:
            words.append(f"{plural(self.n_unmatched, 'text')} without a match")
        names = [REASON_NAMES[kind] for kind in self.kinds if kind in KIND_NAMES]
        if names:
            words.append(f"disagreement on {', '.join(names)}")
        return words or [NO_REASON]


def candidate(
    task: int,
    agreement: float,
    pairs: Iterable[Sequence[Any]],
    unmatched: Mapping[str, Sequence[str]] | None = None,
    reasons: Iterable[Mapping[str, Any]] = (),
) -> Candidate:
    """A task with its priority in the queue.

    Parameters
    ----------
    reasons : iterable of mappings
        Why texts of the task do not match, as its details hold them.
    """
    values = [(str(a), str(b), float(value)) for a, b, value in pairs]
    n_raters = len({rater for a, b, _ in values for rater in (a, b)})
    who, without = dissenter(agreement, values) or (None, None)
    n_unmatched = sum(len(texts) for texts in (unmatched or {}).values())
    counts = Counter(kind for one in reasons for kind in (one["kind"], *one.get("also", ())))
    kinds = tuple(sorted(counts, key=lambda kind: (-counts[kind], REASONS.index(kind))))
    rank = priority(agreement, n_raters, without)
    return Candidate(task, rank, agreement, n_raters, who, without, n_unmatched, kinds)


def ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Highest priority first; ties by task number."""
    return sorted(candidates, key=by_priority)


def by_priority(one: Candidate) -> tuple[float, int]:
    """Sort key of the queue: the priority; ties by task number."""
    return -one.priority, one.task


def mark_state(mark: Mapping[str, Any] | None, answers_hash: str) -> str | None:
    """``done`` or ``sent back``; None without a mark, or where the answers have changed since."""
    if mark is None or mark["answers_hash"] != answers_hash:
        return None
    return "sent back" if mark["sent_back"] else "done"


def by_reason(one: Candidate) -> tuple[int, float, int]:
    """Sort key: tasks with the same most frequent reason stand together; those without one come last."""
    return REASONS.index(one.kinds[0]) if one.kinds else len(REASONS), *by_priority(one)

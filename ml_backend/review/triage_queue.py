"""The order in which a reviewer should look at tasks, with the reasons."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log2
from typing import Any

from ml_backend.review.panel_payload import word

LOW = 0.6  # below, the agreement itself is a reason
GAIN = 0.15  # least gain by leaving one annotator out that is mentioned


@dataclass(frozen=True, slots=True)
class Candidate:
    """One task of the queue.

    Attributes
    ----------
    task : int
    priority : float
        The higher, the more a review helps.
    agreement : float
    n_raters : int
    dissenter : str or None
        The annotator without whom agreement rises most.
    without : float or None
        Agreement without that annotator.
    n_unmatched : int
        Texts without a match.
    """

    task: int
    priority: float
    agreement: float
    n_raters: int
    dissenter: str | None
    without: float | None
    n_unmatched: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)

    def reasons(self, name: Mapping[str, str]) -> list[str]:
        """The reason for its priority as a sentence."""
        found = []
        if self.agreement < LOW:
            found.append(f"{word(self.agreement)} agreement")
        if self.dissenter is not None and self.without is not None:
            who = name.get(self.dissenter, self.dissenter)
            found.append(f"{who} differs from the others, who agree at {self.without:.2f}")
        if self.n_raters > 3:
            found.append(f"{self.n_raters} annotators")
        if self.n_unmatched:
            found.append(f"{self.n_unmatched} text{'s' if self.n_unmatched != 1 else ''} without a match")
        return found or [f"{word(self.agreement)} agreement"]


def candidate(
    task: int, agreement: float, pairs: Iterable[Sequence[Any]], unmatched: Mapping[str, Sequence[str]] | None = None
) -> Candidate:
    """A task with its priority in the queue.

    A review helps most where agreement is low and many annotators are concerned, and is quickest where one annotator differs from others who
    agree. So the priority is (1 - agreement) (1 + log2(n) / 4), plus half of what leaving out the dissenter would gain.

    Parameters
    ----------
    pairs : iterable of (rater, rater, equivalence)
    """
    values = [(str(a), str(b), float(value)) for a, b, value in pairs]
    raters = sorted({rater for a, b, _ in values for rater in (a, b)})
    dissenter, without = None, None
    if len(raters) > 2:
        best = max(
            ((_mean(v for a, b, v in values if rater not in (a, b)), rater) for rater in raters), key=lambda x: x[0]
        )
        if best[0] - agreement >= GAIN:
            without, dissenter = best
    gain = 0.0 if without is None else without - agreement
    n = max(2, len(raters))
    priority = (1.0 - agreement) * (1.0 + log2(n) / 4.0) + gain / 2.0
    n_unmatched = sum(len(texts) for texts in (unmatched or {}).values())
    return Candidate(task, priority, agreement, len(raters), dissenter, without, n_unmatched)


def ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Highest priority first; ties by task number."""
    return sorted(candidates, key=lambda one: (-one.priority, one.task))


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept) if kept else 0.0

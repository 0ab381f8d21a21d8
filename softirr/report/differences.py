"""Types of difference between two raters, as adverse-event coding and radiology count them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["OPPOSITES", "DifferenceCount", "count_differences"]

OPPOSITES = {
    "omission": "addition",
    "addition": "omission",
    "substitution": "substitution",
    "more general": "more specific",
    "more specific": "more general",
    "contradiction": "contradiction",
}
"""Types of difference from a rater's side, and the same difference from the other rater's side."""
_EXAMPLES = 3


@dataclass(frozen=True)
class DifferenceCount:
    """How often a rater differs from another one in one way.

    Attributes
    ----------
    difference : str
        One of :data:`OPPOSITES`, from the side of `rater`: an omission is a text that only the other rater has.
    pairs : int
        Pairs of texts, or texts without a counterpart.
    items, shared : int
        Items that have such a pair, and items that both raters answered.
    low, high : float
        95% interval of the share of items (Wilson 1927).
    examples : tuple of (str, str or None, str or None)
        Item, text of the rater and text of the other one.
    """

    rater: str
    other: str
    difference: str
    pairs: int
    items: int
    shared: int
    low: float
    high: float
    examples: tuple[tuple[str, str | None, str | None], ...] = ()

    @property
    def share(self) -> float:
        """Share of the shared items that have such a pair."""
        return self.items / self.shared

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``difference_types`` of a comparison."""
        return {
            "rater": self.rater,
            "other": self.other,
            "difference": self.difference,
            "pairs": self.pairs,
            "items": self.items,
            "shared": self.shared,
            "share": self.share,
            "ci95": [self.low, self.high],
            "examples": [{"item": item, "texts": [text, its]} for item, text, its in self.examples],
        }


def count_differences(
    items: Iterable[tuple[str, Iterable[Mapping[str, Any]]]], shared: Mapping[tuple[str, str], int]
) -> Iterator[DifferenceCount]:
    """Count the types of difference of every two raters, from both sides.

    Parameters
    ----------
    items : iterable of (str, iterable of mapping)
        Ids of the items, and their entries of ``items[].reasons``.
    shared : mapping of (str, str) to int
        Items that each two raters share.

    Yields
    ------
    DifferenceCount
        Six for each rater and other rater.
    """
    from scipy.stats import binomtest

    pairs: Counter[tuple[str, str, str]] = Counter()
    on_items: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], list[tuple[str, str | None, str | None]]] = defaultdict(list)
    for item, reasons in items:
        item_sides = set()
        for reason in reasons:
            if (difference := reason.get("difference")) is None:  # stored by an earlier version
                continue
            (a, b), (text, its) = reason["raters"], reason["texts"]
            sides = (a, b, difference, text, its), (b, a, OPPOSITES[difference], its, text)
            for rater, other_rater, kind, text_of_rater, of_other in sides:
                side = (rater, other_rater, kind)
                item_sides.add(side)
                pairs[side] += 1
                if len(examples[side]) < _EXAMPLES:
                    examples[side].append((item, text_of_rater, of_other))
        on_items.update(item_sides)
    for (first, second), n in shared.items():
        for a, b in ((first, second), (second, first)):
            for difference in OPPOSITES:
                key = (a, b, difference)
                limits = binomtest(on_items[key], n).proportion_ci(method="wilson")
                low, high = float(limits.low), float(limits.high)
                yield DifferenceCount(*key, pairs[key], on_items[key], n, low, high, tuple(examples[key]))

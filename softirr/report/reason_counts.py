"""How often each reason occurs in a project: counts, examples, and what ignoring an attribute would change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from operator import attrgetter
from typing import Any, NamedTuple

from softirr.json_object import JsonObject
from softirr.meaning.policy.attributes import KINDS
from softirr.meaning.policy.reasons import REASON_NAMES, REASONS
from softirr.report.reasons import ItemReason

__all__ = [
    "Example",
    "ReasonCount",
    "ReasonSummary",
    "StoredReason",
    "WhatIf",
    "attributes_that_occur",
    "summarize_reasons",
]


_Wording = tuple[str | None, str | None]

EXAMPLES = 20
"""Pairs of texts that a report lists for each reason."""

EXAMPLE_ITEMS = 40
"""Items of each of these pairs that it names."""


class StoredReason(NamedTuple):
    """An entry of ``items[].reasons`` that was read again.

    Attributes
    ----------
    texts : (str or None, str or None)
        A text of each; None if one of them wrote none.
    kinds : tuple of str
        Everything that the texts disagree about, the reason first.
    words : str
        The reason in words.
    broader : int or None
        Which of the two texts is the more general one, 0 or 1; None for other reasons.
    """

    raters: tuple[str, str]
    texts: tuple[str | None, str | None]
    kinds: tuple[str, ...]
    words: str
    broader: int | None = None

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> StoredReason:
        """The inverse of :meth:`ItemReason.to_dict`, as far as counting needs it.

        Parameters
        ----------
        entry : mapping
            May have ``broader`` in addition.
        """
        (a, b), (text, other_text) = entry["raters"], entry["texts"]
        return cls(
            (a, b), (text, other_text), (entry["kind"], *entry.get("also", ())), entry["words"], entry.get("broader")
        )


CountedReason = ItemReason | StoredReason


@dataclass(frozen=True)
class Example:
    """Two texts that do not match for a reason, and how often.

    Attributes
    ----------
    items : tuple of str
        The first items that have both texts, 40 at most.
    pairs : int
        How often the two texts stand against each other.
    first : CountedReason
        Of the first item.
    """

    items: tuple[str, ...]
    pairs: int
    first: CountedReason

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``reasons.kinds[].examples``."""
        return {
            "item": self.items[0],
            "raters": list(self.first.raters),
            "texts": list(self.first.texts),
            "words": self.first.words,
            "pairs": self.pairs,
            "items": list(self.items),
        }


@dataclass(frozen=True)
class ReasonCount(JsonObject):
    """How often raters disagree for a reason.

    Attributes
    ----------
    kind : str
        One of :data:`softirr.meaning.policy.reasons.REASONS`.
    pairs : int
        Pairs of texts that do not match for it.
    items : int
        Items that have such a pair.
    examples : tuple of Example
        The pairs that occur most often; those for which it is the main reason come first.
    """

    kind: str
    pairs: int
    items: int
    examples: tuple[Example, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``reasons.kinds``."""
        return {**super().to_dict(), "name": REASON_NAMES[self.kind]}


@dataclass(frozen=True)
class WhatIf(JsonObject):
    """The headline coefficient if one attribute did not count.

    Attributes
    ----------
    attribute : str
        One of :data:`softirr.meaning.policy.attributes.KINDS`.
    value : float
        Without the attribute.
    instead_of : float
        With it.
    items : int
        Items that the difference was measured on; fewer than all are a random sample.
    """

    attribute: str
    coefficient: str
    value: float
    instead_of: float
    items: int


@dataclass(frozen=True)
class ReasonSummary(JsonObject):
    """The reasons of a whole table.

    Attributes
    ----------
    pairs : int
        Pairs of texts that do not match.
    items : int
        Items that have one.
    kinds : tuple of ReasonCount
        The most frequent first; reasons that do not occur are left out.
    rater_pairs : tuple of ((str, str), int, dict of str to int)
        Two raters, the items that both answered, and for each reason the items that they disagree on for it.
    what_if : tuple of WhatIf
        The largest difference first.
    tendency : dict of str to (int, int)
        For each rater how often their text is the more general and the more specific one of two.
    """

    pairs: int
    items: int
    kinds: tuple[ReasonCount, ...]
    rater_pairs: tuple[tuple[tuple[str, str], int, dict[str, int]], ...]
    what_if: tuple[WhatIf, ...] = ()
    tendency: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The object ``reasons``."""
        return {
            **super().to_dict(),
            "rater_pairs": [
                {"raters": list(raters), "n_items": n, "kinds": kinds} for raters, n, kinds in self.rater_pairs
            ],
            "tendency": {
                rater: {"more_general": general, "more_specific": specific}
                for rater, (general, specific) in self.tendency.items()
            },
        }


class _Occurrences:
    """Where two texts stand against each other for a reason."""

    __slots__ = ("first", "items", "pairs")

    def __init__(self, first: CountedReason, id: str) -> None:
        self.first, self.items, self.pairs = first, [id], 1

    def add(self, id: str) -> None:
        self.pairs += 1
        if len(self.items) < EXAMPLE_ITEMS and self.items[-1] != id:
            self.items.append(id)


def summarize_reasons(
    items: Iterable[tuple[str, Sequence[CountedReason]]], shared: Mapping[tuple[str, str], int]
) -> ReasonSummary:
    """Count the reasons of a table.

    Parameters
    ----------
    items : iterable of (str, sequence of CountedReason)
        Ids of the items, and their reasons.
    shared : mapping of (str, str) to int
        Items that each two raters share, in the order of the table's raters.
    """
    pairs, with_kind = Counter[str](), Counter[str]()
    wordings: dict[str, dict[_Wording, _Occurrences]] = defaultdict(dict)
    leaning: dict[str, list[int]] = {}
    of_raters: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    n_items = total = 0
    for id, reasons in items:
        n_items += bool(reasons)
        total += len(reasons)
        item_kinds: set[tuple[tuple[str, str], str]] = set()
        for reason in reasons:
            a, b = reason.texts
            texts = (a, b) if (a or "") <= (b or "") else (b, a)
            for kind in reason.kinds:
                item_kinds.add((reason.raters, kind))
                pairs[kind] += 1
                occurrences = wordings[kind].get(texts)
                if occurrences is None:
                    wordings[kind][texts] = _Occurrences(reason, id)
                else:
                    occurrences.add(id)
            if (broad := reason.broader) is not None:
                leaning.setdefault(reason.raters[broad], [0, 0])[0] += 1
                leaning.setdefault(reason.raters[1 - broad], [0, 0])[1] += 1
        for raters, kind in item_kinds:
            of_raters[raters][kind] += 1
        for kind in {kind for _, kind in item_kinds}:
            with_kind[kind] += 1
    kinds = sorted(pairs, key=lambda kind: (-pairs[kind], REASONS.index(kind)))
    return ReasonSummary(
        pairs=total,
        items=n_items,
        kinds=tuple(
            ReasonCount(
                kind,
                pairs[kind],
                with_kind[kind],
                tuple(_examples(kind, wordings[kind].values())),
            )
            for kind in kinds
        ),
        rater_pairs=tuple(
            (raters, n, {kind: of_raters[raters][kind] for kind in kinds if of_raters[raters][kind]})
            for raters, n in shared.items()
            if raters in of_raters
        ),
        tendency={rater: (general, specific) for rater, (general, specific) in sorted(leaning.items())},
    )


def _examples(kind: str, wordings: Iterable[_Occurrences]) -> Iterator[Example]:
    """The most frequent examples: those whose main reason it is, then those that have another one before it."""
    frequent = nlargest(EXAMPLES, wordings, key=attrgetter("pairs"))
    for seen in sorted(frequent, key=lambda occurrences: occurrences.first.kinds[0] != kind):
        yield Example(tuple(seen.items), seen.pairs, seen.first)


def attributes_that_occur(summary: ReasonSummary) -> tuple[str, ...]:
    """The attributes that raters disagree about.

    Returns
    -------
    tuple of str
        The most frequent first.
    """
    return tuple(count.kind for count in summary.kinds if count.kind in KINDS)

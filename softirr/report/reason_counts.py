"""How often each reason occurs in a project: counts, examples, and what ignoring an attribute would change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from operator import attrgetter
from sys import intern
from typing import Any

from softirr.json_object import JsonObject
from softirr.meaning.policy.reasons import REASON_NAMES, REASONS

EXAMPLES = 20
"""Pairs of texts that a report lists for each reason."""

EXAMPLE_ITEMS = 40
"""Items of each of these pairs that it names."""


@dataclass(slots=True)
class Example:
    """Two texts that do not match for a reason, and how often.

    Attributes
    ----------
    kind : str
        Main reason of the first item.
    raters, texts, words
        Raters, texts and reason in words of the first item.
    items : list of str
        The first items that have both texts, 40 at most.
    pairs : int
        How often the two texts stand against each other.
    """

    kind: str
    raters: tuple[str, ...]
    texts: tuple[str | None, ...]
    words: str
    items: list[str]
    pairs: int = 0

    def add(self, id: str) -> None:
        """Count the two texts of an item; two raters each."""
        self.pairs += 1
        if len(self.items) < EXAMPLE_ITEMS and self.items[-1:] != [id]:
            self.items.append(id)

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``reasons.kinds[].examples``."""
        return {
            "item": self.items[0],
            "raters": list(self.raters),
            "texts": list(self.texts),
            "words": self.words,
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
    name : str
        The reason in words.
    """

    kind: str
    pairs: int
    items: int
    examples: tuple[Example, ...]
    name: str


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
    difference_ci95 : (float, float) or None
        95% interval of the difference, by the measure alone.
    """

    attribute: str
    coefficient: str
    value: float
    instead_of: float
    items: int
    difference_ci95: tuple[float, float] | None = None


@dataclass(frozen=True)
class RaterPairReasons(JsonObject):
    """Why two raters disagree.

    Attributes
    ----------
    n_items : int
        Items that both answered.
    kinds : dict of str to int
        For each reason the items that they disagree on for it.
    """

    raters: tuple[str, str]
    n_items: int
    kinds: dict[str, int]


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
    rater_pairs : tuple of RaterPairReasons
        Two raters each.
    what_if : tuple of WhatIf
        The largest difference first.
    tendency : dict of str to dict of str to int
        For each rater how often their text is the more general and the more specific one of two.
    """

    pairs: int
    items: int
    kinds: tuple[ReasonCount, ...]
    rater_pairs: tuple[RaterPairReasons, ...]
    what_if: tuple[WhatIf, ...] = ()
    tendency: dict[str, dict[str, int]] = field(default_factory=dict)


def summarize_reasons(
    items: Iterable[tuple[str, Sequence[Mapping[str, Any]]]], shared: Mapping[tuple[str, str], int]
) -> ReasonSummary:
    """Count the reasons of a table.

    Parameters
    ----------
    items : iterable of (str, sequence of mapping)
        Ids of the items, and what :meth:`ItemReason.with_broader` gives of their reasons.
    shared : mapping of (str, str) to int
        Items that each two raters share, in the order of the table's raters.
    """
    n_pairs = n_items = 0
    by_kind: dict[str, _Count] = defaultdict(_Count)
    tendency: dict[str, dict[str, int]] = {}
    of_raters: Counter[tuple[tuple[str, str], str]] = Counter()
    for id, reasons in items:
        n_items += bool(reasons)
        n_pairs += len(reasons)
        kinds_of_raters = set()
        for reason in reasons:
            a, b = reason["raters"]
            for kind in (reason["kind"], *reason.get("also", ())):
                by_kind[kind].add(id, reason)
                kinds_of_raters.add(((a, b), kind))
            if (broad := reason.get("broader")) is not None:
                for rater, side in (((a, b)[broad], "more_general"), ((b, a)[broad], "more_specific")):
                    tendency.setdefault(rater, {"more_general": 0, "more_specific": 0})[side] += 1
        of_raters.update(kinds_of_raters)
    kinds = sorted(by_kind, key=lambda kind: (-by_kind[kind].pairs, REASONS.index(kind)))
    rater_pairs = (
        RaterPairReasons(raters, n, {kind: of_raters[raters, kind] for kind in kinds if of_raters[raters, kind]})
        for raters, n in shared.items()
    )
    return ReasonSummary(
        pairs=n_pairs,
        items=n_items,
        kinds=tuple(by_kind[kind].summary(kind) for kind in kinds),
        rater_pairs=tuple(entry for entry in rater_pairs if entry.kinds),
        tendency=dict(sorted(tendency.items())),
    )


class _Count:
    """Counts a reason."""

    def __init__(self) -> None:
        self.pairs, self.items = 0, 0
        self._last_item: str | None = None
        self._examples: dict[tuple[str | None, ...], Example] = {}

    def add(self, id: str, reason: Mapping[str, Any]) -> None:
        """Count two texts of an item; the reasons of an item follow each other."""
        self.pairs += 1
        self.items += id != self._last_item
        self._last_item = id
        texts = tuple(text and intern(text) for text in reason["texts"])
        wording = tuple(sorted(texts, key=lambda text: text or ""))
        if wording not in self._examples:
            raters = tuple(map(intern, reason["raters"]))
            self._examples[wording] = Example(intern(reason["kind"]), raters, texts, reason["words"], [])
        self._examples[wording].add(id)

    def summary(self, kind: str) -> ReasonCount:
        """The counts with the most frequent examples: first those with this main reason, then the others."""
        frequent = nlargest(EXAMPLES, self._examples.values(), key=attrgetter("pairs"))
        examples = sorted(frequent, key=lambda example: example.kind != kind)
        return ReasonCount(kind, self.pairs, self.items, tuple(examples), REASON_NAMES[kind])

"""Why raters disagree: the reason of every pair of texts of an item that does not match, and how often each reason occurs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import combinations
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import numpy as np

from softirr.policy.attributes import KINDS, without
from softirr.policy.reasons import REASON_NAMES, REASONS, Reason, one_rater_only
from softirr.tables.ratings import Floats

__all__ = [
    "CountedReason",
    "Example",
    "Explain",
    "ItemReason",
    "ReasonCount",
    "ReasonSummary",
    "StoredReason",
    "WhatIf",
    "attributes_that_occur",
    "explain_items",
    "open_pairs",
    "summarize_reasons",
]

_Wording = tuple[str | None, str | None]
EXAMPLES = 20
"""Pairs of texts of each reason that a report holds."""
EXAMPLE_ITEMS = 40
"""Items of each of these pairs that it names."""

Explain = Callable[[Sequence[tuple[str, str]], Floats, Floats | None], Sequence[Reason]]
"""Reasons of pairs of texts, from their equivalence and directions."""
Score = Callable[[Sequence[tuple[str, str]]], Floats]


class CountedReason(Protocol):
    """What counting needs to know of two texts of an item that do not match."""

    @property
    def raters(self) -> tuple[str, str]:
        """Whose texts they are."""
        ...

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """A text of each; None where one of them wrote none."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """Everything that the texts disagree about, the reason first."""
        ...

    @property
    def words(self) -> str:
        """The reason in words."""
        ...

    @property
    def broader(self) -> int | None:
        """Which of the two texts is the more general one, 0 or 1; None for other reasons."""
        ...


class StoredReason(NamedTuple):
    """An entry of ``items[].reasons`` that was read again.

    Attributes
    ----------
    raters : (str, str)
    texts : (str or None, str or None)
        A text of each; None where one of them wrote none.
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

        Returns
        -------
        StoredReason
        """
        (a, b), (text, other) = entry["raters"], entry["texts"]
        return cls((a, b), (text, other), (entry["kind"], *entry.get("also", ())), entry["words"], entry.get("broader"))


@dataclass(frozen=True)
class ItemReason:
    """Two texts of an item that do not match, and why.

    Attributes
    ----------
    raters : (str, str)
    texts : (str or None, str or None)
        A text of each; None where one of them wrote none.
    equivalence : float
        P(a ≡ b) of the texts; 0 where one is missing.
    reason : Reason
    """

    raters: tuple[str, str]
    texts: tuple[str | None, str | None]
    equivalence: float
    reason: Reason

    @property
    def kinds(self) -> tuple[str, ...]:
        """Everything that the texts disagree about, the reason first."""
        return self.reason.kinds

    @property
    def words(self) -> str:
        """The reason in words."""
        return self.reason.words

    @property
    def broader(self) -> int | None:
        """Which of the two texts is the more general one, 0 or 1; None for other reasons."""
        if self.reason.kind != "more general":
            return None
        for place, text in enumerate(self.texts):
            if text is not None and self.reason.left in (text, without(text, self.reason.also)):
                return place
        return None

    @property
    def difference(self) -> str:
        """The type of difference from the first rater's side: see :mod:`softirr.report.differences`."""
        kind, left, right = self.reason.kind, self.reason.left, self.reason.right
        if kind in ("contradiction", "negation"):
            return "contradiction"
        if kind == "one rater only":
            return "addition" if left else "omission"
        if kind == "list":
            return "addition" if len(left) > len(right) else "omission"
        if (broader := self.broader) is not None:
            return "more specific" if broader else "more general"
        if kind in KINDS and not (left and right):
            return "more specific" if left else "more general"
        return "substitution"

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``items[].reasons``."""
        return {
            "raters": list(self.raters),
            "texts": list(self.texts),
            "equivalence": self.equivalence,
            **self.reason.to_dict(),
            "difference": self.difference,
        }


@dataclass(frozen=True)
class OpenPair:
    """Two texts whose reason is asked for; ``lone`` is the place of a text without a counterpart."""

    raters: tuple[str, str]
    texts: tuple[str | None, str | None]
    lone: int | None = None


def open_pairs(
    items: Iterable[Mapping[str, tuple[str, ...]]], score: Score, threshold: float
) -> list[tuple[OpenPair, ...]]:
    """The pairs of texts of each item that do not match, for every two raters.

    A text matches where some text of the other rater reaches the threshold. Texts of both that have no match are
    paired, the closest first. One that is left over is compared with its best counterpart.

    Parameters
    ----------
    items : iterable of mappings of rater to texts
    score : callable
        P(a ≡ b) of pairs of texts.
    threshold : float

    Returns
    -------
    list of tuple of OpenPair
    """
    result: list[tuple[OpenPair, ...]] = []
    held: list[list[_Answers]] = []
    size = 0
    for given in items:
        held.append([((a, b), given[a], given[b]) for a, b in combinations(given, 2) if given[a] != given[b]])
        size += sum(len(left) * len(right) for _, left, right in held[-1])
        if size >= _AT_ONCE:
            result += _open_pairs(held, score, threshold)
            held, size = [], 0
    return result + _open_pairs(held, score, threshold)


_Answers = tuple[tuple[str, str], tuple[str, ...], tuple[str, ...]]
_AT_ONCE = 1 << 18


def _open_pairs(items: Sequence[Sequence[_Answers]], score: Score, threshold: float) -> list[tuple[OpenPair, ...]]:
    pairs = [(a, b) for own in items for _, left, right in own for a in left for b in right]
    values = score(pairs).tolist() if pairs else []
    start = 0
    result = []
    for own in items:
        found: list[OpenPair] = []
        for raters, left, right in own:
            stop = start + len(left) * len(right)
            if not left or not right:
                found += [OpenPair(raters, (text, None), 0) for text in left]
                found += [OpenPair(raters, (None, text), 1) for text in right]
            elif stop == start + 1:
                if values[start] < threshold:
                    found.append(OpenPair(raters, (left[0], right[0])))
            else:
                found += _of_sets(raters, left, right, values[start:stop], threshold)
            start = stop
        result.append(tuple(found))
    return result


def _of_sets(
    raters: tuple[str, str], left: Sequence[str], right: Sequence[str], p: list[float], threshold: float
) -> Iterator[OpenPair]:
    """Those of two sets, of which `p` holds row by row how equal their texts are."""
    width = len(right)
    in_row = [p[start : start + width] for start in range(0, len(p), width)]
    in_column = [p[column::width] for column in range(width)]
    rows = {row: None for row, own in enumerate(in_row) if max(own) < threshold}
    columns = {column: None for column, own in enumerate(in_column) if max(own) < threshold}
    for _, row, column in sorted((-in_row[row][column], row, column) for row in rows for column in columns):
        if row in rows and column in columns:
            del rows[row], columns[column]
            yield OpenPair(raters, (left[row], right[column]))
    for row in rows:
        yield OpenPair(raters, (left[row], right[in_row[row].index(max(in_row[row]))]), 0)
    for column in columns:
        yield OpenPair(raters, (left[in_column[column].index(max(in_column[column]))], right[column]), 1)


def explain_items(
    items: Sequence[Sequence[OpenPair]], score: Score, directions: Score | None, explain: Explain
) -> list[tuple[ItemReason, ...]]:
    """The reasons of every item; each pair of texts is explained once.

    Parameters
    ----------
    items : sequence of sequences of OpenPair
        For each item what :func:`open_pairs` gives.
    score : callable
        P(a ≡ b) of pairs of texts.
    directions : callable or None
        P(a ⇒ b) of pairs of texts, where the measure has directions.
    explain : callable
        Gives the reasons.

    Returns
    -------
    list of tuple of ItemReason
    """
    pairs: dict[tuple[str, str], int] = {}
    for own in items:
        for found in own:
            one, other = found.texts
            if one is not None and other is not None:
                pairs.setdefault((min(one, other), max(one, other)), len(pairs))
    asked = list(pairs)
    equivalence = score(asked) if asked else np.zeros(0)
    both = None
    if directions is not None and asked:
        both = np.stack([directions(asked), directions([(b, a) for a, b in asked])], axis=1)
    reasons = explain(asked, equivalence, both) if asked else ()
    return [tuple(_reason(found, pairs, equivalence, reasons) for found in own) for own in items]


def _reason(
    found: OpenPair, pairs: Mapping[tuple[str, str], int], equivalence: Floats, reasons: Sequence[Reason]
) -> ItemReason:
    one, other = found.texts
    if one is None or other is None:
        return ItemReason(found.raters, found.texts, 0.0, one_rater_only(one or other or "", left=other is None))
    place = pairs[min(one, other), max(one, other)]
    reason = reasons[place] if one <= other else reasons[place].turned()
    if found.lone is not None and reason.kind == "unrelated":
        reason = one_rater_only(other if found.lone else one, left=not found.lone)
    return ItemReason(found.raters, found.texts, float(equivalence[place]), reason)


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
class ReasonCount:
    """How often raters disagree for one reason.

    Attributes
    ----------
    kind : str
        One of :data:`softirr.policy.reasons.REASONS`.
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
        return {
            "kind": self.kind,
            "name": REASON_NAMES[self.kind],
            "pairs": self.pairs,
            "items": self.items,
            "examples": [one.to_dict() for one in self.examples],
        }


@dataclass(frozen=True)
class WhatIf:
    """The coefficient that stands for the table if one attribute did not count.

    Attributes
    ----------
    attribute : str
        One of :data:`softirr.policy.attributes.KINDS`.
    coefficient : str
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

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``reasons.what_if``."""
        return {
            "attribute": self.attribute,
            "coefficient": self.coefficient,
            "value": self.value,
            "instead_of": self.instead_of,
            "items": self.items,
        }


@dataclass(frozen=True)
class ReasonSummary:
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
            "pairs": self.pairs,
            "items": self.items,
            "kinds": [one.to_dict() for one in self.kinds],
            "rater_pairs": [
                {"raters": list(raters), "n_items": n, "kinds": kinds} for raters, n, kinds in self.rater_pairs
            ],
            "what_if": [one.to_dict() for one in self.what_if],
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

    Returns
    -------
    ReasonSummary
    """
    pairs, with_kind = Counter[str](), Counter[str]()
    wordings: dict[str, dict[_Wording, _Occurrences]] = defaultdict(dict)
    leaning: dict[str, list[int]] = {}
    of_raters: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    n_items = total = 0
    for id, reasons in items:
        n_items += bool(reasons)
        total += len(reasons)
        here: set[tuple[tuple[str, str], str]] = set()
        for one in reasons:
            a, b = one.texts
            texts = (a, b) if (a or "") <= (b or "") else (b, a)
            for kind in one.kinds:
                here.add((one.raters, kind))
                pairs[kind] += 1
                seen = wordings[kind].get(texts)
                if seen is None:
                    wordings[kind][texts] = _Occurrences(one, id)
                else:
                    seen.add(id)
            if (broad := one.broader) is not None:
                leaning.setdefault(one.raters[broad], [0, 0])[0] += 1
                leaning.setdefault(one.raters[1 - broad], [0, 0])[1] += 1
        for raters, kind in here:
            of_raters[raters][kind] += 1
        for kind in {kind for _, kind in here}:
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
                _main_first(
                    kind,
                    [
                        Example(tuple(seen.items), seen.pairs, seen.first)
                        for seen in nlargest(EXAMPLES, wordings[kind].values(), key=attrgetter("pairs"))
                    ],
                ),
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


def _main_first(kind: str, examples: Iterable[Example]) -> tuple[Example, ...]:
    """The examples whose main reason it is, then those that have another one before it."""
    return tuple(sorted(examples, key=lambda one: one.first.kinds[0] != kind))


def attributes_that_occur(summary: ReasonSummary) -> tuple[str, ...]:
    """The attributes that raters disagree about.

    Parameters
    ----------
    summary : ReasonSummary

    Returns
    -------
    tuple of str
        The most frequent first.
    """
    return tuple(one.kind for one in summary.kinds if one.kind in KINDS)

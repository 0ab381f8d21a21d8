"""Which pairs of texts exclude each other by their facts, for all pairs of a project at once, and the stage for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import zip_longest
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.arrays import Bools, Ints
from softirr.meaning.measures.facts import SIDE, VERSION, TextFacts, facts_of
from softirr.meaning.measures.quantities import NUMBER
from softirr.meaning.measures.stages import RewrittenTexts, Stage
from softirr.provenance import Provenance

VALUE, NEGATION = "value", "negation"
FACTS = (VALUE, SIDE, NEGATION)
"""Facts that two texts can differ in."""
MOST_VALUES = 8
"""Maximum number of values of one quantity in a text; a text with more is a table."""
_FORMS = ("", "over", "under", "about", "open")


@dataclass(frozen=True, eq=False)
class FactComparison:
    """One fact of n texts, compared between any two of them.

    Attributes
    ----------
    fact : str
        One of ``FACTS``, or a dimension of an attribute.
    key : shape (n,)
        Texts with equal keys are compared; 0 for a text without the fact.
    exclude : callable
        Takes the numbers of two texts, each of shape (m,), and returns which pairs exclude each other.
    """

    fact: str
    key: Ints
    exclude: Callable[[Ints, Ints], Bools]


def unequal(fact: str, key: Ints, values: Ints) -> FactComparison:
    """Compare a fact: different values of it exclude each other. `key` and `values` have shape (n,)."""
    return FactComparison(fact, key, lambda a, b: np.asarray(values[a] != values[b]))


def comparisons(facts: Sequence[TextFacts], names: Collection[str] = FACTS) -> list[FactComparison]:
    """The facts that at least two of the texts can be compared by.

    Examples
    --------
    >>> from softirr.meaning.measures.facts import facts_of
    >>> compared = comparisons([facts_of(text) for text in ("no fever for 3 days", "no fever for 5 days", "rash")])
    >>> [comparison.fact for comparison in compared]
    ['value']
    """
    frame = numbered(text_facts.frame for text_facts in facts)
    is_list = np.array([text_facts.is_list for text_facts in facts], dtype=bool)
    quantities = {value.quantity for text_facts in facts for value in text_facts.values if VALUE in names}
    values = [_values_of(quantity, facts, frame, is_list) for quantity in sorted(quantities - {SIDE})]
    words = numbered(text_facts.words for text_facts in facts)
    denied = numbered((text_facts.denied, True) for text_facts in facts)
    compared = (*values, _sides(facts, frame, is_list), unequal(NEGATION, words, denied))
    return [fact for fact in compared if fact.fact in names and np.any(np.bincount(fact.key)[1:] > 1)]


def any_differ(compared: Iterable[FactComparison], left_texts: Ints, right_texts: Ints) -> Bools:
    """Which pairs of texts, by number, exclude each other by any fact."""
    result = np.zeros(len(left_texts), dtype=bool)
    for comparison in compared:
        key = comparison.key[left_texts]
        pairs = np.flatnonzero((key > 0) & (key == comparison.key[right_texts]))
        result[pairs] |= comparison.exclude(left_texts[pairs], right_texts[pairs])
    return result


def numbered(values: Iterable[Hashable]) -> Ints:
    """A number from 1 for each different value; 0 for empty values."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers) + 1) if value else 0 for value in values], dtype=np.int64)


def _table(rows: Sequence[Sequence[float]], empty: float = np.nan) -> NDArray[Any]:
    """Rows of different lengths as one array."""
    return np.array([*zip_longest(*rows, fillvalue=empty)], dtype=np.float64).reshape(-1, len(rows)).T


def _values_of(quantity: str, facts: Sequence[TextFacts], frame: Ints, is_list: Bools) -> FactComparison:
    """Values of one quantity: texts with as many of them differ if a value excludes its counterpart.

    Numbers without a unit, and values in another order, are compared only if the rest of both texts is the same.
    """
    rows = [text_facts.of(quantity) for text_facts in facts]
    rows = [values if len(values) <= MOST_VALUES else [] for values in rows]
    low, high = (_table([[getattr(value, end) for value in values] for values in rows]) for end in ("low", "high"))
    smallest, largest = (_table([[value.range[k] for value in values] for values in rows]) for k in (0, 1))
    form = _table([[_FORMS.index(value.bound) for value in values] for values in rows], -1)
    ascending = np.sort(low, axis=1)
    needs_frame = quantity == NUMBER or " " in quantity

    def exclude(a: Ints, b: Ints) -> Bools:
        with np.errstate(invalid="ignore"):
            points = _are_apart(low[a], high[a], low[b], high[b])
            ranges = _are_apart(smallest[a], largest[a], smallest[b], largest[b])
        apart = np.where(form[a] == form[b], points, ranges).any(axis=1)
        is_moved = np.all((ascending[a] == ascending[b]) | np.isnan(ascending[a]), axis=1)
        is_moved &= ~np.all((low[a] == low[b]) | np.isnan(low[a]), axis=1)
        is_framed = frame[a] == frame[b]
        result = apart & (~is_moved | (is_framed & ~is_list[a]))
        return np.asarray(result & is_framed if needs_frame else result)

    return FactComparison(VALUE, np.array([len(values) for values in rows], dtype=np.int64), exclude)


def _are_apart(low: Any, high: Any, other_low: Any, other_high: Any) -> Bools:
    """Which intervals do not overlap, apart from rounding."""
    slack = 1e-9 * np.maximum(np.abs(np.nan_to_num(low, posinf=0, neginf=0)), 1e-300)
    is_same = (low == other_low) & (high == other_high)
    return np.asarray(((high <= other_low + slack) | (other_high <= low + slack)) & ~is_same)


def _sides(facts: Sequence[TextFacts], frame: Ints, is_list: Bools) -> FactComparison:
    """Sides of texts with the same words: different sides, or exchanged sides with all else in the same order."""
    codes = [tuple(int(value.low) for value in text_facts.of(SIDE)) for text_facts in facts]
    together = np.array([reduce(or_, sides, 0) for sides in codes], dtype=np.int64)
    order = numbered(codes)
    words = numbered((f.words, f.denied, bool(sides)) if sides else None for f, sides in zip(facts, codes, strict=True))

    def exclude(a: Ints, b: Ints) -> Bools:
        is_exchanged = (order[a] != order[b]) & (frame[a] == frame[b]) & ~is_list[a]
        return np.asarray((together[a] != together[b]) | is_exchanged)

    return FactComparison(SIDE, words, exclude)


class Facts(Stage):
    """Amounts are rewritten to one form, and texts with facts that exclude each other are different.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> reads_facts = measure("exact").with_stage(Facts())
    >>> reads_facts.score([("5 mg", "0.005 g"), ("no fever", "No  fever")]).tolist()
    [1.0, 0.0]
    """

    rank = 3

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> RewrittenTexts:
        """The texts with their amounts in one form."""
        facts = [facts_of(text) for text in texts]
        compared = comparisons(facts)
        return RewrittenTexts(
            [{0: text_facts.rewritten_text} for text_facts in facts],
            is_different=partial(any_differ, compared),
            different=different,
        )

    def provenance(self, provenance: Provenance) -> Provenance:
        """The provenance with the version of the rules."""
        return replace(provenance, facts=VERSION)

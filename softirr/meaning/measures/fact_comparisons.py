"""Compares the facts of two texts: which pairs of texts exclude each other by one of them.

Every fact is compared in one way (:class:`FactComparison`). Two texts that have the fact in the same place, such as an
amount of one quantity or a clause with the same words, exclude each other where it has another value. What only one
text mentions, and what is not clear, is left to the measure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.lexicon.words import Entry, any_of, entries, opposites
from softirr.meaning.measures.clause_words import SIDES_EXCLUDE, words_of_role
from softirr.meaning.measures.facts import TextFacts
from softirr.meaning.measures.typed_values import AS_WRITTEN, BOUND, LETTER, NUMBER
from softirr.meaning.terminology.folded_words import fold_word

__all__ = ["ALWAYS", "FACTS", "OF_WORDS", "FactComparison", "any_differ", "comparisons", "numbered"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

EXCHANGED = ("severity", "time", "opposite")
"""Kinds of words that two clauses of a text can exchange: two attributes, and opposites that belong to neither."""
WORDS, RELATION, VALUE = "words", "relation", "value"
OF_WORDS = ("side", "negation", "certainty", *EXCHANGED, WORDS, RELATION)
"""Facts that two texts with the same words can differ in."""
ALWAYS = (WORDS, RELATION, VALUE)
"""Facts that are no attribute, so that no policy leaves them out."""
FACTS = (*OF_WORDS, VALUE)

MOST_VALUES = 8
"""Values of one type in a text, beyond which it is a table and not compared."""
_ONLY_IN_A_FRAME = frozenset({NUMBER, NUMBER + AS_WRITTEN, LETTER, BOUND})
"""Types that are compared only where the rest of both texts is the same."""
_PLURAL = re.compile(r"(?<=[^\W\d_]{2})s\b")
"""Endings that are no difference beside numbers: 1 cat, 2 cats."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_MOST_WORDS = 30
"""Words of a text beyond which no relation is read."""


@dataclass(frozen=True, eq=False)
class FactComparison:
    """One fact of n texts, compared between any two of them.

    Attributes
    ----------
    fact : str
        Of ``FACTS``.
    key : shape (n,)
        Two texts are compared where they have the same key: the same words, or as many values. 0 for a text without the
        fact.
    exclude : callable
        Which pairs of texts with the same key exclude each other, by the numbers of both texts, shape (m,).
    """

    fact: str
    key: Ints
    exclude: Callable[[Ints, Ints], Bools]


def comparisons(facts: Sequence[TextFacts], names: Collection[str] = FACTS) -> list[FactComparison]:
    """The facts that two or more of some texts have in the same place.

    Parameters
    ----------
    facts : sequence of TextFacts
        Of each text.
    names : collection of str
        Facts to compare, of ``FACTS``.

    Returns
    -------
    list of FactComparison

    Examples
    --------
    >>> from softirr.meaning.measures.facts import facts_of
    >>> compared = comparisons([facts_of(text) for text in ("no fever for 3 days", "no fever for 5 days", "rash")])
    >>> [comparison.fact for comparison in compared]
    ['value']
    """
    every = chain(_values(facts), _clauses(facts), _exchanged_words(facts, names), _exchanged_sides(facts))
    return [one for one in every if one.fact in names and _is_shared(one.key)]


def any_differ(compared: Iterable[FactComparison], left: Ints, right: Ints) -> Bools:
    """Which pairs of texts exclude each other by any fact.

    Parameters
    ----------
    compared : iterable of FactComparison
    left, right : ndarray of int, shapes that broadcast to one
        Numbers of the texts of each pair.

    Returns
    -------
    ndarray of bool, this shape
    """
    left, right = np.broadcast_arrays(left, right)
    result = np.zeros(left.shape, dtype=bool)
    for _, group in groupby(compared, key=lambda one: id(one.key)):  # several facts share a key
        first, *others = group
        key = first.key[left]
        pairs = np.nonzero((key > 0) & (key == first.key[right]))
        a, b = left[pairs], right[pairs]
        for one in (first, *others):
            result[pairs] |= one.exclude(a, b)
    return result


def _is_shared(key: Ints) -> bool:
    known = key[key > 0]
    return len(np.unique(known)) < len(known)


def numbered(values: Iterable[Hashable]) -> Ints:
    """A number from 1 for each different value; 0 for None and for what is empty.

    Parameters
    ----------
    values : iterable of hashable, n of them

    Returns
    -------
    ndarray of int, shape (n,)
    """
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(one, len(numbers) + 1) if one else 0 for one in values], dtype=np.int64)


def _table(rows: Sequence[Sequence[float]], empty: float = 0) -> NDArray[Any]:
    """Rows of different lengths as one array."""
    table = np.full((len(rows), max(map(len, rows), default=0)), empty)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _values(facts: Sequence[TextFacts]) -> Iterator[FactComparison]:
    """Values of one type: two texts have the same number of them, and one value excludes its counterpart.

    Where only their order differs, the rest of both texts must be the same.
    """
    frame = numbered(_PLURAL.sub("", one.frame.casefold()) for one in facts)
    is_list = np.array([one.is_list for one in facts], dtype=bool)
    for name in sorted({value.quantity for one in facts for value in one.values}):
        yield _values_of(name, facts, frame, is_list)


def _values_of(name: str, facts: Sequence[TextFacts], frame: Ints, is_list: Bools) -> FactComparison:
    own = [[value for value in one.values if value.quantity == name] for one in facts]
    own = [values if len(values) <= MOST_VALUES else [] for values in own]
    low, high = (
        _table([[getattr(value, end) for value in values] for values in own], np.nan) for end in ("low", "high")
    )
    ascending = np.sort(low, axis=1)

    def below(a: Ints, b: Ints) -> Bools:
        """Which values of one text end before the values of another text begin, apart from rounding."""
        slack = np.where(np.isfinite(low[b]), 1e-9 * np.abs(low[b]), 0.0)
        return np.asarray(high[a] <= low[b] + slack)

    def exclude(a: Ints, b: Ints) -> Bools:
        with np.errstate(invalid="ignore"):
            apart = (below(a, b) | below(b, a)) & ((low[a] != low[b]) | (high[a] != high[b]))
        moved = np.all((ascending[a] == ascending[b]) | np.isnan(ascending[a]), axis=1)
        framed = frame[a] == frame[b]
        result = apart.any(axis=1) & (~moved | (framed & ~is_list[a]))
        return np.asarray(result & framed if name in _ONLY_IN_A_FRAME else result)

    return FactComparison(VALUE, np.array([len(values) for values in own], dtype=np.int64), exclude)


def _clauses(facts: Sequence[TextFacts]) -> Iterator[FactComparison]:
    """The same clauses: one that only one text denies or doubts, or with another side."""
    asserted = [one.asserted for one in facts]
    content = numbered(None if one is None else one.content for one in asserted)
    affirmed = _table([() if one is None else one.affirmed for one in asserted]).astype(np.int8)
    denied = _table([() if one is None else one.denied for one in asserted]).astype(np.int8)
    doubt = numbered(None if one is None else one.doubt for one in asserted)

    def another_side(a: Ints, b: Ints) -> Bools:
        return np.asarray((SIDES_EXCLUDE[affirmed[a], affirmed[b]] | SIDES_EXCLUDE[denied[a], denied[b]]).any(axis=1))

    def denied_by_one(a: Ints, b: Ints) -> Bools:
        apart = (affirmed[a] > 0) & (affirmed[a] == denied[b])
        return np.asarray((apart | ((affirmed[b] > 0) & (affirmed[b] == denied[a]))).any(axis=1))

    yield FactComparison("side", content, another_side)
    yield FactComparison("negation", content, denied_by_one)
    yield FactComparison("certainty", content, lambda a, b: doubt[a] != doubt[b])


def _exchanged_words(facts: Sequence[TextFacts], names: Collection[str]) -> Iterator[FactComparison]:
    """The same words, and two clauses or more that exchange some of them.

    "mild headache, severe nausea" and "severe headache, mild nausea". A text is seen without its attributes, with the
    attributes of one kind, and with all that are compared.
    """
    pronouns = frozenset(words_of_role("pronoun"))
    texts = [_WORD.findall(one.written.casefold()) for one in facts]
    clauses = [
        one.asserted.content
        if one.asserted is not None and len(one.asserted.content) > 1 and pronouns.isdisjoint(words)
        else ()
        for one, words in zip(facts, texts, strict=True)
    ]
    joined = [_joined(words) if own else frozenset() for words, own in zip(texts, clauses, strict=True)]
    kinds = frozenset(EXCHANGED).intersection(names)
    shown = {frozenset[str](): WORDS, kinds: WORDS} | {frozenset([kind]): kind for kind in kinds}
    for attributes, fact in shown.items() if any(clauses) else ():
        yield _exchanged(fact, attributes, clauses, joined)


def _exchanged(
    fact: str,
    attributes: frozenset[str],
    clauses: Sequence[Sequence[tuple[str, ...]]],
    joined: Sequence[frozenset[frozenset[str]]],
) -> FactComparison:
    """Clauses with the attributes of some kinds only."""
    hidden = {word for word, kind in _kind_of().items() if kind not in attributes}
    shown = [Counter(tuple(_bare(word) for word in words if word not in hidden) for words in own) for own in clauses]
    together = numbered(frozenset(own.items()) for own in shown)

    def exclude(a: Ints, b: Ints) -> Bools:
        result = np.asarray(together[a] != together[b])
        pairs = zip(a[result].tolist(), b[result].tolist(), strict=True)
        result[result] = [_exchange(shown[one], shown[other], joined[one] & joined[other]) for one, other in pairs]
        return result

    return FactComparison(fact, numbered(tuple(sorted(chain.from_iterable(own.elements()))) for own in shown), exclude)


def _exchange(
    one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]], joined: Collection[frozenset[str]]
) -> bool:
    """Whether each clause without an equal one has a counterpart in which one word is another one.

    Words that only move may belong to both clauses (meningioma of spinal canal and spinal cord, spinal canal and spinal
    cord meningioma), and so may the words around two that both texts join (mixed ductal and lobular carcinoma).
    """
    here, there = list((one - other).elements()), list((other - one).elements())
    words = {word for own in here for word in own}
    if any(pair <= words for pair in joined):
        return False
    alike = np.zeros((len(here), len(there)), dtype=bool)
    for k, own in enumerate(here):
        for j, its in enumerate(there):
            lost, gained = Counter(own) - Counter(its), Counter(its) - Counter(own)
            if not lost or not gained:
                return False
            alike[k, j] = lost.total() == gained.total() == 1 and len(own) > 1
    return bool(alike.any(axis=0).all() and alike.any(axis=1).all())


def _bare(word: str) -> str:
    """The value of a folded attribute (big and large are the same), and other words without a short plural ending."""
    return _value_of().get(word) or word.removesuffix("s")


def _joined(words: Sequence[str]) -> frozenset[frozenset[str]]:
    """Every two words with only a joining word between them."""
    bare = [_bare(fold_word(word)) for word in words]
    return frozenset(frozenset([bare[k - 1], bare[k + 1]]) for k in range(1, len(words) - 1) if words[k] in _joining())


@cache
def _joining() -> frozenset[str]:
    return frozenset(word for role in ("and", "with", "alternative") for word in words_of_role(role))


@cache
def _kind_of() -> dict[str, str]:
    """The kind of each folded word; sides are compared by themselves."""
    words = dict.fromkeys((fold_word(word) for pair in opposites("exclude") for word in pair), "opposite")
    words |= {word: entry.kind for word, entry in _exchanged_entries().items()}
    sides = (word for entry in entries() if entry.kind == "side" for word in entry.wordings)
    for word in sides:
        words.pop(fold_word(word), None)
    return words


@cache
def _value_of() -> dict[str, str]:
    """The value of each folded word that two clauses can exchange, where it has one."""
    return {word: f"{entry.dimension} {entry.value}" for word, entry in _exchanged_entries().items() if entry.value}


def _exchanged_entries() -> dict[str, Entry]:
    """The entry of each folded word that two clauses can exchange."""
    exchanged = [entry for entry in entries() if entry.kind in EXCHANGED]
    return {fold_word(word): entry for entry in exchanged for word in entry.wordings if word.isalpha()}


def _exchanged_sides(facts: Sequence[TextFacts]) -> Iterator[FactComparison]:
    """The same words, with the two sides of a relation exchanged: "from back to leg" and "from leg to back"."""
    words = [_words_with_relation(one.written) for one in facts]

    def exclude(a: Ints, b: Ints) -> Bools:
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return np.array([_are_exchanged(words[one], words[other]) for one, other in pairs], dtype=bool)

    yield FactComparison(RELATION, numbered(tuple(sorted(one)) for one in words), exclude)


@cache
def _relation() -> re.Pattern[str]:
    ends = rf"{any_of(words_of_role('from'))}\W.+\W{any_of(words_of_role('to'))}"
    return re.compile(rf"(?<!\w)(?:{any_of(words_of_role('relation'))}|{ends})(?!\w)", re.IGNORECASE)


def _words_with_relation(text: str) -> tuple[str, ...]:
    """The folded words of a text in which a relation is; none of a longer text and of one without."""
    words = _WORD.findall(text.casefold())
    if not 3 <= len(words) <= _MOST_WORDS or not _relation().search(text):
        return ()
    return tuple(words)


def _are_exchanged(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a relation's two sides in one text are in the other order in another text, and all else is the same."""
    first = 0
    while first < len(one) and one[first] == other[first]:
        first += 1
    last = len(one)
    while last > first and one[last - 1] == other[last - 1]:
        last -= 1
    own, exchanged = one[first:last], other[first:last]
    return any(
        own[stop:] + own[start:stop] + own[:start] == exchanged and _is_relation(one[:first], own[start:stop])
        for start, stop in combinations(range(1, len(own)), 2)
    )


def _is_relation(before: tuple[str, ...], between: tuple[str, ...]) -> bool:
    """Whether the words between two sides relate them: words of a relation, or to with a from before."""
    if between[-1] in words_of_role("to") and set(before).intersection(words_of_role("from")):
        return True
    return any(words in (between[k : k + len(words)] for k in range(len(between))) for words in _relations())


@cache
def _relations() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_WORD.findall(words.casefold())) for words in words_of_role("relation"))

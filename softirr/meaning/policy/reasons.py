"""Why two texts do not match: by leaving something out of both and asking the measure again.

If the equivalence rises above the threshold without an attribute (side, severity, ...) in both texts, that
attribute is the reason. Else it is the first of these that is true: one text is a list that has the other one, the
texts exclude each other, their letters are close, one is more general, they are unrelated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from unicodedata import name

import numpy as np
from numpy.typing import NDArray

from softirr.defaults import THRESHOLD
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.fact_comparisons import NEGATION, any_differ, comparisons
from softirr.meaning.measures.facts import SIDE, facts_of
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.sentences_stage import compares_sentences
from softirr.meaning.policy.attributes import KIND_NAMES, KINDS, LONGEST
from softirr.meaning.policy.text_parts import parts_of
from softirr.meaning.policy.word_pairs import Known, are_opposites, is_misspelling, look_alike
from softirr.provenance import Progress
from softirr.text import sentences

__all__ = ["REASONS", "REASON_NAMES", "Reason", "explain", "one_rater_only"]

REASON_NAMES: dict[str, str] = KIND_NAMES | {
    "list": "a list against a part of it",
    "contradiction": "contradiction",
    "spelling": "spelling",
    "look-alike": "words that look alike",
    "more general": "one is more general",
    "one rater only": "found by one rater only",
    "unrelated": "unrelated",
}
"""Reasons, in the order in which they are tried, and their names for people."""
REASONS: tuple[str, ...] = tuple(REASON_NAMES)

ENGLISH = "nli"
"""The bundled measure, which was trained on English only."""
DIRECTION = 0.5
"""P(a ⇒ b) from which one text implies the other."""

_MOST_TRIALS = 200
"""Pairs of parts of two lists that the measure is asked about; longer lists are not compared part by part."""
_MOST_WORDS = 12
"""Words that only one text has, up to which a changed word is looked for among them."""


@dataclass(frozen=True)
class Reason:
    """Why two texts do not match.

    Attributes
    ----------
    kind : str
        One of :data:`REASONS`.
    left, right : str
        What the two texts say about it: "left" and "right" of `side`. Empty where a text says nothing about it.
    also : tuple of str
        Other attributes that have to be left out, too, before the texts match.
    """

    kind: str
    left: str = ""
    right: str = ""
    also: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The reason in words, such as "left against right"."""
        if self.kind in KINDS:
            if self.left and self.right:
                return f"{self.left} against {self.right}"
            return f"{_named(self.kind, self.left)} against {_named(self.kind, self.right)}"
        if self.kind == "more general":
            beside = f", apart from {' and '.join(self.also)}" if self.also else ""
            return f"“{self.left}” is more general than “{self.right}”{beside}"
        if self.kind == "one rater only":
            return f"found by one rater only: {' and '.join(filter(None, (self.left, self.right)))}"
        return f"{self.left} against {self.right}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Everything that the texts disagree about."""
        return (self.kind, *self.also)

    def turned(self) -> Reason:
        """The reason of the same two texts in the other order; which text is more general does not depend on it."""
        if self.kind == "more general":
            return self
        return Reason(self.kind, self.right, self.left, self.also)

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {"kind": self.kind, "also": list(self.also), "words": self.words}


def _named(kind: str, text: str) -> str:
    """What a text says of an attribute that the other one leaves out, or that it leaves it out."""
    if kind == "negation":
        return f"negated (“{text}”)" if text else "affirmed"
    return f"“{text}”" if text else f"no {kind}"


def one_rater_only(text: str, *, left: bool = True) -> Reason:
    """The reason of a text that has no counterpart.

    Parameters
    ----------
    text : str
    left : bool
        Whether it is the first rater's.

    Returns
    -------
    Reason
    """
    return Reason("one rater only", text, "") if left else Reason("one rater only", "", text)


def explain(
    pairs: Sequence[tuple[str, str]],
    measure: Measure,
    equivalence: NDArray[np.float64] | None = None,
    directions: NDArray[np.float64] | None = None,
    *,
    threshold: float = THRESHOLD,
    known: Known = frozenset(),
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> tuple[Reason, ...]:
    """Why each pair of texts does not match; the pairs are taken as not matching, whatever their equivalence.

    Parameters
    ----------
    pairs : sequence of (str, str), n of them
    measure : Measure
        Scores the texts without what they disagree about.
    equivalence : ndarray, shape (n,), optional
        P(a ≡ b) of the pairs; scored here when None.
    directions : ndarray, shape (n, 2), optional
        P(a ⇒ b) and P(b ⇒ a) of the pairs, where the measure has directions; scored here when both are None.
    threshold : float
        Equivalence from which two texts match.
    known : collection of str
        :func:`softirr.meaning.policy.text_parts.known_words` of the project: they tell misspellings from words that look alike.
    cache, progress
        As for :class:`softirr.meaning.measures.pairs.PairScorer`.

    Returns
    -------
    tuple of Reason

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> pairs = [("left knee pain", "pain of the right knee"), ("gain of weight", "weight loss")]
    >>> [(reason.kind, reason.words) for reason in explain(pairs, measure("jaccard"))]
    [('side', 'left against right'), ('contradiction', 'gain against loss')]
    """
    asked = _Asked(measure, cache, progress)
    if equivalence is None:
        equivalence, directions = asked.both(pairs)
    asked.remember(pairs, equivalence.tolist())
    places: dict[tuple[str, str], int] = {}
    for place, pair in enumerate(pairs):
        places.setdefault(pair, place)
    english = measure.raw_name == ENGLISH
    both = [None] * len(pairs) if directions is None else list(directions)
    cases = [
        _Case(*pair, p=float(equivalence[k]), directions=both[k], known=known, english=english)
        for pair, k in places.items()
    ]
    if compares_sentences(measure):
        _lacking([case for case in cases if case.reason is None], asked)
    open_cases = [case for case in cases if case.reason is None]
    open_cases = _decide(open_cases, asked, threshold, _Case.attribute_trials, _Case.try_attributes)
    open_cases = _decide(open_cases, asked, threshold, _Case.part_trials, _Case.try_parts)
    _directed(open_cases, asked)
    _contradicting([case for case in open_cases if case.reason is None])
    reasons = {(case.a, case.b): case.reason or Reason("unrelated", case.a, case.b) for case in cases}
    return tuple(reasons[pair] for pair in pairs)


class _Asked:
    """The measure, asked about pairs in batches."""

    def __init__(self, measure: Measure, cache: PairCache | None, progress: Progress | None) -> None:
        self._measure, self._cache, self._progress = measure, cache, progress
        self._known: dict[tuple[str, str], float] = {}

    def remember(self, pairs: Iterable[tuple[str, str]], equivalence: Iterable[float]) -> None:
        """Keep scores, so that no pair is asked for twice."""
        for (a, b), p in zip(pairs, equivalence, strict=True):
            self._known[(a, b) if a <= b else (b, a)] = p

    def equivalence(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """P(a ≡ b), n of them."""
        keys = [(a, b) if a <= b else (b, a) for a, b in pairs]
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        self.remember(new, self.both(new)[0].tolist())
        return [self._known[key] for key in keys]

    def both(self, pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """P(a ≡ b), shape (n,), and both directions, shape (n, 2), where there are any."""
        if not pairs:
            return np.zeros(0), None
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        number = {text: place for place, text in enumerate(texts)}
        left = np.array([number[a] for a, _ in pairs], dtype=np.int64)
        right = np.array([number[b] for _, b in pairs], dtype=np.int64)
        scorer = PairScorer(self._measure, texts, cache=self._cache, progress=self._progress)
        return scorer.score(left, right), scorer.entail(left, right)

    def directions(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64] | None:
        """P(a ⇒ b) and P(b ⇒ a), shape (n, 2); None where the measure has no directions."""
        return self.both(pairs)[1] if self._measure.directional else None


_Trial = tuple[str, str]


class _Case:
    """Two texts whose reason is looked for."""

    def __init__(
        self,
        *texts: str,
        p: float,
        directions: NDArray[np.float64] | None,
        known: Collection[str],
        english: bool,
    ) -> None:
        self.a, self.b = texts
        self.p, self.directions, self._known, self._english = p, directions, known, english
        self.reason: Reason | None = None
        self._heads: _Trial | None = None
        self._own = parts_of(self.a), parts_of(self.b)
        self.differ: tuple[str, ...] = ()
        first, second = (one.wordings for one in self._own)
        if first != second:
            self.differ = tuple(kind for kind in KINDS if first.get(kind) != second.get(kind))

    def heads(self) -> _Trial:
        """Both texts without everything that they disagree about."""
        if self._heads is None:
            self._heads = self._without(self.differ)
        return self._heads

    def _without(self, kinds: tuple[str, ...]) -> _Trial:
        one, other = self._own
        return one.without(kinds), other.without(kinds)

    def shared_heads(self) -> tuple[tuple[str, ...], _Trial]:
        """The attributes that both texts name differently, and both texts without them.

        An attribute that only one text has stays: with it, this text is not the more general one.
        """
        both = tuple(kind for kind in self.differ if all(kind in one.wordings for one in self._own))
        return both, self._without(both)

    def attribute_trials(self) -> list[_Trial]:
        """Both texts without each attribute that they disagree about, and without all of them."""
        trials = [self._without((kind,)) for kind in self.differ]
        return [*trials, self.heads()] if len(trials) > 1 else trials

    def try_attributes(self, p: Sequence[float], threshold: float) -> None:
        """Take the attribute without which equivalence is highest, if it reaches the threshold.

        Else all of them together.
        """
        n = len(self.differ)
        best = max(range(n), key=lambda place: p[place])
        if p[best] >= threshold and p[best] > self.p:
            self.reason = self._attribute(self.differ[best])
        elif n > 1 and p[n] >= threshold and p[n] > self.p:
            self.reason = self._attribute(*self.differ)

    def _attribute(self, kind: str, *also: str) -> Reason:
        left, right = (", ".join(one.attributes.of(kind)) for one in self._own)
        return Reason(kind, left, right, also)

    def part_trials(self) -> list[_Trial]:
        """What a list, a slip of the pen or an opposite would make the same."""
        a, b = self.heads()
        self._lists = parts_of(a).listed, parts_of(b).listed
        self._words = self._changed_word()
        trials = []
        if 1 < len(self._lists[0]) * len(self._lists[1]) <= _MOST_TRIALS and self._is_readable(a + b):
            trials += [(one, other) for one in self._lists[0] for other in self._lists[1]]
        if self._words is not None:
            trials.append(self._with_same_word())
        return trials

    def try_parts(self, p: Sequence[float], threshold: float) -> None:
        """Take what a trial has shown."""
        listed = list(p)
        swapped = listed.pop() if self._words is not None else 0.0
        # a measure that calls every part the same does not read these texts
        if listed and max(listed) >= threshold > min(listed):
            self.reason = Reason("list", self.a, self.b, self.differ)
        elif self._words is not None and swapped >= threshold:
            x, y = self._words
            if are_opposites(x, y):
                kind = "contradiction"
            else:
                kind = "spelling" if is_misspelling(x, y, self._known) else "look-alike"
            self.reason = Reason(kind, x, y)

    def _is_readable(self, text: str) -> bool:
        """Whether the measure knows the letters.

        A measure for English gives high values to words that it cannot read.
        """
        return not self._english or all(not one.isalpha() or "LATIN" in name(one, "") for one in text)

    def _changed_word(self) -> tuple[str, str] | None:
        """The two words, in folded case, that exclude each other or look alike; opposites come first."""
        if len(self.a) > LONGEST or len(self.b) > LONGEST:
            return None
        first, second = (parts_of(head).words for head in self.heads())
        if "".join(first) == "".join(second) and first != second:
            return " ".join(first), " ".join(second)
        only = [w for w in first if w not in second], [w for w in second if w not in first]
        if max(map(len, only)) > _MOST_WORDS:
            return None
        for related in (are_opposites, look_alike):
            for x in only[0]:
                for y in only[1]:
                    if related(x, y):
                        return x, y
        return None

    def _with_same_word(self) -> _Trial:
        """Both heads with the first text's word."""
        assert self._words is not None
        a, b = self.heads()
        x, y = self._words
        return a.casefold(), re.sub(rf"\b{re.escape(y)}\b", lambda _: x, b.casefold())

    def general(self, directions: NDArray[np.float64] | None, a: str, b: str) -> Reason | None:
        """More general or more specific, by the directions, else by words that one text has in addition."""
        if directions is not None:
            forward, backward = float(directions[0]), float(directions[1])
            if forward >= DIRECTION > backward:
                return Reason("more general", b, a)
            if backward >= DIRECTION > forward:
                return Reason("more general", a, b)
        first, second = (parts_of(text).content for text in (a, b))
        if first and first < second:
            return Reason("more general", a, b)
        if second and second < first:
            return Reason("more general", b, a)
        return None


def _decide(
    cases: Sequence[_Case],
    asked: _Asked,
    threshold: float,
    trials_of: Callable[[_Case], list[_Trial]],
    take: Callable[[_Case, Sequence[float], float], None],
) -> list[_Case]:
    """Ask the measure about the trials of all cases at once; the cases that are still open."""
    trials = [trials_of(case) for case in cases]
    numbers: dict[_Trial, int] = {}
    for one in trials:
        for trial in one:
            numbers.setdefault(trial, len(numbers))
    values = asked.equivalence(list(numbers))
    for case, own in zip(cases, trials, strict=True):
        if own:
            take(case, [values[numbers[trial]] for trial in own], threshold)
    return [case for case in cases if case.reason is None]


def _directed(cases: Sequence[_Case], asked: _Asked) -> None:
    """Which of two texts is more general: as they are, else without the attributes that both name differently."""
    rest = []
    for case in cases:
        case.reason = case.general(case.directions, case.a, case.b)
        if case.reason is None and (shared := case.shared_heads())[0]:
            rest.append((case, *shared))
    directions = asked.directions([heads for *_, heads in rest])
    for place, (case, also, heads) in enumerate(rest):
        reason = case.general(None if directions is None else directions[place], *heads)
        if reason is not None:
            case.reason = Reason(reason.kind, reason.left, reason.right, also)


def _lacking(cases: Sequence[_Case], asked: _Asked) -> None:
    """Which sentences of a paragraph do not follow from the other text."""
    parts = [(sentences(case.a), sentences(case.b)) for case in cases]
    compared = [
        (case, own, others)
        for case, (own, others) in zip(cases, parts, strict=True)
        if min(len(own), len(others)) > 1 and len(own) + len(others) <= _MOST_TRIALS
    ]
    pairs = [
        pair
        for case, own, others in compared
        for pair in (*((part, case.b) for part in own), *((part, case.a) for part in others))
    ]
    directions = asked.directions(pairs)
    if directions is None:
        return
    start = 0
    for case, own, others in compared:
        follows = directions[start : start + len(own) + len(others), 1] >= DIRECTION
        start += len(own) + len(others)
        lacking = [part for part, is_there in zip((*own, *others), follows.tolist(), strict=True) if not is_there]
        if 0 < len(lacking) < len(own) + len(others):
            left = " ".join(part for part in own if part in lacking)
            right = " ".join(part for part in others if part in lacking)
            case.reason = Reason("one rater only", left, right)


def _contradicting(cases: Sequence[_Case]) -> None:
    """Which texts with the same words deny others of them or exchange their sides."""
    facts = comparisons([facts_of(text) for case in cases for text in (case.a, case.b)], (SIDE, NEGATION))
    first = 2 * np.arange(len(cases), dtype=np.int64)
    for case, contradicts in zip(cases, any_differ(facts, first, first + 1).tolist(), strict=True):
        if contradicts:
            case.reason = Reason("contradiction", case.a, case.b)

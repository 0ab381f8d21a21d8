"""Why two texts do not match: by leaving something out of both and asking the measure again.

If the equivalence rises above the threshold without an attribute (side, severity, ...) in both texts, that
attribute is the reason. Else it is the first of these that is true: one text is a list that has the other one, the
texts exclude each other, their letters are close, one is more general, they are unrelated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial

import numpy as np

from softirr.defaults import THRESHOLD
from softirr.meaning.measures.arrays import Floats, mutual, numbered_pairs
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.fact_comparisons import NEGATION, any_differ, comparisons
from softirr.meaning.measures.facts import SIDE, facts_of
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.sentences_stage import compares_sentences
from softirr.meaning.policy.attributes import KINDS, LONGEST
from softirr.meaning.policy.reasons import Reason
from softirr.meaning.policy.text_parts import parts_of
from softirr.meaning.policy.word_pairs import Known, are_opposites, is_misspelling, look_alike
from softirr.provenance import Progress
from softirr.text import sentences

__all__ = ["explain"]

DIRECTION = 0.5
"""P(a ⇒ b) from which one text implies the other."""

_MOST_TRIALS = 200
"""Maximum number of pairs of parts of two lists; longer lists are not compared part by part."""
_MOST_WORDS = 12
"""Words that only one text has, up to which a changed word is looked for among them."""


def explain(
    pairs: Sequence[tuple[str, str]],
    measure: Measure,
    equivalence: Floats | None = None,
    directions: Floats | None = None,
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
    equivalence : shape (n,), optional
        P(a ≡ b) of the pairs; scored here if None.
    directions : shape (n, 2), optional
        P(a ⇒ b) and P(b ⇒ a) of the pairs, if the measure has directions; scored here if both are None.
    threshold : float
        Equivalence from which two texts match.
    known : collection of str
        :func:`softirr.meaning.policy.text_parts.known_words` of the project, which separate misspellings from look-alikes.
    cache, progress
        As for :class:`softirr.meaning.measures.pairs.PairScorer`.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> pairs = [("left knee pain", "pain of the right knee"), ("gain of weight", "weight loss")]
    >>> [(reason.kind, reason.words) for reason in explain(pairs, measure("jaccard"))]
    [('side', 'left against right'), ('contradiction', 'gain against loss')]
    """
    score = partial(_score, measure, cache, progress)
    if equivalence is None:
        scored = score(pairs)
        equivalence, directions = mutual(scored), scored if measure.directional else None
    cases: dict[tuple[str, str], _Case] = {}
    for index, pair in enumerate(pairs):
        if pair not in cases:
            cases[pair] = _Case(
                *pair, float(equivalence[index]), None if directions is None else directions[index], known
            )
    open_cases = list(cases.values())
    for step in (
        _lacking if compares_sentences(measure) else None,
        _by_attributes,
        _by_parts,
        _by_direction,
        _by_facts,
    ):
        if step is not None and open_cases:
            step(open_cases, score, threshold)
            open_cases = [case for case in open_cases if case.reason is None]
    return tuple(cases[pair].reason or Reason("unrelated", *pair) for pair in pairs)


_Trial = tuple[str, str]
_Score = Callable[[Sequence[_Trial]], Floats]
"""Both directions of pairs of texts, shape (n, 2)."""


def _score(
    measure: Measure, cache: PairCache | None, progress: Progress | None, pairs: Sequence[tuple[str, str]]
) -> Floats:
    texts, left, right = numbered_pairs(pairs)
    scorer = PairScorer(measure, texts, cache=cache, progress=progress)
    both = scorer.entail(left, right)
    return np.repeat(scorer.score(left, right)[:, None], 2, axis=1) if both is None else both


class _Case:
    """Two texts that do not match, their equivalence and, if the measure has any, their directions."""

    def __init__(self, a: str, b: str, p: float, directions: Floats | None, known: Collection[str]) -> None:
        self.a, self.b, self.p, self.directions, self.known = a, b, p, directions, known
        self.reason: Reason | None = None
        self.parts = parts_of(a), parts_of(b)
        first, second = (part.wordings for part in self.parts)
        self.differ = tuple(kind for kind in KINDS if first.get(kind) != second.get(kind)) if first != second else ()

    def without(self, kinds: tuple[str, ...]) -> _Trial:
        """Both texts without attributes of these kinds."""
        return self.parts[0].without(kinds), self.parts[1].without(kinds)

    @cached_property
    def heads(self) -> _Trial:
        """Both texts without everything that they disagree about."""
        return self.without(self.differ)

    def attribute(self, kind: str, *also: str) -> Reason:
        """The reason that the texts differ in these attributes."""
        left, right = (", ".join(part.attributes.of(kind)) for part in self.parts)
        return Reason(kind, left, right, also)

    @cached_property
    def changed_word(self) -> tuple[str, str] | None:
        """The two words, in folded case, that exclude each other or look alike; opposites come first."""
        if len(self.a) > LONGEST or len(self.b) > LONGEST:
            return None
        first, second = (parts_of(head).words for head in self.heads)
        if "".join(first) == "".join(second) and first != second:
            return " ".join(first), " ".join(second)
        only = [word for word in first if word not in second], [word for word in second if word not in first]
        if max(map(len, only)) > _MOST_WORDS:
            return None
        for are_related in (are_opposites, look_alike):
            for x in only[0]:
                for y in only[1]:
                    if are_related(x, y):
                        return x, y
        return None

    @cached_property
    def listed(self) -> list[_Trial]:
        """Each part of one list with each part of the other one; empty if no text is a short list."""
        first, second = (parts_of(head).listed for head in self.heads)
        if not 1 < len(first) * len(second) <= _MOST_TRIALS:
            return []
        return [(part, other) for part in first for other in second]


def _try(
    cases: Sequence[_Case],
    score: _Score,
    trials_of: Callable[[_Case], list[_Trial]],
    take: Callable[[_Case, list[float]], None],
) -> None:
    """Score the trials of all cases at once, and let each case take a reason from its own."""
    trials = [trials_of(case) for case in cases]
    numbers = {trial: number for number, trial in enumerate(dict.fromkeys(t for own in trials for t in own))}
    values = mutual(score(list(numbers))) if numbers else np.zeros(0)
    for case, own in zip(cases, trials, strict=True):
        if own:
            take(case, [float(values[numbers[trial]]) for trial in own])


def _by_attributes(cases: Sequence[_Case], score: _Score, threshold: float) -> None:
    """The attribute without which equivalence is highest, if it reaches the threshold; else all of them together."""

    def trials(case: _Case) -> list[_Trial]:
        alone = [case.without((kind,)) for kind in case.differ]
        return [*alone, case.heads] if len(alone) > 1 else alone

    def take(case: _Case, p: list[float]) -> None:
        n = len(case.differ)
        best = max(range(n), key=lambda index: p[index])
        if p[best] >= threshold and p[best] > case.p:
            case.reason = case.attribute(case.differ[best])
        elif n > 1 and p[n] >= threshold and p[n] > case.p:
            case.reason = case.attribute(*case.differ)

    _try(cases, score, trials, take)


def _by_parts(cases: Sequence[_Case], score: _Score, threshold: float) -> None:
    """A list, a slip of the pen or an opposite, if the texts would match without it."""

    def trials(case: _Case) -> list[_Trial]:
        if case.changed_word is None:
            return case.listed
        (a, b), (x, y) = case.heads, case.changed_word
        return [*case.listed, (a.casefold(), re.sub(rf"\b{re.escape(y)}\b", lambda _: x, b.casefold()))]

    def take(case: _Case, p: list[float]) -> None:
        swapped = p.pop() if case.changed_word is not None else 0.0
        # a measure that calls all parts the same does not read these texts
        if p and max(p) >= threshold > min(p):
            case.reason = Reason("list", case.a, case.b, case.differ)
        elif case.changed_word is not None and swapped >= threshold:
            x, y = case.changed_word
            if are_opposites(x, y):
                kind = "contradiction"
            else:
                kind = "spelling" if is_misspelling(x, y, case.known) else "look-alike"
            case.reason = Reason(kind, x, y)

    _try(cases, score, trials, take)


def _by_direction(cases: Sequence[_Case], score: _Score, threshold: float) -> None:
    """Which text is more general: as they are, else without the attributes that both name differently.

    An attribute that only one text has stays: with it, this text is not the more general one.
    """
    shared: list[tuple[_Case, tuple[str, ...], _Trial]] = []
    for case in cases:
        case.reason = _more_general(case.directions, case.a, case.b)
        kinds = tuple(kind for kind in case.differ if all(kind in part.wordings for part in case.parts))
        if case.reason is None and kinds:
            shared.append((case, kinds, case.without(kinds)))
    has_directions = bool(shared) and shared[0][0].directions is not None
    directions = score([heads for *_, heads in shared]) if has_directions else None
    for index, (case, kinds, heads) in enumerate(shared):
        reason = _more_general(None if directions is None else directions[index], *heads)
        if reason is not None:
            case.reason = Reason(reason.kind, reason.left, reason.right, kinds)


def _more_general(directions: Floats | None, a: str, b: str) -> Reason | None:
    """More general or more specific, by the directions, else by words that one text has in addition."""
    if directions is not None:
        forward, backward = directions.tolist()
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


def _lacking(cases: Sequence[_Case], score: _Score, threshold: float) -> None:
    """Which sentences of a paragraph do not follow from the other text."""
    compared = []
    for case in cases:
        first, second = sentences(case.a), sentences(case.b)
        if min(len(first), len(second)) > 1 and len(first) + len(second) <= _MOST_TRIALS:
            compared.append((case, first, second))
    pairs = [
        pair
        for case, first, second in compared
        for pair in (*((part, case.b) for part in first), *((part, case.a) for part in second))
    ]
    follows = iter((score(pairs)[:, 1] >= DIRECTION).tolist() if pairs else ())
    for case, first, second in compared:
        lacking = [[part for part in parts if not next(follows)] for parts in (first, second)]
        if 0 < len(lacking[0]) + len(lacking[1]) < len(first) + len(second):
            case.reason = Reason("one rater only", " ".join(lacking[0]), " ".join(lacking[1]))


def _by_facts(cases: Sequence[_Case], score: _Score, threshold: float) -> None:
    """Which texts with the same words deny others of them or exchange their sides."""
    facts = comparisons([facts_of(text) for case in cases for text in (case.a, case.b)], (SIDE, NEGATION))
    first = 2 * np.arange(len(cases), dtype=np.int64)
    for case, contradicts in zip(cases, any_differ(facts, first, first + 1).tolist(), strict=True):
        if contradicts:
            case.reason = Reason("contradiction", case.a, case.b)

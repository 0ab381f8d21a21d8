"""Why two texts do not match: by leaving something out of both and asking the measure again.

If the equivalence rises above the threshold without an attribute (side, severity, ...) in both texts, that
attribute is the reason. Else it is the first of these that is true: one text is a list that has the other one, the
texts exclude each other, their letters are close, one is more general, they are unrelated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from itertools import chain, product

import numpy as np

from softirr.defaults import THRESHOLD
from softirr.meaning.measures.arrays import Floats, mutual, numbered_pairs
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.fact_comparisons import NEGATION, any_differ, comparisons
from softirr.meaning.measures.facts import SIDE, facts_of
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.sentences_stage import compares_sentences, different_sentences, near_sentences
from softirr.meaning.policy.attributes import KINDS, LONGEST, attributes, without
from softirr.meaning.policy.reasons import Reason
from softirr.meaning.policy.text_parts import Known, are_opposites, is_misspelling, look_alike, parts_of
from softirr.provenance import Progress

DIRECTION = 0.5
"""P(a ⇒ b) from which one text implies the other."""

_MOST_TRIALS = 200
"""Maximum number of pairs that two lists make; longer lists are not compared part by part."""
_MOST_WORDS = 12
"""Words that only one text has, up to which a changed word is looked for among them."""


def explain(
    pairs: Sequence[tuple[str, str]],
    measure: Measure,
    directions: Floats | None = None,
    *,
    project_words: Known = frozenset(),
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> tuple[Reason, ...]:
    """Why each pair of texts does not match; the pairs are taken as not matching, whatever their equivalence.

    Parameters
    ----------
    pairs : sequence of (str, str)
        n pairs of texts.
    measure : Measure
        Scores the texts without what they disagree about.
    directions : shape (n, 2), optional
        P(a ⇒ b) and P(b ⇒ a) of the pairs, twice the equivalence if the measure has no directions; scored here if None.
    project_words : collection of str
        Words of the project, which separate misspellings from look-alikes: see
        :func:`softirr.meaning.policy.text_parts.known_words`.
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
    directions = score(pairs) if directions is None else directions
    cases: dict[tuple[str, str], _Case] = {}
    for pair, pair_directions in zip(pairs, directions, strict=True):
        if pair not in cases:
            cases[pair] = _Case(*pair, pair_directions, project_words)
    open_cases = list(cases.values())
    for step in (
        _lacking if compares_sentences(measure) else None,
        _by_attributes,
        _by_parts,
        _by_direction,
        _by_facts,
    ):
        if step is not None and open_cases:
            step(open_cases, score)
            open_cases = [case for case in open_cases if case.reason is None]
    return tuple(cases[pair].reason or Reason("unrelated", *pair) for pair in pairs)


_Trial = tuple[str, str]
_Score = Callable[[Sequence[_Trial]], Floats]
"""Both directions of pairs of texts, shape (n, 2)."""


def _score(
    measure: Measure, cache: PairCache | None, progress: Progress | None, pairs: Sequence[tuple[str, str]]
) -> Floats:
    texts, first, second = numbered_pairs(pairs)
    return PairScorer(measure, texts, cache=cache, progress=progress).directions(first, second)


class _Case:
    """Two texts that do not match, and their directions."""

    def __init__(self, a: str, b: str, directions: Floats, project_words: Collection[str]) -> None:
        self.a, self.b, self.directions, self.project_words = a, b, directions, project_words
        self.p = float(mutual(directions[None, :])[0])
        self.reason: Reason | None = None
        self.parts = parts_of(a), parts_of(b)
        first, second = (text_parts.wordings for text_parts in self.parts)
        self.differ = tuple(kind for kind in KINDS if first.get(kind) != second.get(kind)) if first != second else ()

    def without(self, kinds: tuple[str, ...]) -> _Trial:
        """Both texts without attributes of these kinds."""
        return without(self.a, kinds), without(self.b, kinds)

    @cached_property
    def heads(self) -> _Trial:
        """Both texts without everything that they disagree about."""
        return self.without(self.differ)

    def attribute(self, kind: str, *also: str) -> Reason:
        """The reason that the texts differ in these attributes."""
        left_wording, right_wording = (", ".join(attributes(text).of(kind)) for text in (self.a, self.b))
        return Reason(kind, left_wording, right_wording, also)

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
        return list(product(first, second))


def _try(
    cases: Sequence[_Case],
    score: _Score,
    trials_of: Callable[[_Case], list[_Trial]],
    take: Callable[[_Case, list[float]], None],
) -> None:
    """Score the trials of all cases at once, and let each case take a reason from its own."""
    trials = [trials_of(case) for case in cases]
    numbers = {trial: number for number, trial in enumerate(dict.fromkeys(chain.from_iterable(trials)))}
    values = mutual(score(list(numbers))) if numbers else np.zeros(0)
    for case, case_trials in zip(cases, trials, strict=True):
        if case_trials:
            take(case, [float(values[numbers[trial]]) for trial in case_trials])


def _by_attributes(cases: Sequence[_Case], score: _Score) -> None:
    """All attributes that differ, if the texts match without them; one of them, if that is enough.

    Single attributes are tried only if the texts match without all of them, which is rare.
    """

    def take_all(case: _Case, p: list[float]) -> None:
        if p[0] >= THRESHOLD and p[0] > case.p:
            case.reason = case.attribute(*case.differ)

    def take_best(case: _Case, p: list[float]) -> None:
        best = max(range(len(p)), key=lambda index: p[index])
        if p[best] >= THRESHOLD and p[best] > case.p:
            case.reason = case.attribute(case.differ[best])

    _try(cases, score, lambda case: [case.heads] if case.differ else [], take_all)
    with_several = [case for case in cases if case.reason is not None and len(case.differ) > 1]
    _try(with_several, score, lambda case: [case.without((kind,)) for kind in case.differ], take_best)


def _by_parts(cases: Sequence[_Case], score: _Score) -> None:
    """A list, a slip of the pen or an opposite, if the texts would match without it."""

    def trials(case: _Case) -> list[_Trial]:
        if case.changed_word is None:
            return case.listed
        (a, b), (x, y) = case.heads, case.changed_word
        return [*case.listed, (a.casefold(), re.sub(rf"\b{re.escape(y)}\b", lambda _: x, b.casefold()))]

    def take(case: _Case, p: list[float]) -> None:
        swapped = p.pop() if case.changed_word is not None else 0.0
        # a measure that calls all parts the same does not read these texts
        if p and max(p) >= THRESHOLD > min(p):
            case.reason = Reason("list", case.a, case.b, case.differ)
        elif case.changed_word is not None and swapped >= THRESHOLD:
            x, y = case.changed_word
            if are_opposites(x, y):
                kind = "contradiction"
            else:
                kind = "spelling" if is_misspelling(x, y, case.project_words) else "look-alike"
            case.reason = Reason(kind, x, y)

    _try(cases, score, trials, take)


def _by_direction(cases: Sequence[_Case], score: _Score) -> None:
    """Which text is more general: as they are, else without the attributes that both name differently.

    An attribute that only one text has stays: with it, this text is not the more general one.
    """
    shared: list[tuple[_Case, tuple[str, ...], _Trial]] = []
    for case in cases:
        case.reason = _more_general(case.directions, case.a, case.b)
        kinds = tuple(kind for kind in case.differ if all(kind in text_parts.wordings for text_parts in case.parts))
        if case.reason is None and kinds:
            shared.append((case, kinds, case.without(kinds)))
    directions = score([heads for *_, heads in shared]) if shared else np.zeros((0, 2))
    for (case, kinds, heads), head_directions in zip(shared, directions, strict=True):
        reason = _more_general(head_directions, *heads)
        if reason is not None:
            case.reason = Reason(reason.kind, reason.left_wording, reason.right_wording, kinds)


def _more_general(directions: Floats, a: str, b: str) -> Reason | None:
    """More general or more specific, by the directions, else by words that one text has in addition."""
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


def _lacking(cases: Sequence[_Case], score: _Score) -> None:
    """Which sentences of a paragraph the other one neither has nor implies by a sentence near them."""
    of_case = {case: (different_sentences(case.a), different_sentences(case.b)) for case in cases}
    paragraphs = {
        case: (first, second)
        for case, (first, second) in of_case.items()
        if min(len(first), len(second)) > 1 and len(first) + len(second) <= _MOST_TRIALS
    }
    near = [list(zip(*near_sentences(*texts), strict=True)) for texts in paragraphs.values()]
    pairs = [(a[i], b[j]) for (a, b), indices in zip(paragraphs.values(), near, strict=True) for i, j in indices]
    implied = iter((score(pairs) >= DIRECTION).tolist() if pairs else ())
    for (case, (first, second)), indices in zip(paragraphs.items(), near, strict=True):
        shared = set(first) & set(second)
        directions = [(i, j, *next(implied)) for i, j in indices]
        in_second = shared | {first[i] for i, _, _, backward in directions if backward}
        in_first = shared | {second[j] for _, j, forward, _ in directions if forward}
        lacking = (
            [sentence for sentence in first if sentence not in in_second],
            [sentence for sentence in second if sentence not in in_first],
        )
        if 0 < len(lacking[0]) + len(lacking[1]) < len(first) + len(second):
            case.reason = Reason("one rater only", " ".join(lacking[0]), " ".join(lacking[1]))


def _by_facts(cases: Sequence[_Case], score: _Score) -> None:
    """Which texts with the same words deny others of them or exchange their sides."""
    facts = comparisons([facts_of(text) for case in cases for text in (case.a, case.b)], (SIDE, NEGATION))
    first = 2 * np.arange(len(cases), dtype=np.int64)
    for case, contradicts in zip(cases, any_differ(facts, first, first + 1).tolist(), strict=True):
        if contradicts:
            case.reason = Reason("contradiction", case.a, case.b)

"""Why two texts do not match: by leaving something out of both and asking the measure again.

If the equivalence rises above the threshold without an attribute (side, severity, ...) in both texts, that
attribute is the reason. Else it is the first of these that is true: one text is a list that has the other one, the
texts exclude each other, their letters are close, one is more general, they are unrelated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from typing import Any

import numpy as np

from softirr.defaults import THRESHOLD
from softirr.meaning.measures.arrays import Floats, mutual, numbered_pairs
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.fact_comparisons import NEGATION, any_differ, comparisons
from softirr.meaning.measures.facts import SIDE, facts_of
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.sentences_stage import Sentences, different_sentences, near_sentences
from softirr.meaning.policy.attributes import KINDS, LONGEST, attributes, without
from softirr.meaning.policy.reasons import Known, Reason, are_opposites, is_misspelling, look_alike, parts_of
from softirr.provenance import Progress

DIRECTION = 0.5
"""P(a ⇒ b) from which one text implies the other."""

_EXCLUDED = 0.01
"""Both directions of a model below this: it takes the texts for a contradiction, such as "Fieber" and "kein Fieber"."""
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
        Scores the texts without what they disagree about, regardless of decisions, which are about whole texts.
    directions : shape (n, 2), optional
        P(a ⇒ b) and P(b ⇒ a) of the pairs, twice the equivalence if the measure has no directions; scored here if None.
    project_words : collection of str
        Words of the project, which separate misspellings from look-alikes: see
        :func:`softirr.meaning.policy.reasons.known_words`.
    cache, progress
        As for :class:`softirr.meaning.measures.pairs.PairScorer`.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> pairs = [("left knee pain", "pain of the right knee"), ("gain of weight", "weight loss")]
    >>> [(reason.kind, reason.words) for reason in explain(pairs, measure("jaccard"))]
    [('side', 'left against right'), ('contradiction', 'gain against loss')]
    """

    def score(trials: Sequence[_Trial], scorer: Measure = measure.without(Decisions)) -> Floats:
        texts, first, second = numbered_pairs(trials)
        return PairScorer(scorer, texts, cache=cache, progress=progress).directions(first, second)

    directions = score(pairs, measure) if directions is None else directions
    by_sentence, has_directions = measure.stage(Sentences) is not None, measure.has_directions
    searches: dict[_Trial, Generator[Sequence[_Trial], Floats, Reason]] = {}
    for pair, pair_directions in zip(pairs, directions, strict=True):
        if pair not in searches:
            is_denied = has_directions and pair_directions.max() < _EXCLUDED
            case = _Case(*pair, pair_directions, project_words, is_denied=is_denied)
            searches[pair] = _search(case, by_sentence=by_sentence)
    reasons = _run(searches, score)
    return tuple(reasons[pair] for pair in pairs)


_Trial = tuple[str, str]
_Search = Generator[Sequence[_Trial], Floats, Reason | None]
"""Yields pairs of texts, is sent their directions, shape (n, 2), and returns the reason if it finds one."""


def _run(searches: Mapping[_Trial, _Search], score: Callable[[Sequence[_Trial]], Floats]) -> dict[_Trial, Reason]:
    """Run the searches of all pairs side by side, so that what they yield is scored together."""
    reasons: dict[_Trial, Reason] = {}
    answers: dict[_Trial, Any] = dict.fromkeys(searches)
    while answers:
        requests: dict[_Trial, Sequence[_Trial]] = {}
        for pair, answer in answers.items():
            try:
                requests[pair] = searches[pair].send(answer)
            except StopIteration as stop:
                reasons[pair] = stop.value
        numbers = {trial: number for number, trial in enumerate(dict.fromkeys(chain(*requests.values())))}
        directions = score(list(numbers)) if numbers else np.zeros((0, 2))
        answers = {pair: directions[[numbers[trial] for trial in trials]] for pair, trials in requests.items()}
    return reasons


class _Case:
    """Two texts that do not match, their directions, and whether a model denies that one follows from the other."""

    def __init__(self, a: str, b: str, directions: Floats, project_words: Collection[str], *, is_denied: bool) -> None:
        self.a, self.b, self.directions, self.project_words = a, b, directions, project_words
        self.is_denied = is_denied
        self.p = float(mutual(directions[None, :])[0])
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

    def is_solved(self, p: float) -> bool:
        """Whether the texts match with what was left out, and did not match better before."""
        return p >= THRESHOLD and p > self.p

    def attribute(self, kind: str, *also: str) -> Reason:
        """The reason that the texts differ in these attributes."""
        left_wording, right_wording = (", ".join(attributes(text).of(kind)) for text in (self.a, self.b))
        return Reason(kind, left_wording, right_wording, also)

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
        changes = (
            (x, y) for are_related in (are_opposites, look_alike) for x, y in product(*only) if are_related(x, y)
        )
        return next(changes, None)

    def listed(self) -> list[_Trial]:
        """Each part of one list with each part of the other one; empty if no text is a short list."""
        first, second = (parts_of(head).listed for head in self.heads)
        return list(product(first, second)) if 1 < len(first) * len(second) <= _MOST_TRIALS else []


def _search(case: _Case, *, by_sentence: bool) -> Generator[Sequence[_Trial], Floats, Reason]:
    """Try one reason after the other; the last one is that the texts are unrelated."""
    for attempt in (*((_lacking,) if by_sentence else ()), _by_attributes, _by_parts, _by_direction):
        reason = yield from attempt(case)
        if reason is not None:
            return reason
    # texts with the same words that deny different ones or exchange sides
    facts = comparisons([facts_of(case.a), facts_of(case.b)], (SIDE, NEGATION))
    is_excluded = any_differ(facts, np.array([0]), np.array([1])).any()
    return Reason("contradiction" if is_excluded else "unrelated", case.a, case.b)


def _lacking(case: _Case) -> _Search:
    """Which sentences of a paragraph the other one neither has nor implies by a sentence near them."""
    first, second = different_sentences(case.a), different_sentences(case.b)
    if min(len(first), len(second)) < 2 or len(first) + len(second) > _MOST_TRIALS:
        return None
    near = list(zip(*near_sentences(first, second), strict=True))
    implied = (yield [(first[i], second[j]) for i, j in near]) >= DIRECTION
    shared = set(first) & set(second)
    in_second = shared | {first[i] for (i, _), (_, backward) in zip(near, implied, strict=True) if backward}
    in_first = shared | {second[j] for (_, j), (forward, _) in zip(near, implied, strict=True) if forward}
    lacking = (
        [sentence for sentence in first if sentence not in in_second],
        [sentence for sentence in second if sentence not in in_first],
    )
    if 0 < len(lacking[0]) + len(lacking[1]) < len(first) + len(second):
        return Reason("one rater only", " ".join(lacking[0]), " ".join(lacking[1]))
    return None


def _by_attributes(case: _Case) -> _Search:
    """All attributes that differ, if the texts match without them; one of them, if that is enough.

    Single attributes are tried only if the texts match without all of them, which is rare.
    """
    if not case.differ or not case.is_solved(mutual((yield [case.heads]))[0]):
        return None
    if len(case.differ) > 1:
        p = mutual((yield [case.without((kind,)) for kind in case.differ]))
        if case.is_solved(p.max()):
            return case.attribute(case.differ[p.argmax()])
    return case.attribute(*case.differ)


def _by_parts(case: _Case) -> _Search:
    """A list, a slip of the pen or an opposite, if the texts would match without it."""
    trials, changed_word = case.listed(), case.changed_word()
    n_listed = len(trials)
    if changed_word is not None:
        (a, b), (x, y) = case.heads, changed_word
        trials.append((a.casefold(), re.sub(rf"\b{re.escape(y)}\b", lambda _: x, b.casefold())))
    if not trials:
        return None
    p = mutual((yield trials))
    # a measure that calls all parts the same does not read these texts
    if n_listed and p[:n_listed].max() >= THRESHOLD > p[:n_listed].min():
        return Reason("list", case.a, case.b, case.differ)
    if changed_word is None or p[-1] < THRESHOLD:
        return None
    if are_opposites(*changed_word):
        return Reason("contradiction", *changed_word)
    return Reason("spelling" if is_misspelling(*changed_word, case.project_words) else "look-alike", *changed_word)


def _by_direction(case: _Case) -> _Search:
    """Which text is more general: as they are, else without the attributes that both name differently.

    An attribute that only one text has stays: with it, this text is not the more general one.
    """
    reason = _more_general(case.directions, case.a, case.b)
    if reason is not None and case.is_denied:
        return Reason("contradiction", case.a, case.b)
    kinds = tuple(kind for kind in case.differ if all(kind in text_parts.wordings for text_parts in case.parts))
    if reason is not None or not kinds:
        return reason
    heads = case.without(kinds)
    reason = _more_general((yield [heads])[0], *heads)
    return None if reason is None else replace(reason, also=kinds)


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

"""Consensus of the raters of one item: matches, unmatched texts, and a suggested answer.

A match is a cluster of texts with at most one text of each rater. Between two raters it is a pair of the optimal
assignment (Wullschleger et al. 2026) that also gives the equivalence of their sets. With more raters, clusters maximize
the sum of equivalence minus threshold over the pairs within them: first greedily, then by an optimal reassignment of
each rater's texts, one rater at a time, until nothing improves. The result is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from softirr.answers.ratings import Floats
from softirr.defaults import THRESHOLD
from softirr.statistics.matching.assignment import check_method
from softirr.statistics.matching.clusters import ENTAILED, clusters_of_many, clusters_of_two
from softirr.statistics.matching.pair_scores import Scores, clusters_of_equal, equal_pairs, matrix_of, own_rater

Relation = Literal["equivalent", "first is more general", "second is more general", "unrelated"]
EQUIVALENT: Relation = "equivalent"
FIRST_MORE_GENERAL: Relation = "first is more general"
SECOND_MORE_GENERAL: Relation = "second is more general"
UNRELATED: Relation = "unrelated"

MANY = 500
"""Above this many texts of one item, counted per rater, texts are matched pair by pair, the highest scores first."""


@dataclass(frozen=True)
class Match:
    """Texts of several raters that belong together.

    Attributes
    ----------
    texts : dict of str to str
        The text of each rater. Two raters are in the order of the answers. With more raters, if some texts are more
        general than others, the most general text is first and the most specific one last.
    equivalence : float
        Mean of P(a≡b) over the pairs of the match.
    relation : str
        Relation of the first text to the second (with more than two, to the last).
    support : int
        Number of raters with the wording or an equivalent text.
    wording : str
        The medoid: the text with the highest summed equivalence to the others.
    pairs : tuple of (str, str, float)
        Two raters and the equivalence of their texts, for each pair; `equivalence` is their mean.
    sources : tuple of str
        With terminologies: the sources of the scores of its pairs, sorted.
    """

    texts: dict[str, str]
    equivalence: float
    relation: Relation
    support: int
    wording: str
    pairs: tuple[tuple[str, str, float], ...] = ()
    sources: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The match as in the JSON report (docs/reference/json.md).

        With more than two texts it has the value of each pair.
        """
        result = {
            "texts": dict(self.texts),
            "equivalence": self.equivalence,
            "relation": self.relation,
            "support": self.support,
        }
        if len(self.texts) > 2:
            result["pairs"] = [{"raters": [a, b], "equivalence": value} for a, b, value in self.pairs]
        if self.sources:
            result["sources"] = list(self.sources)
        return result


@dataclass(frozen=True)
class Consensus:
    """Matches of the answers of one item.

    Attributes
    ----------
    matches : tuple of Match
        The best supported first.
    unmatched : dict of str to tuple of str
        The texts of each rater that no other rater matches.
    suggestion : tuple of str
        The texts that a majority of the raters supports.
    """

    matches: tuple[Match, ...]
    unmatched: dict[str, tuple[str, ...]]
    suggestion: tuple[str, ...]


def distinct_texts(answers: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Distinct texts of an item in order of first appearance: the order that matrices given to `consensus` are in."""
    return tuple(dict.fromkeys(text for texts in answers.values() for text in texts))


def relation(equivalence: float, forward: float | None = None, backward: float | None = None) -> Relation:
    """Relation of a first text to a second one.

    Parameters
    ----------
    equivalence : float
        P(first ≡ second).
    forward, backward : float, optional
        P(first ⇒ second) and P(second ⇒ first), if the measure is directional. A text that entails the other without
        being entailed by it is the more specific one.

    Returns
    -------
    str
        Relation of the first text to the second.
    """
    if equivalence >= THRESHOLD:
        return EQUIVALENT
    if forward is None or backward is None:
        return UNRELATED
    if forward >= ENTAILED > backward:
        return SECOND_MORE_GENERAL
    if backward >= ENTAILED > forward:
        return FIRST_MORE_GENERAL
    return UNRELATED


def consensus(
    answers: Mapping[str, Sequence[str]], P: Scores, directions: Scores | None = None, *, method: str = "optimal"
) -> Consensus:
    """Match the texts of all raters of one item.

    Parameters
    ----------
    answers : mapping of rater to texts
        An empty answer is an empty sequence; a rater without an answer is not in the mapping.
    P : callable
        Equivalence: ``P(pairs)`` gives one value for each pair of texts.
    directions : callable, optional
        P(first ⇒ second) of each pair, if the measure is directional.
    method : {"optimal", "greedy"}
        Assignment between two raters; use the coefficient's method to get the matches that it counted.
    """
    check_method(method)
    texts = distinct_texts(answers)
    index = {text: i for i, text in enumerate(texts)}
    sets = [[index[t] for t in dict.fromkeys(rater_texts)] for rater_texts in answers.values()]
    raters = list(answers)
    nodes = [(r, t) for r, rater_texts in enumerate(sets) for t in rater_texts]
    rater_of_text = own_rater(nodes, len(texts))
    within: Callable[[list[int]], _Scores]
    if len(nodes) > MANY:
        clusters = clusters_of_equal(equal_pairs(P, texts, rater_of_text), nodes)
        within = partial(_scored_within, P, directions, texts)
    else:
        equal = matrix_of(P, texts, rater_of_text, is_directed=False)
        implied = None if directions is None else matrix_of(directions, texts, rater_of_text, is_directed=True)
        if len(raters) == 2:
            clusters = clusters_of_two(sets, equal, method)
        else:
            clusters = clusters_of_many(nodes, equal, implied)
        clusters, within = [sorted(c) for c in clusters if len(c) > 1], partial(_within, equal, implied)
    matches = [_match([nodes[i] for i in c], raters, texts, within([nodes[i][1] for i in c])) for c in clusters]
    matches.sort(key=lambda m: (-m.support, -m.equivalence, m.wording))
    matched = {i for c in clusters for i in c}
    unmatched: dict[str, list[str]] = {}
    for number, (r, text) in enumerate(nodes):
        if number not in matched:
            unmatched.setdefault(raters[r], []).append(texts[text])
    supported = [m.wording for m in matches if 2 * m.support > len(raters)]
    if len(raters) == 1:
        supported = list(answers[raters[0]])  # the only rater is the majority
    return Consensus(
        matches=tuple(matches),
        unmatched={rater: tuple(rater_texts) for rater, rater_texts in unmatched.items()},
        suggestion=tuple(dict.fromkeys(supported)),
    )


_Scores = tuple[Floats, Floats | None]
"""Equivalence of each pair of k texts and P(row ⇒ column), shape (k, k); None for a measure without directions."""


def _within(equal: Floats, implied: Floats | None, texts: list[int]) -> _Scores:
    grid = np.ix_(texts, texts)
    return equal[grid], None if implied is None else implied[grid]


def _scored_within(P: Scores, directions: Scores | None, texts: Sequence[str], cluster: list[int]) -> _Scores:
    """The same without a matrix of all texts: the pairs of the cluster are scored again."""
    numbers, index = np.unique(cluster, return_inverse=True)
    cluster_texts = [texts[number] for number in numbers.tolist()]
    equal = matrix_of(P, cluster_texts, numbers, is_directed=False)
    implied = None if directions is None else matrix_of(directions, cluster_texts, numbers, is_directed=True)
    return _within(equal, implied, index.tolist())


def _match(members: Sequence[tuple[int, int]], raters: Sequence[str], texts: Sequence[str], scores: _Scores) -> Match:
    """Make the match of (rater, text) pairs."""
    p, directed = scores
    t = [i for _, i in members]
    member_raters = [raters[r] for r, _ in members]
    pairs = tuple((member_raters[i], member_raters[j], float(p[i, j])) for i, j in combinations(range(len(t)), 2))
    words = [texts[i] for i in t]
    sums = p.sum(axis=1).tolist()
    # Ties (two texts always tie) go to the shorter wording, then alphabetically: no rater is preferred.
    best = min(range(len(t)), key=lambda i: (-round(sums[i], 9), len(words[i]), words[i]))
    support = int((p[best] >= THRESHOLD).sum())
    mean = (sum(sums) - float(np.trace(p))) / (len(t) * (len(t) - 1))
    kind: Relation = UNRELATED
    if len(t) == 2:
        kind = _relation(scores, 0, 1)
    elif support == len(t):
        kind = EQUIVALENT
    elif directed is not None:
        # Mean entailment by the others minus mean entailment of the others: the more general text is entailed more
        # than it entails.
        general = directed.sum(axis=0) - directed.sum(axis=1)
        order = sorted(range(len(t)), key=lambda i: (-round(float(general[i]), 9), i))
        if _relation(scores, order[0], order[-1]) == FIRST_MORE_GENERAL:
            kind, members = FIRST_MORE_GENERAL, [members[i] for i in order]
    return Match(
        texts={raters[r]: texts[i] for r, i in members},
        equivalence=min(1.0, max(0.0, mean)),
        relation=kind,
        support=support,
        wording=words[best],
        pairs=pairs,
    )


def _relation(scores: _Scores, i: int, j: int) -> Relation:
    """Relation of text i to text j."""
    p, directed = scores
    directions = () if directed is None else (float(directed[i, j]), float(directed[j, i]))
    return relation(float(p[i, j]), *directions)

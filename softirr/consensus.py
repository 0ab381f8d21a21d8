"""What the raters of one item have in common: matches, what stays unmatched, and a suggested answer.

A match is a cluster of texts with at most one text of each rater. Between two raters it is a pair of the optimal assignment (paper, Eq. hungarian), the
same that the equivalence of their sets is computed from. Between more, clusters are built so that the equivalence within them, counted from the
threshold, sums up to as much as possible: first greedily, then by giving each rater's texts, one rater after the other, their best places by an optimal
assignment until nothing improves. The result depends on nothing but the answers: no seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softirr.assignment import check_method, greedy, optimal
from softirr.errors import InputError

Relation = Literal["equivalent", "first is more general", "second is more general", "unrelated"]
EQUIVALENT: Relation = "equivalent"
FIRST_MORE_GENERAL: Relation = "first is more general"
SECOND_MORE_GENERAL: Relation = "second is more general"
UNRELATED: Relation = "unrelated"
RELATIONS: tuple[Relation, ...] = (EQUIVALENT, FIRST_MORE_GENERAL, SECOND_MORE_GENERAL, UNRELATED)

Kind = Literal["generalisation", "lexical", "equality", "unrelated"]
KINDS: tuple[Kind, ...] = ("generalisation", "lexical", "equality", "unrelated")

# Scores of pairs of texts: a function like Measure.score, or a matrix over distinct_texts(answers).
Scores = Callable[[Sequence[tuple[str, str]]], ArrayLike] | ArrayLike


@dataclass(frozen=True)
class Match:
    """Texts of several raters that belong together.

    Attributes
    ----------
    texts : dict of str to str
        The text of each rater. Two raters stand in the order of the answers; with more, where the texts are not equivalent but one says more than the
        other, the most general text stands first and the most specific one last.
    equivalence : float
        Mean of P(a≡b) over the pairs of the match.
    relation : str
        Of the first text to the second (with more than two: to the last).
    support : int
        How many raters say what the wording says: their text is the wording or equivalent to it.
    wording : str
        The medoid: the text with the highest summed equivalence to the others.
    """

    texts: dict[str, str]
    equivalence: float
    relation: Relation
    support: int
    wording: str

    def to_dict(self) -> dict[str, Any]:
        """The match as it stands in the report (design, section 6)."""
        return {
            "texts": dict(self.texts),
            "equivalence": self.equivalence,
            "relation": self.relation,
            "support": self.support,
        }


@dataclass(frozen=True)
class Consensus:
    """Matches (the best supported first), the texts of each rater that no other rater matches, and what a majority of the raters supports."""

    matches: tuple[Match, ...]
    unmatched: dict[str, tuple[str, ...]]
    suggestion: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The keys ``matches``, ``unmatched`` and ``suggestion`` of an item in the report (design, section 6)."""
        return {
            "matches": [m.to_dict() for m in self.matches],
            "unmatched": {rater: list(texts) for rater, texts in self.unmatched.items()},
            "suggestion": list(self.suggestion),
        }


def distinct_texts(answers: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Distinct texts of an item in order of first appearance: the order that matrices given to `consensus` are in."""
    return tuple(dict.fromkeys(text for texts in answers.values() for text in texts))


def relation(
    equivalence: float,
    forward: float | None = None,
    backward: float | None = None,
    *,
    threshold: float = 0.5,
    direction_threshold: float = 0.5,
) -> Relation:
    """How a first text relates to a second.

    Parameters
    ----------
    equivalence : float
        P(first ≡ second).
    forward, backward : float, optional
        P(first ⇒ second) and P(second ⇒ first), where the measure is directional. A text that entails the other without being entailed by it is the more
        specific one.
    threshold, direction_threshold : float
        From where on a pair counts as equivalent, and a direction as entailed.
    """
    if equivalence >= threshold:
        return EQUIVALENT
    if forward is None or backward is None:
        return UNRELATED
    if forward >= direction_threshold > backward:
        return SECOND_MORE_GENERAL
    if backward >= direction_threshold > forward:
        return FIRST_MORE_GENERAL
    return UNRELATED


def consensus(
    answers: Mapping[str, Sequence[str]],
    P: Scores,
    directions: Scores | None = None,
    *,
    threshold: float = 0.5,
    direction_threshold: float = 0.5,
    method: str = "optimal",
) -> Consensus:
    """Match the texts of all raters of one item.

    Parameters
    ----------
    answers : mapping of rater to texts
        An empty answer is an empty sequence; a rater without an answer is not in the mapping.
    P : callable or array_like, shape (t, t)
        Equivalence: ``P(pairs)`` gives one value for each pair of texts, a matrix is over ``distinct_texts(answers)``.
    directions : callable or array_like, shape (t, t), optional
        P(row ⇒ column), in the same two forms, where the measure is directional.
    threshold, direction_threshold : float
        See `relation`.
    method : {"optimal", "greedy"}
        Assignment between two raters; the same as in the coefficient, so that the matches are the ones that were counted.
    """
    check_method(method)
    texts = distinct_texts(answers)
    index = {text: i for i, text in enumerate(texts)}
    sets = [[index[t] for t in dict.fromkeys(given)] for given in answers.values()]
    raters = list(answers)
    nodes = [(r, t) for r, given in enumerate(sets) for t in given]
    equal = _scores(P, texts, diagonal=1.0)
    implied = None if directions is None else _scores(directions, texts, diagonal=1.0)
    options = {"threshold": threshold, "direction_threshold": direction_threshold}
    if len(raters) == 2:
        clusters = _pairs(sets, equal, method)
    else:
        clusters = _clusters(nodes, equal, implied, threshold, direction_threshold)
    matches = [_match([nodes[i] for i in c], raters, texts, equal, implied, **options) for c in clusters if len(c) > 1]
    matches.sort(key=lambda m: (-m.support, -m.equivalence, m.wording))
    matched = {i for c in clusters if len(c) > 1 for i in c}
    alone: dict[str, list[str]] = {}
    for i, (r, t) in enumerate(nodes):
        if i not in matched:
            alone.setdefault(raters[r], []).append(texts[t])
    supported = [m.wording for m in matches if 2 * m.support > len(raters)]
    if len(raters) == 1:
        supported = list(answers[raters[0]])  # the only rater is the majority
    return Consensus(
        matches=tuple(matches),
        unmatched={rater: tuple(given) for rater, given in alone.items()},
        suggestion=tuple(dict.fromkeys(supported)),
    )


def disagreement(
    first: str,
    second: str,
    equivalence: float,
    forward: float | None = None,
    backward: float | None = None,
    *,
    relatedness: float | None = None,
    threshold: float = 0.5,
    direction_threshold: float = 0.5,
    lexical_threshold: float = 0.7,
    relatedness_threshold: float = 0.5,
) -> Kind | None:
    """Kind of disagreement between two texts, in the terms of the paper (section "Error Analysis"); None where they are equivalent.

    *generalisation*: one of them is more general (needs the two directions). *lexical*: different in meaning, alike in spelling (normalised Indel
    similarity, case folded). *equality*: similar concepts that are not the same; needs ``relatedness``, a similarity such as an embedding's; without it
    an equivalence of at least half the threshold is taken for one. Else *unrelated*.
    """
    kind = relation(equivalence, forward, backward, threshold=threshold, direction_threshold=direction_threshold)
    if kind == EQUIVALENT:
        return None
    if kind != UNRELATED:
        return "generalisation"
    from rapidfuzz.distance import Indel

    if Indel.normalized_similarity(first.casefold(), second.casefold()) >= lexical_threshold:
        return "lexical"
    similar = equivalence >= threshold / 2 if relatedness is None else relatedness >= relatedness_threshold
    return "equality" if similar else "unrelated"


def disagreements(
    pairs: Iterable[tuple[str, str]],
    equivalence: ArrayLike,
    directions: ArrayLike | None = None,
    *,
    relatedness: ArrayLike | None = None,
    **options: float,
) -> dict[Kind, int]:
    """How often each kind of `disagreement` occurs among pairs of matched texts.

    Parameters
    ----------
    pairs : iterable of (str, str), n of them
    equivalence : array_like, shape (n,)
    directions : array_like, shape (n, 2), optional
        P(first ⇒ second) and P(second ⇒ first).
    relatedness : array_like, shape (n,), optional
    **options
        Thresholds of `disagreement`.
    """
    counts: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    p = np.asarray(equivalence, dtype=np.float64)
    both = None if directions is None else np.asarray(directions, dtype=np.float64)
    near = None if relatedness is None else np.asarray(relatedness, dtype=np.float64)
    for i, (first, second) in enumerate(pairs):
        forward, backward = (None, None) if both is None else (float(both[i, 0]), float(both[i, 1]))
        kind = disagreement(
            first,
            second,
            float(p[i]),
            forward,
            backward,
            relatedness=None if near is None else float(near[i]),
            **options,
        )
        if kind is not None:
            counts[kind] += 1
    return counts


def _scores(given: Scores, texts: Sequence[str], *, diagonal: float) -> NDArray[np.float64]:
    n = len(texts)
    if callable(given):
        pairs = [(a, b) for i, a in enumerate(texts) for j, b in enumerate(texts) if i != j]
        matrix = np.full((n, n), diagonal)
        if pairs:
            matrix[~np.eye(n, dtype=bool)] = np.asarray(given(pairs), dtype=np.float64)
        return matrix
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.shape != (n, n):
        raise InputError(
            f"The item has {n} distinct texts, but the matrix of their scores has the shape {matrix.shape}."
        )
    return matrix


def _pairs(sets: Sequence[Sequence[int]], equal: NDArray[np.float64], method: str) -> list[list[int]]:
    """Clusters between two raters; nodes are numbered rater by rater."""
    first, second = sets
    if not first or not second:
        return []
    rows, cols = (optimal if method == "optimal" else greedy)(equal[np.ix_(first, second)])
    return [[int(i), len(first) + int(j)] for i, j in zip(rows, cols, strict=True)]


def _clusters(
    nodes: Sequence[tuple[int, int]],
    equal: NDArray[np.float64],
    implied: NDArray[np.float64] | None,
    threshold: float,
    direction_threshold: float,
) -> list[list[int]]:
    """Clusters between any number of raters, at most one node of each rater in a cluster.

    Three rounds: equivalent texts come together; then texts that are only more general or more specific join; what is left over is set side by side by
    its equivalence, as the assignment of two raters does it, and will be called unrelated.
    """
    if not nodes:
        return []
    rater = np.array([r for r, _ in nodes], dtype=np.int64)
    text = np.array([t for _, t in nodes], dtype=np.int64)
    label = np.arange(len(nodes))
    within = equal[np.ix_(text, text)]
    # A pair that is just at the threshold counts as equivalent, so it must gain something.
    gain = within - threshold + 1e-9
    across = rater[:, None] != rater[None, :]
    if np.any(gain[across] > 0):
        label = _improve(_agglomerate(label, rater, gain), rater, gain)
    if implied is not None:
        one_way = np.maximum(implied, implied.T)[np.ix_(text, text)]
        label = _agglomerate(label, rater, np.maximum(gain, one_way - direction_threshold + 1e-9), linkage="all")
    single = np.flatnonzero(np.bincount(label, minlength=len(nodes))[label] == 1)
    if len(single) > 1:
        # Side by side for the eye only: the best pairs first will do.
        beside = within[np.ix_(single, single)] + 1e-9
        label[single] = single[_agglomerate(np.arange(len(single)), rater[single], beside)]
    return [np.flatnonzero(label == c).tolist() for c in dict.fromkeys(label.tolist())]


def _agglomerate(
    label: NDArray[np.int64], rater: NDArray[np.int64], gain: NDArray[np.float64], *, linkage: str = "sum"
) -> NDArray[np.int64]:
    """Merge the two clusters that gain most on average, as long as something is gained and no rater is in both.

    ``linkage="all"``: a merge must gain on each of its pairs.
    """
    names, group = np.unique(label, return_inverse=True)
    member = (np.arange(len(names))[:, None] == group[None, :]).astype(np.float64)
    size = member.sum(axis=1)
    has = member @ (rater[:, None] == np.unique(rater)[None, :])
    if linkage == "all":
        linked = np.array(
            [[gain[np.ix_(group == a, group == b)].min() for b in range(len(names))] for a in range(len(names))]
        )
    else:
        linked = member @ gain @ member.T  # sums; divided by the sizes they are means
    free = has @ has.T == 0
    joined = np.arange(len(names))
    while True:
        worth = np.where(free, linked if linkage == "all" else linked / (size[:, None] * size[None, :]), -np.inf)
        a, b = sorted(divmod(int(np.argmax(worth)), len(names)))
        if worth[a, b] <= 0:
            break
        combine = np.minimum if linkage == "all" else np.add
        linked[a] = combine(linked[a], linked[b])
        linked[:, a] = linked[a]
        size[a] += size[b]
        has[a] += has[b]
        has[b] = 1  # gone: no one may join it
        free[a] = free[:, a] = has @ has[a] == 0
        free[b] = free[:, b] = False
        joined[joined == b] = a
    return names[joined[group]]


def _improve(label: NDArray[np.int64], rater: NDArray[np.int64], gain: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give each rater's nodes, one rater after the other, their best places among the clusters of the others, until nothing is gained any more."""
    n = len(label)
    label = label.copy()
    each = np.arange(n)
    nodes_of = [np.flatnonzero(rater == r) for r in range(int(rater.max()) + 1) if np.any(rater == r)]
    for _ in range(20):  # each round gains or is the last one; it settles in two or three
        changed = False
        for mine in nodes_of:
            others = np.zeros((n, n))
            others[each, label] = 1.0
            others[mine] = 0.0
            value = gain[mine] @ others  # of each place to each node; an empty place is worth 0
            wanted = np.maximum(value, 0.0)
            rows, cols = optimal(wanted) if len(mine) > 1 else (each[:1], wanted.argmax(axis=1))
            if wanted[rows, cols].sum() <= value[np.arange(len(mine)), label[mine]].sum() + 1e-12:
                continue
            changed = True
            # A place of no gain is no place: the node stands alone, under a label that no one else has.
            empty = iter(np.flatnonzero(others.sum(axis=0) == 0).tolist())
            for i, c in zip(rows, cols, strict=True):
                label[mine[i]] = c if value[i, c] > 0 else next(empty)
        if not changed:
            break
    first = np.full(n, n)
    np.minimum.at(first, label, each)
    return first[label]


def _match(
    members: Sequence[tuple[int, int]],
    raters: Sequence[str],
    texts: Sequence[str],
    equal: NDArray[np.float64],
    implied: NDArray[np.float64] | None,
    *,
    threshold: float,
    direction_threshold: float,
) -> Match:
    members = sorted(members)
    t = [i for _, i in members]
    words = [texts[i] for i in t]
    p = equal[np.ix_(t, t)]
    sums = p.sum(axis=1).tolist()
    # Ties (always, between two texts) go to the shorter wording, then by alphabet: no rater is preferred.
    best = min(range(len(t)), key=lambda i: (-round(sums[i], 9), len(words[i]), words[i]))
    support = int((p[best] >= threshold).sum())
    mean = (sum(sums) - float(np.trace(p))) / (len(t) * (len(t) - 1))
    directed = None if implied is None else implied[np.ix_(t, t)]
    if len(t) > 2:
        kind: Relation = EQUIVALENT if support == len(t) else UNRELATED
        if kind != EQUIVALENT and directed is not None:
            # Mean entailment by the others minus mean entailment of the others: the more general text is entailed more than it entails.
            general = directed.sum(axis=0) - directed.sum(axis=1)
            order = sorted(range(len(t)), key=lambda i: (-round(float(general[i]), 9), i))
            first, last = order[0], order[-1]
            kind = relation(
                float(p[first, last]),
                float(directed[first, last]),
                float(directed[last, first]),
                threshold=threshold,
                direction_threshold=direction_threshold,
            )
            if kind == FIRST_MORE_GENERAL:
                members = [members[i] for i in order]
            else:
                kind = UNRELATED
    else:
        kind = relation(
            float(p[0, 1]),
            None if directed is None else float(directed[0, 1]),
            None if directed is None else float(directed[1, 0]),
            threshold=threshold,
            direction_threshold=direction_threshold,
        )
    return Match(
        texts={raters[r]: texts[i] for r, i in members},
        equivalence=min(1.0, max(0.0, mean)),
        relation=kind,
        support=support,
        wording=words[best],
    )

"""What the raters of one item have in common: matches, what stays unmatched, and a suggested answer.

A match is a cluster of texts with at most one text of each rater. Between two raters it is a pair of the optimal assignment (paper, Eq. hungarian), the
same that the equivalence of their sets is computed from. Between more, clusters are built so that the equivalence within them, counted from the
threshold, sums up to as much as possible: first greedily, then by giving each rater's texts, one rater after the other, their best places by an optimal
assignment until nothing improves. The result depends on nothing but the answers: no seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

MANY = 2_000
"""Above this many texts of one item (each rater's counted), texts are matched pair by pair, the surest first."""
_ASKED_AT_ONCE = 1 << 18

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
    approximate: bool = False
    """Whether there were more than ``MANY`` texts: only equivalent texts were matched then, the surest first."""

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
    options = {"threshold": threshold, "direction_threshold": direction_threshold}
    many = len(nodes) > MANY
    if many:
        sparse = _Sparse(P, directions, texts, _own_rater(nodes, len(texts)), threshold)
        clusters = sparse.clusters(nodes)
        matches = [
            _match([nodes[i] for i in c], raters, texts, sparse.within([nodes[i][1] for i in c]), **options)
            for c in clusters
        ]
    else:
        alone_by = _own_rater(nodes, len(texts))
        equal = _scores(P, texts, alone_by, both=False)
        implied = None if directions is None else _scores(directions, texts, alone_by, both=True)
        if len(raters) == 2:
            clusters = _pairs(sets, equal, method)
        else:
            clusters = _clusters(nodes, equal, implied, threshold, direction_threshold)
        clusters = [sorted(c) for c in clusters if len(c) > 1]
        matches = []
        for c in clusters:
            members = [nodes[i][1] for i in c]
            grid = np.ix_(members, members)
            directed = None if implied is None else implied[grid]
            matches.append(_match([nodes[i] for i in c], raters, texts, (equal[grid], directed), **options))
    matches.sort(key=lambda m: (-m.support, -m.equivalence, m.wording))
    matched = {i for c in clusters for i in c}
    alone: dict[str, list[str]] = {}
    for number, (r, text) in enumerate(nodes):
        if number not in matched:
            alone.setdefault(raters[r], []).append(texts[text])
    supported = [m.wording for m in matches if 2 * m.support > len(raters)]
    if len(raters) == 1:
        supported = list(answers[raters[0]])  # the only rater is the majority
    return Consensus(
        matches=tuple(matches),
        unmatched={rater: tuple(given) for rater, given in alone.items()},
        suggestion=tuple(dict.fromkeys(supported)),
        approximate=many,
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


def _own_rater(nodes: Sequence[tuple[int, int]], n_texts: int) -> NDArray[np.int64]:
    """For each text the only rater who wrote it, or a number below 0 of its own where several did: equal numbers never meet."""
    own = -1 - np.arange(n_texts)
    seen: set[int] = set()
    for r, t in nodes:
        own[t] = -1 - t if t in seen else r
        seen.add(t)
    return own


def _scores(given: Scores, texts: Sequence[str], own: NDArray[np.int64], *, both: bool) -> NDArray[np.float64]:
    """Matrix of the scores of all pairs of texts that different raters wrote; ``both`` asks for both directions."""
    n = len(texts)
    if not callable(given):
        matrix = np.asarray(given, dtype=np.float64)
        if matrix.shape != (n, n):
            raise InputError(
                f"The item has {n} distinct texts, but the matrix of their scores has the shape {matrix.shape}."
            )
        return matrix
    matrix = np.eye(n)
    rows, cols = np.nonzero(np.triu(own[:, None] != own[None, :], 1))
    if not len(rows):
        return matrix
    asked = [(texts[i], texts[j]) for i, j in zip(rows.tolist(), cols.tolist(), strict=True)]
    if both:
        values = np.asarray(given(asked + [(b, a) for a, b in asked]), dtype=np.float64)
        matrix[rows, cols], matrix[cols, rows] = values[: len(rows)], values[len(rows) :]
    else:
        matrix[rows, cols] = matrix[cols, rows] = np.asarray(given(asked), dtype=np.float64)
    return matrix


class _Sparse:
    """An item with a great many texts: only the pairs that reach the threshold are kept."""

    def __init__(
        self, P: Scores, directions: Scores | None, texts: Sequence[str], own: NDArray[np.int64], threshold: float
    ) -> None:
        self._directions, self._texts = directions, texts
        self._equal: dict[tuple[int, int], float] = {}
        self._given = P
        for rows, cols in self._parts(own):
            values = self._ask(P, rows, cols)
            for k in np.flatnonzero(values >= threshold).tolist():
                self._equal[int(rows[k]), int(cols[k])] = float(values[k])

    def _parts(self, own: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Pairs of texts that can meet, lower first, some at a time."""
        n = len(own)
        step = max(1, _ASKED_AT_ONCE // n)
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            meet = (own[rows, None] != own[None, :]) & (rows[:, None] < np.arange(n)[None, :])
            i, j = np.nonzero(meet)
            if len(i):
                yield rows[i], j

    def _ask(self, given: Scores, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
        if callable(given):
            pairs = [(self._texts[i], self._texts[j]) for i, j in zip(rows.tolist(), cols.tolist(), strict=True)]
            return np.asarray(given(pairs), dtype=np.float64)
        return np.asarray(np.asarray(given)[rows, cols], dtype=np.float64)

    def clusters(self, nodes: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Clusters in which every text is equivalent to every other, at most one node of each rater, the surest pairs joined first."""
        of_text: dict[int, list[int]] = {}
        for i, (_, t) in enumerate(nodes):
            of_text.setdefault(t, []).append(i)
        # nodes of one text come together first: theirs is the surest pair
        texts = {t: [t] for t in of_text}
        raters = {t: {nodes[i][0] for i in same} for t, same in of_text.items()}
        leader = {t: t for t in of_text}
        for (t, u), _ in sorted(self._equal.items(), key=lambda pair: (-pair[1], pair[0])):
            a, b = leader[t], leader[u]
            if a == b or not raters[a].isdisjoint(raters[b]):
                continue
            if all((min(x, y), max(x, y)) in self._equal for x in texts[a] for y in texts[b]):
                raters[a] |= raters.pop(b)
                for x in texts[b]:
                    leader[x] = a
                texts[a] += texts.pop(b)
        found = (sorted(i for t in group for i in of_text[t]) for group in texts.values())
        return sorted(c for c in found if len(c) > 1)

    def within(self, t: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Equivalence and directions of the texts of one cluster."""
        distinct, place = np.unique(np.array(t), return_inverse=True)
        few = distinct.tolist()
        equal = np.ones((len(few), len(few)))
        for i, x in enumerate(few):
            for j, y in enumerate(few[:i]):
                equal[i, j] = equal[j, i] = self._equal[y, x]
        equal = equal[np.ix_(place, place)]
        k = len(t)
        if self._directions is None:
            return equal, None
        implied = np.ones((k, k))
        of = np.array(t)
        rows, cols = np.nonzero(of[:, None] != of[None, :])
        if len(rows):
            implied[rows, cols] = self._ask(self._directions, of[rows], of[cols])
        return equal, implied


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
    across = rater[:, None] != rater[None, :]
    # A pair that is just at the threshold counts as equivalent, so it must gain something.
    gain = within - threshold + 1e-9
    for part in _components(across & (gain > 0)):
        if _one_cluster(rater[part], gain[np.ix_(part, part)]):
            label[part] = part[0]
            continue
        own = gain[np.ix_(part, part)]
        start = _agglomerate(np.arange(len(part)), rater[part], own)
        label[part] = part[_improve(start, rater[part], own)]
    if implied is not None:
        one_way = np.maximum(implied, implied.T)[np.ix_(text, text)]
        either = np.maximum(gain, one_way - direction_threshold + 1e-9)
        for part in _components((across & (either > 0)) | (label[:, None] == label[None, :])):
            label[part] = _agglomerate(label[part], rater[part], either[np.ix_(part, part)], linkage="all")
    single = np.flatnonzero(np.bincount(label, minlength=len(nodes))[label] == 1)
    if len(single) > 1:
        # Side by side for the eye only: the best pairs first will do.
        beside = within[np.ix_(single, single)] + 1e-9
        label[single] = single[_agglomerate(np.arange(len(single)), rater[single], beside)]
    clusters: dict[int, list[int]] = {}
    for node, of in enumerate(label.tolist()):
        clusters.setdefault(of, []).append(node)
    return list(clusters.values())


def _components(linked: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Groups of two nodes or more that are linked, directly or through others: no cluster reaches beyond its group."""
    n = len(linked)
    rows, cols = np.nonzero(linked)
    neighbours: dict[int, list[int]] = {}
    for i, j in zip(rows.tolist(), cols.tolist(), strict=True):
        if i != j:
            neighbours.setdefault(i, []).append(j)
    seen = [False] * n
    found = []
    for start in neighbours:
        if seen[start]:
            continue
        seen[start] = True
        group, todo = [start], [start]
        while todo:
            for j in neighbours[todo.pop()]:
                if not seen[j]:
                    seen[j] = True
                    group.append(j)
                    todo.append(j)
        found.append(np.array(sorted(group), dtype=np.int64))
    return found


def _one_cluster(rater: NDArray[np.int64], gain: NDArray[np.float64]) -> bool:
    """Whether all are of different raters and gain from each other: they are one cluster, whatever the order of merging."""
    return len(set(rater.tolist())) == len(rater) and bool((gain > 0).all())


def _agglomerate(
    label: NDArray[np.int64], rater: NDArray[np.int64], gain: NDArray[np.float64], *, linkage: str = "sum"
) -> NDArray[np.int64]:
    """Merge the two clusters that gain most on average, as long as something is gained and no rater is in both.

    ``linkage="all"``: a merge must gain on each of its pairs.
    """
    names, group = np.unique(label, return_inverse=True)
    every = linkage == "all"
    whose = rater[:, None] == np.unique(rater)[None, :]
    if len(names) == len(label):
        linked = gain.copy()
        size = np.ones(len(names))
        has = whose.astype(np.float64)
    else:
        member = (np.arange(len(names))[:, None] == group[None, :]).astype(np.float64)
        size = member.sum(axis=1)
        has = member @ whose
        if every:
            order = np.argsort(group, kind="stable")
            start = np.searchsorted(group[order], np.arange(len(names)))
            linked = np.minimum.reduceat(np.minimum.reduceat(gain[np.ix_(order, order)], start, axis=0), start, axis=1)
        else:
            linked = member @ gain @ member.T  # sums; divided by the sizes they are means
    free = has @ has.T == 0
    worth = np.where(free, linked if every else linked / (size[:, None] * size[None, :]), -np.inf)
    joined = np.arange(len(names))
    combine = np.minimum if every else np.add
    while True:
        a, b = sorted(divmod(int(worth.argmax()), len(names)))
        if worth[a, b] <= 0:
            break
        linked[a] = combine(linked[a], linked[b])
        linked[:, a] = linked[a]
        size[a] += size[b]
        has[a] += has[b]
        has[b] = 1  # gone: no one may join it
        worth[b] = worth[:, b] = -np.inf
        worth[a] = np.where(has @ has[a] == 0, linked[a] if every else linked[a] / (size[a] * size), -np.inf)
        worth[:, a] = worth[a]
        joined[joined == b] = a
    return names[joined[group]]


def _improve(label: NDArray[np.int64], rater: NDArray[np.int64], gain: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give each rater's nodes, one rater after the other, their best places among the clusters of the others, until nothing is gained any more."""
    n = len(label)
    label = label.copy()
    each = np.arange(n)
    nodes_of = [np.flatnonzero(rater == r) for r in np.unique(rater).tolist()]
    for _ in range(20):  # each round gains or is the last one; it settles in two or three
        changed = False
        for mine in nodes_of:
            to_others = gain[mine]
            to_others[:, mine] = 0.0
            # of each place to each node; an empty place is worth 0
            value = np.stack([np.bincount(label, weights=row, minlength=n) for row in to_others])
            wanted = np.maximum(value, 0.0)
            rows, cols = optimal(wanted) if len(mine) > 1 else (each[:1], wanted.argmax(axis=1))
            if wanted[rows, cols].sum() <= value[np.arange(len(mine)), label[mine]].sum() + 1e-12:
                continue
            changed = True
            # A place of no gain is no place: the node stands alone, under a label that no one else has.
            taken = np.ones(n, dtype=bool)
            taken[mine] = False
            free = np.bincount(label[taken], minlength=n) == 0
            empty = iter(np.flatnonzero(free).tolist())
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
    scores: tuple[NDArray[np.float64], NDArray[np.float64] | None],
    *,
    threshold: float,
    direction_threshold: float,
) -> Match:
    """The match of some (rater, text) in order; the scores are their equivalences and directions, shape (k, k)."""
    p, directed = scores
    t = [i for _, i in members]
    words = [texts[i] for i in t]
    sums = p.sum(axis=1).tolist()
    # Ties (always, between two texts) go to the shorter wording, then by alphabet: no rater is preferred.
    best = min(range(len(t)), key=lambda i: (-round(sums[i], 9), len(words[i]), words[i]))
    support = int((p[best] >= threshold).sum())
    mean = (sum(sums) - float(np.trace(p))) / (len(t) * (len(t) - 1))
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

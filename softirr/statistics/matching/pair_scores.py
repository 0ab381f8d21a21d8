"""Scores of the pairs of texts of one item, as a matrix or only those that reach the threshold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from softirr.answers.ratings import Floats, Ints
from softirr.defaults import THRESHOLD

_ASKED_AT_ONCE = 1 << 18

Scores = Callable[[Sequence[tuple[str, str]]], ArrayLike]
"""Scores of pairs of texts: a function like Measure.score."""


def own_rater(nodes: Sequence[tuple[int, int]], n_texts: int) -> Ints:
    """For each text the only rater who wrote it, or a unique negative number if several did.

    Equal numbers are never paired.

    Parameters
    ----------
    nodes : sequence of (int, int)
        Rater and text of each text in each rater's set.
    n_texts : int
        Number of distinct texts T.

    Returns
    -------
    shape (T,)
    """
    rater_of_text = np.empty(n_texts, dtype=np.int64)
    seen_texts: set[int] = set()
    for r, t in nodes:
        rater_of_text[t] = -1 - t if t in seen_texts else r
        seen_texts.add(t)
    return rater_of_text


def matrix_of(scores: Scores, texts: Sequence[str], rater_of_text: Ints, *, is_directed: bool) -> Floats:
    """Matrix of the scores of all pairs of texts by different raters.

    Parameters
    ----------
    scores : callable
        Takes pairs of texts and returns their scores.
    texts : sequence of str
        The T distinct texts.
    rater_of_text : shape (T,)
        As :func:`own_rater` gives it.
    is_directed : bool
        Whether the scores of the two directions of a pair differ.

    Returns
    -------
    shape (T, T)
    """
    n = len(texts)
    matrix = np.eye(n)
    rows, cols = np.nonzero(np.triu(rater_of_text[:, None] != rater_of_text[None, :], 1))
    if not len(rows):
        return matrix
    pairs = [(texts[i], texts[j]) for i, j in zip(rows.tolist(), cols.tolist(), strict=True)]
    if is_directed:
        pairs += [(b, a) for a, b in pairs]
    values = np.asarray(scores(pairs), dtype=np.float64)
    matrix[rows, cols], matrix[cols, rows] = values[: len(rows)], values[-len(rows) :]
    return matrix


def equal_pairs(P: Scores, texts: Sequence[str], rater_of_text: Ints) -> dict[tuple[int, int], float]:
    """Scores of the pairs of texts by different raters that reach the threshold, the lower index first.

    For an item with very many texts: no matrix of all pairs is kept.
    """
    n = len(rater_of_text)
    result: dict[tuple[int, int], float] = {}
    step = max(1, _ASKED_AT_ONCE // n)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        meet = (rater_of_text[rows, None] != rater_of_text[None, :]) & (rows[:, None] < np.arange(n)[None, :])
        i, j = np.nonzero(meet)
        i += start
        pairs = [(texts[a], texts[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)]
        values = np.asarray(P(pairs), dtype=np.float64) if pairs else np.zeros(0)
        result |= {(int(i[k]), int(j[k])): float(values[k]) for k in np.flatnonzero(values >= THRESHOLD)}
    return result


def clusters_of_equal(equal: Mapping[tuple[int, int], float], nodes: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Clusters of mutually equivalent texts, at most one node of each rater, from the highest scores down.

    Parameters
    ----------
    equal : mapping of (int, int) to float
        As :func:`equal_pairs` returns it.
    nodes : sequence of (int, int)
        Rater and text of each node.
    """
    of_text: dict[int, list[int]] = {}
    for i, (_, t) in enumerate(nodes):
        of_text.setdefault(t, []).append(i)
    # nodes with the same text have the highest score, so they are joined first
    members = {t: [t] for t in of_text}
    raters = {t: {nodes[i][0] for i in same} for t, same in of_text.items()}
    leader = {t: t for t in of_text}
    for (t, u), _ in sorted(equal.items(), key=lambda pair: (-pair[1], pair[0])):
        a, b = leader[t], leader[u]
        if a == b or not raters[a].isdisjoint(raters[b]):
            continue
        if all((min(x, y), max(x, y)) in equal for x in members[a] for y in members[b]):
            raters[a] |= raters.pop(b)
            for x in members[b]:
                leader[x] = a
            members[a] += members.pop(b)
    groups = (sorted(i for t in group for i in of_text[t]) for group in members.values())
    return sorted(c for c in groups if len(c) > 1)

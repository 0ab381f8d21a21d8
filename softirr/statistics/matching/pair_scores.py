"""Scores of the pairs of texts of one item, as a matrix or only those that reach the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softirr.defaults import THRESHOLD

_ASKED_AT_ONCE = 1 << 18

Scores = Callable[[Sequence[tuple[str, str]]], ArrayLike]
"""Scores of pairs of texts: a function like Measure.score."""


def own_rater(nodes: Sequence[tuple[int, int]], n_texts: int) -> NDArray[np.int64]:
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


def matrix_of(
    scores: Scores, texts: Sequence[str], rater_of_text: NDArray[np.int64], *, is_directed: bool
) -> NDArray[np.float64]:
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


class SparseScores:
    """Scores of an item with very many texts: only pairs that reach the threshold are kept."""

    def __init__(
        self, P: Scores, directions: Scores | None, texts: Sequence[str], rater_of_text: NDArray[np.int64]
    ) -> None:
        self._directions, self._texts = directions, texts
        self._equal: dict[tuple[int, int], float] = {}
        for rows, cols in self._parts(rater_of_text):
            values = self._ask(P, rows, cols)
            for k in np.flatnonzero(values >= THRESHOLD).tolist():
                self._equal[int(rows[k]), int(cols[k])] = float(values[k])

    def _parts(self, rater_of_text: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Pairs of texts that can be paired, the lower index first, in batches."""
        n = len(rater_of_text)
        step = max(1, _ASKED_AT_ONCE // n)
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            meet = (rater_of_text[rows, None] != rater_of_text[None, :]) & (rows[:, None] < np.arange(n)[None, :])
            i, j = np.nonzero(meet)
            if len(i):
                yield rows[i], j

    def _ask(self, scores: Scores, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
        pairs = [(self._texts[i], self._texts[j]) for i, j in zip(rows.tolist(), cols.tolist(), strict=True)]
        return np.asarray(scores(pairs), dtype=np.float64)

    def clusters(self, nodes: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Clusters of mutually equivalent texts, at most one node of each rater, from the highest scores down."""
        of_text: dict[int, list[int]] = {}
        for i, (_, t) in enumerate(nodes):
            of_text.setdefault(t, []).append(i)
        # nodes with the same text have the highest score, so they are joined first
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
        groups = (sorted(i for t in group for i in of_text[t]) for group in texts.values())
        return sorted(c for c in groups if len(c) > 1)

    def within(self, t: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Equivalence and directions of the texts of one cluster."""
        distinct, index = np.unique(np.array(t), return_inverse=True)
        numbers = distinct.tolist()
        equal = np.ones((len(numbers), len(numbers)))
        for i, x in enumerate(numbers):
            for j, y in enumerate(numbers[:i]):
                equal[i, j] = equal[j, i] = self._equal[y, x]
        equal = equal[np.ix_(index, index)]
        k = len(t)
        if self._directions is None:
            return equal, None
        implied = np.ones((k, k))
        text = np.array(t)
        rows, cols = np.nonzero(text[:, None] != text[None, :])
        if len(rows):
            implied[rows, cols] = self._ask(self._directions, text[rows], text[cols])
        return equal, implied

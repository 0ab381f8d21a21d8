"""Groups of equivalent texts over a whole project, from compared pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.defaults import THRESHOLD

_LARGEST = 3000
"""Texts of a component that are clustered at once; a larger one is taken apart at its weaker pairs first."""
_STEPS = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def linked_groups(n: int, pairs: Ints, p: Floats, *, cuts: Sequence[float], largest: int) -> Iterator[Ints]:
    """Yield groups of the n texts that equivalent pairs link, directly or through others.

    A group of more than ``largest`` texts is taken apart at the next of the rising cuts; after the last one it is
    yielded as it is.

    Parameters
    ----------
    pairs : shape (m, 2)
        Numbers of the compared texts.
    p : shape (m,)
        Equivalence of each pair; it links at a cut or above.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    todo: list[tuple[Ints, int]] = [(np.arange(n), 0)] if n else []
    while todo:
        members, step = todo.pop()
        position = np.full(n, -1)
        position[members] = np.arange(len(members))
        links = position[pairs[p >= cuts[step]]]
        links = links[(links >= 0).all(axis=1)]
        graph = coo_array((np.ones(len(links), dtype=np.int8), tuple(links.T)), shape=(len(members), len(members)))
        label = connected_components(graph, directed=False)[1].astype(np.int64)
        for group in by_label(members, label):
            if len(group) > largest and step + 1 < len(cuts):
                todo.append((group, step + 1))
            else:
                yield group


def equivalent_groups(
    pairs: Ints, p: Floats, *, weight: Sequence[float], threshold: float = THRESHOLD
) -> list[list[int]]:
    """Groups of texts with a mean equivalence of at least the threshold (average linkage).

    Pairs that were not compared count as different.

    Parameters
    ----------
    pairs : shape (m, 2)
        Numbers of the compared texts.
    p : shape (m,)
        Equivalence of each pair.
    weight : sequence of float, length n
        How often each of the n texts was given.

    Returns
    -------
    list of list of int
        The groups, each with the most frequent text first.
    """
    n = len(weight)
    cuts = [threshold, *(step for step in _STEPS if step > threshold)]
    linked = list(linked_groups(n, pairs, p, cuts=cuts, largest=_LARGEST))
    group_of = np.zeros(n, dtype=np.int64)
    for number, group in enumerate(linked):
        group_of[group] = number
    within = np.flatnonzero(group_of[pairs[:, 0]] == group_of[pairs[:, 1]])
    within = within[np.argsort(group_of[pairs[within, 0]], kind="stable")]
    bounds = np.searchsorted(group_of[pairs[within, 0]], np.arange(len(linked) + 1)).tolist()
    groups: list[list[int]] = []
    for number, group in enumerate(linked):
        members = within[bounds[number] : bounds[number + 1]]
        groups += _clustered(group, pairs[members], p[members], threshold)
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((np.arange(n), -np.asarray(weight)))] = np.arange(n)
    return sorted((sorted(group, key=rank.__getitem__) for group in groups), key=lambda group: rank[group[0]])


def _clustered(texts: Ints, pairs: Ints, p: Floats, threshold: float) -> list[list[int]]:
    """Clusters of linked texts by average linkage, from their compared pairs."""
    if len(texts) <= 2:
        return [texts.tolist()]
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    order = np.sort(texts)
    rows, cols = np.searchsorted(order, pairs).T
    distance = np.ones((len(order), len(order)))
    distance[rows, cols] = distance[cols, rows] = 1.0 - p
    np.fill_diagonal(distance, 0.0)
    label = fcluster(linkage(squareform(distance, checks=False), "average"), 1.0 - threshold + 1e-9, "distance")
    return [group.tolist() for group in by_label(order, label)]


def by_label(members: Ints, label: Ints) -> list[Ints]:
    """The members with each label, in the order of the labels."""
    order = np.argsort(label, kind="stable")
    return np.split(members[order], np.flatnonzero(np.diff(label[order])) + 1)

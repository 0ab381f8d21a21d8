"""Clusters of the texts of one item with at most one text of each rater.

:mod:`softirr.statistics.matching.consensus` turns them into matches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Floats, Ints
from softirr.defaults import THRESHOLD
from softirr.statistics.matching.assignment import greedy, optimal
from softirr.statistics.matching.grouping import by_label

ENTAILED = 0.5
"""Lowest P(a ⇒ b) at which a counts as more specific than b, or as equivalent."""


def clusters_of_two(sets: Sequence[Sequence[int]], equal: Floats, method: str) -> list[list[int]]:
    """Clusters between two raters; nodes are numbered rater by rater.

    Parameters
    ----------
    sets : sequence of two sequences of int
        The texts of each rater, by number.
    equal : shape (T, T)
        P(a ≡ b).
    method : {"optimal", "greedy"}

    Returns
    -------
    list of list of int
        The nodes of each cluster: one, or one of each rater.
    """
    first, second = sets
    if not first or not second:
        return []
    rows, cols = (optimal if method == "optimal" else greedy)(equal[np.ix_(first, second)])
    return [[int(i), len(first) + int(j)] for i, j in zip(rows, cols, strict=True)]


def clusters_of_many(nodes: Sequence[tuple[int, int]], equal: Floats, implied: Floats | None) -> list[list[int]]:
    """Clusters between any number of raters, at most one node of each rater in a cluster.

    Three rounds: first, equivalent texts are joined; second, texts that are only more general or more specific; third,
    the remaining texts are paired by their equivalence, as the assignment of two raters does it, and are reported as
    unrelated.

    Parameters
    ----------
    nodes : sequence of (int, int)
        Rater and text of each of the n nodes.
    equal : shape (T, T)
        P(a ≡ b) of texts.
    implied : shape (T, T) or None
        P(row ⇒ column) of texts; None if the measure has no directions.

    Returns
    -------
    list of list of int
        The nodes of each cluster.
    """
    if not nodes:
        return []
    rater = np.array([r for r, _ in nodes], dtype=np.int64)
    text = np.array([t for _, t in nodes], dtype=np.int64)
    label = np.arange(len(nodes))
    within = equal[np.ix_(text, text)]
    across = rater[:, None] != rater[None, :]
    # A pair exactly at the threshold counts as equivalent, so its gain must be positive.
    gain = within - THRESHOLD + 1e-9
    for component in _components(across & (gain > 0)):
        component_gain = gain[np.ix_(component, component)]
        if len(np.unique(rater[component])) == len(component) and (component_gain > 0).all():  # a single cluster
            label[component] = component[0]
            continue
        start = agglomerate(np.arange(len(component)), rater[component], component_gain)
        label[component] = component[improve(start, rater[component], component_gain)]
    if implied is not None:
        one_way = np.maximum(implied, implied.T)[np.ix_(text, text)]
        either = np.maximum(gain, one_way - ENTAILED + 1e-9)
        for component in _components((across & (either > 0)) | (label[:, None] == label[None, :])):
            label[component] = agglomerate(
                label[component], rater[component], either[np.ix_(component, component)], linkage="all"
            )
    single = np.flatnonzero(np.bincount(label, minlength=len(nodes))[label] == 1)
    if len(single):
        # These pairs are only displayed, so joining the best pairs first is sufficient.
        beside = within[np.ix_(single, single)] + 1e-9
        label[single] = single[agglomerate(np.arange(len(single)), rater[single], beside)]
    return [cluster.tolist() for cluster in by_label(np.arange(len(nodes)), label)]


def _components(linked: NDArray[np.bool_]) -> list[Ints]:
    """Connected components of two nodes or more: no cluster extends beyond its component."""
    n = len(linked)
    label = np.arange(n)
    reached = linked | np.eye(n, dtype=bool)
    while True:
        lower = np.where(reached, label, n).min(axis=1)
        lower = lower[lower]
        if (lower == label).all():
            break
        label = lower
    return [np.flatnonzero(label == first) for first in np.flatnonzero(np.bincount(label, minlength=n) > 1)]


def agglomerate(label: Ints, rater: Ints, gain: Floats, *, linkage: str = "sum") -> Ints:
    """Repeatedly merge the two clusters with the highest positive mean gain that have no rater in common.

    Parameters
    ----------
    label : shape (n,)
        Cluster of each node.
    rater : shape (n,)
        Rater of each node.
    gain : shape (n, n)
        Gain of a cluster from each pair of its nodes.
    linkage : {"sum", "all"}
        ``all``: a merge must gain on each of its pairs.

    Returns
    -------
    shape (n,)
        The new clusters.
    """
    names, group, count = np.unique(label, return_inverse=True, return_counts=True)
    combine, size = (np.minimum, np.ones(len(names))) if linkage == "all" else (np.add, count.astype(np.float64))
    has = np.zeros((len(names), int(rater.max()) + 1))
    has[group, rater] = 1
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(len(names)))
    linked = combine.reduceat(combine.reduceat(gain[np.ix_(order, order)], start, axis=0), start, axis=1)
    worth = np.where(has @ has.T == 0, linked / (size[:, None] * size), -np.inf)
    merged = np.arange(len(names))
    while True:
        a, b = sorted(divmod(int(worth.argmax()), len(names)))
        if worth[a, b] <= 0:
            break
        linked[a] = combine(linked[a], linked[b])
        linked[:, a] = linked[a]
        size[a] = combine(size[a], size[b])
        has[a] += has[b]
        has[b] = 1  # merged away: nothing may join it
        worth[b] = worth[:, b] = -np.inf
        worth[a] = np.where(has @ has[a] == 0, linked[a] / (size[a] * size), -np.inf)
        worth[:, a] = worth[a]
        merged[merged == b] = a
    return names[merged[group]]


def improve(label: Ints, rater: Ints, gain: Floats) -> Ints:
    """Reassign each rater's nodes to the best clusters of the other raters.

    One rater at a time, until the total gain stops growing.

    Parameters
    ----------
    label : shape (n,)
        Cluster of each node.
    rater : shape (n,)
        Rater of each node.
    gain : shape (n, n)
        Gain of a cluster from each pair of its nodes.

    Returns
    -------
    shape (n,)
        The new clusters.
    """
    n = len(label)
    label = label.copy()
    nodes_of = [np.flatnonzero(rater == r) for r in np.unique(rater).tolist()]
    changed = True
    while changed:  # the total gain grows with each change by more than rounding; usually two or three rounds
        changed = False
        for members in nodes_of:
            to_others = gain[members]
            to_others[:, members] = 0.0
            # gain of each node in each cluster; a cluster of a single node has gain 0
            value = np.stack([np.bincount(label, weights=row, minlength=n) for row in to_others])
            positive_gain = np.maximum(value, 0.0)
            rows, cols = optimal(positive_gain)
            if positive_gain[rows, cols].sum() <= value[np.arange(len(members)), label[members]].sum() + 1e-10:
                continue
            changed = True
            # Without a gain the node gets a new cluster.
            taken = np.ones(n, dtype=bool)
            taken[members] = False
            free = np.bincount(label[taken], minlength=n) == 0
            empty = iter(np.flatnonzero(free).tolist())
            for i, c in zip(rows, cols, strict=True):
                label[members[i]] = c if value[i, c] > 0 else next(empty)
    first = np.full(n, n)
    np.minimum.at(first, label, np.arange(n))
    return first[label]
